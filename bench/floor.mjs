// The floor: the cost for one Node process to receive a GraphQL-shaped POST, run one fixed prepared statement and send the JSON bytes of the
// database, without any GraphQL work. The service is measured as a ratio to it.
//
//   node bench/floor.mjs PG_URL PORT
import fs from 'node:fs';
import http from 'node:http';
import { WirePool } from './wire.mjs';

const [url, port] = process.argv.slice(2);

const albums = (page) => `select coalesce(json_agg(r), '[]') from (
  select a.album_id, a.title, o.artist, t.tracks from (select album_id, title, artist_id from album ${page}) a
  left join lateral (select row_to_json(x) artist from (select name from artist where artist_id = a.artist_id) x) o on true
  left join lateral (select coalesce(json_agg(y), '[]') tracks from (select track_id, name, milliseconds from track where album_id = a.album_id order by track_id limit 10) y) t on true) r`;
const byGenre = (limit) => `select coalesce(json_agg(r), '[]') from (
  select p.name, l.tracks_of_genre from (select * from playlist where exists (select 1 from playlist_track pt join track t on t.track_id = pt.track_id join genre g on g.genre_id = t.genre_id where pt.playlist_id = playlist.playlist_id and g.name = $1)) p
  left join lateral (select coalesce(json_agg(x), '[]') tracks_of_genre from (
    select t.track from (select q.* from playlist_track q join track t on t.track_id = q.track_id join genre g on g.genre_id = t.genre_id where q.playlist_id = p.playlist_id and g.name = $1 limit ${limit}) q
    left join lateral (select row_to_json(y) track from (select t.name, b.album, m.media_type from track t
      left join lateral (select row_to_json(z) album from (select b.title, r.artist from album b left join lateral (select row_to_json(w) artist from (select name from artist where artist_id = b.artist_id) w) r on true where b.album_id = t.album_id) z) b on true
      left join lateral (select row_to_json(v) media_type from (select name from media_type where media_type_id = t.media_type_id) v) m on true where t.track_id = q.track_id) y) t on true) x) l on true order by p.name) r`;

/** workload -> [statement, its variables in the order of $n, root field] */
const STATEMENTS = {
  simple: [`select coalesce(json_agg(r), '[]') from (select email from customer) r`, [], 'customer'],
  by_pk: ['select row_to_json(r) from (select album_id, title, artist_id from album where album_id = $1::int) r', ['id'], 'album_by_pk'],
  nested_list: [albums('where album_id > $1::int order by album_id limit 10'), ['after'], 'album'],
  nested_offset: [albums('order by album_id limit 10 offset $1::int'), ['offset'], 'album'],
  filtered: [(v) => byGenre(Math.trunc(v.track_lim)), ['genre'], 'playlist'],
  filtered_large: [(v) => byGenre(Math.trunc(v.track_lim)), ['genre'], 'playlist'],
  big_list: [
    `select coalesce(json_agg(r), '[]') from (select t.track_id, t.name, t.composer, t.milliseconds, t.bytes, t.unit_price, o.album from track t
     left join lateral (select row_to_json(x) album from (select title from album where album_id = t.album_id) x) o on true order by t.track_id) r`,
    [],
    'track',
  ],
  aggregate: [
    `select json_build_object('aggregate', json_build_object('count', count(*), 'avg', json_build_object('milliseconds', avg(b.milliseconds)), 'max', json_build_object('bytes', max(b.bytes))), 'nodes', coalesce(json_agg(b.n), '[]'))
     from (select milliseconds, bytes, row_to_json(x) n from track t, lateral (select t.track_id, t.name) x where genre_id = 1) b`,
    [],
    'track_aggregate',
  ],
  deep: [
    `select coalesce(json_agg(r), '[]') from (select a.name, l.albums from (select artist_id, name from artist where artist_id > $1::int order by artist_id limit 20) a
     left join lateral (select coalesce(json_agg(x), '[]') albums from (select b.title, m.tracks from album b
       left join lateral (select coalesce(json_agg(y), '[]') tracks from (select t.name, g.genre from track t left join lateral (select row_to_json(z) genre from (select name from genre where genre_id = t.genre_id) z) g on true where t.album_id = b.album_id) y) m on true
       where b.artist_id = a.artist_id) x) l on true) r`,
    ['after'],
    'artist',
  ],
  update: [
    `with u as (update track set unit_price = $2::numeric where track_id = $1::int returning track_id, unit_price)
     select row_to_json(u) from u`,
    ['id', 'price'],
    'update_track_by_pk',
  ],
  insert: [
    `with i as (insert into invoice_line (invoice_id, track_id, unit_price, quantity) values ($1::int, $2::int, 1, 1) returning *)
     select row_to_json(r) from (select i.invoice_line_id, o.track from i
     left join lateral (select row_to_json(x) track from (select name from track where track_id = i.track_id) x) o on true) r`,
    ['invoice', 'track'],
    'insert_invoice_line_one',
  ],
};

const workloads = JSON.parse(fs.readFileSync(new URL('./workloads.json', import.meta.url), 'utf8'));
const plans = new Map();
for (const [name, [statement, variables, field]] of Object.entries(STATEMENTS)) {
  plans.set(workloads[name].query, { statement, variables, before: Buffer.from(`{"data":{"${field}":`), after: Buffer.from('}}') });
}
const pool = await WirePool.connect(url, 4);

function answer(body, send) {
  let request;
  let plan;
  try {
    request = JSON.parse(body);
    plan = plans.get(request.query);
  } catch {
    // Handled below.
  }
  if (!plan) return send(400, [Buffer.from('{"errors":[{"message":"unknown query"}]}')]);
  const statement = typeof plan.statement === 'function' ? plan.statement(request.variables) : plan.statement;
  const values = plan.variables.map((v) => request.variables[v]);
  pool.run(statement, values, (error, chunks) => {
    if (error) return send(200, [Buffer.from(JSON.stringify({ errors: [{ message: error.message }] }))]);
    send(200, [plan.before, ...chunks, plan.after]);
  });
}

http
  .createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () =>
      answer(Buffer.concat(chunks).toString(), (status, pieces) => {
        let size = 0;
        for (const piece of pieces) size += piece.length;
        response.writeHead(status, { 'content-type': 'application/json', 'content-length': size });
        if (size < 65536) response.end(Buffer.concat(pieces, size));
        else {
          response.cork();
          for (const piece of pieces) response.write(piece);
          response.end();
        }
      }),
    );
  })
  .listen(Number(port), '127.0.0.1', () => process.stdout.write('floor ready\n'));
