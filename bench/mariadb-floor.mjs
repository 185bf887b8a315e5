// The floor on MariaDB: the cost for one Node process to receive a GraphQL-shaped POST, run fixed prepared statements with mysql2 and send the
// JSON of the database, without any GraphQL work.
//
//   node bench/mariadb-floor.mjs MARIADB_URL PORT
import http from 'node:http';
import { pathToFileURL } from 'node:url';
import { createPool } from 'mysql2';

/** GraphQL query -> its statements, in one transaction if there are several. The last row is the response. */
export const WORKLOADS = {
  by_pk: {
    query: 'query($id: Int!) { album_by_pk(id: $id) { id title artist_id } }',
    random: { id: [1, 2000] },
    field: 'album_by_pk',
    statements: [["select json_object('id', id, 'title', title, 'artist_id', artist_id) from album where id = ?", ['id']]],
  },
  list: {
    query: 'query($after: Int!) { album(limit: 50, where: {id: {_gt: $after}}, order_by: {id: asc}) { id title artist_id } }',
    random: { after: [0, 1900] },
    field: 'album',
    statements: [
      [
        "select coalesce(json_arrayagg(json_object('id', id, 'title', title, 'artist_id', artist_id) order by id), json_array()) from (select id, title, artist_id from album where id > ? order by id limit 50) a",
        ['after'],
      ],
    ],
  },
  nested_list: {
    query:
      'query($after: Int!) { album(limit: 10, where: {id: {_gt: $after}}, order_by: {id: asc}) { id title artist { name } tracks(order_by: {id: asc}) { id name milliseconds } } }',
    random: { after: [0, 1900] },
    field: 'album',
    statements: [
      [
        "select coalesce(json_arrayagg(json_object('id', a.id, 'title', a.title, 'artist', (select json_object('name', r.name) from artist r where r.id = a.artist_id), 'tracks', (select coalesce(json_arrayagg(json_object('id', t.id, 'name', t.name, 'milliseconds', t.milliseconds) order by t.id), json_array()) from track t where t.album_id = a.id)) order by a.id), json_array()) from (select * from album where id > ? order by id limit 10) a",
        ['after'],
      ],
    ],
  },
  deep: {
    query:
      'query($after: Int!) { artist(limit: 20, where: {id: {_gt: $after}}, order_by: {id: asc}) { name albums { title tracks { name genre { name } } } } }',
    random: { after: [0, 350] },
    field: 'artist',
    statements: [
      [
        "select coalesce(json_arrayagg(json_object('name', r.name, 'albums', (select coalesce(json_arrayagg(json_object('title', a.title, 'tracks', (select coalesce(json_arrayagg(json_object('name', t.name, 'genre', (select json_object('name', g.name) from genre g where g.id = t.genre_id))), json_array()) from track t where t.album_id = a.id))), json_array()) from album a where a.artist_id = r.id)) order by r.id), json_array()) from (select * from artist where id > ? order by id limit 20) r",
        ['after'],
      ],
    ],
  },
  insert: {
    query: 'mutation($album: Int!) { insert_play_one(object: {album_id: $album, note: "a note"}) { id album_id note } }',
    random: { album: [1, 2000] },
    field: 'insert_play_one',
    statements: [
      [
        "insert into play (album_id, note) values (?, 'a note') returning json_object('id', id, 'album_id', album_id, 'note', note)",
        ['album'],
      ],
    ],
  },
  update: {
    query:
      'mutation($id: Int!, $title: String!) { update_album_by_pk(pk_columns: {id: $id}, _set: {title: $title}) { id title artist_id } }',
    random: { id: [1, 2000] },
    variables: { title: 'Another title' },
    field: 'update_album_by_pk',
    statements: [
      ['update album set title = ? where id = ?', ['title', 'id']],
      ["select json_object('id', id, 'title', title, 'artist_id', artist_id) from album where id = ?", ['id']],
    ],
  },
};

function serve(url, port) {
  const pool = createPool({ uri: url, connectionLimit: 4, jsonStrings: true, charset: 'utf8mb4' });
  const byQuery = new Map(Object.values(WORKLOADS).map((workload) => [workload.query, workload]));
  const answer = (body, send) => {
    const { query, variables } = JSON.parse(body);
    const { statements, field } = byQuery.get(query);
    pool.getConnection((failure, connection) => {
      if (failure) return send(500, String(failure));
      let last = null;
      const end = (error) => {
        connection.release();
        send(error ? 500 : 200, error ? String(error) : `{"data":{"${field}":${last ?? 'null'}}}`);
      };
      const execute = (i) => {
        const statement = statements[i];
        if (statement === undefined) return statements.length === 1 ? end(null) : connection.query('commit', end);
        const values = statement[1].map((name) => String(variables[name]));
        connection.execute({ sql: statement[0], values, rowsAsArray: true }, (error, rows) => {
          if (error) return connection.query('rollback', () => end(error));
          if (Array.isArray(rows)) last = rows[0]?.[0] ?? null;
          execute(i + 1);
        });
      };
      if (statements.length === 1) execute(0);
      else connection.query('start transaction', (error) => (error ? end(error) : execute(0)));
    });
  };
  http
    .createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        if (request.method !== 'POST') return response.end('ready');
        answer(Buffer.concat(chunks).toString(), (status, text) => {
          response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
          response.end(text);
        });
      });
    })
    .listen(port, '127.0.0.1');
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) serve(process.argv[2], Number(process.argv[3]));
