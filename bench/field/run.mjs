// Measures svc, PostGraphile 5 and the ideal server (`bench/floor.mjs`) on the queries of `bench/workloads.json`, and servers of Hasura and
// PostgREST that run already. Prints the versions, the machine, and a table. `--help` lists the options; docs/compare.md shows a run.
//
//   node bench/field/run.mjs
//   node bench/field/run.mjs --queries by_pk,deep --seconds 5 --rounds 5 --same-node --markdown
//   node bench/field/run.mjs --database-url postgres://… --hasura http://127.0.0.1:8081/v1/graphql --header hasura=x-hasura-admin-secret:s
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from '../../scripts/build.mjs';
import { ensurePackages, root } from '../../scripts/ensure-packages.mjs';
import { optionsOf, USAGE, UsageError } from './options.mjs';

const WORKLOADS = JSON.parse(fs.readFileSync(path.join(root, 'bench', 'workloads.json'), 'utf8'));
/** Each server describes a schema of its own: the answers to `introspection` are different data. */
const QUERIES = Object.keys(WORKLOADS).filter((name) => name !== 'introspection');
const LOCKED = path.join(import.meta.dirname, 'postgraphile');

/** Installs PostGraphile and its Node.js. @returns the folder */
function installPostgraphile(given) {
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const folder = path.resolve(given ?? path.join(cache, 'svc-bench', 'postgraphile'));
  fs.mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) fs.copyFileSync(path.join(LOCKED, name), path.join(folder, name));
  ensurePackages(folder);
  return folder;
}

async function compare(options, packages) {
  const { atEnd, databaseServer, makeDatabase } = await import('../support.mjs');
  const { loadSampleData } = await import('../../dist/embedded-postgres/sample-data.js');
  const { describeDatabase, describeMachine, startServers } = await import('./servers.mjs');
  const { measureQuery, rememberData } = await import('./measure.mjs');
  const { reportOf } = await import('./report.mjs');

  const [date, before] = [new Date(), os.loadavg()[0]];
  const data = await databaseServer(options.databaseUrl);
  await loadSampleData(data);
  const restore = await rememberData(data);
  const metadata = await makeDatabase(data, 'svc_bench_field');
  // Runs after the servers have stopped.
  atEnd(restore);
  const database = await describeDatabase(data);
  const servers = await startServers(options, { data, metadata, packages });

  const results = [];
  for (const query of options.queries) {
    console.error(`${query} ...`);
    results.push(...(await measureQuery(query, WORKLOADS[query], servers, { ...options, database: database.pid })));
    if (query === 'update' || query === 'insert') await restore();
  }
  const facts = [
    ['date', `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`],
    ...describeMachine(),
    ['load average', `${before.toFixed(1)} before, ${os.loadavg()[0].toFixed(1)} at the end`],
    ['PostgreSQL', database.version],
    ...servers.map(({ name, version }) => [name, version]),
    ['load', `${options.generator}, median of ${options.rounds} rounds of ${options.seconds} s in alternation`],
    ['command', commandOf(process.argv.slice(2))],
  ];
  console.log(reportOf({ facts, results }, options));
  if (options.json !== undefined)
    fs.writeFileSync(options.json, `${JSON.stringify({ facts: Object.fromEntries(facts), results }, null, 2)}\n`);
}

/** @returns the command without secrets */
function commandOf(argv) {
  const shown = argv.map((argument) => argument.replace(/^((?:--header=)?[a-z]+=[\w-]+:).*$/, '$1…').replace(/(\/\/)[^/@\s]*@/, '$1…@'));
  return ['node bench/field/run.mjs', ...shown].join(' ');
}

function given() {
  try {
    return optionsOf(process.argv.slice(2), QUERIES);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const options = given();
if (options.isHelp) {
  console.log(USAGE);
  process.exit(0);
}
ensurePackages();
await build();
const needsPackages = options.isSameNode || options.started.includes('postgraphile');
const packages = needsPackages ? installPostgraphile(options.folder) : undefined;
const { run } = await import('../support.mjs');
await run(() => compare(options, packages));
