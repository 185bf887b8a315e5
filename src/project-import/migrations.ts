/** Imports migrations of any layout. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { parse } from 'yaml';
import { counted } from '../util/counted.ts';
import { nestedDeeperThan } from '../util/json-depth.ts';
import { isJsonObject, type Json } from '../util/json.ts';
import { isWithin, realPathOf } from '../project/directory/files.ts';
import { reasonOf } from '../project/failure.ts';
import { FOLDER } from '../migrations/migration-files.ts';
import type { ImportAccount } from './account.ts';
import { adapted } from './adapt-sql.ts';
import { flatCalls } from './metadata-calls.ts';
import { OldCatalog } from './old-catalog.ts';
import { MAX_DEPTH } from '../project/directory/reading-limits.ts';
import { type Input, namesBelow } from './read-input.ts';
import { importSeeds } from './seeds.ts';
import type { SqlReader } from './sql-reader.ts';

/** Texts by path in the new project. */
export type Texts = Map<string, string>;

const FILE = /^(\d+)_(.*)\.(up|down)\.(sql|ya?ml)$/s;

export interface ImportedMigrations {
  readonly texts: Texts;
  /** Files whose SQL reads session variables of the other engine. */
  readonly readsSession: readonly string[];
  /** Relations and functions by source that migrations no longer create, because their SQL uses hdb_catalog. */
  readonly lost: ReadonlyMap<string, ReadonlySet<string>>;
  readonly count: number;
}

/** @param unsupportedSources sources that are not imported; their files go to `unsupported/` */
export function importMigrations(
  input: Input,
  sources: readonly string[],
  unsupportedSources: ReadonlySet<string>,
  account: ImportAccount,
  reader: SqlReader,
): ImportedMigrations {
  const texts: Texts = new Map();
  const found = collect(input, sources, account, texts);
  const readsSession: string[] = [];
  const isExcluded = reportUnknownSources(found, sources, unsupportedSources, account);
  reportInvalidVersions(
    found.filter(({ source }) => !isExcluded(source)),
    account,
  );
  const oldCatalog = new OldCatalog(reader);
  for (const { source, folder, file, place, text } of inOrder(found)) {
    const shown = `migrations/${source}/${folder}/${file}`;
    if (isExcluded(source)) {
      texts.set(`unsupported/${shown}`, text);
      continue;
    }
    const { sql, name } = adapted({ source, file, shown, text }, oldCatalog, account, reader, readsSession);
    const path = `migrations/${source}/${folder}/${name}`;
    if (texts.has(path)) {
      texts.set(`unsupported/${place}`, text);
      account.addRemark({
        id: `${place.replaceAll('/', '.')}:twice`,
        bucket: 'needs-you',
        place,
        message: `is the same migration as ${path}: stored in unsupported/`,
      });
    } else texts.set(path, sql);
  }
  setAsideDownsWithoutUp(texts, account);
  const seeds = importSeeds(
    input,
    sources,
    isExcluded,
    unsupportedSources,
    account,
    reader,
    [...texts.keys()].some((path) => path.startsWith('migrations/')),
  );
  for (const [path, text] of seeds.texts) texts.set(path, text);
  readsSession.push(...seeds.readsSession);
  return {
    texts,
    readsSession,
    lost: oldCatalog.lost(),
    count: new Set(found.map(({ source, folder }) => `${source}/${folder}`)).size,
  };
}

/** Reports sources that the metadata does not contain. Returns whether the migrations of a source are excluded. */
function reportUnknownSources(
  found: readonly Found[],
  sources: readonly string[],
  unsupportedSources: ReadonlySet<string>,
  account: ImportAccount,
): (source: string) => boolean {
  const unknown = [...new Set(found.map(({ source }) => source))].filter(
    (source) => !sources.includes(source) && !unsupportedSources.has(source),
  );
  // Metadata without any source is incomplete, so the migrations are kept.
  const hasNoSources = sources.length === 0 && unsupportedSources.size === 0;
  // Otherwise the folder may belong to a renamed source.
  const hasOthers = found.some(({ source }) => sources.includes(source));
  for (const source of unknown)
    account.addRemark({
      id: `migrations.${source}`,
      bucket: hasOthers ? 'ignored' : 'needs-you',
      place: `migrations/${source}`,
      message: hasNoSources
        ? `the metadata has no source "${source}": add it to metadata/databases/databases.yaml, or its migrations are not applied`
        : 'the metadata has no such source, so the other engine does not run them either: stored in unsupported/',
    });
  return (source) => unsupportedSources.has(source) || (!hasNoSources && !sources.includes(source));
}

/** Metadata of version 1, which are stored beside the migrations. */
const METADATA_FILE = /^metadata\.(?:ya?ml|json)$/;
const MAX_VERSION = 2n ** 64n - 1n;

/** Reports duplicate and invalid versions: such a project cannot be deployed. */
function reportInvalidVersions(found: readonly Found[], account: ImportAccount): void {
  const folders = new Map<string, Set<string>>();
  for (const { source, folder } of found) {
    const version = BigInt(FOLDER.exec(folder)?.[1] ?? 0);
    const place = `migrations/${source}/${folder}`;
    if (version > MAX_VERSION)
      account.addRemark({
        id: `${place}:version`,
        bucket: 'needs-you',
        place,
        message: 'the version is not an unsigned 64-bit integer: rename the folder',
      });
    const key = `${source} ${version}`;
    folders.set(key, (folders.get(key) ?? new Set()).add(place));
  }
  for (const places of folders.values())
    if (places.size > 1)
      account.addRemark({
        id: `${[...places].join()}:twice`,
        bucket: 'needs-you',
        place: [...places].join(', '),
        message: 'have the same version: rename all but one, or no migration of this source is applied',
      });
}

interface Found {
  readonly source: string;
  readonly folder: string;
  readonly file: string;
  /** Path in the input, for the report. */
  readonly place: string;
  readonly text: string;
}

/** Returns up migrations by version, each followed by its down migration: the order in which objects are created and dropped. */
function inOrder(found: readonly Found[]): readonly Found[] {
  const version = ({ folder }: Found): bigint => BigInt(FOLDER.exec(folder)?.[1] ?? 0);
  return [...found].sort((a, b) => {
    if (a.source !== b.source) return a.source < b.source ? -1 : 1;
    const [left, right] = [version(a), version(b)];
    if (left !== right) return left < right ? -1 : 1;
    return Number(a.file.startsWith('down')) - Number(b.file.startsWith('down'));
  });
}

/** SQL and calls of one direction of a migration of version 1. */
interface Part {
  readonly folder: string;
  readonly direction: 'up' | 'down';
  sql: string;
  calls: string;
}

function collect(input: Input, sources: readonly string[], account: ImportAccount, texts: Texts): readonly Found[] {
  const root = input.migrationsFolder;
  if (!existsSync(root)) return [];
  const found: Found[] = [];
  const implicit = sources[0] ?? 'default';
  const unread: string[] = [];
  const parts = new Map<string, Part>();
  for (const name of entriesOf(input, root, account)) {
    if (isFolder(join(root, name))) {
      if (FOLDER.test(name)) unread.push(...addFolder(parts, input, name, account));
      else if (/^squashed_/.test(name)) ignoreSquashed(account, `migrations/${name}`);
      else found.push(...ofSource(input, join(root, name), name, account, unread));
    } else if (!addFile(parts, input, name, account) && !METADATA_FILE.test(name)) unread.push(`migrations/${name}`);
  }
  if (input.layout === 'version 3' && parts.size > 0) {
    // A project of this version stores them below its sources.
    const hasOthers = found.length > 0;
    remarkRoot([...parts.values()], hasOthers, implicit, account);
    if (hasOthers) {
      for (const { folder, direction, sql, calls } of parts.values())
        texts.set(`unsupported/migrations/${folder}/${direction}.sql`, sql + calls);
      parts.clear();
    }
  }
  if (unread.length > 0)
    account.addRemark({
      id: 'migrations:unread',
      bucket: 'ignored',
      place: unread.join(', '),
      message: 'are neither up.sql nor down.sql of a migration, so the other engine does not read them either',
    });
  for (const each of parts.values()) {
    const { folder, direction } = each;
    found.push({ source: implicit, folder, file: `${direction}.sql`, place: `migrations/${folder}/${direction}.sql`, text: textOf(each) });
  }
  return found;
}

/** Adds the files of a migration, and returns those that belong to none. */
function addFolder(parts: Map<string, Part>, input: Input, name: string, account: ImportAccount): readonly string[] {
  const [, version, rest] = FOLDER.exec(name) as unknown as [string, string, string];
  const path = join(input.migrationsFolder, name);
  const unread: string[] = [];
  for (const each of entriesOf(input, path, account)) {
    const direction = /^(up|down)\.(sql|ya?ml)$/.exec(each);
    if (direction === null) {
      unread.push(`migrations/${name}/${each}`);
      continue;
    }
    const text = input.files.read(join(path, each)) ?? '';
    const into = partOf(parts, version, rest, direction[1] as 'up' | 'down');
    if (direction[2] === 'sql') into.sql = text;
    else into.calls = callsSql(text, `migrations/${name}/${each}`, account);
  }
  return unread;
}

/** Adds a file outside of any folder; returns false if it is no migration. */
function addFile(parts: Map<string, Part>, input: Input, name: string, account: ImportAccount): boolean {
  const file = FILE.exec(name);
  if (file === null) return false;
  const [, version, rest, direction, kind] = file as unknown as [string, string, string, 'up' | 'down', string];
  const text = input.files.read(join(input.migrationsFolder, name)) ?? '';
  const into = partOf(parts, version, rest, direction);
  if (kind === 'sql') into.sql = text;
  else into.calls = callsSql(text, `migrations/${name}`, account);
  return true;
}

function partOf(parts: Map<string, Part>, version: string, name: string, direction: 'up' | 'down'): Part {
  const key = `${version} ${direction}`;
  const part = parts.get(key) ?? { folder: `${version}_${name}`, direction, sql: '', calls: '' };
  parts.set(key, part);
  return part;
}

function remarkRoot(parts: readonly Part[], hasOthers: boolean, implicit: string, account: ImportAccount): void {
  const places = new Set(parts.map(({ folder }) => `migrations/${folder}`));
  account.addRemark({
    id: 'migrations:root',
    bucket: 'needs-you',
    place: [...places].join(', '),
    message: hasOthers
      ? 'are in no folder of a source, so they were never applied: stored in unsupported/'
      : `are in no folder of a source: moved to the folder of ${implicit}; check whether they were applied`,
  });
}

function textOf({ direction, sql, calls }: Part): string {
  const pieces = (direction === 'up' ? [sql, calls] : [calls, sql]).filter((piece) => piece.trim() !== '');
  // A single file keeps its bytes.
  return pieces.length <= 1 ? (pieces[0] ?? '') : `${pieces.map((piece) => piece.trimEnd().replace(/;?$/, ';')).join('\n')}\n`;
}

/** Reads the known files of a source's migrations, links included; other files are only named. */
function ofSource(input: Input, path: string, source: string, account: ImportAccount, unread: string[]): readonly Found[] {
  const found: Found[] = [];
  const others = (place: string): void => {
    for (const [below] of namesBelow(input.files, place)) unread.push(`${migrationsPlace(input, place)}/${below}`);
  };
  // A link to migrations of another project is followed, but other files there are ignored.
  const isOutsideProject = !isWithin(realPathOf(input.root) ?? input.root, realPathOf(path) ?? path) && input.files.isInside(path);
  for (const folder of entriesOf(input, path, account)) {
    const place = join(path, folder);
    if (isOutsideProject && !FOLDER.test(folder)) continue;
    if (/^squashed_/.test(folder)) ignoreSquashed(account, `migrations/${source}/${folder}`);
    else if (!isFolder(place)) {
      const flat = FILE.exec(folder);
      const shown = `migrations/${source}/${folder}`;
      if (flat === null) unread.push(shown);
      else {
        const [, version, name, direction, kind] = flat as unknown as [string, string, string, string, string];
        if (kind !== 'sql') reportNeverRun(account, shown);
        else
          found.push({
            source,
            folder: `${version}_${name}`,
            file: `${direction}.sql`,
            place: shown,
            text: input.files.read(place) ?? '',
          });
      }
    } else if (!FOLDER.test(folder)) others(place);
    else
      for (const file of entriesOf(input, place, account)) {
        const name = `migrations/${source}/${folder}/${file}`;
        if (isFolder(join(place, file))) others(join(place, file));
        else if (/^(?:up|down)\.sql$/.test(file))
          found.push({ source, folder, file, place: name, text: input.files.read(join(place, file)) ?? '' });
        else if (/^(?:up|down)\.ya?ml$/.test(file)) reportNeverRun(account, name);
        else unread.push(name);
      }
  }
  if (isOutsideProject && found.length === 0)
    account.addRemark({
      id: `folder:migrations/${source}`,
      bucket: 'ignored',
      place: `migrations/${source}`,
      message: `leads out of the project to ${realPathOf(path)}, which contains no migrations`,
    });
  return found;
}

/** Reports a file of API calls in a project of version 3, which never runs it. */
function reportNeverRun(account: ImportAccount, place: string): void {
  account.addRemark({
    id: place.replaceAll('/', '.'),
    bucket: 'ignored',
    place,
    message: 'migrations of API calls are never applied in a project of version 3',
  });
}

function migrationsPlace(input: Input, path: string): string {
  return `migrations/${relative(input.migrationsFolder, path).split(sep).join('/')}`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // A broken or circular link.
    return false;
  }
}

/** Returns the names in a folder of migrations. */
function entriesOf(input: Input, path: string, account: ImportAccount): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch (thrown) {
    const place = path === input.migrationsFolder ? 'migrations' : migrationsPlace(input, path);
    account.addRemark({ id: `folder:${place}`, bucket: 'needs-you', place, message: `cannot be read: ${reasonOf(thrown)}` });
    return [];
  }
}

const squashed = new WeakMap<ImportAccount, Set<string>>();

function ignoreSquashed(account: ImportAccount, place: string): void {
  const known = squashed.get(account) ?? new Set<string>();
  squashed.set(account, known);
  if (known.has(place)) return;
  known.add(place);
  account.addRemark({ id: place.replaceAll('/', '.'), bucket: 'ignored', place, message: 'remains of an earlier squash' });
}

/** Returns the SQL of API calls; their other effects belong to the metadata. */
function callsSql(text: string, place: string, account: ImportAccount): string {
  let calls: Json;
  try {
    calls = parse(text, { maxAliasCount: 100 }) as Json;
    // An alias may contain itself.
    if (nestedDeeperThan(calls, MAX_DEPTH)) throw new Error(`nested deeper than ${MAX_DEPTH}`);
  } catch (thrown) {
    account.addRemark({ id: place.replaceAll('/', '.'), bucket: 'needs-you', place, message: `cannot be read: ${reasonOf(thrown)}` });
    return '';
  }
  const all = flatCalls(calls);
  const sql = all.flatMap(({ type, args }) =>
    /(?:^|_)run_sql$/.test(type) && isJsonObject(args) && typeof args['sql'] === 'string' ? [args['sql']] : [],
  );
  const others = all.length - sql.length;
  if (others > 0)
    account.addRemark({
      id: place.replaceAll('/', '.'),
      bucket: 'ignored',
      place,
      message: `${counted(others, 'call')} of the metadata API: not needed, because the metadata is imported`,
    });
  return sql.map((each) => `${each.trimEnd().replace(/;?$/, ';')}\n`).join('');
}

/** Moves a down.sql without an up.sql to `unsupported/`: a missing up.sql must not become an empty one. */
function setAsideDownsWithoutUp(texts: Texts, account: ImportAccount): void {
  for (const [path, text] of [...texts]) {
    const folder = /^(migrations\/.*)\/down\.sql$/s.exec(path)?.[1];
    if (folder === undefined || texts.has(`${folder}/up.sql`) || texts.has(`${folder}/up.notx.sql`)) continue;
    texts.delete(path);
    texts.set(`unsupported/${path}`, text);
    account.addRemark({
      id: `${folder.replaceAll('/', '.')}:up`,
      bucket: 'needs-you',
      place: folder,
      message: 'has a down.sql but no up.sql: stored in unsupported/; move it back with its up.sql, or with an empty one if there was none',
    });
  }
}
