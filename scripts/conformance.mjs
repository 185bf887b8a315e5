// `npm run conformance`: runs the shared conformance cases against this build, on a temporary PostgreSQL 15 with PostGIS and the locale
// en_US.UTF-8, over HTTP and over websockets. Further arguments go to the runner (`--only`, `--verbose`, ...); with `--database-url` no
// cluster is created. Exit code 3: a requirement is not installed.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from './build.mjs';
import { freePort, NOT_INSTALLED, whatIsMissing, withCluster } from './debian-postgres.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

const data = join(root, '..', 'shared', 'conformance');
const floor = join(root, 'test', 'conformance-floor.txt');
const areas = join(root, 'test', 'conformance-areas.txt');
/** Contains the process id of the server under test, which the runner starts in a process group of its own. */
const serverPid = join(tmpdir(), `svc-conformance-${process.pid}.pid`);
const given = process.argv.slice(2);

ensurePackages();
const missing = [
  ...(existsSync(join(data, 'run.mjs')) ? [] : ['../shared/conformance']),
  ...(has('--database-url') ? [] : whatIsMissing()),
];
if (missing.length > 0) {
  console.error(`conformance: NOT RUN, missing: ${missing.join(', ')}`);
  process.exit(NOT_INSTALLED);
}
build();
process.exit(has('--database-url') ? await play() : await withCluster((url) => play('--database-url', url), stopServer));

function has(flag) {
  return given.some((argument) => argument === flag || argument.startsWith(`${flag}=`));
}

/** Runs the cases. A case of the floor that was not run counts as failed, unless cases were selected. */
async function play(...more) {
  const selected = ['--only', '--area', '--list', '--write-floor'].some(has);
  // The runner compares its own path with the one that started it, so links must be resolved first.
  const args = [
    realpathSync(join(data, 'run.mjs')),
    '--spawn',
    `echo $$ > '${serverPid}'; exec node dist/cli/main.js serve --legacy-rows-for-all-roles --version2-openapi-document`,
    '--port',
    String(await freePort()),
    '--ws',
    ...more,
  ];
  const floored = existsSync(floor) && !selected;
  if (floored) args.push('--floor', floor);
  if (existsSync(areas) && !has('--only') && !has('--area')) args.push('--area', lines(areas).join(','));
  const child = spawn(process.execPath, [...args, ...given], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    // A case that has never passed is not a regression; regressions are in the runner's last lines.
    console.log(floored ? line.replace(/^( *)FAIL /, '$1miss ') : line);
    output += `${line}\n`;
  });
  const code = await new Promise((resolve) => child.once('close', (status) => resolve(status ?? 1)));
  stopServer();
  const notRun = Number(/^floor: .* (\d+) not run$/m.exec(output)?.[1] ?? 0);
  if (notRun > 0) console.error(`conformance: ${notRun} cases of the floor were not run`);
  if (code === 0 && !has('--list') && !/^\d+ passed, \d+ failed/m.test(output)) {
    console.error('conformance: the runner ended without a result');
    return 1;
  }
  return notRun > 0 ? 1 : code;
}

/** An interrupted runner leaves its server running. */
function stopServer() {
  if (!existsSync(serverPid)) return;
  try {
    process.kill(Number(readFileSync(serverPid, 'utf8')), 'SIGTERM');
  } catch {
    // The runner has stopped it already.
  }
  rmSync(serverPid, { force: true });
}

function lines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
