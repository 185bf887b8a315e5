/** Computes the changes of a project's files for a new metadata document. */
import { join } from 'node:path';
import { isJsonArray, isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';
import { failure, ProjectFailure } from '../failure.ts';
import { actionsFiles } from './actions-sdl.ts';
import type { FileChanges, Files } from './files.ts';
import { YamlMerge } from './merge-yaml.ts';
import { type MetadataFolder, MetadataReader, type ReadMetadata, readMetadata } from './read-metadata.ts';
import { ACTIONS_FILE, ACTIONS_SDL_FILE, canonical, SECTIONS, SOURCES_FILE, sameMeaning, VERSION_FILE } from './sections.ts';
import { printYamlFile, withoutAliases } from './yaml-file.ts';

export interface WrittenMetadata {
  readonly changes: FileChanges;
  /** Files below the metadata folder that no file includes. */
  readonly orphans: readonly string[];
}

/**
 * Returns the changes after which the files contain the document. Unchanged files are not among them; files that are no longer included
 * are removed. Verifies the changes by reading them again.
 * @throws ProjectFailure also if the existing files cannot be read
 */
export function writeMetadata(at: MetadataFolder, document: JsonObject): WrittenMetadata {
  if (at.file !== undefined) return { changes: writeWhole(at, at.file, document), orphans: [] };
  const known = new Set(['version', 'actions', 'custom_types', ...SECTIONS.map(({ key }) => key)]);
  const strange = Object.keys(document).filter((key) => !known.has(key));
  if (strange.length > 0)
    throw failure(
      'newer-server',
      `the metadata has sections that this command does not support: ${strange.join(', ')}. Use svc in the version of the service.`,
    );
  const sources = join(at.folder, SOURCES_FILE);
  const exists = at.files.read(sources) !== undefined;
  const before = exists ? readMetadata(isBlank(at.files, sources) ? withList(at, sources) : at) : undefined;
  const merged = attempt(() => finished(at, mergedChanges(at, document), before));
  if (merged !== undefined && readsAs(at, merged, document)) return { changes: merged, orphans: orphansOf(at, merged) };
  // An anchor with several aliases cannot follow a change of one of them, so aliases are expanded.
  const expanded = new Map<string, string | null>(
    [...(before?.files ?? [])].flatMap(([path, file]) => {
      const text = typeof file === 'string' ? undefined : withoutAliases(file);
      return text === undefined ? [] : [[path, text] as const];
    }),
  );
  if (expanded.size > 0) {
    const withoutAnchors: MetadataFolder = { ...at, files: at.files.with(expanded) };
    const changes = attempt(() => finished(at, new Map([...expanded, ...mergedChanges(withoutAnchors, document)]), before));
    if (changes !== undefined && readsAs(at, changes, document)) return { changes, orphans: orphansOf(at, changes) };
  }
  // As a last resort, write all files again.
  const removed = new Map<string, string | null>();
  if (before !== undefined) for (const path of before.files.keys()) removed.set(path, null);
  const empty: MetadataFolder = { ...at, files: at.files.with(removed) };
  const fresh = new Map([...removed, ...mergedChanges(empty, document)]);
  if (!readsAs(at, fresh, document))
    throw failure('round-trip', 'the written files would not contain the same metadata, so nothing was written: please report this');
  return { changes: withoutUnchanged(at, fresh), orphans: orphansOf(at, fresh) };
}

/** Returns whether a file has no content: an error where sources are read, but it can be written. */
function isBlank(files: Files, path: string): boolean {
  const reader = new MetadataReader(files);
  return reader.read(path) === null && reader.problems.length === 0;
}

function withList(at: MetadataFolder, path: string): MetadataFolder {
  return { ...at, files: at.files.with(new Map([[path, '[]\n']])) };
}

/** Returns `undefined` if the anchor of an alias would be removed. */
function attempt(run: () => Map<string, string | null>): Map<string, string | null> | undefined {
  try {
    return run();
  } catch (thrown) {
    // The YAML printer has no error class or code for this error.
    if (thrown instanceof ProjectFailure || (thrown instanceof Error && /^Unresolved alias/.test(thrown.message))) return undefined;
    throw thrown;
  }
}

function mergedChanges(at: MetadataFolder, document: JsonObject): Map<string, string | null> {
  const { files, folder } = at;
  const reader = new MetadataReader(files);
  // The merge needs the values of all included files.
  const before = new Map(SECTIONS.map(({ file }) => [file, reader.read(join(folder, file))]));
  const merge = new YamlMerge(files, reader);
  const changes = new Map<string, string | null>();
  const isNew = files.read(join(folder, SOURCES_FILE)) === undefined;
  if (isNew) changes.set(join(folder, VERSION_FILE), 'version: 3\n');
  for (const { file, key, empty } of SECTIONS) {
    const path = join(folder, file);
    const value = document[key];
    const exists = files.read(path) !== undefined;
    if (value === undefined && !exists && !(isNew && empty !== null)) continue;
    // Keep any form of an empty section, unless it is a list instead of an object, or that of sources, which is required.
    const read = before.get(file);
    const isReadable = isJsonArray(read) ? isJsonArray(empty) : key !== 'sources';
    if (exists && isEmpty(value) && isEmpty(read) && isReadable) continue;
    merge.setFile(path, value ?? empty ?? {}, key);
  }
  const actionsPath = join(folder, ACTIONS_FILE);
  const sdlPath = join(folder, ACTIONS_SDL_FILE);
  const sdl = files.read(sdlPath);
  const hasActions = document['actions'] !== undefined || document['custom_types'] !== undefined;
  if (hasActions || isNew || sdl !== undefined || files.read(actionsPath) !== undefined) {
    if (!hasSameActions(at, reader.read(actionsPath), sdl, document)) {
      const { yaml, sdl: text } = actionsFiles(document['actions'], document['custom_types'], sdl ?? '');
      merge.setFile(actionsPath, yaml);
      if (text !== sdl) changes.set(sdlPath, text);
    }
  }
  for (const file of merge.changed.values()) changes.set(file.path, printYamlFile(file));
  for (const [path, text] of merge.texts) changes.set(path, text);
  return changes;
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'object') return false;
  return Object.values(value).every((item) => isEmpty(item as Json));
}

/** Returns whether the two files of actions contain those of the document. */
function hasSameActions(at: MetadataFolder, yaml: Json | undefined, sdl: string | undefined, document: JsonObject): boolean {
  if (yaml === undefined || sdl === undefined) return false;
  try {
    const read = readMetadata(at).document;
    return sameParts(read, document, ['actions', 'custom_types']);
  } catch (thrown) {
    if (thrown instanceof ProjectFailure) return false;
    throw thrown;
  }
}

function sameParts(a: JsonObject, b: JsonObject, keys: readonly string[]): boolean {
  return keys.every((key) => {
    const [one, other] = [a[key], b[key]];
    if (isEmpty(one) && isEmpty(other)) return true;
    return one !== undefined && other !== undefined && sameMeaning(one, other, key);
  });
}

/** Adds the removal of files that are no longer included, and leaves out unchanged files. */
function finished(at: MetadataFolder, changes: Map<string, string | null>, before: ReadMetadata | undefined): Map<string, string | null> {
  if (before !== undefined) {
    try {
      const after = readMetadata({ ...at, files: at.files.with(changes) });
      for (const path of before.files.keys()) if (!after.files.has(path)) changes.set(path, null);
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure)) throw thrown;
    }
  }
  return withoutUnchanged(at, changes);
}

function withoutUnchanged({ files }: MetadataFolder, changes: ReadonlyMap<string, string | null>): Map<string, string | null> {
  return new Map([...changes].filter(([path, text]) => files.read(path) !== (text ?? undefined)));
}

function readsAs(at: MetadataFolder, changes: FileChanges, document: JsonObject): boolean {
  try {
    const { document: read } = readMetadata({ ...at, files: at.files.with(changes) });
    return sameParts(
      read,
      document,
      [...new Set([...Object.keys(read), ...Object.keys(document)])].filter((key) => key !== 'version'),
    );
  } catch (thrown) {
    if (thrown instanceof ProjectFailure) return false;
    throw thrown;
  }
}

/** Returns the YAML and SDL files below the folder that are not a part of the metadata. */
export function orphansOf(at: MetadataFolder, changes: FileChanges = new Map()): readonly string[] {
  const files = at.files.with(changes);
  const read = readMetadata({ ...at, files });
  const own = new Set(
    [VERSION_FILE, ACTIONS_FILE, ACTIONS_SDL_FILE, ...SECTIONS.map(({ file }) => file)].map((file) => join(at.folder, file)),
  );
  return files.list(at.folder).filter((path) => /\.(?:ya?ml|graphql)$/i.test(path) && !own.has(path) && !read.files.has(path));
}

function writeWhole(at: MetadataFolder, path: string, document: JsonObject): FileChanges {
  const before = at.files.read(path);
  if (before !== undefined) {
    const read = readMetadata(at);
    if (canonical(read.document) === canonical(document)) return new Map();
  }
  if (/\.json$/i.test(path)) return new Map([[path, `${indented(document)}\n`]]);
  const reader = new MetadataReader(at.files);
  if (before !== undefined) reader.read(path);
  const merge = new YamlMerge(at.files, reader);
  merge.setFile(path, document);
  return new Map([...merge.changed.values()].map((file) => [file.path, printYamlFile(file)]));
}

/** Prints indented JSON with exact numbers. */
export function indented(value: Json): string {
  const pieces: string[] = [];
  print(value, '', pieces);
  return pieces.join('');
}

function print(value: Json, indent: string, pieces: string[]): void {
  const inner = `${indent}  `;
  if (isJsonArray(value) && value.length > 0) {
    for (const [i, item] of value.entries()) {
      pieces.push(i === 0 ? '[\n' : ',\n', inner);
      print(item, inner, pieces);
    }
    pieces.push('\n', indent, ']');
  } else if (isJsonObject(value) && Object.keys(value).length > 0) {
    let before = '{\n';
    for (const [key, item] of Object.entries(value)) {
      pieces.push(before, inner, JSON.stringify(key), ': ');
      print(item, inner, pieces);
      before = ',\n';
    }
    pieces.push('\n', indent, '}');
  } else pieces.push(printJson(value));
}
