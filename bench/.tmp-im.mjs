// What the service keeps when its roles are introspected, as clients and code generators do at their start.
//
//   node bench/introspection-memory.mjs --database-url postgres://…empty database [--tables 204] [--roles 9] [--rounds 2] [--service dist/cli/main.js]
//
// Prints the resident memory before and after, the highest meanwhile, the size and time of the answers, whether the
// answers of later rounds equal those of the first, and the longest wait of a small request meanwhile. Needs a build.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { getIntrospectionQuery } from 'graphql';
import pg from 'pg';
import { metadata, sql } from '/work/wt/lead/bench/large-schema.mjs';

const { values: options } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    tables: { type: 'string', default: '204' },
    roles: { type: 'string', default: '9' },
    rounds: { type: 'string', default: '2' },
    port: { type: 'string', default: '18091' },
    service: { type: 'string', default: 'dist/cli/main.js' },
  },
});
const url = options['database-url'];
if (url === undefined) throw new Error('--database-url is missing');
const base = `http://127.0.0.1:${options.port}`;

async function post(target, body, headers = {}) {
  const response = await fetch(base + target, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const text = await response.text();
  if (!response.ok || text.startsWith('{"errors"')) throw new Error(`${target}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

const client = new pg.Client(url);
await client.connect();
await client.query(sql(Number(options.tables)));
await client.end();
const service = spawn(process.execPath, [...(process.env.NF ?? '').split(' ').filter(Boolean), options.service, 'serve'], {
  cwd: fileURLToPath(new URL('file:///work/wt/lead/')),
  stdio: ['ignore', fs.openSync('/tmp/im.out', 'w'), 'inherit'],
  env: {
    ...process.env,
    SVC_GRAPHQL_DATABASE_URL: url,
    SVC_GRAPHQL_SERVER_PORT: options.port,
    SVC_GRAPHQL_SERVER_HOST: '127.0.0.1',
    SVC_GRAPHQL_PG_CONNECTIONS: '5',
  },
});
const memory = (what) => {
  const status = fs.readFileSync(`/proc/${service.pid}/status`, 'latin1');
  return Math.round(Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)[1]) / 1024);
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

try {
  for (let i = 0; ; i++) {
    if (
      await fetch(`${base}/healthz`).then(
        (r) => r.ok,
        () => false,
      )
    )
      break;
    if (i > 400) throw new Error('the service does not answer');
    await pause(50);
  }
  await post('/v1/metadata', JSON.stringify(metadata(Number(options.tables), Number(options.roles))));
  await pause(2000);
  console.log(`before: ${memory('VmRSS')} MB`);

  let going = true;
  let longest = 0;
  const small = (async () => {
    while (going) {
      const started = performance.now();
      await post('/v1/graphql', '{"query":"{ __typename }"}');
      longest = Math.max(longest, performance.now() - started);
      await pause(5);
    }
  })();
  const body = JSON.stringify({ query: getIntrospectionQuery({ oneOf: true, inputValueDeprecation: true }) });
  const first = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const times = [];
    let size = 0;
    let equal = true;
    for (let role = 0; role < Number(options.roles); role++) {
      const started = performance.now();
      const answer = await post('/v1/graphql', body, { 'x-svc-role': `role${role}`, 'x-svc-user-id': '1' });
      times.push(performance.now() - started);
      size += answer.length;
      const hash = createHash('sha256').update(answer).digest('hex');
      if (round === 0) first.push(hash);
      else if (first[role] !== hash) equal = false;
    }
    times.sort((a, b) => a - b);
    console.log(
      `round ${round + 1}: ${(size / 1e6).toFixed(1)} MB of answers, median ${times[times.length >> 1].toFixed(0)} ms, longest ${times.at(-1).toFixed(0)} ms, ${memory('VmRSS')} MB${equal ? '' : ', ANSWERS DIFFER'}`,
    );
    console.log(`  sha256 of all: ${createHash('sha256').update(first.join()).digest('hex').slice(0, 16)}`);
  }
  going = false;
  await small;
  await pause(5000);
  console.log(`afterwards: ${memory('VmRSS')} MB, at most ${memory('VmHWM')} MB; a small request waited ${longest.toFixed(0)} ms at most`);
} finally {
  service.kill('SIGTERM');
}
