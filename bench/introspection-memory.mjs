// Measures the memory of the service after its roles are introspected, as clients and code generators do at their start.
//
//   node bench/introspection-memory.mjs --database-url postgres://…empty database [--tables 204] [--roles 9] [--rounds 2] [--service dist/cli/main.js]
//
// Prints the resident memory before, after and at its peak, size and time of the responses, whether later rounds return the same responses, and
// the longest wait of a small request meanwhile. Needs a build.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { getIntrospectionQuery } from 'graphql';
import { metadata, sql } from './large-schema.mjs';
import { administer, memoryOf, post as postTo, run, startService } from './support.mjs';

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

const post = (target, body, headers) => postTo(base + target, body, headers);

await run(async () => {
  await administer(url, [sql(Number(options.tables))]);
  const env = { SVC_GRAPHQL_PG_CONNECTIONS: '5' };
  const service = await startService({ port: Number(options.port), databaseUrl: url, env, file: [options.service] });
  const memory = (what) => Math.round(memoryOf(service.pid, what) / 1_048_576);
  await post('/v1/metadata', JSON.stringify(metadata(Number(options.tables), Number(options.roles))));
  await sleep(2000);
  console.log(`before: ${memory('VmRSS')} MB`);

  let going = true;
  let longest = 0;
  const small = (async () => {
    while (going) {
      const started = performance.now();
      await post('/v1/graphql', '{"query":"{ __typename }"}');
      longest = Math.max(longest, performance.now() - started);
      await sleep(5);
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
  await sleep(5000);
  console.log(`afterwards: ${memory('VmRSS')} MB, at most ${memory('VmHWM')} MB; a small request waited ${longest.toFixed(0)} ms at most`);
});
