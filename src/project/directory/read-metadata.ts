/** Reads the metadata document from the files of a project, with the place of each part. */
import { dirname, join, resolve } from 'node:path';
import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { nestedDeeperThan } from '../../util/json-depth.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../../util/json.ts';
import { failure, type FilePlace, type Problem, ProjectFailure, reasonOf } from '../failure.ts';
import { joinActions } from './actions-sdl.ts';
import type { Files } from './files.ts';
import { overlaid } from './overlay.ts';
import { inMebibytes, MAX_DEPTH, MAX_INCLUDED_BYTES, MAX_METADATA_BYTES, ReadBudget, TooLarge } from './reading-limits.ts';
import { ACTIONS_FILE, ACTIONS_SDL_FILE, SECTIONS, SOURCES_FILE, VERSION_FILE } from './sections.ts';
import { Expansion, includedPath, isMergeKey, keyText, parseYamlFile, placeOf, scalarJson, type YamlFile } from './yaml-file.ts';

export type DocumentPath = readonly (string | number)[];

export interface ReadMetadata {
  readonly document: JsonObject;
  /** All files that were read, by absolute path. */
  readonly files: ReadonlyMap<string, YamlFile | string>;
  /** Returns the place of the nearest known part around a path of the document. */
  placeOf(path: DocumentPath): FilePlace | undefined;
}

/** The file that is read, and the files through which it is included. */
interface Reading {
  readonly file: YamlFile;
  /** Absolute paths, the file last. */
  readonly chain: readonly string[];
  readonly budget: ReadBudget;
}

interface Origin {
  readonly file: YamlFile;
  readonly node: Node;
}

export interface MetadataFolder {
  readonly files: Files;
  /** Absolute path. */
  readonly folder: string;
  /** Absolute path of one file with the whole document, which replaces the folder. */
  readonly file?: string | undefined;
  /** Absolute paths of overlays. */
  readonly overlays?: readonly string[];
}

/** Reads values of YAML files, resolves includes, and records files and places. */
export class MetadataReader {
  readonly files = new Map<string, YamlFile | string>();
  readonly problems: Problem[] = [];
  readonly origins = new Map<object, Origin>();
  /** Places of objects that come from several files. */
  readonly places = new Map<object, FilePlace>();
  readonly #in: Files;
  readonly #expansions = new Map<YamlFile, Expansion>();
  readonly #budget = new ReadBudget();
  readonly #invalid = new Set<string>();
  #bytes = 0;

  constructor(files: Files) {
    this.#in = files;
  }

  /** Returns the content of a file; `undefined` if it does not exist. Collects its problems. @throws TooLarge */
  read(path: string): Json | undefined {
    const text = this.text(path);
    if (text === undefined) return undefined;
    return this.#collect(() => this.#content(this.yaml(path, text), [], this.#budget, 0));
  }

  /** Returns the text of a file, which is read once; `undefined` if it does not exist. @throws ProjectFailure also if it is too large */
  text(path: string): string | undefined {
    const known = this.files.get(path);
    if (known !== undefined) return typeof known === 'string' ? known : known.text;
    const text = this.#in.read(path, MAX_INCLUDED_BYTES);
    this.#bytes += Buffer.byteLength(text ?? '');
    if (this.#bytes > MAX_METADATA_BYTES)
      throw new TooLarge(`the files have more than ${inMebibytes(MAX_METADATA_BYTES)} together`, { file: this.#in.show(path) });
    return text;
  }

  /** @throws ProjectFailure */
  yaml(path: string, text: string): YamlFile {
    const known = this.files.get(path);
    if (known !== undefined && typeof known !== 'string') return known;
    // Reported once, however often it is included.
    if (this.#invalid.has(path)) throw new ProjectFailure([]);
    try {
      const file = parseYamlFile(path, this.#in.show(path), text);
      this.files.set(path, file);
      return file;
    } catch (thrown) {
      this.#invalid.add(path);
      throw thrown;
    }
  }

  /** Returns the value of a node. @throws ProjectFailure */
  valueOf(file: YamlFile, node: Node | null, member?: string): Json {
    return this.#value({ file, chain: [file.path], budget: new ReadBudget() }, node, member, 0, false);
  }

  #collect(run: () => Json): Json {
    try {
      return run();
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure) || thrown instanceof TooLarge) throw thrown;
      this.problems.push(...thrown.problems);
      return null;
    }
  }

  #content(file: YamlFile, chain: readonly string[], budget: ReadBudget, depth: number): Json {
    const { contents } = file.document;
    return this.#value({ file, chain: [...chain, file.path], budget }, contents, undefined, depth, false);
  }

  #expansion(file: YamlFile): Expansion {
    let expansion = this.#expansions.get(file);
    if (expansion === undefined) {
      expansion = new Expansion(file);
      this.#expansions.set(file, expansion);
    }
    return expansion;
  }

  #value(at: Reading, original: Node | null, member: string | undefined, depth: number, aliased: boolean): Json {
    if (original === null || original === undefined) return null;
    const expansion = this.#expansion(at.file);
    const node = expansion.resolve(original);
    const within = aliased || node !== original;
    expansion.enter(node, depth, within);
    const path = includedPath(node);
    if (path !== undefined) return this.#collect(() => this.#included(at, node, path, depth));
    const scalar = isScalar(node) ? scalarJson(node, member) : undefined;
    at.budget.value(scalar, () => placeOf(at.file, node));
    if (scalar !== undefined) return scalar;
    if (isSeq(node)) {
      const list: Json[] = [];
      for (const item of node.items as (Node | null)[]) {
        const value = this.#value(
          at,
          item,
          isOfNames(member) ? 'name' : member !== undefined && FREE.has(member) ? ANY : undefined,
          depth + 1,
          within,
        );
        // An included list is spliced into its list.
        if (isJsonArray(value) && includedPath(item) !== undefined) list.push(...value);
        else list.push(value);
      }
      this.origins.set(list, { file: at.file, node });
      return list;
    }
    if (!isMap(node)) throw failure('yaml', 'this value is not supported', placeOf(at.file, node));
    const object: Record<string, Json> = {};
    for (const pair of node.items as Pair<Node, Node | null>[]) {
      if (isMergeKey(pair)) this.#merge(at, pair, object, depth);
      else {
        const key = keyText(pair);
        const value = this.#value(at, pair.value, member !== undefined && FREE.has(member) ? ANY : key, depth + 1, within);
        // An assignment would set the prototype.
        if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
        else object[key] = value;
      }
    }
    this.origins.set(object, { file: at.file, node });
    return object;
  }

  /** Adds the keys of a merge key. Keys of the object itself take precedence. */
  #merge(at: Reading, pair: Pair<Node, Node | null>, object: Record<string, Json>, depth: number): void {
    const merged = this.#value(at, pair.value, undefined, depth + 1, true);
    const all = isJsonArray(merged) ? merged : [merged];
    for (const part of all) {
      if (!isJsonObject(part)) throw failure('yaml', 'a merge key needs an object', placeOf(at.file, pair.value));
      for (const [key, value] of Object.entries(part)) if (!Object.hasOwn(object, key)) object[key] = value;
    }
  }

  #included({ file, chain, budget }: Reading, node: Node, named: string, depth: number): Json {
    const place = placeOf(file, node);
    budget.include(chain.length, place);
    const path = resolve(dirname(file.path), named.replace(/^[/\\]+/, ''));
    if (!this.files.has(path) && (!this.#in.isInside(path) || this.#in.leadsOut(path)))
      throw failure('include', `the include "${named}" is outside of the project`, place);
    if (chain.includes(path)) {
      const cycle = [...chain.slice(chain.indexOf(path)), path].map((step) => this.#in.show(step));
      throw failure('include', `files include each other: ${cycle.join(' -> ')}`, place);
    }
    const text = this.text(path);
    if (text === undefined) throw failure('missing-file', `the included file "${named}" does not exist (${this.#in.show(path)})`, place);
    if (!/\.ya?ml$/i.test(path)) {
      this.files.set(path, text);
      budget.value(text, () => place);
      return text;
    }
    const included = this.yaml(path, text);
    if (included.document.contents === null)
      throw failure('include', `the included file ${this.#in.show(path)} is empty: write [] for a list without items`, place);
    return this.#content(included, chain, budget, depth);
  }
}

/** Member of an object with free keys, in which the key `name` has no special meaning. */
const ANY = '';
const FREE: ReadonlySet<string> = new Set([ANY, 'set', 'filter', 'check', 'payload', 'per_role', 'query_params', 'input']);

const LISTS_OF_NAMES: ReadonlySet<string> = new Set(['role_set', 'roles', 'disabled_for_roles', 'columns']);

function isOfNames(member: string | undefined): boolean {
  return member !== undefined && LISTS_OF_NAMES.has(member);
}

/** Reads all metadata. @throws ProjectFailure with all problems */
export function readMetadata({ files, folder, file, overlays = [] }: MetadataFolder): ReadMetadata {
  const reader = new MetadataReader(files);
  if (file !== undefined) return withOverlays(readWhole(files, reader, file), overlays, files, reader);
  const sections: Record<string, Json> = { version: 3 };
  const version = reader.read(join(folder, VERSION_FILE));
  if (isJsonObject(version) && version['version'] !== undefined && version['version'] !== 3) {
    const message = `metadata of version ${String(version['version'])} is not supported: convert it to version 3 with svc import`;
    reader.problems.push({ code: 'version', message, file: files.show(join(folder, VERSION_FILE)) });
  }
  for (const section of SECTIONS) {
    const path = join(folder, section.file);
    const value = reader.read(path);
    if (value === undefined && section.key === 'sources') {
      const message = `there is no ${SOURCES_FILE} in ${files.show(folder) || '.'}: create it, with [] if there are no sources`;
      reader.problems.push({ code: 'missing-file', message });
    }
    if (value === null && section.key === 'sources' && reader.problems.length === 0)
      reader.problems.push({ code: 'shape', message: 'the file is empty: write [] if there are no sources', file: files.show(path) });
    if (value === undefined || value === null || isUnset(section.key, value)) continue;
    sections[section.key] = value;
  }
  const actionsPath = join(folder, ACTIONS_FILE);
  const sdlPath = join(folder, ACTIONS_SDL_FILE);
  const sdl = reader.text(sdlPath);
  if (sdl !== undefined) reader.files.set(sdlPath, sdl);
  const actions = reader.read(actionsPath);
  if (reader.problems.length === 0 && (actions !== undefined || sdl !== undefined)) {
    const shown = { yaml: files.show(actionsPath), sdl: files.show(sdlPath) };
    const placeIn = (value: object): FilePlace => originPlace(reader.origins.get(value)) ?? { file: shown.yaml };
    const joined = joinActions(actions ?? null, sdl ?? '', shown, placeIn);
    reader.problems.push(...joined.problems);
    for (const [made, place] of joined.places) reader.places.set(made, place);
    if (joined.actions.length > 0) sections['actions'] = joined.actions;
    if (joined.customTypes !== null) sections['custom_types'] = joined.customTypes;
  }
  if (reader.problems.length > 0) throw new ProjectFailure(reader.problems);
  return withOverlays(withPlaces(reader, sections), overlays, files, reader);
}

/** Like `readMetadata`, but returns `null` if the files cannot be read. */
export function readableMetadata(at: MetadataFolder): ReadMetadata | null {
  try {
    return readMetadata(at);
  } catch (thrown) {
    if (thrown instanceof ProjectFailure) return null;
    throw thrown;
  }
}

/** @throws ProjectFailure */
function withOverlays(read: ReadMetadata, overlays: readonly string[], files: Files, reader: MetadataReader): ReadMetadata {
  let { document } = read;
  for (const path of overlays) {
    const over = reader.read(path);
    if (reader.problems.length > 0) throw new ProjectFailure(reader.problems);
    if (over === undefined) throw failure('missing-file', 'the overlay does not exist', { file: files.show(path) });
    if (!isJsonObject(over)) throw failure('shape', 'an overlay must be an object, a part of the document', { file: files.show(path) });
    document = overlaid(document, over, (result, from) => {
      const origin = reader.origins.get(from);
      if (origin !== undefined) reader.origins.set(result, origin);
    });
  }
  return overlays.length === 0 ? read : withPlaces(reader, document);
}

/** Returns whether a section is empty and must not be sent. */
function isUnset(key: string, value: Json): boolean {
  return key !== 'sources' && isJsonObject(value) && Object.keys(value).length === 0;
}

function readWhole(files: Files, reader: MetadataReader, path: string): ReadMetadata {
  const shown = files.show(path);
  if (!/\.(?:json|ya?ml)$/i.test(path)) throw failure('config', `metadata_file must end in .json or .yaml`, { file: shown });
  const isJson = /\.json$/i.test(path);
  const text = files.read(path, isJson ? MAX_METADATA_BYTES : MAX_INCLUDED_BYTES);
  if (text === undefined) throw failure('missing-file', 'the metadata file does not exist', { file: shown });
  let document: Json;
  if (isJson) {
    try {
      document = parseJson(text);
    } catch (thrown) {
      throw failure('json', reasonOf(thrown), { file: shown });
    }
    if (nestedDeeperThan(document, MAX_DEPTH)) throw failure('json', `nested deeper than ${MAX_DEPTH}`, { file: shown });
    reader.files.set(path, text);
  } else document = reader.read(path) ?? null;
  if (reader.problems.length > 0) throw new ProjectFailure(reader.problems);
  // The form of the API's export.
  if (isJsonObject(document) && isJsonObject(document['metadata']) && document['sources'] === undefined) document = document['metadata'];
  if (!isJsonObject(document)) throw failure('shape', 'the metadata must be an object', { file: shown });
  return withPlaces(reader, document);
}

function withPlaces(reader: MetadataReader, document: JsonObject): ReadMetadata {
  return { document, files: reader.files, placeOf: (path) => placeOfPath(reader, document, path) };
}

function originPlace(origin: Origin | undefined): FilePlace | undefined {
  return origin === undefined ? undefined : placeOf(origin.file, origin.node);
}

/** Returns the place of the nearest known part around a path of a document. */
export function placeOfPath({ origins, places }: MetadataReader, document: JsonObject, path: DocumentPath): FilePlace | undefined {
  let current: Json | undefined = document;
  let origin: Origin | undefined;
  let place: FilePlace | undefined;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) break;
    const next: Json | undefined = isJsonArray(current)
      ? current[Number(key)]
      : isJsonObject(current) && Object.hasOwn(current, key)
        ? current[key]
        : undefined;
    const inside: Origin | undefined = typeof next === 'object' && next !== null ? origins.get(next) : undefined;
    const made = typeof next === 'object' && next !== null ? places.get(next) : undefined;
    if (made !== undefined) place = made;
    else if (inside !== undefined) place = originPlace(inside);
    else if (origin !== undefined) {
      const node = memberNode(origin.node, key);
      if (node !== undefined) place = placeOf(origin.file, node);
    }
    origin = inside;
    current = next;
    if (next === undefined) break;
  }
  return place;
}

function memberNode(node: Node, key: string | number): Node | undefined {
  if (isSeq(node)) return (node.items[Number(key)] as Node | undefined) ?? undefined;
  if (!isMap(node)) return undefined;
  const pair = (node as YAMLMap).items.find((each) => keyText(each as Pair) === String(key));
  return (pair?.key as Node | undefined) ?? undefined;
}
