/** Files of a project, seen through changes that are not written yet. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { failure, type ProjectFailure, reasonOf } from '../failure.ts';

/** Bytes. */
const LARGEST_FILE = 256 * 1024 * 1024;

/** Absolute path to new text; null removes the file. */
export type FileChanges = ReadonlyMap<string, string | null>;

export interface Files {
  /** Of the project; nothing outside is read as a part of it or written. */
  readonly root: string;
  /**
   * undefined: there is no such file.
   * @throws ProjectFailure when it cannot be read, is no UTF-8, or a link leads it out of the root
   */
  read(path: string): string | undefined;
  /** Relative to the root, with slashes. */
  show(path: string): string;
  isInside(path: string): boolean;
  /** Whether a path, once links are followed, leads out of the root. */
  leadsOut(path: string): boolean;
  /**
   * All files below a folder, sorted; none when it does not exist. Links to folders are followed where they stay within the
   * root or the folder itself, but not in circles.
   * @throws ProjectFailure when a folder cannot be read, or there are too many
   */
  list(folder: string): readonly string[];
  /** Seen through further changes. */
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
    read(path) {
      const changed = changes.get(path);
      if (changed !== undefined) return changed ?? undefined;
      // Paths outside are those that the user names.
      if (isInside(path) && leadsOut(path)) throw linkedOut(show(path));
      return readText(path, show);
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
  return failure('outside', 'a link leads this file out of the project: put a copy in its place', { file });
}

/** A file that the user names, relative to a folder: links are followed anywhere. undefined: there is none. @throws ProjectFailure */
export function readNamedFile(cwd: string, file: string): string | undefined {
  return readText(resolve(cwd, file), () => file);
}

function readText(path: string, show: (path: string) => string): string | undefined {
  const bytes = readBytes(path, show);
  if (bytes === undefined) return undefined;
  const text = decodeUtf8(bytes);
  if (text === undefined) throw failure('encoding', 'the file is no UTF-8: save it as that', { file: show(path) });
  return text;
}

/** Of a file; undefined: there is none. @throws ProjectFailure when it cannot be read */
export function readBytes(path: string, show: (path: string) => string): Buffer | undefined {
  try {
    const found = statSync(path);
    // Devices and pipes have no end.
    if (!found.isFile() && !found.isDirectory()) throw new Error('it is no regular file');
    if (found.size > LARGEST_FILE) throw new Error(`it has more than ${LARGEST_FILE / 2 ** 20} MiB`);
    return readFileSync(path);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' || code === 'ELOOP') return undefined;
    throw failure('unreadable', `the file cannot be read: ${reasonOf(thrown)}`, { file: show(path) });
  }
}

/** Without a mark of the order of bytes; undefined: it is no UTF-8. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Of one listing: files, and folders by whatever way. */
const MOST_ENTRIES = 200_000;

/**
 * All files below a folder, by the ways that lead there.
 * @param within what lies outside of these folders, links resolved, is not looked into
 * @param left told of each folder that is not looked into: it cannot be read, or, without an error, lies elsewhere
 * @throws ProjectFailure when there are too many
 */
export function filesBelow(
  folder: string,
  within: readonly string[],
  show: (path: string) => string,
  left: (path: string, thrown: Error | undefined) => void,
): readonly string[] {
  const found: string[] = [];
  const homes = within.flatMap((each) => realPathOf(each) ?? []);
  let entries = 0;
  /** @param above where it lies, links resolved */
  const collect = (path: string, above: ReadonlySet<string>): void => {
    const real = realPathOf(path);
    if (real === undefined || above.has(real)) return;
    if (!homes.some((home) => isWithin(home, real))) {
      left(path, undefined);
      return;
    }
    const here = new Set([...above, real]);
    for (const entry of entriesOf(path, left)) {
      entries += 1;
      if (entries > MOST_ENTRIES)
        throw failure('too-large', `there are more than ${MOST_ENTRIES} files and folders`, { file: show(folder) });
      const below = resolve(path, entry.name);
      const kind = entry.isSymbolicLink() ? kindOfTarget(below) : entry.isDirectory() ? 'folder' : 'file';
      if (kind === 'file') found.push(below);
      else if (kind === 'folder') collect(below, here);
    }
  };
  if (kindOfTarget(folder) === 'folder') collect(folder, new Set());
  return found.sort();
}

function entriesOf(folder: string, left: (path: string, thrown: Error) => void) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    left(folder, thrown instanceof Error ? thrown : new Error(String(thrown)));
    return [];
  }
}

/** Whether a path is a folder or lies in it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** undefined: it leads nowhere, or in a circle. */
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
    // It leads nowhere, or in a circle.
    return undefined;
  }
}

/** The nearest folder of a path that exists. */
function nearestFolder(path: string): string {
  return realPathOf(path) === undefined && dirname(path) !== path ? nearestFolder(dirname(path)) : path;
}

/**
 * Writes every new text beside its place first and renames then, so that nothing has changed when one of them cannot be written.
 * @throws ProjectFailure
 */
export function applyChanges(files: Files, changes: FileChanges): void {
  const written: { readonly draft: string; readonly path: string }[] = [];
  try {
    for (const [path, text] of changes) {
      if (!files.isInside(path)) throw failure('outside', 'refused to write outside of the project', { file: path });
      if (files.leadsOut(nearestFolder(dirname(path)))) throw linkedOut(files.show(path));
      if (text === null) continue;
      mkdirSync(dirname(path), { recursive: true });
      const draft = join(dirname(path), `.${basename(path)}.${process.pid}.new`);
      written.push({ draft, path });
      writeFileSync(draft, text);
    }
  } catch (thrown) {
    for (const { draft } of written) rmSync(draft, { force: true });
    throw thrown instanceof Error && thrown.name === 'ProjectFailure'
      ? thrown
      : failure('unwritable', `nothing was written: ${reasonOf(thrown)}`);
  }
  for (const { draft, path } of written) renameSync(draft, path);
  for (const [path, text] of changes) if (text === null) rmSync(path, { force: true });
}
