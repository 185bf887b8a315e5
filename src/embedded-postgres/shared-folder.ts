import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = 'svc-graphql';

/** Folders for files that the database's user cannot reach below the project, the preferred one first. */
export function sharedFolders(): readonly string[] {
  return [join('/var/lib', NAME), join(tmpdir(), `${NAME}-${process.getuid?.() ?? 0}`)];
}

/** Returns a short name for a path, the same at every start. */
export function pathHash(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}

/**
 * Creates the folder, which other users can enter. In the temporary folder any user could have created it before, so a folder of another
 * user is refused.
 * @throws Error
 */
export function makeSharedFolder(path: string): void {
  mkdirSync(path, { recursive: true });
  const stats = lstatSync(path);
  if (!stats.isDirectory() || stats.uid !== process.getuid?.()) throw new Error(`${path} is not a folder of this user`);
  chmodSync(path, 0o755);
}
