// The servers of a comparison: those that the run starts, those that run already, and their versions.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { listenerOf, processOf } from '../processes.mjs';
import { outputOf, root, startProcess, startService, waitFor } from '../support.mjs';

/** Executable of the package `node` in the folder of packages. */
export const nodeOf = (folder) => path.join(folder, 'node_modules', 'node', 'bin', 'node');

/**
 * Starts the servers, the ideal one first.
 * @param data URL of the database with the sample store
 * @param metadata URL of a database for the metadata of svc
 * @param packages folder of PostGraphile, if it is started
 * @returns `{name, url, pid, version, headers}` of each; `pid` is null for a server whose process is not on this machine
 */
export async function startServers({ started, urls, headers, port, isSameNode }, { data, metadata, packages }) {
  if (packages !== undefined && !fs.existsSync(nodeOf(packages))) {
    throw new Error(`npm has not run the install script of the package node; run "npm rebuild node" in ${packages}`);
  }
  const node = isSameNode ? nodeOf(packages) : process.execPath;
  const servers = [await startIdeal(data, port, node)];
  if (started.includes('svc')) servers.push(await startSvc({ data, metadata, port: port + 1, node }));
  if (started.includes('postgraphile')) servers.push(await startPostgraphile(data, port + 2, packages));
  for (const [name, url] of Object.entries(urls)) servers.push(runningServer(name, url));
  return servers.map((server) => ({ ...server, headers: headers[server.name] ?? {} }));
}

async function startIdeal(data, port, node) {
  const server = startProcess(['bench/floor.mjs', data, String(port)], {}, node);
  const url = `http://127.0.0.1:${port}/`;
  await waitFor(url, server);
  return { name: 'ideal', url, pid: server.pid, version: `bench/floor.mjs, ${await nodeVersion(node)}` };
}

async function startSvc({ data, metadata, port, node }) {
  const { trackSampleData } = await import('../../dist/embedded-postgres/sample-data.js');
  const env = { SVC_GRAPHQL_METADATA_DATABASE_URL: metadata };
  const { pid } = await startService({ port, databaseUrl: data, env, node });
  const address = `http://127.0.0.1:${port}`;
  await trackSampleData(address, null);
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const runs = [version, await commit(), await nodeVersion(node)].join(', ');
  return { name: 'svc', url: `${address}/v1/graphql`, pid, version: runs };
}

async function startPostgraphile(data, port, packages) {
  const node = nodeOf(packages);
  const env = { NODE_ENV: 'production', GRAPHILE_ENV: 'production' };
  const server = startProcess(['bench/field/postgraphile/server.mjs', packages, data, String(port)], env, node);
  const url = `http://127.0.0.1:${port}/graphql`;
  await waitFor(url, server);
  const { version } = JSON.parse(fs.readFileSync(path.join(packages, 'node_modules', 'postgraphile', 'package.json'), 'utf8'));
  return { name: 'postgraphile', url, pid: server.pid, version: `${version}, ${await nodeVersion(node)}` };
}

function runningServer(name, url) {
  const { hostname, port, protocol } = new URL(url);
  const number = Number(port) || (protocol === 'https:' ? 443 : 80);
  return { name, url, pid: isLocal(hostname) ? listenerOf(number) : null, version: 'by URL' };
}

const isLocal = (host) => ['127.0.0.1', 'localhost', '[::1]', '::1'].includes(host);

const nodeVersion = async (node) => `Node.js ${(await outputOf(node, ['--version'])).trim().slice(1)}`;

async function commit() {
  try {
    const id = (await outputOf('git', ['-C', root, 'rev-parse', '--short=10', 'HEAD'])).trim();
    const changes = await outputOf('git', ['-C', root, 'status', '--porcelain', '--untracked-files=no']);
    return `commit ${id}${changes.trim() === '' ? '' : ' with changes'}`;
  } catch {
    return 'commit unknown';
  }
}

/** @returns the version of PostgreSQL, and the process of the server, which is null on another machine */
export async function describeDatabase(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query("select current_setting('server_version') as version, pg_backend_pid() as pid");
    const [{ version, pid }] = rows;
    const backend = isLocal(new URL(url).hostname) ? processOf(pid) : undefined;
    return { version, pid: backend?.name === 'postgres' ? backend.parent : null };
  } finally {
    await client.end();
  }
}

/** @returns `{name, value}` of each fact about the machine */
export function describeMachine() {
  const processors = os.cpus();
  return [
    ['processors', `${os.availableParallelism()} × ${processors[0]?.model.trim() ?? 'unknown'}`],
    ['memory', `${(os.totalmem() / 2 ** 30).toFixed(1)} GiB`],
    ['system', `${os.type()} ${os.release()} ${os.arch()}`],
  ];
}
