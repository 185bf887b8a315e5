/** Migrations and seeds of any layout as those of this project. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { parse } from 'yaml';
import { counted } from '../util/counted.ts';
import { isJsonObject, type Json } from '../util/json.ts';
import { isWithin, realPathOf } from '../project/directory/files.ts';
import { reasonOf } from '../project/failure.ts';
import { FOLDER } from '../migrations/migration-files.ts';
import type { Account } from './account.ts';
import { adapted } from './adapt-sql.ts';
import { flatCalls } from './metadata-calls.ts';
import { OldCatalog } from './old-catalog.ts';
import { DEEPEST, type Input, isDeeper, namesBelow } from './read-input.ts';
import { importSeeds } from './seeds.ts';
import type { SqlReader } from './sql-reader.ts';

/** Paths in the new project to texts. */
export type Texts = Map<string, string>;

const FILE = /^(\d+)_(.*)\.(up|down)\.(sql|ya?ml)$/s;

export interface ImportedMigrations {
  readonly texts: Texts;
  /** Files whose SQL reads session variables of the other engine. */
  readonly readsSession: readonly string[];
  /** Relations and functions, by source, that no migration creates any more because their SQL uses hdb_catalog. */
  readonly lost: ReadonlyMap<string, ReadonlySet<string>>;
  readonly count: number;
}

/** @param gone sources that do not come along; their files are kept under `unsupported/` */
export function importMigrations(
  input: Input,
  sources: readonly string[],
  gone: ReadonlySet<string>,
  account: Account,
  reader: SqlReader,
): ImportedMigrations {
  const texts: Texts = new Map();
  const found = collect(input, sources, account, texts);
  const readsSession: string[] = [];
  const isLeft = strangers(found, sources, gone, account);
  findOddVersions(
    found.filter(({ source }) => !isLeft(source)),
    account,
  );
  const oldCatalog = new OldCatalog(reader);
  for (const { source, folder, file, place, text } of inOrder(found)) {
    const shown = `migrations/${source}/${folder}/${file}`;
    if (isLeft(source)) {
      texts.set(`unsupported/${shown}`, text);
      continue;
    }
    const { sql, name } = adapted({ source, file, shown, text }, oldCatalog, account, reader, readsSession);
    const path = `migrations/${source}/${folder}/${name}`;
    if (texts.has(path)) {
      texts.set(`unsupported/${place}`, text);
      account.remark({
        id: `${place.replaceAll('/', '.')}:twice`,
        bucket: 'needs-you',
        place,
        message: `is the same migration as ${path}: kept in unsupported/`,
      });
    } else texts.set(path, sql);
  }
  setLoneDownsAside(texts, account);
  const isOut = (source: string): boolean => gone.has(source) || isLeft(source);
  const seeds = importSeeds(
    input,
    sources,
    isOut,
    gone,
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

/** Tells whether migrations of a source do not come along: it does not itself, or the metadata does not have it. */
function strangers(
  found: readonly Found[],
  sources: readonly string[],
  gone: ReadonlySet<string>,
  account: Account,
): (source: string) => boolean {
  const unknown = [...new Set(found.map(({ source }) => source))].filter((source) => !sources.includes(source) && !gone.has(source));
  // Where there are no sources at all, they are what is missing.
  const isWithout = sources.length === 0 && gone.size === 0;
  // Else the folder may be that of a source which has another name now.
  const hasOthers = found.some(({ source }) => sources.includes(source));
  for (const source of unknown)
    account.remark({
      id: `migrations.${source}`,
      bucket: hasOthers ? 'ignored' : 'needs-you',
      place: `migrations/${source}`,
      message: isWithout
        ? `the metadata has no source "${source}": add it to metadata/databases/databases.yaml, else nothing is deployed`
        : 'the metadata has no such source, so that the other engine does not run them either: kept in unsupported/',
    });
  return (source) => gone.has(source) || (!isWithout && !sources.includes(source));
}

/** Metadata of version 1, which stands beside the migrations. */
const METADATA_FILE = /^metadata\.(?:ya?ml|json)$/;
const LARGEST_VERSION = 2n ** 64n - 1n;

/** Versions that are there twice, or are no version here: such a project is not deployed. */
function findOddVersions(found: readonly Found[], account: Account): void {
  const folders = new Map<string, Set<string>>();
  for (const { source, folder } of found) {
    const version = BigInt(FOLDER.exec(folder)?.[1] ?? 0);
    const place = `migrations/${source}/${folder}`;
    if (version > LARGEST_VERSION)
      account.remark({
        id: `${place}:version`,
        bucket: 'needs-you',
        place,
        message: 'the version is no unsigned number of 64 bits: give it another',
      });
    const key = `${source} ${version}`;
    folders.set(key, (folders.get(key) ?? new Set()).add(place));
  }
  for (const places of folders.values())
    if (places.size > 1)
      account.remark({
        id: `${[...places].join()}:twice`,
        bucket: 'needs-you',
        place: [...places].join(', '),
        message: 'have the same version: give all but one another, or none of the source is run',
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

/** Up migrations by version, each followed by its down migration: the order in which their objects come and go. */
function inOrder(found: readonly Found[]): readonly Found[] {
  const version = ({ folder }: Found): bigint => BigInt(FOLDER.exec(folder)?.[1] ?? 0);
  return [...found].sort((a, b) => {
    if (a.source !== b.source) return a.source < b.source ? -1 : 1;
    const [left, right] = [version(a), version(b)];
    if (left !== right) return left < right ? -1 : 1;
    return Number(a.file.startsWith('down')) - Number(b.file.startsWith('down'));
  });
}

function collect(input: Input, sources: readonly string[], account: Account, texts: Texts): readonly Found[] {
  const root = input.migrationsFolder;
  if (!existsSync(root)) return [];
  const found: Found[] = [];
  const implicit = sources[0] ?? 'default';
  const left: string[] = [];
  /** Of version 1: SQL and calls of one migration, beside each other. */
  const parts = new Map<string, { folder: string; direction: 'up' | 'down'; sql: string; calls: string }>();
  const part = (version: string, name: string, direction: 'up' | 'down') => {
    const key = `${version} ${direction}`;
    const known = parts.get(key) ?? { folder: `${version}_${name}`, direction, sql: '', calls: '' };
    parts.set(key, known);
    return known;
  };
  for (const name of entriesOf(input, root, account)) {
    const path = join(root, name);
    const file = FILE.exec(name);
    if (isFolder(path)) {
      const inFolder = FOLDER.exec(name);
      if (inFolder === null) {
        if (/^squashed_/.test(name)) ignore(account, `migrations/${name}`);
        else found.push(...ofSource(input, path, name, account, left));
        continue;
      }
      const [, version, rest] = inFolder as unknown as [string, string, string];
      for (const each of entriesOf(input, path, account)) {
        const direction = /^(up|down)\.(sql|ya?ml)$/.exec(each);
        if (direction === null) {
          left.push(`migrations/${name}/${each}`);
          continue;
        }
        const text = input.files.read(join(path, each)) ?? '';
        const into = part(version, rest, direction[1] as 'up' | 'down');
        if (direction[2] === 'sql') into.sql = text;
        else into.calls = callsSql(text, `migrations/${name}/${each}`, account);
      }
    } else if (file !== null) {
      const [, version, rest, direction, kind] = file as unknown as [string, string, string, 'up' | 'down', string];
      const text = input.files.read(path) ?? '';
      const into = part(version, rest, direction);
      if (kind === 'sql') into.sql = text;
      else into.calls = callsSql(text, `migrations/${name}`, account);
    } else if (!METADATA_FILE.test(name)) left.push(`migrations/${name}`);
  }
  if (input.layout === 'version 3' && parts.size > 0) {
    // A project of this version has them below its sources.
    const places = [...new Set([...parts.values()].map(({ folder }) => `migrations/${folder}`))];
    const hasOthers = found.length > 0;
    account.remark({
      id: 'migrations:root',
      bucket: 'needs-you',
      place: places.join(', '),
      message: hasOthers
        ? 'are in the folder of no source, so that they were never run: kept in unsupported/'
        : `are in the folder of no source: now in that of ${implicit}; look whether they were run`,
    });
    if (hasOthers)
      for (const { folder, direction, sql, calls } of parts.values())
        texts.set(`unsupported/migrations/${folder}/${direction}.sql`, sql + calls);
    if (hasOthers) parts.clear();
  }
  if (left.length > 0)
    account.remark({
      id: 'migrations:unread',
      bucket: 'ignored',
      place: left.join(', '),
      message: 'no up.sql or down.sql of a migration: the other engine does not read them either',
    });
  for (const { folder, direction, sql, calls } of parts.values()) {
    const pieces = (direction === 'up' ? [sql, calls] : [calls, sql]).filter((piece) => piece.trim() !== '');
    // The bytes of a file that is alone stay.
    const text = pieces.length <= 1 ? (pieces[0] ?? '') : `${pieces.map((piece) => piece.trimEnd().replace(/;?$/, ';')).join('\n')}\n`;
    found.push({ source: implicit, folder, file: `${direction}.sql`, place: `migrations/${folder}/${direction}.sql`, text });
  }
  return found;
}

/** Which files there can be is known, so that they are found by whatever links; what else there is, is only named. */
function ofSource(input: Input, path: string, source: string, account: Account, left: string[]): readonly Found[] {
  const found: Found[] = [];
  const others = (place: string): void => {
    for (const [below] of namesBelow(input.files, place)) left.push(`${migrationsPlace(input, place)}/${below}`);
  };
  // A link to the migrations of another project is taken at its word, but not all that lies there.
  const isElsewhere = !isWithin(realPathOf(input.root) ?? input.root, realPathOf(path) ?? path) && input.files.isInside(path);
  for (const folder of entriesOf(input, path, account)) {
    const place = join(path, folder);
    if (isElsewhere && !FOLDER.test(folder)) continue;
    if (/^squashed_/.test(folder)) ignore(account, `migrations/${source}/${folder}`);
    else if (!isFolder(place)) {
      const flat = FILE.exec(folder);
      const shown = `migrations/${source}/${folder}`;
      if (flat === null) left.push(shown);
      else {
        const [, version, name, direction, kind] = flat as unknown as [string, string, string, string, string];
        if (kind !== 'sql') neverRun(account, shown);
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
        else if (/^(?:up|down)\.ya?ml$/.test(file)) neverRun(account, name);
        else left.push(name);
      }
  }
  if (isElsewhere && found.length === 0)
    account.remark({
      id: `folder:migrations/${source}`,
      bucket: 'ignored',
      place: `migrations/${source}`,
      message: `leads out of the project, to ${realPathOf(path)}: there are no migrations`,
    });
  return found;
}

/** Reports a file of API calls in a project of version 3. */
function neverRun(account: Account, place: string): void {
  account.remark({
    id: place.replaceAll('/', '.'),
    bucket: 'ignored',
    place,
    message: 'API calls in a project of this version were never run',
  });
}

function migrationsPlace(input: Input, path: string): string {
  return `migrations/${relative(input.migrationsFolder, path).split(sep).join('/')}`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // A link that leads nowhere, or in a circle.
    return false;
  }
}

/** Names in a folder of migrations. */
function entriesOf(input: Input, path: string, account: Account): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch (thrown) {
    const place = path === input.migrationsFolder ? 'migrations' : migrationsPlace(input, path);
    account.remark({ id: `folder:${place}`, bucket: 'needs-you', place, message: `cannot be read: ${reasonOf(thrown)}` });
    return [];
  }
}

const ignored = new WeakMap<Account, Set<string>>();

function ignore(account: Account, place: string): void {
  const known = ignored.get(account) ?? new Set<string>();
  ignored.set(account, known);
  if (known.has(place)) return;
  known.add(place);
  account.remark({ id: place.replaceAll('/', '.'), bucket: 'ignored', place, message: 'left by an earlier squash' });
}

/** The SQL among calls of the API; what else they do is the metadata's business. */
function callsSql(text: string, place: string, account: Account): string {
  let calls: Json;
  try {
    calls = parse(text, { maxAliasCount: 100 }) as Json;
    // An alias may stand for what it is in.
    if (isDeeper(calls, DEEPEST)) throw new Error(`nested deeper than ${DEEPEST}`);
  } catch (thrown) {
    account.remark({ id: place.replaceAll('/', '.'), bucket: 'needs-you', place, message: `cannot be read: ${reasonOf(thrown)}` });
    return '';
  }
  const all = flatCalls(calls);
  const sql = all.flatMap(({ type, args }) =>
    /(?:^|_)run_sql$/.test(type) && isJsonObject(args) && typeof args['sql'] === 'string' ? [args['sql']] : [],
  );
  const others = all.length - sql.length;
  if (others > 0)
    account.remark({
      id: place.replaceAll('/', '.'),
      bucket: 'ignored',
      place,
      message: `${counted(others, 'call')} of the metadata API: the metadata itself says what was done`,
    });
  return sql.map((each) => `${each.trimEnd().replace(/;?$/, ';')}\n`).join('');
}

/** Moves a down.sql without an up.sql aside: an up.sql that is missing must not become one that does nothing. */
function setLoneDownsAside(texts: Texts, account: Account): void {
  for (const [path, text] of [...texts]) {
    const folder = /^(migrations\/.*)\/down\.sql$/s.exec(path)?.[1];
    if (folder === undefined || texts.has(`${folder}/up.sql`) || texts.has(`${folder}/up.notx.sql`)) continue;
    texts.delete(path);
    texts.set(`unsupported/${path}`, text);
    account.remark({
      id: `${folder.replaceAll('/', '.')}:up`,
      bucket: 'needs-you',
      place: folder,
      message: 'has a down.sql and no up.sql: kept in unsupported/; move it back with its up.sql, or with an empty one if there was none',
    });
  }
}
