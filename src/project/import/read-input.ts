/** What is in a directory that another engine's command line has written: of any of its layouts. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../../util/json.ts';
import { joinActions } from '../directory/actions-sdl.ts';
import { projectFiles, type Files } from '../directory/files.ts';
import { MetadataReader } from '../directory/read-metadata.ts';
import { ACTIONS_FILE, ACTIONS_SDL_FILE, defined, SECTIONS, VERSION_FILE } from '../directory/sections.ts';
import { failure, type Problem, ProjectFailure, reasonOf } from '../failure.ts';

export type Layout = 'version 3' | 'version 2' | 'version 1' | 'single file';

export interface Input {
  readonly layout: Layout;
  readonly root: string;
  readonly files: Files;
  readonly config: JsonObject;
  /** Of version 3. */
  readonly document: JsonObject;
  /** Entries of actions.yaml that have no shape. */
  readonly shapeless: JsonObject;
  /** Where its files are, when they can be taken over as they are. */
  readonly metadataFolder: string | undefined;
  /** Of the two files of actions: they cannot. */
  readonly newActions?: boolean;
  readonly problems: readonly Problem[];
  readonly migrationsFolder: string;
  readonly seedsFolder: string;
}

const DEFAULT_CONFIGURATION: JsonObject = {
  connection_info: {
    database_url: { from_env: 'HASURA_GRAPHQL_DATABASE_URL' },
    isolation_level: 'read-committed',
    use_prepared_statements: false,
  },
};

/**
 * Reads a directory, or a file with a document.
 * @throws ProjectFailure when there is nothing to import
 */
export function readInput(path: string): Input {
  if (!existsSync(path)) throw failure('missing-file', `there is no ${path}`);
  if (statSync(path).isFile()) return readFile(path);
  const files = projectFiles(path);
  const reader = new MetadataReader(files);
  const read = reader.read(join(path, 'config.yaml'));
  const config = isJsonObject(read) ? read : {};
  const named = (key: string, byDefault: string): string => {
    const value = config[key];
    return resolve(path, typeof value === 'string' && value !== '' ? value : byDefault);
  };
  const common = {
    root: path,
    files,
    config,
    migrationsFolder: named('migrations_directory', 'migrations'),
    seedsFolder: named('seeds_directory', 'seeds'),
  };
  const metadata = metadataFolderOf(files, named('metadata_directory', 'metadata'));
  if (files.read(join(metadata, 'databases', 'databases.yaml')) !== undefined) return { ...common, ...readFolder(files, metadata, 3) };
  if (files.read(join(metadata, 'tables.yaml')) !== undefined || files.read(join(metadata, VERSION_FILE)) !== undefined)
    return { ...common, ...readFolder(files, metadata, 2) };
  const single = singleFile(files, path, config, common.migrationsFolder);
  if (single !== undefined) return { ...common, ...single };
  const isProject = read !== undefined || existsSync(common.migrationsFolder);
  if (!isProject) throw failure('no-project', `${path} holds neither metadata nor migrations nor a config.yaml`);
  return { ...common, layout: 'version 1', document: { version: 3, sources: [] }, shapeless: {}, metadataFolder: undefined, problems: [] };
}

/** The folder, or one below the root that holds metadata. */
function metadataFolderOf(files: Files, named: string): string {
  const holds = (folder: string): boolean =>
    files.read(join(folder, 'databases', 'databases.yaml')) !== undefined || files.read(join(folder, 'tables.yaml')) !== undefined;
  if (holds(named)) return named;
  try {
    const other = readdirSync(files.root)
      .sort()
      .map((name) => join(files.root, name))
      .find((folder) => statSync(folder).isDirectory() && holds(folder));
    return other ?? named;
  } catch {
    return named;
  }
}

function singleFile(files: Files, root: string, config: JsonObject, migrations: string) {
  const given = typeof config['metadata_file'] === 'string' ? [resolve(root, config['metadata_file'])] : [];
  const names = ['metadata.yaml', 'metadata.yml', 'metadata.json'];
  const candidates = [...given, ...names.map((name) => join(migrations, name)), ...names.map((name) => join(root, name))];
  const found = candidates.find((path) => files.read(path) !== undefined);
  if (found === undefined) return undefined;
  const { document, problems } = readDocument(files, found);
  const layout: Layout = dirname(found) === migrations ? 'version 1' : 'single file';
  return { layout, document, shapeless: {}, metadataFolder: undefined, problems };
}

function readFile(path: string): Input {
  const root = dirname(path);
  const files = projectFiles(root);
  const { document, problems } = readDocument(files, path);
  return {
    layout: 'single file',
    root,
    files,
    config: {},
    document,
    shapeless: {},
    metadataFolder: undefined,
    problems,
    migrationsFolder: join(root, `${basename(path)}.migrations`),
    seedsFolder: join(root, `${basename(path)}.seeds`),
  };
}

function readDocument(files: Files, path: string): { readonly document: JsonObject; readonly problems: readonly Problem[] } {
  const text = files.read(path);
  if (text === undefined) throw failure('missing-file', 'the file does not exist', { file: files.show(path) });
  let json: Json;
  const reader = new MetadataReader(files);
  if (/\.json$/i.test(path)) {
    try {
      json = parseJson(text);
    } catch (thrown) {
      throw failure('json', reasonOf(thrown), { file: files.show(path) });
    }
  } else json = reader.read(path) ?? null;
  if (reader.problems.length > 0) throw new ProjectFailure(reader.problems);
  if (isJsonObject(json) && isJsonObject(json['metadata']) && json['sources'] === undefined && json['tables'] === undefined)
    json = json['metadata'];
  if (!isJsonObject(json)) throw failure('shape', 'the metadata is no object', { file: files.show(path) });
  return { document: ofVersion3(json), problems: [] };
}

/** A document of any version as one of version 3: what is older has one source. */
export function ofVersion3(document: JsonObject): JsonObject {
  if (document['sources'] !== undefined) return document;
  const { version: _, tables, functions, ...rest } = document;
  if (tables === undefined && functions === undefined && Object.keys(rest).length === 0) return { version: 3, sources: [] };
  const source = defined({
    name: 'default',
    kind: 'postgres',
    tables: (isJsonArray(tables) ? tables : []).map(qualifiedTable),
    functions: isJsonArray(functions) && functions.length > 0 ? functions.map(qualifiedFunction) : undefined,
    configuration: DEFAULT_CONFIGURATION,
  });
  return { version: 3, sources: [source], ...rest };
}

function qualified(name: Json): Json {
  return typeof name === 'string' ? { schema: 'public', name } : name;
}

function qualifiedTable(table: Json): Json {
  if (typeof table === 'string') return { table: qualified(table) };
  return isJsonObject(table) && table['table'] !== undefined ? { ...table, table: qualified(table['table']) } : table;
}

/** A function of version 1 is its name only. */
function qualifiedFunction(entry: Json): Json {
  if (typeof entry === 'string') return { function: qualified(entry) };
  if (!isJsonObject(entry)) return entry;
  return entry['function'] === undefined ? { function: entry } : { ...entry, function: qualified(entry['function']) };
}

function readFolder(files: Files, folder: string, version: 2 | 3) {
  const reader = new MetadataReader(files);
  const document: Record<string, Json> = { version: 3 };
  const read = (name: string): Json | undefined => reader.read(join(folder, name));
  const given = read(VERSION_FILE);
  if (isJsonObject(given)) for (const [key, value] of Object.entries(given)) if (key !== 'version') document[key] = value;
  for (const { file, key } of SECTIONS) {
    const value = read(file);
    if (value !== undefined && value !== null) document[key] = value;
  }
  const actions = read(ACTIONS_FILE);
  const sdl = files.read(join(folder, ACTIONS_SDL_FILE));
  const shown = { yaml: files.show(join(folder, ACTIONS_FILE)), sdl: files.show(join(folder, ACTIONS_SDL_FILE)) };
  let shapeless: JsonObject = {};
  if (actions !== undefined || sdl !== undefined) {
    const joined = joinActions(actions ?? null, sdl ?? '', shown, () => ({ file: shown.yaml }));
    reader.problems.push(...joined.problems);
    if (joined.actions.length > 0) document['actions'] = joined.actions;
    if (joined.customTypes !== null) document['custom_types'] = joined.customTypes;
    const known = new Set(joined.actions.map(({ name }) => name));
    const left =
      isJsonObject(actions) && isJsonArray(actions['actions'])
        ? actions['actions'].filter((entry) => !(isJsonObject(entry) && known.has(entry['name'] as Json)))
        : [];
    if (left.length > 0) shapeless = { actions: left };
  }
  let made: JsonObject = document;
  if (version === 2) {
    const [tables, functions] = [read('tables.yaml'), read('functions.yaml')];
    made = ofVersion3({ ...document, tables: tables ?? [], ...(functions === undefined || functions === null ? {} : { functions }) });
  }
  const layout: Layout = version === 3 ? 'version 3' : 'version 2';
  const ofActions: readonly (string | undefined)[] = [shown.yaml, shown.sdl];
  const isTakenOver = version === 3 && reader.problems.every(({ file }) => ofActions.includes(file));
  return {
    layout,
    document: made,
    shapeless,
    metadataFolder: isTakenOver ? folder : undefined,
    newActions: reader.problems.length > 0,
    problems: reader.problems,
  };
}

/** Files below a folder, relative to it, with their text. */
export function textsBelow(files: Files, folder: string): ReadonlyMap<string, string> {
  return new Map(files.list(folder).map((path) => [relative(folder, path).split(sep).join('/'), files.read(path) ?? '']));
}
