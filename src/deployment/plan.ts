/** Makes the plan of a deployment: what it would do, without doing it. */
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
import { blockingLines } from './locks.ts';
import {
  extensionsOf,
  objectsIn,
  type Pending,
  type PlannedStep,
  type PlanOptions,
  readEntriesOfNew,
  stepOf,
  runTrial,
  reasonNotTried,
} from './trial.ts';
import { describeExtension } from '../migrations/implicit-extension.ts';
import type { Project } from '../project/project.ts';
import { PLACEHOLDER_FIELD } from '../schema/fields/placeholder.ts';
import type { ServerClient } from '../project/server-client.ts';

export interface SchemaChange {
  readonly role: string;
  readonly kind: 'breaking' | 'dangerous' | 'safe';
  readonly message: string;
}

export interface DeploymentPlan {
  /** Hash of the plan's input: the files, and the state of the service. */
  readonly hash: string;
  readonly migrations: readonly PlannedStep[];
  readonly changes: readonly DocumentChange[];
  readonly schemas: readonly SchemaChange[];
  readonly inconsistencies: PlannedInconsistencies;
  readonly notCompared: NotCompared;
  readonly notes: readonly string[];
}

/** Names of objects that the trial run left out. Their schemas may differ. */
interface NotCompared {
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
): Promise<DeploymentPlan> {
  const { metadata, resourceVersion } = await exportFrom(server);
  const moved = movedSources(read.document, metadata, kinds);
  // A deployment connects a source as the project configures it before its migrations run.
  const existing = sourcesOf(metadata, kinds).filter(({ name }) => !moved.some((each) => each.name === name));
  const projectSources = sourcesOf(read.document, kinds);
  const notes: string[] = [];
  const pending: Pending[] = [];
  for (const name of migratedSources(project.migrationsFolder)) {
    const migrations = readMigrations(project.files, join(project.migrationsFolder, name));
    const source = existing.find((each) => each.name === name);
    const known = source ?? projectSources.find((each) => each.name === name);
    if (known === undefined) {
      notes.push(`there are migrations of the source "${name}", which is not in the metadata: add it or remove them`);
      continue;
    }
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
    const own = options.tries ? reasonNotTried(each) : '--no-try';
    const reason = own ?? (stopped.has(name) ? 'an earlier one is not tried' : undefined);
    if (reason === undefined) continue;
    untried.set(each, reason);
    stopped.add(name);
  }
  const tried = pending.filter((each) => !untried.has(each));
  const missing = addedBy(read.document, metadata, 'sources');
  const added = [...projectSources.filter(({ name }) => missing.includes(name)), ...moved];
  const extensions = options.hashOnly === true ? new Map() : await extensionsOf(server, pending, existing, options);
  for (const [name, needed] of extensions) notes.push(`a deployment creates ${describeExtension(needed, name)}`);
  const document = untried.size === 0 ? read.document : undefined;
  const trial = await runTrial(server, { tried, document, added, extensions }, options, notes);
  if (untried.size > 0)
    notes.push(
      `${options.tries ? 'not all migrations could be tried' : 'no SQL was run'}: inconsistencies and changes of GraphQL schemas are not known`,
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

/** Returns the names of the sources or remote schemas of the project that the service does not have. */
function addedBy(document: JsonObject, current: JsonObject, section: 'sources' | 'remote_schemas'): readonly string[] {
  const existing = new Set(objectsIn(current[section]).map(({ name }) => name));
  return objectsIn(document[section]).flatMap(({ name }) => (existing.has(name) ? [] : [String(name)]));
}

function namesIn(list: Json | undefined): readonly string[] {
  return isJsonArray(list) ? list.map(String) : [];
}

/** Returns the changes that clients may notice, by role. */
function schemaChanges(trial: JsonObject): readonly SchemaChange[] {
  const schemas = isJsonArray(trial['schemas']) ? trial['schemas'].filter(isJsonObject) : [];
  return schemas.flatMap((each): readonly SchemaChange[] => {
    const role = String(each['role']);
    const [before, after] = [schemaOf(each['before']), schemaOf(each['after'])];
    if (before === undefined || after === undefined) return [{ role, kind: 'safe', message: 'the schema differs' }];
    const breaking = breakingChanges(before, after).map(
      ({ description }): SchemaChange => ({ role, kind: 'breaking', message: description }),
    );
    const dangerous = findDangerousChanges(before, after).map(
      ({ description }): SchemaChange => ({ role, kind: 'dangerous', message: description }),
    );
    // A breaking change in the other direction is an addition. The additions that may disturb clients are in `dangerous`.
    const gained = breakingChanges(after, before)
      .filter(({ type, description }) => isPlainGain(type, description, after))
      .map(({ description }): SchemaChange => ({ role, kind: 'safe', message: description.replace('was removed', 'was added') }));
    const all = [...breaking, ...dangerous, ...gained];
    if (all.length > 0) return all.filter(({ message }) => !isArtificial(message));
    // The service lists only schemas whose texts differ.
    return [{ role, kind: 'safe', message: 'only descriptions or deprecations have changed.' }];
  });
}

/** Returns whether a change is about a field or type that only GraphQL itself or gateways need. */
function isArtificial(message: string): boolean {
  return message.includes(`.${PLACEHOLDER_FIELD} was `) || message.endsWith(' was added to union type _Entity.');
}

/** Finds breaking changes except those of standard scalars: the compared documents have only types that differ, so these may be missing. */
function breakingChanges(before: GraphQLSchema, after: GraphQLSchema): ReturnType<typeof findBreakingChanges> {
  return findBreakingChanges(before, after).filter(
    ({ type, description }) => type !== BreakingChangeType.TYPE_REMOVED || !description.startsWith('Standard scalar '),
  );
}

/** Returns whether a change adds a type, or a field to an output type. */
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

/** Returns whether a deployment would do nothing. */
export function isEmptyPlan({ migrations, changes }: DeploymentPlan): boolean {
  return migrations.length + changes.length === 0;
}

/** Returns the plan as text. Equal plans have equal texts. */
export function printPlan(plan: DeploymentPlan): string {
  const { migrations, changes, schemas, inconsistencies, notCompared, notes, hash } = plan;
  const lines: string[] = [];
  lines.push(`migrations: ${migrations.length === 0 ? 'none' : ''}`.trimEnd());
  for (const { source, version, name, state, message, file, line, locks = [] } of migrations) {
    const where = state === 'failed' ? ` at ${file}${line === undefined ? '' : `:${line}`}` : '';
    lines.push(`  ${source} ${version} ${name}: ${state}${where}${message === undefined ? '' : `: ${message}`}`);
    lines.push(...blockingLines(locks).map((text) => `    ${text}`));
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
    ['may be inconsistent (not known until the new sources and remote schemas exist):', inconsistencies.notKnown],
  ] as const)
    if (reasons.length > 0) lines.push('', title, ...reasons.map((reason) => `  ${reason}`));
  const omitted = omittedLines(notCompared);
  if (omitted.length > 0) lines.push('', 'not compared:', ...omitted.map((line) => `  ${line}`));
  if (notes.length > 0) lines.push('', ...notes.map((note) => `note: ${note}`));
  return [...lines, '', `plan ${hash}`].join('\n');
}

function omittedLines({ roles, sources, remoteSchemas }: NotCompared): readonly string[] {
  const line = (noun: string, names: readonly string[], reason: string): readonly string[] =>
    names.length === 0 ? [] : [`${noun} ${names.join(', ')}: ${reason}`];
  return [
    ...line('roles', roles, 'there are too many roles, or their schemas are too large'),
    ...line('sources', sources, 'their connection settings change, so the plan uses the tables that the service knows'),
    ...line(
      'remote schemas',
      remoteSchemas,
      'they are new or their connection settings change, and a plan sends no requests to remote servers',
    ),
  ];
}

export function planJson({ hash, migrations, changes, schemas, inconsistencies, notCompared, notes }: DeploymentPlan): JsonObject {
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
