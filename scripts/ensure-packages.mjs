// Installs the npm packages unless they match package-lock.json. Built-ins only.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export const root = dirname(import.meta.dirname);

/** Ends the process with a message if Node is too old. */
function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Node.js 20.19 or newer is needed, this is ${process.versions.node}`);
  process.exit(1);
}

/** @param folder with its own package.json and lock file */
export function ensurePackages(folder = root) {
  requireNode();
  if (packagesAreCurrent(folder)) return;
  console.error('installing packages (npm ci) ...');
  const [command, ...args] = npm();
  const done = spawnSync(command, [...args, 'ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (done.error) console.error(`npm cannot be run: ${done.error.message}`);
  if (done.status !== 0) process.exit(done.status ?? 1);
  if (packagesAreCurrent(folder)) return;
  console.error('npm ci has not installed everything that package-lock.json lists for this platform');
  process.exit(1);
}

/** Compares npm's record of installed packages with the lock file. */
function packagesAreCurrent(folder) {
  const record = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const locked = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  return Object.entries(locked).every(([path, entry]) => {
    if (path === '' || entry.link || !isForThisPlatform(entry)) return true;
    const found = installed[path];
    if (found === undefined) return entry.optional === true && entry.os === undefined && entry.cpu === undefined;
    return found.version === entry.version && found.integrity === entry.integrity && existsSync(join(folder, path, 'package.json'));
  });
}

function isForThisPlatform({ os, cpu, libc }) {
  const allows = (list, value) =>
    list === undefined || list.includes(value) || (!list.includes(`!${value}`) && list.every((v) => v.startsWith('!')));
  const ownLibc = process.report?.getReport === undefined || process.platform !== 'linux' ? undefined : currentLibc();
  return (
    allows(os, process.platform) && allows(cpu, process.arch) && (libc === undefined || ownLibc === undefined || allows(libc, ownLibc))
  );
}

let knownLibc;
function currentLibc() {
  // Like npm: the report of musl has no glibc version.
  if (knownLibc === undefined) {
    process.report.excludeNetwork = true;
    knownLibc = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  }
  return knownLibc;
}

/** The npm that runs this script, or the one beside this Node, or the one in the PATH. */
function npm() {
  const running = process.env.npm_execpath;
  if (running !== undefined && basename(running) === 'npm-cli.js' && existsSync(running)) return [process.execPath, running];
  for (const beside of ['../lib/node_modules/npm/bin/npm-cli.js', 'node_modules/npm/bin/npm-cli.js']) {
    const path = join(dirname(process.execPath), beside);
    if (existsSync(path)) return [process.execPath, path];
  }
  return ['npm'];
}
