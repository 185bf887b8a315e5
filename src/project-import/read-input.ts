/** Reads a project directory of another engine's command line, in any of its layouts. */
import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { nestedDeeperThan } from '../util/json-depth.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf, parseJson } from '../util/json.ts';
import { type ApiCall, flatCalls, MetadataOfCalls } from './metadata-calls.ts';
import { type Unjoined, unjoined } from './unjoined.ts';
import { joinActions } from '../project/directory/actions-sdl.ts';
import { decodeUtf8, type Files, filesBelow, isWithin, projectFiles, readBytes, realPathOf } from '../project/directory/files.ts';
import { MetadataReader } from '../project/directory/read-metadata.ts';
import { MAX_DEPTH } from '../project/directory/reading-limits.ts';
import { ACTIONS_FILE, ACTIONS_SDL_FILE, defined, SECTIONS, VERSION_FILE } from '../project/directory/sections.ts';
import { failure, type Problem, ProjectFailure, reasonOf } from '../project/failure.ts';

export type Layout = 'version 3' | 'version 2' | 'version 1' | 'single file';

export interface Input {
  readonly layout: Layout;
  readonly root: string;
  readonly files: ForeignFiles;
  readonly config: JsonObject;
  /** Document in version 3. */
  readonly document: JsonObject;
  /** Parts of actions.yaml that are not in the document. */
  readonly unjoined: readonly Unjoined[];
  /** Folder of its files, if they can be copied unchanged. */
  readonly metadataFolder: string | undefined;
  /** The actions of the document come from their two files. */
  readonly actionsAreJoined: boolean;
  /** The two files of actions cannot be copied. */
  readonly newActions?: boolean;
  readonly problems: readonly Problem[];
  /** Present if the document was built from the API calls of migrations; `unknown` are the types of ignored calls. */
  readonly fromCalls?: { readonly unknown: readonly string[] };
  /** Files below `metadataFolder` that were read, links included. */
  readonly metadataFiles?: readonly string[];
  /** Files below `metadata` that nothing includes; the other engine does not read them either. */
  readonly unread?: readonly string[];
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
 * @throws ProjectFailure if there is nothing to import
 */
export function readInput(path: string): Input {
  if (!existsSync(path)) throw failure('missing-file', `${path} does not exist`);
  if (statSync(path).isFile()) return withProblems(readFile(path), []);
  const config = configIn(new MetadataReader(foreignFiles(path)), path);
  const named = (key: string, byDefault: string): string => {
    const value = config[key];
    return resolve(path, typeof value === 'string' && value !== '' ? value : byDefault);
  };
  const [metadataNamed, migrationsFolder, seedsFolder] = [
    named('metadata_directory', 'metadata'),
    named('migrations_directory', 'migrations'),
    named('seeds_directory', 'seeds'),
  ];
  const files = foreignFiles(path, [metadataNamed, migrationsFolder, seedsFolder]);
  const reader = new MetadataReader(files);
  const read = reader.read(join(path, 'config.yaml'));
  const ofConfig: readonly Problem[] =
    read !== undefined && read !== null && !isJsonObject(read)
      ? [{ code: 'shape', message: 'the settings are not an object, and are ignored', file: 'config.yaml' }]
      : reader.problems;
  const common = { root: path, files, config, migrationsFolder, seedsFolder };
  const metadata = metadataFolderOf(files, metadataNamed);
  if (files.read(join(metadata, 'databases', 'databases.yaml')) !== undefined)
    return withProblems({ ...common, ...readFolder(files, metadata, 3) }, ofConfig);
  if (files.read(join(metadata, 'tables.yaml')) !== undefined || files.read(join(metadata, VERSION_FILE)) !== undefined)
    return withProblems({ ...common, ...readFolder(files, metadata, 2) }, ofConfig);
  const single = singleFile(files, path, config, common.migrationsFolder);
  if (single !== undefined) return withProblems({ ...common, ...single }, ofConfig);
  const isProject = read !== undefined || existsSync(common.migrationsFolder);
  if (!isProject)
    throw failure('no-project', `${path} contains neither metadata nor migrations nor a config.yaml: name the folder of a project`);
  const withoutMetadata = { ...common, unjoined: [], actionsAreJoined: false, metadataFolder: undefined, problems: ofConfig } as const;
  const calls = callsOf(files, migrationsFolder);
  if (calls.length === 0) return { ...withoutMetadata, layout: 'version 1', document: { version: 3, sources: [] } };
  const applied = new MetadataOfCalls();
  for (const call of calls) applied.apply(call);
  return withProblems(
    {
      ...withoutMetadata,
      layout: 'version 1',
      document: ofVersion3(applied.document()),
      fromCalls: { unknown: [...applied.unknown].sort() },
    },
    [],
  );
}

/** Returns the API calls in the up migrations of version 1, in order. */
function callsOf(files: Files, folder: string): readonly ApiCall[] {
  const found = namesBelow(files, folder).flatMap(([name, path]) => {
    const match = /^(\d+)_[^/]*(?:\/up|\.up)\.ya?ml$/.exec(name);
    return match === null ? [] : [{ version: BigInt(match[1] as string), path }];
  });
  found.sort((a, b) => (a.version < b.version ? -1 : a.version > b.version ? 1 : 0));
  const reader = new MetadataReader(files);
  return found.flatMap(({ path }) => {
    const calls = reader.read(path) ?? null;
    // An unreadable file is reported with the migrations.
    return nestedDeeperThan(calls, MAX_DEPTH) ? [] : flatCalls(calls);
  });
}

/** Returns the readable part of the settings. */
function configIn(reader: MetadataReader, root: string): JsonObject {
  const read = reader.read(join(root, 'config.yaml'));
  return objectOf(read);
}

/** @throws ProjectFailure for an endless document */
function withProblems(input: Input, others: readonly Problem[]): Input {
  if (nestedDeeperThan(input.document, MAX_DEPTH)) throw failure('too-large', `the metadata is nested deeper than ${MAX_DEPTH}`);
  return { ...input, problems: [...others, ...input.problems] };
}

/** Returns the named folder, or one below the root that contains metadata. */
function metadataFolderOf(files: Files, named: string): string {
  const hasMetadata = (folder: string): boolean =>
    files.read(join(folder, 'databases', 'databases.yaml')) !== undefined || files.read(join(folder, 'tables.yaml')) !== undefined;
  if (hasMetadata(named)) return named;
  if (hasMetadata(files.root)) return files.root;
  try {
    const other = readdirSync(files.root)
      .sort()
      .map((name) => join(files.root, name))
      .find((folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true && hasMetadata(folder));
    return other ?? named;
  } catch {
    return named;
  }
}

function singleFile(files: Files, root: string, config: JsonObject, migrations: string) {
  const named = typeof config['metadata_file'] === 'string' ? [resolve(root, config['metadata_file'])] : [];
  const names = ['metadata.yaml', 'metadata.yml', 'metadata.json'];
  const candidates = [...named, ...names.map((name) => join(migrations, name)), ...names.map((name) => join(root, name))];
  const found = candidates.find((path) => files.read(path) !== undefined);
  if (found === undefined) return undefined;
  const { document, problems } = readDocument(files, found);
  const layout: Layout = dirname(found) === migrations ? 'version 1' : 'single file';
  return { layout, document, unjoined: [], actionsAreJoined: false, metadataFolder: undefined, problems };
}

function readFile(path: string): Input {
  const root = dirname(path);
  const files = foreignFiles(root);
  const { document, problems } = readDocument(files, path);
  return {
    layout: 'single file',
    root,
    files,
    config: {},
    document,
    unjoined: [],
    actionsAreJoined: false,
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
  if (!isJsonObject(json)) throw failure('shape', 'the metadata is not an object', { file: files.show(path) });
  return { document: ofVersion3(json), problems: [] };
}

/** Converts a document of any version to version 3. Older documents have one source. */
export function ofVersion3(document: JsonObject): JsonObject {
  if (document['sources'] !== undefined) return document;
  const { version: _, tables, functions, ...rest } = document;
  if (tables === undefined && functions === undefined && Object.keys(rest).length === 0) return { version: 3, sources: [] };
  const source = defined({
    name: 'default',
    kind: 'postgres',
    tables: isJsonArray(tables) ? tables.map(qualifiedTable) : [],
    functions: isJsonArray(functions) && functions.length > 0 ? functions.map(qualifiedFunction) : undefined,
    configuration: DEFAULT_CONFIGURATION,
  });
  // Values that are not lists go to the report.
  const invalid = Object.entries({ tables, functions }).filter(([, value]) => value !== undefined && value !== null && !isJsonArray(value));
  return { version: 3, sources: [source], ...rest, ...(Object.fromEntries(invalid) as JsonObject) };
}

function qualified(name: Json): Json {
  return typeof name === 'string' ? { schema: 'public', name } : name;
}

function qualifiedTable(table: Json): Json {
  if (typeof table === 'string') return { table: qualified(table) };
  return isJsonObject(table) && table['table'] !== undefined ? { ...table, table: qualified(table['table']) } : table;
}

/** Expands a function of version 1, which is only its name. */
function qualifiedFunction(entry: Json): Json {
  if (typeof entry === 'string') return { function: qualified(entry) };
  if (!isJsonObject(entry)) return entry;
  return entry['function'] === undefined ? { function: entry } : { ...entry, function: qualified(entry['function']) };
}

function readFolder(files: Files, folder: string, version: 2 | 3) {
  const reader = new MetadataReader(files);
  const document: Record<string, Json> = { version: 3 };
  const read = (name: string): Json | undefined => reader.read(join(folder, name));
  const ofVersion = read(VERSION_FILE);
  if (isJsonObject(ofVersion)) for (const [key, value] of Object.entries(ofVersion)) if (key !== 'version') document[key] = value;
  for (const { file, key } of SECTIONS) {
    const value = read(file);
    if (value !== undefined && value !== null) document[key] = value;
  }
  const actions = read(ACTIONS_FILE);
  const sdl = files.read(join(folder, ACTIONS_SDL_FILE));
  const shown = { yaml: files.show(join(folder, ACTIONS_FILE)), sdl: files.show(join(folder, ACTIONS_SDL_FILE)) };
  let unjoinedParts: readonly Unjoined[] = [];
  if (actions !== undefined || sdl !== undefined) {
    const joined = joinActions(actions ?? null, sdl ?? '', shown, () => ({ file: shown.yaml }));
    reader.problems.push(...joined.problems);
    if (joined.actions.length > 0) document['actions'] = joined.actions;
    if (joined.customTypes !== null) document['custom_types'] = joined.customTypes;
    unjoinedParts = unjoined(actions ?? null, defined({ actions: joined.actions, custom_types: joined.customTypes ?? undefined }));
  }
  const own = new Set(
    [VERSION_FILE, ACTIONS_FILE, ACTIONS_SDL_FILE, ...SECTIONS.map(({ file }) => file)].map((file) => join(folder, file)),
  );
  let converted: JsonObject = document;
  if (version === 2) {
    const [tables, functions] = [read('tables.yaml'), read('functions.yaml')];
    converted = ofVersion3({ ...document, tables: tables ?? [], ...(functions === undefined || functions === null ? {} : { functions }) });
  }
  const layout: Layout = version === 3 ? 'version 3' : 'version 2';
  const ofActions: readonly (string | undefined)[] = [shown.yaml, shown.sdl];
  // The root may contain anything beside the metadata.
  const isCopied = version === 3 && folder !== files.root && reader.problems.every(({ file }) => ofActions.includes(file));
  return {
    layout,
    document: converted,
    unjoined: unjoinedParts,
    actionsAreJoined: true,
    metadataFolder: isCopied ? folder : undefined,
    metadataFiles: [...reader.files.keys(), ...(sdl === undefined ? [] : [join(folder, ACTIONS_SDL_FILE)])].filter((path) =>
      isWithin(folder, path),
    ),
    newActions: reader.problems.length > 0,
    unread: files
      .list(folder)
      .filter((each) => /\.(?:ya?ml|graphql)$/i.test(each) && !own.has(each) && !reader.files.has(each))
      .map((each) => files.show(each)),
    problems: reader.problems,
  };
}

/** Returns names and paths of all files below a folder, whatever they contain. */
export function namesBelow(files: Files, folder: string): readonly (readonly [name: string, path: string])[] {
  return files.list(folder).map((path) => [relative(folder, path).split(sep).join('/'), path]);
}

/** Files in any encoding. */
export interface ForeignFiles extends Files {
  /** Encodings of files that were read and are not UTF-8, by their names in messages. */
  readonly encodings: ReadonlyMap<string, string>;
  /** Files outside of the root that were read: the link or path to each, and its target. */
  readonly outside: ReadonlyMap<string, string>;
  /** Folders that were skipped in listings, with the reason. */
  readonly skipped: ReadonlyMap<string, string>;
}

/** @param folders that belong to the project, wherever they are */
export function foreignFiles(root: string, folders: readonly string[] = []): ForeignFiles {
  const files = projectFiles(root);
  const folderOf = (path: string): string | undefined => folders.find((folder) => path === folder || path.startsWith(folder + sep));
  const encodings = new Map<string, string>();
  const outside = new Map<string, string>();
  const skipped = new Map<string, string>();
  const known = new Set<string>();
  const realRoot = existsSync(root) ? realpathSync(root) : root;
  // Folders named in the settings belong to the project; targets of links do not.
  const ownFolders = [root, ...folders.filter((folder) => !files.isInside(folder))];
  /** Records an existing file outside of the project, reached by a link or by a folder in the settings. */
  const recordOutside = (path: string): void => {
    const folder = dirname(path);
    if (known.has(folder) && lstatSync(path).isSymbolicLink() === false) return;
    known.add(folder);
    if (isWithin(realRoot, realpathSync(path))) return;
    // The first folder outside is recorded in place of everything below it.
    let first = files.isInside(path) ? root : (folderOf(path) ?? folder);
    if (first === root)
      for (const step of relative(root, path).split(sep)) {
        first = join(first, step);
        if (!isWithin(realRoot, realpathSync(first))) break;
      }
    outside.set(files.show(first), realpathSync(first));
  };
  return {
    ...files,
    isInside: (path) => files.isInside(path) || folderOf(path) !== undefined,
    leadsOut(path) {
      const real = realPathOf(path);
      const places = [realRoot, ...folders.map((folder) => realPathOf(folder) ?? folder)];
      return real !== undefined && !places.some((place) => isWithin(place, real));
    },
    encodings,
    outside,
    skipped,
    list: (folder) =>
      filesBelow(folder, ownFolders, files.show, (path, thrown) => {
        const reason =
          thrown === undefined ? `leads out of the project to ${realPathOf(path)}, and is not read` : `cannot be read: ${reasonOf(thrown)}`;
        skipped.set(path, reason);
      }),
    read(path, maxBytes) {
      const bytes = readBytes(path, files.show, maxBytes);
      if (bytes === undefined) return undefined;
      recordOutside(path);
      const text = decodeUtf8(bytes);
      if (text !== undefined) return text;
      const mark = bytes.subarray(0, 2).toString('hex');
      const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'windows-1252';
      encodings.set(files.show(path), encoding);
      return new TextDecoder(encoding).decode(bytes);
    },
  };
}
