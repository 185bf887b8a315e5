/** What a deployment would do, found out without doing it. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { BreakingChangeType, buildSchema, findBreakingChanges, findDangerousChanges, type GraphQLSchema, isInputObjectType } from 'graphql';
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { canonical } from '../project/directory/sections.ts';
import type { ReadMetadata } from '../project/directory/read-metadata.ts';
import { type DocumentChange, printChanges } from '../project/document-diff.ts';
import { migratedSources, readMigrations } from '../migrations/migration-files.ts';
import { compareMigrations, readEntries } from '../migrations/run-migrations.ts';
import { movedSources, sourcesOf } from '../migrations/sources.ts';
import { type PlannedInconsistencies, plannedInconsistencies } from './trial-inconsistencies.ts';
import { changesOf, exportFrom, isApplied } from '../project/project-metadata.ts';
import { whoWaits } from './locks.ts';
import {
  extensionsOf,
  objectsIn,
  type Pending,
  type PlannedStep,
  type PlanOptions,
  readEntriesOfNew,
  stepOf,
  tryOut,
  whyNotTried,
} from './trial.ts';
import { announce } from '../migrations/implicit-extension.ts';
import type { Project } from '../project/project.ts';
import { PLACEHOLDER_FIELD } from '../schema/fields/placeholder.ts';
import type { ServerClient } from '../project/server-client.ts';

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

/** @throws ProjectFailure */
export async function makePlan(
  project: Project,
  read: ReadMetadata,
  server: ServerClient,
  kinds: Kinds<Backend>,
  options: PlanOptions,
): Promise<Plan> {
  const { metadata, resourceVersion } = await exportFrom(server);
  const moved = movedSources(read.document, metadata, kinds);
  // A deployment connects a source as the project says before its migrations run.
  const there = sourcesOf(metadata, kinds).filter(({ name }) => !moved.some((each) => each.name === name));
  const notes: string[] = [];
  const pending: Pending[] = [];
  for (const name of migratedSources(project.migrationsFolder)) {
    const migrations = readMigrations(project.files, join(project.migrationsFolder, name));
    const source = there.find((each) => each.name === name);
    const wanted = sourcesOf(read.document, kinds).find((each) => each.name === name);
    if (source === undefined && wanted === undefined)
      notes.push(`there are migrations of the source "${name}", which the metadata does not have`);
    const known = source ?? wanted;
    if (known === undefined) continue;
    const entries = source === undefined ? await readEntriesOfNew(server, known, options) : await readEntries(server, source);
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
    const why = options.tries ? whyNotTried(each) : '--no-try';
    // What follows one that is not tried cannot be tried either.
    const reason = why ?? (stopped.has(name) ? 'one before it is not tried' : undefined);
    if (reason === undefined) continue;
    untried.set(each, reason);
    stopped.add(name);
  }
  const tried = pending.filter((each) => !untried.has(each));
  const missing = addedBy(read.document, metadata, 'sources');
  const added = [...sourcesOf(read.document, kinds).filter(({ name }) => missing.includes(name)), ...moved];
  const extensions = options.hashOnly === true ? new Map() : await extensionsOf(server, pending, there, options);
  for (const [name, needed] of extensions) notes.push(`a deployment creates ${announce(needed, name)}`);
  const document = untried.size === 0 ? read.document : undefined;
  const trial = await tryOut(server, { tried, document, added, extensions }, options, notes);
  if (untried.size > 0)
    notes.push(
      `${options.tries ? 'not all migrations could be tried' : 'no SQL was run'}: what would be inconsistent, and what clients would notice, is not known`,
    );
  return {
    hash,
    migrations: pending.map((each) => stepOf(each, untried.get(each), trial)),
    changes,
    schemas: schemaChanges(trial),
    inconsistencies: plannedInconsistencies(trial, read, addedBy(read.document, metadata, 'remote_schemas')),
    notCompared: {
      roles: namesIn(trial['roles_not_compared']),
      sources: namesIn(trial['untried_sources']),
      remoteSchemas: namesIn(trial['untried_remote_schemas']),
    },
    notes,
  };
}

/** Names of sources or remote schemas that the service does not have. */
function addedBy(document: JsonObject, current: JsonObject, section: 'sources' | 'remote_schemas'): readonly string[] {
  const there = new Set(objectsIn(current[section]).map(({ name }) => name));
  return objectsIn(document[section]).flatMap(({ name }) => (there.has(name) ? [] : [String(name)]));
}

function namesIn(list: Json | undefined): readonly string[] {
  return isJsonArray(list) ? list.map(String) : [];
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
    ...line('sources', sources, 'they are opened in another way, and are compared as they are known'),
    ...line('remote schemas', remoteSchemas, 'they are new or asked in another way, and no server is asked for a plan'),
  ];
}

export function planJson({ hash, migrations, changes, schemas, inconsistencies, notCompared, notes }: Plan): JsonObject {
  return {
    hash,
    migrations: migrations.map(
      ({ locks, ...step }): JsonObject => ({
        ...step,
        ...(locks === undefined ? {} : { locks: locks.map(({ table, mode, rewritten }) => ({ table, mode, rewritten })) }),
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
