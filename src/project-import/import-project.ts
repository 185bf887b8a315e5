/** Imports a project of another engine into a new directory and reports on every leaf. The input is only read. */
import { createHash } from 'node:crypto';
import { join, relative, resolve, sep } from 'node:path';
import { Document, parse } from 'yaml';
import { VARIABLE_PREFIX } from '../config/option.ts';
import { DEFAULT_ENDPOINT } from '../project/project.ts';
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf, objectsIn, printJson } from '../util/json.ts';
import { isWithin, projectFiles } from '../project/directory/files.ts';
import { counted } from '../util/counted.ts';
import { createNode, newYamlFile, printYamlFile } from '../project/directory/yaml-file.ts';
import { ACTIONS_FILE, ACTIONS_SDL_FILE, defined, VERSION_FILE } from '../project/directory/sections.ts';
import { writeMetadata } from '../project/directory/write-metadata.ts';
import { normalised } from '../project/document.ts';
import { ProjectFailure } from '../project/failure.ts';
import { plainSecrets } from '../project/lint/secrets.ts';
import { ImportAccount, BUCKETS, type Leaf, leavesOf, printLeafPath, type Remark } from './account.ts';
import { callsOut, NO_CALLS_ENVIRONMENT } from './calls-out.ts';
import { importMigrations } from './migrations.ts';
import { sqlReader } from './sql-reader.ts';
import { optionVariables } from './environment-file.ts';
import type { Input } from './read-input.ts';
import { translate } from './translate.ts';

const SESSION_ALIASES = `${VARIABLE_PREFIX}SESSION_PREFIX_ALIASES`;
export const DECISIONS_FILE = 'import.yaml';

export interface ReportEntry {
  readonly id: string;
  readonly bucket: Leaf['bucket'];
  /** Path in the document, or a file. */
  readonly place: string;
  readonly to?: string;
  readonly note?: string;
  readonly accepted: boolean;
}

export interface ImportReport {
  readonly layout: string;
  /** Number of leaves of the input. */
  readonly leaves: number;
  /** Number of leaves in each bucket; the sum is `leaves`. */
  readonly buckets: Readonly<Record<Leaf['bucket'], number>>;
  /** Number of entries in each bucket that concern no leaf, but migrations, seeds, other files or the whole project. */
  readonly remarks: Readonly<Record<Leaf['bucket'], number>>;
  /** All entries except unchanged leaves. */
  readonly entries: readonly ReportEntry[];
  readonly migrations: number;
  /** Warnings that concern no single leaf. */
  readonly warnings: readonly string[];
}

export interface Imported {
  /** Texts of files by path below the new directory. */
  readonly texts: ReadonlyMap<string, string>;
  readonly report: ImportReport;
}

/**
 * @param out the new directory; decisions that it already contains are kept
 * @param accepted ids of accepted entries
 */
export function importProject(input: Input, out: string, accepted: ReadonlySet<string>, kinds: Kinds<Backend>): Imported {
  const account = new ImportAccount();
  const texts = new Map<string, string>();
  const variables = optionVariables();
  const translated = translate(input.document, account, { kinds, optionVariables: variables });
  const { variables: named } = translated;
  accountForProblems(input, account, texts);
  const config = configOf(input.config, account);
  const read =
    leavesOf(input.document).length + leavesOf(input.config, ['config.yaml']).length * (Object.keys(input.config).length === 0 ? 0 : 1);
  const unjoined = input.unjoined.reduce((sum, { value }) => sum + leavesOf(value).length, 0);
  const { document, texts: metadata } = writtenMetadata(input, out, translated.document, account, kinds);
  const counts = countOf(account.leaves);
  const sum = BUCKETS.reduce((total, bucket) => total + counts[bucket], 0);
  if (sum !== read + unjoined) throw new Error(`invariant: ${read + unjoined} leaf keys were read and ${sum} accounted for`);
  const sources = namesOf(document);
  const unsupportedSources = new Set(namesOf(input.document).filter((name) => !sources.includes(name)));
  const migrations = importMigrations(input, sources, unsupportedSources, account, sqlReader(kinds));
  reportLostTables(document, migrations.lost, account);
  reportProjectIssues(input, document, migrations.readsSession, account);
  for (const [path, text] of [...migrations.texts, ...metadata]) texts.set(path, text);
  accountForFiles(input, account);
  texts.set('config.yaml', config);
  for (const [file, text] of setAsideTexts(account)) texts.set(`unsupported/${file}`, text);
  texts.set('.env.example', exampleEnvironment(named));
  texts.set('.gitignore', '.env\n.env.*\n!.env.example\n.svc/\n');
  const written = Object.fromEntries([...texts].map(([file, text]) => [file, digestOf(text)] as const).sort());
  texts.set(DECISIONS_FILE, String(new Document({ accepted: [...accepted].sort(), written })));
  const entries = [...account.leaves.filter(({ bucket }) => bucket !== 'same').map(leafEntry), ...account.remarks.map(remarkEntry)].map(
    (entry) => ({ ...entry, accepted: accepted.has(`${entry.bucket}:${entry.id}`) || accepted.has(entry.id) }),
  );
  const outside = [...input.files.outside].map(([shown, real]) => (shown === real ? shown : `${shown} -> ${real}`));
  const warnings = [
    callsOut(document),
    outside.length === 0 ? undefined : `read from outside of the project: ${outside.join(', ')}`,
  ].filter((warning) => warning !== undefined);
  const remarks = countOf(account.remarks);
  return {
    texts,
    report: { layout: input.layout, leaves: sum, buckets: counts, remarks, entries, migrations: migrations.count, warnings },
  };
}

/** Accounts for what could not be joined or read. @param texts receives the unreadable files */
function accountForProblems(input: Input, account: ImportAccount, texts: Map<string, string>): void {
  for (const { path, value, bucket, reason } of input.unjoined) {
    const at = ['actions.yaml', ...path];
    if (bucket === 'ignored') account.addLeaves(value, at, bucket, reason);
    else account.setAside('actions.yaml', at, value, reason);
  }
  for (const { message, file, line } of input.problems) {
    const place = [file, line].filter((part) => part !== undefined).join(':');
    account.addRemark({ id: `problem:${place}`, bucket: 'needs-you', place, message });
  }
  for (const file of new Set(input.problems.map((problem) => problem.file))) {
    // Unreadable files are stored verbatim, except settings, which may contain secrets.
    const text = file === undefined || file === 'config.yaml' ? undefined : input.files.read(resolve(input.root, file));
    if (file !== undefined && text !== undefined) texts.set(`unsupported/files/${file.replace(/^[/\\]+/, '')}`, text);
  }
  if ((input.unread ?? []).length > 0)
    account.addRemark({
      id: 'unread',
      bucket: 'ignored',
      place: (input.unread ?? []).join(', '),
      message: 'no other file includes these files, so the other engine does not read them either',
    });
}

/** Accounts for files in other encodings, and for those that were skipped. */
function accountForFiles({ files, seedsFolder }: Input, account: ImportAccount): void {
  for (const [file, encoding] of files.encodings)
    account.addRemark({
      id: `encoding:${file}`,
      bucket: 'needs-you',
      place: file,
      message: `is not valid UTF-8: it was read as ${encoding} and written as UTF-8; check that the text is correct`,
    });
  for (const [path, reason] of files.skipped) {
    const shown = files.show(path);
    // Files of metadata and migrations are known by name.
    const mayContainSeeds = isWithin(seedsFolder, path);
    account.addRemark({
      id: `folder:${shown}`,
      bucket: mayContainSeeds ? 'needs-you' : 'ignored',
      place: shown,
      message: mayContainSeeds ? `${reason}; set seeds_directory in config.yaml to this folder, or copy the seeds that you need` : reason,
    });
  }
}

/** Decisions recorded by an earlier import into this directory. */
export interface Decisions {
  /** Ids of accepted entries. */
  readonly accepted: ReadonlySet<string>;
  /** Digests of the files that it wrote, by path below the directory. */
  readonly written: ReadonlyMap<string, string>;
}

export function decisionsIn(out: string): Decisions {
  const text = projectFiles(out).read(join(out, DECISIONS_FILE));
  const read: Json = text === undefined ? null : (parse(text) as Json);
  const { accepted, written }: JsonObject = objectOf(read);
  return {
    accepted: new Set(isJsonArray(accepted) ? accepted.map(String) : []),
    written: new Map(Object.entries(objectOf(written)).map(([file, digest]) => [file, String(digest)] as const)),
  };
}

/** Returns a digest that changes if a written file is edited. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function countOf(list: readonly { readonly bucket: Leaf['bucket'] }[]): ImportReport['buckets'] {
  const count = (counted: Leaf['bucket']): number => list.filter(({ bucket }) => bucket === counted).length;
  return {
    same: count('same'),
    renamed: count('renamed'),
    'needs-you': count('needs-you'),
    unsupported: count('unsupported'),
    ignored: count('ignored'),
  };
}

function leafEntry({ path, bucket, to, note }: Leaf): Omit<ReportEntry, 'accepted'> {
  const place = printLeafPath(path);
  return {
    id: place,
    bucket,
    place,
    ...(to === undefined ? {} : { to: to.length > 200 ? `${to.slice(0, 200)}…` : to }),
    ...(note === undefined ? {} : { note }),
  };
}

function remarkEntry({ id, bucket, place, message }: Remark): Omit<ReportEntry, 'accepted'> {
  return { id, bucket, place, note: message };
}

function namesOf(document: JsonObject): readonly string[] {
  return objectsIn(document['sources']).map(({ name }) => String(name));
}

/** Returns the metadata files and the document that they contain, without its actions if these cannot be written as SDL. */
function writtenMetadata(
  input: Input,
  out: string,
  translated: JsonObject,
  account: ImportAccount,
  kinds: Kinds,
): { readonly document: JsonObject; readonly texts: ReadonlyMap<string, string> } {
  // Actions that do not come from their two files are converted to the form that the service exports.
  const { actions, custom_types } = input.actionsAreJoined ? translated : (normalised(translated, kinds) ?? translated);
  const { actions: _, custom_types: __, ...others } = translated;
  const document: JsonObject = { ...others, ...defined({ actions, custom_types }) };
  try {
    return { document, texts: metadataTexts(input, out, document) };
  } catch (thrown) {
    if (!(thrown instanceof ProjectFailure) || (actions === undefined && custom_types === undefined)) throw thrown;
    for (const key of ['actions', 'custom_types'] as const)
      account.moveAside(
        'actions.yaml',
        [key],
        input.document[key] ?? null,
        'an action or type cannot be written as SDL: check the names and types',
      );
    return { document: others, texts: metadataTexts(input, out, others) };
  }
}

const ACTIONS_FILES: readonly string[] = [ACTIONS_FILE, ACTIONS_SDL_FILE];

/** Returns the metadata files: those of the input with changed values; comments and includes are preserved. */
function metadataTexts(input: Input, out: string, document: JsonObject): ReadonlyMap<string, string> {
  const folder = join(out, 'metadata');
  const taken = new Map<string, string>();
  const { metadataFolder } = input;
  if (metadataFolder !== undefined)
    for (const path of new Set([...input.files.list(metadataFolder), ...(input.metadataFiles ?? [])])) {
      const name = relative(metadataFolder, path).split(sep).join('/');
      if (/\.(?:ya?ml|graphql|sql)$/i.test(name) && !(input.newActions === true && ACTIONS_FILES.includes(name)))
        // The layout of the folder determines the version, whatever version.yaml contains.
        taken.set(join(folder, name), name === VERSION_FILE ? 'version: 3\n' : (input.files.read(path) ?? ''));
    }
  // Results of an earlier run are ignored, so that the same input gives the same bytes.
  const here = projectFiles(out);
  const hidden = new Map<string, string | null>(here.list(folder).map((path) => [path, null]));
  const files = projectFiles(out, new Map([...hidden, ...taken]));
  const { changes, orphans } = writeMetadata({ files, folder }, document);
  const all = new Map<string, string | null>([...taken, ...changes]);
  for (const path of orphans) all.delete(path);
  return new Map([...all].flatMap(([path, text]) => (text === null ? [] : [[relative(out, path).split(sep).join('/'), text] as const])));
}

function setAsideTexts(account: ImportAccount): ReadonlyMap<string, string> {
  const byFile = new Map<string, JsonObject[]>();
  for (const { file, path, value, reason } of account.partsSetAside)
    byFile.set(file, [...(byFile.get(file) ?? []), { path: printLeafPath(path), reason, value }]);
  return new Map([...byFile].map(([file, entries]) => [file, yamlText(entries)]));
}

function yamlText(value: Json): string {
  const file = newYamlFile('', '', null);
  file.document.contents = createNode(file, value) as typeof file.document.contents;
  return printYamlFile(file);
}

const CONFIG_SAME: ReadonlySet<string> = new Set([
  'endpoint',
  'disable_interactive',
  'actions',
  'insecure_skip_tls_verify',
  'certificate_authority',
  'api_paths',
]);

function configOf(config: JsonObject, account: ImportAccount): string {
  const settings: Record<string, Json> = { version: 3 };
  for (const [key, value] of Object.entries(config)) {
    const path = ['config.yaml', key];
    if (key === 'version') account.addLeaf(path, value === 3 ? 'same' : 'renamed', value === 3 ? {} : { to: '3' });
    else if (['metadata_directory', 'migrations_directory', 'seeds_directory', 'metadata_file'].includes(key))
      account.addLeaves(value, path, 'ignored', 'the new project uses the default folders');
    else if (['admin_secret', 'admin_secrets', 'access_key'].includes(key))
      account.addLeaves(value, path, 'needs-you', 'secrets are not copied: set SVC_GRAPHQL_ADMIN_SECRET in .env');
    else if (key === 'endpoint' && typeof value === 'string' && !/^https?:\/\/(?:localhost|127\.0\.0\.1)\b/.test(value))
      // The new project must not send anything to the other engine.
      account.addLeaf(path, 'renamed', {
        to: DEFAULT_ENDPOINT,
        note: `the address of the other engine -> ${DEFAULT_ENDPOINT}: set the address of this service`,
      });
    else if (CONFIG_SAME.has(key)) {
      settings[key] = value;
      account.addLeaves(value, path, 'same', '');
    } else account.setAside('config.yaml', path, value, 'this service has no such setting');
  }
  return yamlText({ ...settings, endpoint: settings['endpoint'] ?? DEFAULT_ENDPOINT });
}

function reportProjectIssues(input: Input, document: JsonObject, readsSession: readonly string[], account: ImportAccount): void {
  if (readsSession.length > 0)
    account.addRemark({
      id: 'sql:session-names',
      bucket: 'needs-you',
      place: readsSession.join(', '),
      message: `SQL reads session variables under the prefix x-hasura-: start the service with ${SESSION_ALIASES}=x-hasura- (.env.example contains it), or rewrite the functions with x-svc-`,
    });
  for (const section of ['sources', 'remote_schemas', 'actions', 'cron_triggers'] as const)
    for (const [i, item] of (isJsonArray(document[section]) ? document[section] : []).entries()) {
      if (!isJsonObject(item)) continue;
      for (const path of plainSecrets(item, [section, i]))
        account.addRemark({
          id: `secret:${section}.${String(item['name'])}:${printLeafPath(path)}`,
          bucket: 'needs-you',
          place: printLeafPath(path),
          message: 'the metadata contains a secret: use from_env, or value_from_env for a header',
        });
    }
  if (input.fromCalls !== undefined) {
    const { unknown } = input.fromCalls;
    account.addRemark({
      id: 'metadata:calls',
      bucket: 'needs-you',
      place: 'migrations',
      message: `the metadata was built from the API calls of the migrations${unknown.length === 0 ? '' : `, without ${unknown.join(', ')}`}: if the service still runs, compare it with the result of svc import --from-server`,
    });
  }
  const hasNothing = !isJsonArray(document['sources']) || document['sources'].length === 0;
  if (hasNothing && input.layout === 'version 1')
    account.addRemark({
      id: 'metadata',
      bucket: 'needs-you',
      place: 'metadata',
      message: 'the directory contains no metadata: import it from the running service with svc import --from-server',
    });
}

/** Reports tracked tables and functions whose migrations no longer create them, because their SQL uses hdb_catalog. */
function reportLostTables(document: JsonObject, lost: ReadonlyMap<string, ReadonlySet<string>>, account: ImportAccount): void {
  for (const source of objectsIn(document['sources'])) {
    const names = lost.get(String(source['name'])) ?? new Set();
    for (const [section, key] of [
      ['tables', 'table'],
      ['functions', 'function'],
    ] as const)
      for (const entry of objectsIn(source[section])) {
        const qualified = entry[key];
        const name = isJsonObject(qualified) ? qualified['name'] : qualified;
        if (typeof name !== 'string' || !names.has(name)) continue;
        account.addRemark({
          id: `${section}.${String(source['name'])}.${name}:catalog`,
          bucket: 'needs-you',
          place: `${section} of ${String(source['name'])}: ${name}`,
          message: 'is created by SQL that uses hdb_catalog and is commented out: create it in a new migration, or untrack it',
        });
      }
  }
}

function exampleEnvironment(variables: readonly string[]): string {
  const lines = [
    '# Copy to .env and fill in.',
    'SVC_GRAPHQL_ADMIN_SECRET=',
    '',
    '# PostgreSQL database for the metadata of the service. Default: the database of SVC_GRAPHQL_DATABASE_URL.',
    '# SVC_GRAPHQL_METADATA_DATABASE_URL=',
    '',
    '# Accept x-hasura-* beside x-svc-*, for clients, tokens, webhooks and SQL of the old service. Remove this when none of them uses it.',
    `${SESSION_ALIASES}=x-hasura-`,
    '',
    '# Beside a service in use, or on a copy of its database: do not deliver events, and do not call handlers of asynchronous actions.',
    ...NO_CALLS_ENVIRONMENT.map((line) => `# ${line}`),
    '',
    '# Variables that the metadata uses.',
    ...variables.filter((name) => name !== 'SVC_GRAPHQL_ADMIN_SECRET').map((name) => `${name}=`),
  ];
  return `${lines.join('\n')}\n`;
}

const BUCKET_DESCRIPTIONS: Readonly<Record<Leaf['bucket'], string>> = {
  same: ': imported unchanged',
  renamed: ': imported under another name or with another value',
  'needs-you': ': to review',
  unsupported: ': stored in unsupported/',
  ignored: ': without effect in this service',
};

/** Returns the report as text. */
export function printReport({ layout, leaves, buckets, remarks, entries, migrations, warnings }: ImportReport, out: string): string {
  const remarked = (bucket: Leaf['bucket']): string =>
    remarks[bucket] === 0 ? '' : `; and ${counted(remarks[bucket], 'remark')} about files or the whole project`;
  const lines = [
    `read a project of ${layout}: ${counted(leaves, 'key')} of metadata and settings, ${counted(migrations, 'migration')}`,
    ...BUCKETS.map(
      (bucket) => `  ${bucket.padEnd(12)} ${counted(buckets[bucket], 'key')}${BUCKET_DESCRIPTIONS[bucket]}${remarked(bucket)}`,
    ),
    `written to ${out}`,
  ];
  for (const bucket of ['needs-you', 'unsupported', 'renamed', 'ignored'] as const) {
    const all = entries.filter((entry) => entry.bucket === bucket);
    if (all.length === 0) continue;
    // Entries of one kind share a line.
    const byText = new Map<string, ReportEntry[]>();
    for (const entry of all) {
      const text = entry.note ?? (entry.to === undefined ? '' : `-> ${shortened(entry.to)}`);
      byText.set(text, [...(byText.get(text) ?? []), entry]);
    }
    lines.push('', `${bucket}:`);
    for (const [text, group] of byText) {
      const [first] = group;
      const more = group.length > 1 ? ` and ${group.length - 1} more` : '';
      lines.push(`  ${first?.place ?? ''}${more}: ${text}${group.every(({ accepted }) => accepted) ? ' (accepted)' : ''}`);
    }
  }
  for (const warning of warnings) lines.push('', `warning: ${warning}`);
  return lines.join('\n');
}

const MAX_SHOWN_LENGTH = 100;

/** Returns the beginning of a text in one line. */
function shortened(text: string): string {
  const line = text.replace(/\s*\n\s*/g, ' ');
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line;
}

/** Returns entries that need a decision and are not accepted. */
export function openEntries({ entries }: ImportReport): readonly ReportEntry[] {
  return entries.filter(({ bucket, accepted }) => !accepted && (bucket === 'needs-you' || bucket === 'unsupported'));
}

export function reportJson({ layout, leaves, buckets, remarks, entries, migrations, warnings }: ImportReport): JsonObject {
  return {
    layout,
    leaves,
    buckets: { ...buckets },
    remarks: { ...remarks },
    migrations,
    warnings: [...warnings],
    entries: entries.map((entry) => JSON.parse(printJson({ ...entry })) as JsonObject),
  };
}
