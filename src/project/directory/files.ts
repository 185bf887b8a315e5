/** Files of a project, seen through changes that are not written yet. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { failure, reasonOf } from '../failure.ts';

/** Absolute path to new text; null removes the file. */
export type FileChanges = ReadonlyMap<string, string | null>;

export interface Files {
  /** Of the project; nothing outside is read as a part of it or written. */
  readonly root: string;
  /** undefined: there is no such file. @throws ProjectFailure when it cannot be read */
  read(path: string): string | undefined;
  /** Relative to the root, with slashes. */
  show(path: string): string;
  isInside(path: string): boolean;
  /** All files below a folder, sorted; none when it does not exist. */
  list(folder: string): readonly string[];
  /** Seen through further changes. */
  with(more: FileChanges): Files;
}

export function projectFiles(root: string, changes: FileChanges = new Map()): Files {
  const isInside = (path: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
  const show = (path: string): string => (isInside(path) ? relative(root, path).split(sep).join('/') : path);
  return {
    root,
    show,
    isInside,
    with: (more) => projectFiles(root, new Map([...changes, ...more])),
    read(path) {
      const changed = changes.get(path);
      if (changed !== undefined) return changed ?? undefined;
      try {
        return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
      } catch (thrown) {
        const { code } = thrown as NodeJS.ErrnoException;
        if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
        throw failure('unreadable', `the file cannot be read: ${reasonOf(thrown)}`, { file: show(path) });
      }
    },
    list(folder) {
      const found = new Set<string>();
      try {
        for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
          if (!entry.isDirectory()) found.add(resolve(entry.parentPath, entry.name));
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw failure('unreadable', reasonOf(thrown), { file: show(folder) });
      }
      for (const [path, text] of changes) {
        if (text === null) found.delete(path);
        else if (path.startsWith(folder + sep)) found.add(path);
      }
      return [...found].sort();
    },
  };
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
