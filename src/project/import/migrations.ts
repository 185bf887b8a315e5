/** Migrations and seeds of any layout as those of this project. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { parse } from 'yaml';
import { splitStatements } from '../../metadata-api/run-sql/split-statements.ts';
import { counted } from '../../util/counted.ts';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { isWithin, realPathOf } from '../directory/files.ts';
import { reasonOf } from '../failure.ts';
import { FOLDER } from '../migrations/migration-files.ts';
import { scanSql } from '../migrations/scan-sql.ts';
import type { Account } from './account.ts';
import { DEEPEST, type Input, isDeeper, namesBelow } from './read-input.ts';

/** Paths in the new project to texts. */
export type Texts = Map<string, string>;

const FILE = /^(\d+)_(.*)\.(up|down)\.(sql|ya?ml)$/s;

export interface ImportedMigrations {
  readonly texts: Texts;
  /** Of SQL that looks at session variables of the other engine. */
  readonly readsSession: readonly string[];
  readonly count: number;
}

/** @param gone sources that do not come along; their files are kept under `unsupported/` */
export function importMigrations(
  input: Input,
  sources: readonly string[],
  gone: ReadonlySet<string>,
  account: Account,
): ImportedMigrations {
  const texts: Texts = new Map();
  const found = collect(input, sources, account, texts);
  const readsSession: string[] = [];
  const isLeft = strangers(found, sources, gone, account);
  findOddVersions(
    found.filter(({ source }) => !isLeft(source)),
    account,
  );
  for (const { source, folder, file, text } of found) {
    const shown = `migrations/${source}/${folder}/${file}`;
    if (isLeft(source)) {
      texts.set(`unsupported/${shown}`, text);
      continue;
    }
    const { sql, name } = adapted(text, file, shown, account, readsSession);
    texts.set(`migrations/${source}/${folder}/${name}`, sql);
  }
  addMissingUps(texts, account);
  const strange = new Set<string>();
  for (const [name, file] of namesBelow(input.files, input.seedsFolder)) {
    if (!name.endsWith('.sql')) continue;
    const text = input.files.read(file) ?? '';
    const first = name.includes('/') ? (name.split('/', 1)[0] as string) : undefined;
    // Before version 3 all are of the one source, in whatever folders.
    const isOfSource = first !== undefined && (sources.includes(first) || input.layout === 'version 3');
    const path = isOfSource ? name : `${sources[0] ?? 'default'}/${name}`;
    if (isOfSource && (gone.has(first) || isLeft(first))) {
      texts.set(`unsupported/seeds/${path}`, text);
      if (!gone.has(first)) strange.add(first);
      continue;
    }
    texts.set(`seeds/${path}`, withoutGuards(text, `seeds/${path}`, account));
    if (/x-hasura-|hasura\.user/i.test(text)) readsSession.push(`seeds/${path}`);
  }
  const hasOthers = [...texts.keys()].some((path) => /^(?:migrations|seeds)\//.test(path));
  for (const source of strange)
    account.remark({
      id: `seeds.${source}`,
      bucket: hasOthers ? 'ignored' : 'needs-you',
      place: `seeds/${source}`,
      message: 'the metadata has no such source, so that the other engine does not run them either: kept in unsupported/',
    });
  return { texts, readsSession, count: new Set(found.map(({ source, folder }) => `${source}/${folder}`)).size };
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
  readonly text: string;
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
        if (direction === null) continue;
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
    }
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
    found.push({ source: implicit, folder, file: `${direction}.sql`, text });
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
    else if (!isFolder(place)) left.push(`migrations/${source}/${folder}`);
    else if (!FOLDER.test(folder)) others(place);
    else
      for (const file of entriesOf(input, place, account)) {
        const name = `migrations/${source}/${folder}/${file}`;
        if (isFolder(join(place, file))) others(join(place, file));
        else if (/^(?:up|down)\.sql$/.test(file)) found.push({ source, folder, file, text: input.files.read(join(place, file)) ?? '' });
        else if (/^(?:up|down)\.ya?ml$/.test(file))
          account.remark({
            id: `migrations.${source}.${folder}.${file}`,
            bucket: 'ignored',
            place: name,
            message: 'calls of the API in a project of this version were never run',
          });
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
  const sql: string[] = [];
  let others = 0;
  const visit = (call: Json): void => {
    if (isJsonArray(call)) for (const each of call) visit(each);
    if (!isJsonObject(call)) return;
    const { type, args } = call;
    if (typeof type === 'string' && /(?:^|_)run_sql$/.test(type) && isJsonObject(args) && typeof args['sql'] === 'string')
      sql.push(args['sql']);
    else if (type === 'bulk' && args !== undefined) visit(args);
    else others += 1;
  };
  visit(calls);
  if (others > 0)
    account.remark({
      id: place.replaceAll('/', '.'),
      bucket: 'ignored',
      place,
      message: `${counted(others, 'call')} of the metadata API: the metadata itself says what was done`,
    });
  return sql.map((each) => `${each.trimEnd().replace(/;?$/, ';')}\n`).join('');
}

const GENERATED_UUID = /\bhdb_catalog\s*\.\s*gen_hasura_uuid\s*\(\s*\)/gi;
const OLD_CATALOG = /\bhdb_catalog\b/i;

/** The other engine runs nothing upwards where there is only a way back, and so does this then. */
function addMissingUps(texts: Texts, account: Account): void {
  for (const path of [...texts.keys()]) {
    const folder = /^(migrations\/.*)\/down\.sql$/s.exec(path)?.[1];
    if (folder === undefined || texts.has(`${folder}/up.sql`) || texts.has(`${folder}/up.notx.sql`)) continue;
    texts.set(`${folder}/up.sql`, '');
    account.remark({
      id: `${folder.replaceAll('/', '.')}:up`,
      bucket: 'renamed',
      place: folder,
      message: 'has no up.sql: an empty one is written, which runs nothing',
    });
  }
}

/** The lines around a dump that psql alone understands, and that say nothing about the database, as comments. */
function withoutGuards(text: string, shown: string, account: Account): string {
  if (!/^\\(?:un)?restrict\b/m.test(text)) return text;
  const lines = new Set(scanSql(text).foreign.flatMap(({ line, what }) => (/^\\(?:un)?restrict$/.test(what) ? [line] : [])));
  if (lines.size === 0) return text;
  account.remark({
    id: `${shown.replaceAll('/', '.')}:restrict`,
    bucket: 'renamed',
    place: shown,
    message: 'lines with \\restrict, which pg_dump writes for psql -> comments',
  });
  return text
    .split('\n')
    .map((line, i) => (lines.has(i + 1) ? `-- ${line}` : line))
    .join('\n');
}

/** The SQL with what belongs to the other engine's own tables taken out, and the name of its file. */
function adapted(
  text: string,
  file: string,
  shown: string,
  account: Account,
  readsSession: string[],
): { readonly sql: string; readonly name: string } {
  const id = shown.replaceAll('/', '.');
  let sql = withoutGuards(text, shown, account);
  if (GENERATED_UUID.test(sql)) {
    sql = sql.replace(GENERATED_UUID, 'gen_random_uuid()');
    account.remark({ id: `${id}:uuid`, bucket: 'renamed', place: shown, message: 'hdb_catalog.gen_hasura_uuid() -> gen_random_uuid()' });
  }
  if (OLD_CATALOG.test(sql)) {
    for (const statement of splitStatements(sql)) {
      if (!OLD_CATALOG.test(statement)) continue;
      const commented = statement.split('\n').map((line) => `-- ${line}`);
      sql = sql.replace(
        statement,
        () => `-- svc import: not run, it uses the tables of another engine (see svc_catalog)\n${commented.join('\n')}\nselect 1`,
      );
    }
    account.remark({
      id: `${id}:catalog`,
      bucket: 'needs-you',
      place: shown,
      message: 'statements that use hdb_catalog are commented out; the tables of this service are in svc_catalog',
    });
  }
  if (/x-hasura-|hasura\.(?:user|tracecontext)/i.test(sql)) readsSession.push(shown);
  if (/^\s*GO\s*$/im.test(sql) || /\[dbo\]\s*\./i.test(sql)) {
    account.remark({ id: `${id}:dialect`, bucket: 'needs-you', place: shown, message: 'looks like the SQL of another kind of database' });
    return { sql, name: file };
  }
  const scanned = scanSql(sql);
  for (const { line, what } of scanned.foreign)
    account.remark({
      id: `${id}:psql`,
      bucket: 'needs-you',
      place: `${shown}:${line}`,
      message: `${what} is for psql only: such a migration is not run`,
    });
  const isApart = file === 'up.sql' && scanned.outside.length > 0;
  if (isApart)
    account.remark({ id: `${id}:no-transaction`, bucket: 'renamed', place: shown, message: 'cannot run in a transaction -> up.notx.sql' });
  return { sql, name: isApart ? 'up.notx.sql' : file };
}
