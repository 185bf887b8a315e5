import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import type { Place } from './place.ts';

export const SUPERUSER = 'postgres';

/**
 * Creates the database's files unless they exist. They get their final name only when complete, so an interrupted first start is repeated.
 * @returns whether they were created
 * @throws Error
 */
export async function initialise(place: Place, binaries: Binaries, password: string): Promise<boolean> {
  const versionFile = join(place.dataFolder, 'PG_VERSION');
  if (existsSync(versionFile)) {
    const version = readFileSync(versionFile, 'utf8').trim();
    if (version === binaries.majorVersion) return false;
    throw new Error(
      `the data in ${place.dataFolder} was written by PostgreSQL ${version}, the embedded one is ${binaries.majorVersion}: dump it with the old version, or set another --data-dir`,
    );
  }
  const draft = `${place.dataFolder}.new`;
  const passwordFile = join(place.folder, 'initial-password');
  rmSync(draft, { recursive: true, force: true });
  rmSync(passwordFile, { force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' });
  if (place.account !== null) {
    for (const path of [draft, passwordFile]) chownSync(path, place.account.uid, place.account.gid);
  }
  try {
    await run(binaries.initdb, initdbArguments(draft, passwordFile), place);
    renameSync(draft, place.dataFolder);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(draft, { recursive: true, force: true });
  }
  return true;
}

// The builtin provider gives UTF-8 character classes and code point order without any locale of the operating
// system, so a cluster is the same everywhere and its folder can move to another machine.
function initdbArguments(folder: string, passwordFile: string): string[] {
  return [
    `--pgdata=${folder}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    // The password is random and long: repeated hashing would only make every connection slower.
    '--set=scram_iterations=1',
  ];
}

/** Environment of database processes, without variables that could change their behaviour. */
export const DATABASE_ENVIRONMENT: Readonly<Record<string, string>> = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

function run(program: string, args: readonly string[], place: Place): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...(place.account ?? {}),
      cwd: '/',
      env: DATABASE_ENVIRONMENT,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => reject(startFailure(program, error)));
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`the embedded PostgreSQL could not be initialised (initdb ended with ${signal ?? code}): ${output.trim()}`));
    });
  });
}

/** Likely causes if an existing program cannot be run. */
export function startFailure(program: string, error: Error): Error {
  const causes: Record<string, string> = {
    ENOENT: 'this system cannot load it; on Linux it needs the GNU C library',
    EACCES: 'the user of the database is not allowed to run it, or the file system does not allow programs',
    EPERM: 'this process is not allowed to start programs as another user',
  };
  const cause = causes[(error as NodeJS.ErrnoException).code ?? ''] ?? 'see the message';
  return new Error(`${program} cannot be started (${cause}): ${error.message}. Set --database-url to use your own PostgreSQL`);
}
