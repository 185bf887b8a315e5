/** From a document to the changes of the files that make the project say it. */
import { join } from 'node:path';
import { isJsonArray, isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';
import { failure, ProjectFailure } from '../failure.ts';
import { actionsFiles } from './actions-sdl.ts';
import type { FileChanges } from './files.ts';
import { YamlMerge } from './merge-yaml.ts';
import { type MetadataFolder, MetadataReader, type ReadMetadata, readMetadata } from './read-metadata.ts';
import { ACTIONS_FILE, ACTIONS_SDL_FILE, canonical, SECTIONS, SOURCES_FILE, sameMeaning, VERSION_FILE } from './sections.ts';
import { printYamlFile, withoutAliases } from './yaml-file.ts';

export interface WrittenMetadata {
  readonly changes: FileChanges;
  /** Below the metadata folder, and included by nothing. */
  readonly orphans: readonly string[];
}

/**
 * What has to change so that the files say the document. Files that say it already are not among the changes; those that were
 * included and are not any more go. What is written is read again: a change that would not give back the document is not made.
 * @throws ProjectFailure also when the files that are there cannot be read
 */
export function writeMetadata(at: MetadataFolder, document: JsonObject): WrittenMetadata {
  if (at.file !== undefined) return { changes: writeWhole(at, at.file, document), orphans: [] };
  const known = new Set(['version', 'actions', 'custom_types', ...SECTIONS.map(({ key }) => key)]);
  const strange = Object.keys(document).filter((key) => !known.has(key));
  if (strange.length > 0)
    throw failure(
      'newer-server',
      `the metadata has parts that this command does not know: ${strange.join(', ')}; use the command of the server's version`,
    );
  const isThere = at.files.read(join(at.folder, SOURCES_FILE)) !== undefined;
  const before = isThere ? readMetadata(at) : undefined;
  const merged = attempt(() => finished(at, mergedChanges(at, document), before));
  if (merged !== undefined && says(at, merged, document)) return { changes: merged, orphans: orphansOf(at, merged) };
  // Anchors that stand for several places cannot follow a change of one of them.
  const spelledOut = new Map<string, string | null>(
    [...(before?.files ?? [])].flatMap(([path, file]) => {
      const text = typeof file === 'string' ? undefined : withoutAliases(file);
      return text === undefined ? [] : [[path, text] as const];
    }),
  );
  if (spelledOut.size > 0) {
    const there: MetadataFolder = { ...at, files: at.files.with(spelledOut) };
    const changes = attempt(() => finished(at, new Map([...spelledOut, ...mergedChanges(there, document)]), before));
    if (changes !== undefined && says(at, changes, document)) return { changes, orphans: orphansOf(at, changes) };
  }
  // Whatever else cannot follow is written anew.
  const anew = new Map<string, string | null>();
  if (before !== undefined) for (const path of before.files.keys()) anew.set(path, null);
  const empty: MetadataFolder = { ...at, files: at.files.with(anew) };
  const fresh = new Map([...anew, ...mergedChanges(empty, document)]);
  if (!says(at, fresh, document))
    throw failure('round-trip', 'the files that would be written would not give back the metadata: nothing was written');
  return { changes: withoutUnchanged(at, fresh), orphans: orphansOf(at, fresh) };
}

/** undefined: what an alias stands for has gone. */
function attempt(run: () => Map<string, string | null>): Map<string, string | null> | undefined {
  try {
    return run();
  } catch (thrown) {
    // The printer's own error is one of its documents.
    if (thrown instanceof ProjectFailure || (thrown instanceof Error && /^Unresolved alias/.test(thrown.message))) return undefined;
    throw thrown;
  }
}

function mergedChanges(at: MetadataFolder, document: JsonObject): Map<string, string | null> {
  const { files, folder } = at;
  const reader = new MetadataReader(files);
  // Known to the merge before it asks for values of included files.
  for (const section of SECTIONS) reader.read(join(folder, section.file));
  const merge = new YamlMerge(files, reader);
  const changes = new Map<string, string | null>();
  const isNew = files.read(join(folder, SOURCES_FILE)) === undefined;
  if (isNew) changes.set(join(folder, VERSION_FILE), 'version: 3\n');
  for (const { file, key, empty } of SECTIONS) {
    const path = join(folder, file);
    const value = document[key];
    const isThere = files.read(path) !== undefined;
    if (value === undefined && !isThere && !(isNew && empty !== null)) continue;
    // An empty section may be written in several ways; but an empty list is no object, and there are always sources.
    const read = reader.read(path);
    const isReadable = isJsonArray(read) ? isJsonArray(empty) : key !== 'sources';
    if (isThere && isEmpty(value) && isEmpty(read) && isReadable) continue;
    merge.setFile(path, value ?? empty ?? {}, key);
  }
  const actionsPath = join(folder, ACTIONS_FILE);
  const sdlPath = join(folder, ACTIONS_SDL_FILE);
  const sdl = files.read(sdlPath);
  const hasActions = document['actions'] !== undefined || document['custom_types'] !== undefined;
  if (hasActions || isNew || sdl !== undefined || files.read(actionsPath) !== undefined) {
    if (!saysActions(at, reader.read(actionsPath), sdl, document)) {
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

/** Whether both files of actions say what the document does. */
function saysActions(at: MetadataFolder, yaml: Json | undefined, sdl: string | undefined, document: JsonObject): boolean {
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

/** With the files that nothing includes any more removed, and without those that stay as they are. */
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

function says(at: MetadataFolder, changes: FileChanges, document: JsonObject): boolean {
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

/** YAML files and SDL below the folder that are no part of the metadata. */
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

/** JSON for people, exact numbers included. */
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
