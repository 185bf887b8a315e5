/** Files of a project, with pending changes. */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { failure, ProjectFailure, reasonOf } from '../failure.ts';
import { inMebibytes } from './reading-limits.ts';

/** Maximum size of a file, in bytes. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** New texts by absolute path; `null` removes the file. */
export type FileChanges = ReadonlyMap<string, string | null>;

export interface Files {
  /** Root of the project. Files outside are neither read as a part of it nor written. */
  readonly root: string;
  /**
   * Returns the text of a file; `undefined` if it does not exist.
   * @param maxBytes maximum size of the file
   * @throws ProjectFailure if it cannot be read, is not UTF-8, or is a link out of the root
   */
  read(path: string, maxBytes?: number): string | undefined;
  /** Returns a path for messages: relative to the root, with slashes. */
  show(path: string): string;
  isInside(path: string): boolean;
  /** Returns whether a path, with links resolved, is outside of the root. */
  leadsOut(path: string): boolean;
  /**
   * Returns all files below a folder, sorted; none if it does not exist. Follows links to folders within the root or the folder itself,
   * but not in cycles.
   * @throws ProjectFailure if a folder cannot be read, or there are too many files
   */
  list(folder: string): readonly string[];
  /** Returns the files with further changes. */
  with(more: FileChanges): Files;
}

export function projectFiles(root: string, changes: FileChanges = new Map()): Files {
  const isInside = (path: string): boolean => isWithin(root, path);
  const show = (path: string): string => (isInside(path) ? relative(root, path).split(sep).join('/') : path);
  const leadsOut = (path: string): boolean => {
    const real = realPathOf(path);
    const home = realPathOf(root);
    return real !== undefined && home !== undefined && !isWithin(home, real);
  };
  return {
    root,
    show,
    isInside,
    leadsOut,
    with: (more) => projectFiles(root, new Map([...changes, ...more])),
    read(path, maxBytes) {
      const changed = changes.get(path);
      if (changed !== undefined) return changed ?? undefined;
      // Paths outside of the root were named by the user.
      if (isInside(path) && leadsOut(path)) throw linkedOut(show(path));
      return readText(path, show, maxBytes);
    },
    list(folder) {
      const found = new Set(
        filesBelow(folder, [root, folder], show, (path, thrown) => {
          if (thrown !== undefined) throw failure('unreadable', reasonOf(thrown), { file: show(path) });
        }),
      );
      for (const [path, text] of changes) {
        if (text === null) found.delete(path);
        else if (path.startsWith(folder + sep)) found.add(path);
      }
      return [...found].sort();
    },
  };
}

function linkedOut(file: string): ProjectFailure {
  return failure('outside', 'this file is a link out of the project: replace it with a copy', { file });
}

/** Reads a file that the user names, relative to a folder. Follows any link. @throws ProjectFailure */
export function readNamedFile(cwd: string, file: string): string | undefined {
  return readText(resolve(cwd, file), () => file);
}

function readText(path: string, show: (path: string) => string, maxBytes?: number): string | undefined {
  const bytes = readBytes(path, show, maxBytes);
  if (bytes === undefined) return undefined;
  const text = decodeUtf8(bytes);
  if (text === undefined) throw failure('encoding', 'the file is not UTF-8: save it in that encoding', { file: show(path) });
  return text;
}

/** Returns the content of a file; `undefined` if it does not exist. @throws ProjectFailure if it cannot be read or is too large */
export function readBytes(path: string, show: (path: string) => string, maxBytes = MAX_FILE_BYTES): Buffer | undefined {
  let file: number | undefined;
  try {
    // Opening a pipe would wait for its writer.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(file);
    if (found.isDirectory()) return undefined;
    // Reading a device or a pipe may not end.
    if (!found.isFile()) throw new Error('it is not a regular file');
    const bytes = readUpTo(file, found.size, maxBytes);
    if (bytes !== undefined) return bytes;
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' || code === 'ELOOP') return undefined;
    throw failure('unreadable', `the file cannot be read: ${reasonOf(thrown)}`, { file: show(path) });
  } finally {
    if (file !== undefined) closeSync(file);
  }
  throw failure('too-large', `the file has more than ${inMebibytes(maxBytes)}`, { file: show(path) });
}

/** Reads an open file, which may grow meanwhile. Returns `undefined` if it has more bytes than the maximum. */
function readUpTo(file: number, size: number, maxBytes: number): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let length = 0; ; ) {
    if (Math.max(length, size) > maxBytes) return undefined;
    const part = Buffer.allocUnsafe(Math.max(size - length, 0) + 1);
    const read = readSync(file, part);
    if (read === 0) return Buffer.concat(parts);
    length += read;
    parts.push(part.subarray(0, read));
  }
}

/** Returns the text without a byte order mark; `undefined` if it is not UTF-8. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Maximum number of files and folders in one listing. */
const MAX_ENTRIES = 200_000;

/**
 * Returns all files below a folder.
 * @param within folders to stay in, links resolved
 * @param onSkip called for each folder that is skipped: with an error if it cannot be read, without one if it is outside of `within`
 * @throws ProjectFailure if there are too many files
 */
export function filesBelow(
  folder: string,
  within: readonly string[],
  show: (path: string) => string,
  onSkip: (path: string, thrown: Error | undefined) => void,
): readonly string[] {
  const found: string[] = [];
  const homes = within.flatMap((each) => realPathOf(each) ?? []);
  let entries = 0;
  /** @param above resolved paths of the folders above */
  const collect = (path: string, above: ReadonlySet<string>): void => {
    const real = realPathOf(path);
    if (real === undefined || above.has(real)) return;
    if (!homes.some((home) => isWithin(home, real))) {
      onSkip(path, undefined);
      return;
    }
    const here = new Set([...above, real]);
    for (const entry of entriesOf(path, onSkip)) {
      entries += 1;
      if (entries > MAX_ENTRIES) throw failure('too-large', `there are more than ${MAX_ENTRIES} files and folders`, { file: show(folder) });
      const below = resolve(path, entry.name);
      const kind = entry.isSymbolicLink() ? kindOfTarget(below) : entry.isDirectory() ? 'folder' : 'file';
      if (kind === 'file') found.push(below);
      else if (kind === 'folder') collect(below, here);
    }
  };
  if (kindOfTarget(folder) === 'folder') collect(folder, new Set());
  return found.sort();
}

function entriesOf(folder: string, onSkip: (path: string, thrown: Error) => void) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    onSkip(folder, thrown instanceof Error ? thrown : new Error(String(thrown)));
    return [];
  }
}

/** Returns whether a path is the folder or is in it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Returns the path with links resolved; `undefined` for a broken or cyclic link. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function kindOfTarget(link: string): 'file' | 'folder' | undefined {
  try {
    return statSync(link).isDirectory() ? 'folder' : 'file';
  } catch {
    // A broken or cyclic link.
    return undefined;
  }
}

/** Returns the nearest existing folder of a path. */
function nearestFolder(path: string): string {
  return realPathOf(path) === undefined && dirname(path) !== path ? nearestFolder(dirname(path)) : path;
}

/**
 * Writes all files beside their places first, then renames them, so that nothing changes if one of them cannot be written.
 * @throws ProjectFailure
 */
export function applyChanges(files: Files, changes: FileChanges): void {
  const written: { readonly draft: string; readonly path: string }[] = [];
  let failed = 'nothing was written';
  try {
    for (const [path, text] of changes) {
      if (!files.isInside(path)) throw failure('outside', 'refused to write outside of the project', { file: path });
      if (files.leadsOut(nearestFolder(dirname(path)))) throw linkedOut(files.show(path));
      if (text === null) continue;
      mkdirSync(dirname(path), { recursive: true });
      written.push({ draft: writeDraft(path, text), path });
    }
    failed = 'not all files were written';
    for (const { draft, path } of written) renameSync(draft, path);
    for (const [path, text] of changes) if (text === null) rmSync(path, { force: true });
  } catch (thrown) {
    for (const { draft } of written) rmSync(draft, { force: true });
    throw thrown instanceof ProjectFailure ? thrown : failure('unwritable', `${failed}: ${reasonOf(thrown)}`);
  }
}

/** Writes a new file beside a path. Its name cannot be foreseen, and a link of that name is not followed. @returns its path */
function writeDraft(path: string, text: string): string {
  const draft = join(dirname(path), `.svc-${randomUUID()}.new`);
  try {
    writeFileSync(draft, text, { flag: 'wx' });
  } catch (thrown) {
    // A file of another process is not removed.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(draft, { force: true });
    throw thrown;
  }
  return draft;
}
