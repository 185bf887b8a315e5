// Measures the introspection query of clients for a role, on the tables of Chinook: requests per second and CPU time per request.
//
//   node bench/introspection.mjs [--database-url postgres://…empty database] [--role user] [--seconds 5] [--connections 16] [--encoding gzip] [--service dist/cli/main.js]
//
// Prints one line per round, and the load average, because a busy machine halves the rate but hardly changes the CPU time. Needs a build.
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { getIntrospectionQuery } from 'graphql';
import { administer, cpuOf, databaseServer, HEADERS, makeDatabase, operate, run, startService } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    role: { type: 'string', default: 'user' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    encoding: { type: 'string', default: 'gzip' },
    port: { type: 'string', default: '18093' },
    service: { type: 'string', default: 'dist/cli/main.js' },
  },
});

/** Columns of the tables of Chinook; `name` refers to the table `name`. */
const TABLES = {
  artist: ['name text'],
  album: ['title text', 'artist_id int references artist'],
  employee: [
    'last_name text',
    'first_name text',
    'title text',
    'reports_to int references employee',
    'birth_date timestamp',
    'hire_date timestamp',
    'city text',
    'country text',
    'phone text',
    'email text',
  ],
  customer: [
    'first_name text',
    'last_name text',
    'company text',
    'city text',
    'country text',
    'phone text',
    'email text',
    'support_rep_id int references employee',
  ],
  genre: ['name text'],
  media_type: ['name text'],
  invoice: ['customer_id int references customer', 'invoice_date timestamp', 'billing_city text', 'billing_country text', 'total numeric'],
  track: [
    'name text',
    'album_id int references album',
    'media_type_id int references media_type',
    'genre_id int references genre',
    'composer text',
    'milliseconds int',
    'bytes int',
    'unit_price numeric',
  ],
  invoice_line: ['invoice_id int references invoice', 'track_id int references track', 'unit_price numeric', 'quantity int'],
  playlist: ['name text'],
  playlist_track: ['playlist_id int references playlist', 'track_id int references track'],
};

function tableSql([name, columns]) {
  return `create table ${name} (id int primary key, ${columns.join(', ')})`;
}

async function track(port) {
  for (const [table, columns] of Object.entries(TABLES)) {
    await operate(port, 'pg_track_table', { table });
    await operate(port, 'pg_create_select_permission', {
      table,
      role: options.role,
      permission: { columns: '*', filter: {}, allow_aggregations: true },
    });
    for (const column of columns) {
      const [name, , , target] = column.split(' ');
      if (target !== undefined) {
        await operate(port, 'pg_create_object_relationship', { table, name: `of_${name}`, using: { foreign_key_constraint_on: name } });
        await operate(port, 'pg_create_array_relationship', {
          table: target,
          name: `${table}s_of_${name}`,
          using: { foreign_key_constraint_on: { table, columns: [name] } },
        });
      }
    }
  }
}

await run(async () => {
  const server = await databaseServer(options['database-url']);
  const url = await makeDatabase(server, 'introspection');
  await administer(url, Object.entries(TABLES).map(tableSql));
  const port = Number(options.port);
  const service = await startService({ port, databaseUrl: url, file: [options.service] });
  await track(port);
  const body = JSON.stringify({ query: getIntrospectionQuery() });
  const headers = {
    ...HEADERS,
    'x-svc-role': options.role,
    ...(options.encoding === 'none' ? {} : { 'accept-encoding': options.encoding }),
  };
  const send = () => fetch(`http://127.0.0.1:${port}/v1/graphql`, { method: 'POST', headers, body });
  const answer = await (await send()).text();
  console.log(`${availableParallelism()} cores; response of ${answer.length} bytes, ${options.encoding}`);
  for (let round = 0; round < Number(options.rounds); round++) {
    const before = cpuOf(service.pid);
    const result = await autocannon({
      url: `http://127.0.0.1:${port}/v1/graphql`,
      method: 'POST',
      headers,
      body,
      connections: Number(options.connections),
      duration: Number(options.seconds),
    });
    const used = cpuOf(service.pid) - before;
    const done = result.requests.total;
    console.log(
      `${Math.round(done / result.duration)} requests/s, ${Math.round((used * 1000) / done)} µs of CPU per request, ${result.non2xx + result.errors} failed; load average ${loadavg()[0].toFixed(1)}`,
    );
  }
});
