// Builds Citus for Debian's PostgreSQL 15 from the source in ../shared/citus. The build is cached in a folder of the user and repeated when
// the source, PostgreSQL or this script changes. It has a copy of the system's PostgreSQL, which is not changed. Run as a
// script it only builds. Exit code 3: a requirement is not installed, or ../shared/citus does not exist.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { NOT_INSTALLED } from './debian-postgres.mjs';
import { root } from './ensure-packages.mjs';

const SOURCE = join(root, '..', 'shared', 'citus');
const PG_CONFIG = '/usr/lib/postgresql/15/bin/pg_config';
const PGXS = '/usr/lib/postgresql/15/lib/pgxs/src/Makefile.global';
/** PostgreSQL finds its libraries relative to its program, so the build has the same folders below its own. */
const COPIED = ['/usr/lib/postgresql/15', '/usr/share/postgresql/15'];
/** Maximum time for each step of the build, in milliseconds. */
const STEP_TIMEOUT = 300_000;

/** Path of the source archive, or undefined if there is none. */
function sourceArchive() {
  const name = existsSync(SOURCE) ? readdirSync(SOURCE).find((each) => /^citus-[\d.]+\.tar\.xz$/.test(each)) : undefined;
  return name === undefined ? undefined : join(SOURCE, name);
}

/** Names of the requirements of the build that are missing on this machine. */
function missingRequirements() {
  if (sourceArchive() === undefined) return ['../shared/citus'];
  const list = [];
  if (!existsSync(PG_CONFIG) || !existsSync(PGXS)) list.push('postgresql-15 and postgresql-server-dev-15');
  for (const program of ['gcc', 'make', 'tar', 'xz']) if (spawnSync(program, ['--version']).status !== 0) list.push(program);
  for (const header of ['curl/curl.h', 'lz4.h', 'zstd.h', 'openssl/ssl.h']) if (!hasHeader(header)) list.push(header);
  return list;
}

function hasHeader(name) {
  return spawnSync('gcc', ['-fsyntax-only', '-x', 'c', '-'], { input: `#include <${name}>\n` }).status === 0;
}

/** Builds Citus unless the build is cached. Ends the process if a requirement is missing. @returns the folder of PostgreSQL's programs */
export function buildCitus() {
  const missing = missingRequirements();
  if (missing.length > 0) {
    console.error(`Citus: NOT RUN, missing: ${missing.join(', ')}`);
    process.exit(NOT_INSTALLED);
  }
  const archive = sourceArchive();
  const folder = join(cacheFolder(), `citus-${fingerprint(archive)}`);
  const programs = join(folder, COPIED[0], 'bin');
  if (existsSync(folder)) return programs;
  mkdirSync(cacheFolder(), { recursive: true, mode: 0o755 });
  const work = mkdtempSync(join(cacheFolder(), 'building-'));
  try {
    const started = Date.now();
    console.error(`building ${archive} into ${folder} ...`);
    const tree = join(work, 'tree');
    // The user postgres must be able to enter it.
    mkdirSync(tree, { mode: 0o755 });
    for (const path of COPIED)
      cpSync(path, join(tree, path), { recursive: true, verbatimSymlinks: true, filter: (file) => !/\/(bitcode|pgxs|locale)$/.test(file) });
    const log = join(work, 'log');
    step(log, work, 'tar', ['-xf', archive, '--no-same-owner', '--strip-components=1', '--one-top-level=source']);
    const source = join(work, 'source');
    renameFunction(join(source, 'src', 'include', 'pg_version_compat.h'));
    step(log, source, './configure', [`PG_CONFIG=${PG_CONFIG}`]);
    step(log, source, 'make', [`-j${availableParallelism()}`, 'with_llvm=no']);
    step(log, source, 'make', ['install', 'with_llvm=no', `DESTDIR=${tree}`]);
    // A concurrent run may have finished first; both builds are the same.
    if (!existsSync(folder)) renameSync(tree, folder);
    console.error(`built in ${Math.round((Date.now() - started) / 1000)} s`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return programs;
}

function cacheFolder() {
  // Other users cannot enter the home folder of root, and PostgreSQL runs as one of them.
  const ofUser = process.getuid() === 0 ? '/var/cache' : join(homedir(), '.cache');
  return join(process.env.XDG_CACHE_HOME || ofUser, 'svc-tests');
}

function fingerprint(archive) {
  const { stdout } = spawnSync(PG_CONFIG, ['--version'], { encoding: 'utf8' });
  const hash = createHash('sha256').update(readFileSync(archive)).update(stdout);
  return hash
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('hex')
    .slice(0, 16);
}

/** PostgreSQL 15.20 exports a function that the header of Citus 13.2.2 defines as a static one of the same name. */
function renameFunction(header) {
  const text = readFileSync(header, 'utf8');
  const definition = 'static inline bool\nhave_createdb_privilege(void)';
  writeFileSync(header, text.replace(definition, `#define have_createdb_privilege citus_have_createdb_privilege\n${definition}`));
}

function step(log, cwd, command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: STEP_TIMEOUT,
    maxBuffer: 64 * 1024 * 1024,
  });
  appendFileSync(log, `${stdout}${stderr}`);
  if (status === 0) return;
  const last = readFileSync(log, 'utf8').split('\n').slice(-40).join('\n');
  throw new Error(`${last}\nCitus cannot be built: ${command} ${args.join(' ')} failed${error === undefined ? '' : ` (${error.message})`}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(buildCitus());
