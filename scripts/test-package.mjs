// Tests the published package: `npm pack`, installed in an empty folder without optional packages, as in the image (Dockerfile), and run by an
// ordinary user without a home folder or write access. It must answer a query, be healthy, and end on SIGTERM.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { freePort } from './debian-postgres.mjs';
import { build } from './build.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
await build({ docs: true });
const { startCluster } = await import('../dist/embedded-postgres/cluster.js');

const NOBODY = 65_534;
const folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
chmodSync(folder, 0o755);
const ends = [() => rmSync(folder, { recursive: true, force: true })];
let passed = 0;
let failed = 0;

function check(what, holds, details = '') {
  if (holds) passed += 1;
  else failed += 1;
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${what}${holds || details === '' ? '' : `: ${details}`}`);
}

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', timeout: 180_000, ...options });
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${done.status}\n${done.stdout}\n${done.stderr}`);
  return done.stdout;
}

function filesOf(top) {
  const hash = createHash('sha256');
  for (const entry of readdirSync(top, { recursive: true, withFileTypes: true }).sort((a, b) =>
    a.parentPath + a.name < b.parentPath + b.name ? -1 : 1,
  )) {
    const path = join(entry.parentPath, entry.name);
    hash.update(`${relative(top, path)}\0`);
    if (entry.isFile()) hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}

async function main() {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: root }));
  const names = packed.files.map(({ path }) => path);
  check(
    'it holds what is built and nothing else',
    names.every((name) => /^(?:dist\/|package\.json$|README\.md$|LICENSE$)/.test(name)),
  );
  check('it holds no tests', !names.some((name) => name.includes('.test.')));
  check('it holds the console', names.includes('dist/console/index.html'));
  check('it holds the documentation', names.includes('dist/docs/index.html'));

  const place = join(folder, 'place');
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{"private": true}');
  run('npm', ['install', '--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', join(folder, packed.filename)], {
    cwd: place,
  });
  const before = filesOf(place);

  const cluster = await startCluster({ dataDirectory: join(folder, 'postgres') });
  ends.unshift(() => cluster.stop());
  const port = await freePort();
  const main_ = join(place, 'node_modules', 'svc-graphql', 'dist', 'cli', 'main.js');
  const isRoot = process.getuid?.() === 0;
  const ordinary = {
    cwd: place,
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    env: { PATH: process.env.PATH, SVC_GRAPHQL_SERVER_PORT: String(port) },
  };
  const noUrl = spawnSync(process.execPath, [main_, 'serve'], { ...ordinary, encoding: 'utf8', timeout: 30_000 });
  check('without a database it says what is missing', noUrl.status !== 0 && /database-url/.test(noUrl.stderr + noUrl.stdout), noUrl.stderr);

  const env = {
    ...ordinary.env,
    SVC_GRAPHQL_DATABASE_URL: cluster.url('postgres'),
    SVC_GRAPHQL_ADMIN_SECRET: 's',
    SVC_GRAPHQL_ENABLE_CONSOLE: 'true',
  };
  const service = spawn(process.execPath, [main_, 'serve'], { ...ordinary, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => service.once('exit', resolve));
  ends.unshift(() => service.kill('SIGKILL'));
  const address = `http://127.0.0.1:${port}`;
  let isReady = false;
  for (let i = 0; i < 600 && !isReady; i++) {
    isReady = await fetch(`${address}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!isReady) await new Promise((resolve) => setTimeout(resolve, 200));
  }
  check('it starts as an ordinary user without a home', isReady);
  const headers = { 'content-type': 'application/json', 'x-svc-admin-secret': 's' };
  const answer = await fetch(`${address}/v1/graphql`, { method: 'POST', headers, body: '{"query": "{ __typename }"}' });
  check('it answers', (await answer.text()) === '{"data":{"__typename":"query_root"}}');
  check('it serves the console', (await fetch(`${address}/console/`)).status === 200);
  check('it serves the documentation', (await fetch(`${address}/docs/permissions.html`)).status === 200);
  for (const args of [['health'], ['health', '--ready']])
    check(
      `svc ${args.join(' ')} is content`,
      spawnSync(process.execPath, [main_, ...args], { ...ordinary, env, timeout: 30_000 }).status === 0,
    );
  service.kill('SIGTERM');
  const late = setTimeout(() => service.kill('SIGKILL'), 20_000);
  check('it ends with 0 at SIGTERM', (await ended) === 0);
  clearTimeout(late);
  check(
    'svc health is not, afterwards',
    spawnSync(process.execPath, [main_, 'health'], { ...ordinary, env, timeout: 30_000 }).status === 1,
  );
  check('it has written nothing beside itself', filesOf(place) === before);
}

try {
  await main();
} catch (error) {
  failed += 1;
  console.error(error);
} finally {
  for (const end of ends) await end();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
