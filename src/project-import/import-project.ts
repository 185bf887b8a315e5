/** A project of another engine as one of this service: a new directory and a report. The input is only read. */
import { createHash } from 'node:crypto';
import { join, relative, resolve, sep } from 'node:path';
import { Document, parse } from 'yaml';
import { VARIABLE_PREFIX } from '../config/option.ts';
import { DEFAULT_ENDPOINT } from '../project/project.ts';
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, printJson } from '../util/json.ts';
import { isWithin, projectFiles } from '../project/directory/files.ts';
import { counted } from '../util/counted.ts';
import { createNode, newYamlFile, printYamlFile } from '../project/directory/yaml-file.ts';
import { ACTIONS_FILE, ACTIONS_SDL_FILE, defined, VERSION_FILE } from '../project/directory/sections.ts';
import { writeMetadata } from '../project/directory/write-metadata.ts';
import { normalised } from '../project/document.ts';
import { ProjectFailure } from '../project/failure.ts';
import { plainSecrets } from '../project/lint.ts';
import { Account, BUCKETS, type Leaf, leavesOf, printLeafPath, type Remark } from './account.ts';
import { callsOut, SILENT } from './calls-out.ts';
import { importMigrations } from './migrations.ts';
import { sqlReader } from './sql-reader.ts';
import { optionVariables } from './environment-file.ts';
import type { Input } from './read-input.ts';
import { translate } from './translate.ts';

export const SESSION_ALIASES = `${VARIABLE_PREFIX}SESSION_PREFIX_ALIASES`;
export const DECISIONS_FILE = 'import.yaml';

export interface ReportEntry {
  readonly id: string;
  readonly bucket: Leaf['bucket'];
  /** In the document, or a file. */
  readonly place: string;
  readonly to?: string;
  readonly note?: string;
  readonly accepted: boolean;
}

export interface ImportReport {
  readonly layout: string;
  /** Leaf keys of the input. */
  readonly leaves: number;
  /** How many of them each bucket has; the sum is `leaves`. */
  readonly buckets: Readonly<Record<Leaf['bucket'], number>>;
  /** How many entries of each bucket are of no key: of migrations, seeds and other files, or of the whole. */
  readonly remarks: Readonly<Record<Leaf['bucket'], number>>;
  /** All but what is the same. */
  readonly entries: readonly ReportEntry[];
  readonly migrations: number;
  /** What to take care of, whatever became of the keys. */
  readonly warnings: readonly string[];
}

export interface Imported {
  /** Below the new directory. */
  readonly texts: ReadonlyMap<string, string>;
  readonly report: ImportReport;
}

/**
 * @param out where it is going to be: what is decided there already is kept
 * @param accepted ids of what is known and accepted
 */
export function importProject(input: Input, out: string, accepted: ReadonlySet<string>, kinds: Kinds<Backend>): Imported {
  const account = new Account();
  const texts = new Map<string, string>();
  const variables = optionVariables();
  const translated = translate(input.document, account, { kinds, optionVariables: variables });
  const { variables: named } = translated;
  for (const { path, value, bucket, reason } of input.unjoined) {
    const at = ['actions.yaml', ...path];
    if (bucket === 'ignored') account.all(value, at, bucket, reason);
    else account.aside('actions.yaml', at, value, reason);
  }
  for (const { message, file, line } of input.problems) {
    const place = [file, line].filter((part) => part !== undefined).join(':');
    account.remark({ id: `problem:${place}`, bucket: 'needs-you', place, message });
  }
  for (const file of new Set(input.problems.map((problem) => problem.file))) {
    // What cannot be read is kept as it is; but settings may hold secrets.
    const text = file === undefined || file === 'config.yaml' ? undefined : input.files.read(resolve(input.root, file));
    if (file !== undefined && text !== undefined) texts.set(`unsupported/files/${file.replace(/^[/\\]+/, '')}`, text);
  }
  if ((input.unread ?? []).length > 0)
    account.remark({
      id: 'unread',
      bucket: 'ignored',
      place: (input.unread ?? []).join(', '),
      message: 'nothing includes these files: the other engine does not read them either',
    });
  const config = configOf(input.config, account);
  const read =
    leavesOf(input.document).length + leavesOf(input.config, ['config.yaml']).length * (Object.keys(input.config).length === 0 ? 0 : 1);
  const unjoined = input.unjoined.reduce((sum, { value }) => sum + leavesOf(value).length, 0);
  const { document, texts: metadata } = writtenMetadata(input, out, translated.document, account, kinds);
  const counts = countOf(account.leaves);
  const sum = BUCKETS.reduce((total, bucket) => total + counts[bucket], 0);
  if (sum !== read + unjoined) throw new Error(`invariant: ${read + unjoined} leaf keys were read and ${sum} accounted for`);
  const sources = namesOf(document);
  const gone = new Set(namesOf(input.document).filter((name) => !sources.includes(name)));
  const migrations = importMigrations(input, sources, gone, account, sqlReader(kinds));
  findLostTables(document, migrations.lost, account);
  findGeneral(input, document, migrations.readsSession, account);
  for (const [path, text] of [...migrations.texts, ...metadata]) texts.set(path, text);
  for (const [file, encoding] of input.files.encodings)
    account.remark({
      id: `encoding:${file}`,
      bucket: 'needs-you',
      place: file,
      message: `is no UTF-8: it was read as ${encoding} and written as UTF-8; look whether that is right`,
    });
  for (const [path, why] of input.files.left) {
    const shown = input.files.show(path);
    // Of metadata and migrations it is known which files they are.
    const isMissed = isWithin(input.seedsFolder, path);
    account.remark({
      id: `folder:${shown}`,
      bucket: isMissed ? 'needs-you' : 'ignored',
      place: shown,
      message: isMissed ? `${why}; name the folder as seeds_directory in config.yaml, or copy what is wanted of it` : why,
    });
  }
  texts.set('config.yaml', config);
  for (const [file, text] of asideTexts(account)) texts.set(`unsupported/${file}`, text);
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

/** What an earlier import of this directory wrote down. */
export interface Decisions {
  /** Ids of what is known and accepted. */
  readonly accepted: ReadonlySet<string>;
  /** Of each file that it wrote, below the directory, what {@link digestOf} makes of it. */
  readonly written: ReadonlyMap<string, string>;
}

export function decisionsIn(out: string): Decisions {
  const text = projectFiles(out).read(join(out, DECISIONS_FILE));
  const read: Json = text === undefined ? null : (parse(text) as Json);
  const { accepted, written }: JsonObject = isJsonObject(read) ? read : {};
  return {
    accepted: new Set(isJsonArray(accepted) ? accepted.map(String) : []),
    written: new Map(Object.entries(isJsonObject(written) ? written : {}).map(([file, digest]) => [file, String(digest)] as const)),
  };
}

/** Tells a file that was edited from one that is as it was written. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function countOf(list: readonly { readonly bucket: Leaf['bucket'] }[]): ImportReport['buckets'] {
  const count = (wanted: Leaf['bucket']): number => list.filter(({ bucket }) => bucket === wanted).length;
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
  return listIn(document, 'sources').map(({ name }) => String(name));
}

/** The files, and the document that they hold: without its actions where those cannot be written as SDL. */
function writtenMetadata(
  input: Input,
  out: string,
  translated: JsonObject,
  account: Account,
  kinds: Kinds,
): { readonly document: JsonObject; readonly texts: ReadonlyMap<string, string> } {
  // A document that comes from no files of actions says in its own way what they leave out.
  const { actions, custom_types } = input.actionsAreJoined ? translated : (normalised(translated, kinds) ?? translated);
  const { actions: _, custom_types: __, ...others } = translated;
  const document: JsonObject = { ...others, ...defined({ actions, custom_types }) };
  try {
    return { document, texts: metadataTexts(input, out, document) };
  } catch (thrown) {
    if (!(thrown instanceof ProjectFailure) || (actions === undefined && custom_types === undefined)) throw thrown;
    for (const key of ['actions', 'custom_types'] as const)
      account.takeBack(
        'actions.yaml',
        [key],
        input.document[key] ?? null,
        'one of them cannot be written as SDL: look at their names and types',
      );
    return { document: others, texts: metadataTexts(input, out, others) };
  }
}

const ACTIONS_FILES: readonly string[] = [ACTIONS_FILE, ACTIONS_SDL_FILE];

/** Files of the metadata: those of the input with what differs changed, comments and includes kept. */
function metadataTexts(input: Input, out: string, document: JsonObject): ReadonlyMap<string, string> {
  const folder = join(out, 'metadata');
  const taken = new Map<string, string>();
  const { metadataFolder } = input;
  if (metadataFolder !== undefined)
    for (const path of new Set([...input.files.list(metadataFolder), ...(input.metadataFiles ?? [])])) {
      const name = relative(metadataFolder, path).split(sep).join('/');
      if (/\.(?:ya?ml|graphql|sql)$/i.test(name) && !(input.newActions === true && ACTIONS_FILES.includes(name)))
        // The folder says which version it is, whatever its version.yaml says.
        taken.set(join(folder, name), name === VERSION_FILE ? 'version: 3\n' : (input.files.read(path) ?? ''));
    }
  // What is there from an earlier run does not count: the same input gives the same bytes.
  const here = projectFiles(out);
  const hidden = new Map<string, string | null>(here.list(folder).map((path) => [path, null]));
  const files = projectFiles(out, new Map([...hidden, ...taken]));
  const { changes, orphans } = writeMetadata({ files, folder }, document);
  const all = new Map<string, string | null>([...taken, ...changes]);
  for (const path of orphans) all.delete(path);
  return new Map([...all].flatMap(([path, text]) => (text === null ? [] : [[relative(out, path).split(sep).join('/'), text] as const])));
}

function asideTexts(account: Account): ReadonlyMap<string, string> {
  const byFile = new Map<string, JsonObject[]>();
  for (const { file, path, value, reason } of account.asides)
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

function configOf(config: JsonObject, account: Account): string {
  const made: Record<string, Json> = { version: 3 };
  for (const [key, value] of Object.entries(config)) {
    const path = ['config.yaml', key];
    if (key === 'version') account.leaf(path, value === 3 ? 'same' : 'renamed', value === 3 ? {} : { to: '3' });
    else if (['metadata_directory', 'migrations_directory', 'seeds_directory', 'metadata_file'].includes(key))
      account.all(value, path, 'ignored', 'the new project has the usual folders');
    else if (['admin_secret', 'admin_secrets', 'access_key'].includes(key))
      account.all(value, path, 'needs-you', 'a secret does not come along: set SVC_GRAPHQL_ADMIN_SECRET in .env');
    else if (key === 'endpoint' && typeof value === 'string' && !/^https?:\/\/(?:localhost|127\.0\.0\.1)\b/.test(value))
      // Nothing of the new project is to be sent to the other engine.
      account.leaf(path, 'renamed', {
        to: DEFAULT_ENDPOINT,
        note: `the address of the other engine -> ${DEFAULT_ENDPOINT}: set that of this service`,
      });
    else if (CONFIG_SAME.has(key)) {
      made[key] = value;
      account.all(value, path, 'same', '');
    } else account.aside('config.yaml', path, value, 'there is no such setting');
  }
  return yamlText({ ...made, endpoint: made['endpoint'] ?? DEFAULT_ENDPOINT });
}

function findGeneral(input: Input, document: JsonObject, readsSession: readonly string[], account: Account): void {
  if (readsSession.length > 0)
    account.remark({
      id: 'sql:session-names',
      bucket: 'needs-you',
      place: readsSession.join(', '),
      message: `SQL reads session variables under the prefix x-hasura-: start the service with ${SESSION_ALIASES}=x-hasura- (it is in .env.example), or write the functions anew with x-svc-`,
    });
  for (const section of ['sources', 'remote_schemas', 'actions', 'cron_triggers'] as const)
    for (const [i, item] of (isJsonArray(document[section]) ? document[section] : []).entries()) {
      if (!isJsonObject(item)) continue;
      for (const path of plainSecrets(item, [section, i]))
        account.remark({
          id: `secret:${section}.${String(item['name'])}:${printLeafPath(path)}`,
          bucket: 'needs-you',
          place: printLeafPath(path),
          message: 'a secret stands in the metadata: use from_env, or value_from_env of a header',
        });
    }
  if (input.fromCalls !== undefined) {
    const left = input.fromCalls.unknown;
    account.remark({
      id: 'metadata:calls',
      bucket: 'needs-you',
      place: 'migrations',
      message: `the metadata is what the API calls of the migrations have made${left.length === 0 ? '' : `, without ${left.join(', ')}`}: compare it with svc import --from-server if the service still runs`,
    });
  }
  const hasNothing = !isJsonArray(document['sources']) || document['sources'].length === 0;
  if (hasNothing && input.layout === 'version 1')
    account.remark({
      id: 'metadata',
      bucket: 'needs-you',
      place: 'metadata',
      message: 'the directory holds no metadata: svc import --from-server takes it from the running service',
    });
}

/** Reports tracked tables and functions that no migration creates any more, because their SQL uses hdb_catalog. */
function findLostTables(document: JsonObject, lost: ReadonlyMap<string, ReadonlySet<string>>, account: Account): void {
  for (const source of listIn(document, 'sources')) {
    const names = lost.get(String(source['name'])) ?? new Set();
    for (const [section, key] of [
      ['tables', 'table'],
      ['functions', 'function'],
    ] as const)
      for (const entry of listIn(source, section)) {
        const qualified = entry[key];
        const name = isJsonObject(qualified) ? qualified['name'] : qualified;
        if (typeof name !== 'string' || !names.has(name)) continue;
        account.remark({
          id: `${section}.${String(source['name'])}.${name}:catalog`,
          bucket: 'needs-you',
          place: `${section} of ${String(source['name'])}: ${name}`,
          message: 'is created by SQL that uses hdb_catalog and is commented out: create it in a migration of your own, or untrack it',
        });
      }
  }
}

function listIn(value: JsonObject, key: string): readonly JsonObject[] {
  const list = value[key];
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

function exampleEnvironment(variables: readonly string[]): string {
  const lines = [
    '# Copy to .env and fill in.',
    'SVC_GRAPHQL_ADMIN_SECRET=',
    '',
    '# PostgreSQL that keeps the metadata of the service. Without it, the database of SVC_GRAPHQL_DATABASE_URL.',
    '# SVC_GRAPHQL_METADATA_DATABASE_URL=',
    '',
    '# Clients, tokens, webhooks and SQL go on to speak x-hasura-*: both prefixes count. Take it out when nobody does any more.',
    `${SESSION_ALIASES}=x-hasura-`,
    '',
    '# Beside a service in use, or on a copy of its database: deliver no events, and make no calls of asynchronous actions.',
    ...SILENT.map((line) => `# ${line}`),
    '',
    '# Named by the metadata.',
    ...variables.filter((name) => name !== 'SVC_GRAPHQL_ADMIN_SECRET').map((name) => `${name}=`),
  ];
  return `${lines.join('\n')}\n`;
}

const MEANINGS: Readonly<Record<Leaf['bucket'], string>> = {
  same: ': taken over as in the input',
  renamed: ': taken over under another name',
  'needs-you': ': to be looked at',
  unsupported: ': kept beside, in unsupported/',
  ignored: ': without a meaning here',
};

/** For people. */
export function printReport({ layout, leaves, buckets, remarks, entries, migrations, warnings }: ImportReport, out: string): string {
  const remarked = (bucket: Leaf['bucket']): string =>
    remarks[bucket] === 0 ? '' : `; and ${counted(remarks[bucket], 'remark')} on files and on the whole`;
  const lines = [
    `read a project of ${layout}: ${counted(leaves, 'key')} of metadata and settings, ${counted(migrations, 'migration')}`,
    ...BUCKETS.map((bucket) => `  ${bucket.padEnd(12)} ${counted(buckets[bucket], 'key')}${MEANINGS[bucket]}${remarked(bucket)}`),
    `written to ${out}`,
  ];
  for (const bucket of ['needs-you', 'unsupported', 'renamed', 'ignored'] as const) {
    const all = entries.filter((entry) => entry.bucket === bucket);
    if (all.length === 0) continue;
    // Of the same kind one line.
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
  for (const warning of warnings) lines.push('', `take care: ${warning}`);
  return lines.join('\n');
}

const LONGEST_SHOWN = 100;

/** Of texts of several lines the beginning, in one. */
function shortened(text: string): string {
  const line = text.replace(/\s*\n\s*/g, ' ');
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line;
}

/** What is still open: nobody has accepted it. */
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
