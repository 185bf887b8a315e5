/** What a deployment would do, found out without doing it. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { BreakingChangeType, buildSchema, findBreakingChanges, findDangerousChanges, type GraphQLSchema, isInputObjectType } from 'graphql';
import type { Kinds } from '../../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { canonical } from '../directory/sections.ts';
import type { ReadMetadata } from '../directory/read-metadata.ts';
import { type DocumentChange, printChanges } from '../document-diff.ts';
import { type Migration, migratedSources, readMigrations, shownFile } from '../migrations/migration-files.ts';
import { bookOf } from '../migrations/book.ts';
import { compareMigrations, readEntries } from '../migrations/run-migrations.ts';
import { scanSql } from '../migrations/scan-sql.ts';
import { sourcesOf } from '../migrations/sources.ts';
import { offsetOf, placeIn } from '../migrations/text-place.ts';
import { type PlannedInconsistencies, plannedInconsistencies } from './trial-inconsistencies.ts';
import { changesOf, exportFrom, isApplied } from '../project-metadata.ts';
import { type HeldLock, locksIn, PROBE, REMEMBER_FILES, whoWaits } from './locks.ts';
import type { Project } from '../project.ts';
import { PLACEHOLDER_FIELD } from '../../schema/fields/placeholder.ts';
import { OLD_SERVICE, ServerError, type ServerClient, type SqlSource } from '../server-client.ts';

export interface PlannedStep {
  readonly source: string;
  readonly version: string;
  readonly name: string;
  readonly file: string;
  readonly checksum: string;
  readonly state: 'tried' | 'failed' | 'not tried';
  /** Why it failed or was not tried, with the line where it is known. */
  readonly message?: string;
  readonly line?: number;
  readonly column?: number;
  /** Of one that was tried: what it takes of tables that were there, until its transaction ends. */
  readonly locks?: readonly HeldLock[];
}

export interface SchemaChange {
  readonly role: string;
  readonly kind: 'breaking' | 'dangerous' | 'safe';
  readonly message: string;
}

export interface Plan {
  /** Of everything that it was made of: files, and the state of the service. */
  readonly hash: string;
  readonly migrations: readonly PlannedStep[];
  readonly changes: readonly DocumentChange[];
  readonly schemas: readonly SchemaChange[];
  readonly inconsistencies: PlannedInconsistencies;
  readonly notCompared: NotCompared;
  readonly notes: readonly string[];
}

/** What the service left out, by names. */
interface NotCompared {
  /** Their schemas may differ. */
  readonly roles: readonly string[];
  readonly sources: readonly string[];
  readonly remoteSchemas: readonly string[];
}

interface Pending {
  readonly source: SqlSource;
  readonly migration: Migration;
}

export interface PlanOptions {
  /** Whether SQL is run, in transactions that are rolled back. */
  readonly tries: boolean;
  /** ms that a statement of the trial may take. */
  readonly statementTimeoutMs: number;
  /** ms that it may wait for a lock. */
  readonly lockTimeoutMs: number;
  /** ms that the trial may take in all. */
  readonly timeoutMs: number;
  /** Only `hash` is wanted: the service is not asked for more. */
  readonly hashOnly?: true;
}

/** @throws ProjectFailure */
export async function makePlan(
  project: Project,
  read: ReadMetadata,
  server: ServerClient,
  kinds: Kinds,
  options: PlanOptions,
): Promise<Plan> {
  const { metadata, resourceVersion } = await exportFrom(server);
  const there = sourcesOf(metadata);
  const notes: string[] = [];
  const pending: Pending[] = [];
  for (const name of migratedSources(project.migrationsFolder)) {
    const migrations = readMigrations(project.files, join(project.migrationsFolder, name));
    const source = there.find((each) => each.name === name);
    const wanted = sourcesOf(read.document).find((each) => each.name === name);
    if (source === undefined && wanted === undefined)
      notes.push(`there are migrations of the source "${name}", which the metadata does not have`);
    const known = source ?? wanted;
    if (known === undefined) continue;
    const entries = source === undefined ? [] : await readEntries(server, source);
    for (const { status, migration, version } of compareMigrations(migrations, entries)) {
      if (status === 'pending' && migration !== undefined) pending.push({ source: known, migration });
      else if (status !== 'applied') notes.push(`migration ${version} of ${name} is ${status}`);
    }
  }
  const hash = createHash('sha256')
    .update(canonical(read.document))
    .update(`\n${resourceVersion}\n`)
    .update(pending.map(({ source, migration }) => `${source.name} ${migration.version} ${migration.checksum}`).join('\n'))
    .digest('hex');
  const changes = isApplied(read.document, metadata, kinds) ? [] : changesOf(metadata, read.document, kinds);
  const untried = new Map<Pending, string>();
  const stopped = new Set<string>();
  for (const each of pending) {
    const { name } = each.source;
    const why = options.tries ? whyNotTried(each, there) : '--no-try';
    // What follows one that is not tried cannot be tried either.
    const reason = why ?? (stopped.has(name) ? 'one before it is not tried' : undefined);
    if (reason === undefined) continue;
    untried.set(each, reason);
    stopped.add(name);
  }
  const tried = pending.filter((each) => !untried.has(each));
  const trial = await tryOut(server, tried, untried.size === 0 ? read.document : undefined, options, notes);
  if (untried.size > 0)
    notes.push(
      `${options.tries ? 'not all migrations could be tried' : 'no SQL was run'}: what would be inconsistent, and what clients would notice, is not known`,
    );
  return {
    hash,
    migrations: pending.map((each) => stepOf(each, untried.get(each), trial)),
    changes,
    schemas: schemaChanges(trial),
    inconsistencies: plannedInconsistencies(trial, read, addedBy(read.document, metadata)),
    notCompared: {
      roles: namesIn(trial['roles_not_compared']),
      sources: namesIn(trial['untried_sources']),
      remoteSchemas: namesIn(trial['untried_remote_schemas']),
    },
    notes,
  };
}

/** Names of sources and remote schemas that the service does not have. */
function addedBy(document: JsonObject, current: JsonObject): readonly string[] {
  return ['sources', 'remote_schemas'].flatMap((key) => {
    const there = new Set(objectsIn(current[key]).map(({ name }) => name));
    return objectsIn(document[key]).flatMap(({ name }) => (there.has(name) ? [] : [String(name)]));
  });
}

function objectsIn(list: Json | undefined): readonly JsonObject[] {
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

function namesIn(list: Json | undefined): readonly string[] {
  return isJsonArray(list) ? list.map(String) : [];
}

/** @param there sources of the service */
function whyNotTried({ source, migration }: Pending, there: readonly SqlSource[]): string | undefined {
  if (bookOf(source.kind)?.transactional !== true) return 'what is defined in its database cannot be rolled back';
  if (!there.some(({ name }) => name === source.name)) return `the service does not have the source ${source.name} yet`;
  if (trialSql(migration) !== undefined) return undefined;
  const [foreign] = scanSql(migration.up ?? '').foreign;
  return foreign === undefined
    ? 'it cannot run in a transaction that is rolled back'
    : `${foreign.what} is for psql only (line ${foreign.line})`;
}

/** What of a migration can be tried in a transaction. */
function trialSql(migration: Migration): string | undefined {
  const sql = migration.up ?? '';
  if (migration.withoutTransaction) return undefined;
  const scanned = scanSql(sql);
  if (scanned.outside.length > 0 || scanned.foreign.length > 0) return undefined;
  return scanned.control.length === 0 ? sql : scanned.unwrapped;
}

async function tryOut(
  server: ServerClient,
  tried: readonly Pending[],
  document: JsonObject | undefined,
  { statementTimeoutMs, lockTimeoutMs, timeoutMs, hashOnly }: PlanOptions,
  notes: string[],
): Promise<JsonObject> {
  if (hashOnly === true || (tried.length === 0 && document === undefined)) return {};
  const args: JsonObject = {
    migrations: tried.map(({ source, migration }) => ({
      source: source.name,
      version: String(migration.version),
      sql: trialSql(migration) ?? '',
    })),
    ...(document === undefined ? {} : { metadata: document }),
    ...(tried.length === 0
      ? {}
      : {
          prelude: `set local statement_timeout = ${Math.round(statementTimeoutMs)}; set local lock_timeout = ${Math.round(lockTimeoutMs)}; ${REMEMBER_FILES}`,
          probe: PROBE,
        }),
    timeout_seconds: Math.max(1, Math.ceil(timeoutMs / 1000)),
  };
  try {
    const answer = await server.metadata('plan_changes', args);
    return isJsonObject(answer) ? answer : {};
  } catch (thrown) {
    const age = thrown instanceof ServerError ? thrown.problems.find(({ code }) => code === OLD_SERVICE) : undefined;
    if (age === undefined) throw thrown;
    notes.push(`nothing was tried: ${age.message}`);
    return {};
  }
}

function stepOf({ source, migration }: Pending, untried: string | undefined, trial: JsonObject): PlannedStep {
  const version = String(migration.version);
  const common = { source: source.name, version, name: migration.name, file: shownFile(migration, 'up'), checksum: migration.checksum };
  if (untried !== undefined) return { ...common, state: 'not tried', message: untried };
  const results = isJsonArray(trial['migrations']) ? trial['migrations'].filter(isJsonObject) : [];
  const at = results.findIndex((each) => each['source'] === source.name && each['version'] === version);
  const result = results[at];
  if (result === undefined)
    return { ...common, state: 'not tried', message: trial['migrations'] === undefined ? 'nothing was tried' : 'one before it failed' };
  if (result['ok'] === true) {
    const earlier = results.slice(0, at).filter((each) => each['source'] === source.name);
    return { ...common, state: 'tried', locks: locksIn(result['probed'], earlier.at(-1)?.['probed']) };
  }
  const position = result['position'];
  const up = migration.up ?? '';
  const place = typeof position === 'number' ? placeIn(up, offsetOf(up, position)) : {};
  return { ...common, state: 'failed', message: String(result['message']), ...place };
}

/** What changes for clients, role by role. */
function schemaChanges(trial: JsonObject): readonly SchemaChange[] {
  const schemas = isJsonArray(trial['schemas']) ? trial['schemas'].filter(isJsonObject) : [];
  return schemas.flatMap((each): readonly SchemaChange[] => {
    const role = String(each['role']);
    const [before, after] = [schemaOf(each['before']), schemaOf(each['after'])];
    if (before === undefined || after === undefined) return [{ role, kind: 'safe', message: 'the schema is another one' }];
    const breaking = breakingChanges(before, after).map(
      ({ description }): SchemaChange => ({ role, kind: 'breaking', message: description }),
    );
    const dangerous = findDangerousChanges(before, after).map(
      ({ description }): SchemaChange => ({ role, kind: 'dangerous', message: description }),
    );
    // What the one schema must not lose, the other has gained; what may disturb clients in it is told already.
    const gained = breakingChanges(after, before)
      .filter(({ type, description }) => isPlainGain(type, description, after))
      .map(({ description }): SchemaChange => ({ role, kind: 'safe', message: description.replace('was removed', 'was added') }));
    const all = [...breaking, ...dangerous, ...gained];
    const told = all.filter(({ message }) => !isArtificial(message));
    // The texts differ, or it would not be told at all.
    return all.length > 0 ? told : [{ role, kind: 'safe', message: 'only descriptions have changed, or what is deprecated.' }];
  });
}

/** Of what is there so that GraphQL and gateways have something, and that no client asks for by itself. */
function isArtificial(message: string): boolean {
  return message.includes(`.${PLACEHOLDER_FIELD} was `) || message.endsWith(' was added to union type _Entity.');
}

/** Without what is said of scalars that every schema has: the documents have what differs, and may not refer to these. */
function breakingChanges(before: GraphQLSchema, after: GraphQLSchema): ReturnType<typeof findBreakingChanges> {
  return findBreakingChanges(before, after).filter(
    ({ type, description }) => type !== BreakingChangeType.TYPE_REMOVED || !description.startsWith('Standard scalar '),
  );
}

/** New types, and new fields of what is answered. */
function isPlainGain(type: string, description: string, schema: GraphQLSchema): boolean {
  if (type === BreakingChangeType.TYPE_REMOVED) return true;
  const [owner = ''] = description.split('.');
  return type === BreakingChangeType.FIELD_REMOVED && !isInputObjectType(schema.getType(owner));
}

function schemaOf(sdl: Json | undefined) {
  try {
    return buildSchema(String(sdl), { assumeValid: true });
  } catch {
    return undefined;
  }
}

/** Whether a deployment would do anything. */
export function isEmptyPlan({ migrations, changes }: Plan): boolean {
  return migrations.length + changes.length === 0;
}

/** For people; the same whenever the same is planned. */
export function printPlan(plan: Plan): string {
  const { migrations, changes, schemas, inconsistencies, notCompared, notes, hash } = plan;
  const lines: string[] = [];
  lines.push(`migrations: ${migrations.length === 0 ? 'none' : ''}`.trimEnd());
  for (const { source, version, name, state, message, file, line, locks = [] } of migrations) {
    const where = state === 'failed' ? ` at ${file}${line === undefined ? '' : `:${line}`}` : '';
    lines.push(`  ${source} ${version} ${name}: ${state}${where}${message === undefined ? '' : `: ${message}`}`);
    lines.push(...whoWaits(locks).map((told) => `    ${told}`));
  }
  lines.push('', `metadata: ${changes.length === 0 ? 'no changes' : ''}`.trimEnd());
  if (changes.length > 0)
    lines.push(
      ...printChanges(changes)
        .split('\n')
        .map((line) => `  ${line}`),
    );
  const access = changes.filter((change) => change.access !== undefined);
  if (access.length > 0) {
    lines.push('', 'access:');
    for (const { role, access: what, object, details } of access)
      lines.push(`  ${role ?? ''} ${what ?? ''}: ${object}${details.length === 0 ? '' : ` (${details.join('; ')})`}`);
  }
  for (const kind of ['breaking', 'dangerous', 'safe'] as const) {
    const all = schemas.filter((change) => change.kind === kind);
    if (all.length > 0) lines.push('', `schema, ${kind}:`, ...all.map(({ role, message }) => `  ${role}: ${message}`));
  }
  const isOld = (reason: string): boolean => inconsistencies.before.includes(reason);
  for (const [title, reasons] of [
    ['would be inconsistent:', inconsistencies.after.filter((reason) => !isOld(reason))],
    ['would stay inconsistent:', inconsistencies.after.filter(isOld)],
    ['may be inconsistent, which is not known before what is not compared is there:', inconsistencies.notKnown],
  ] as const)
    if (reasons.length > 0) lines.push('', title, ...reasons.map((reason) => `  ${reason}`));
  const left = whatIsLeft(notCompared);
  if (left.length > 0) lines.push('', 'not compared:', ...left.map((line) => `  ${line}`));
  if (notes.length > 0) lines.push('', ...notes.map((note) => `note: ${note}`));
  return [...lines, '', `plan ${hash}`].join('\n');
}

function whatIsLeft({ roles, sources, remoteSchemas }: NotCompared): readonly string[] {
  const line = (what: string, names: readonly string[], why: string): readonly string[] =>
    names.length === 0 ? [] : [`${what} ${names.join(', ')}: ${why}`];
  return [
    ...line('roles', roles, 'there are too many of them, or their schemas are too large'),
    ...line('sources', sources, 'they are new or opened in another way, and no database is opened for a plan'),
    ...line('remote schemas', remoteSchemas, 'they are new or asked in another way, and no server is asked for a plan'),
  ];
}

export function planJson({ hash, migrations, changes, schemas, inconsistencies, notCompared, notes }: Plan): JsonObject {
  return {
    hash,
    migrations: migrations.map(
      ({ locks, ...step }): JsonObject => ({
        ...step,
        ...(locks === undefined ? {} : { locks: locks.map((lock) => ({ ...lock })) }),
      }),
    ),
    changes: changes.map(({ kind, object, role, access, details }) => ({
      kind,
      object,
      role: role ?? null,
      access: access ?? null,
      details,
    })),
    schemas: schemas.map((change) => ({ ...change })),
    inconsistencies: { before: inconsistencies.before, after: inconsistencies.after, not_known: inconsistencies.notKnown },
    roles_not_compared: notCompared.roles,
    untried_sources: notCompared.sources,
    untried_remote_schemas: notCompared.remoteSchemas,
    notes,
  };
}
