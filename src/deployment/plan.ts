/** Makes the plan of a deployment: what it would do, without doing it. */
import { createHash } from 'node:crypto';
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { canonical } from '../project/directory/sections.ts';
import type { ReadMetadata } from '../project/directory/read-metadata.ts';
import { type PlanRules, planSources, rejectedConnection, skippedSource, sourcesWithMigrations } from '../migrations/plan-sources.ts';
import { type HistoryEntry, type MigrationOptions, readEntriesWhenIdle } from '../migrations/run-migrations.ts';
import { destructiveStatements } from '../migrations/destructive.ts';
import { shownFile } from '../migrations/migration-files.ts';
import { describeDrift, schemaDrift } from '../migrations/schema-drift.ts';
import { type ListedSource, migrationsOf, movedSources, sourcesOf } from '../migrations/sources.ts';
import { EXIT, type Problem } from '../project/failure.ts';
import { plannedInconsistencies } from './trial-inconsistencies.ts';
import { changesOf, exportFrom, isApplied } from '../project/project-metadata.ts';
import { extensionsOf, objectsIn, type Pending, type PlanOptions, readEntriesOfNew, stepOf, runTrial, reasonNotTried } from './trial.ts';
import type { DestructiveStep } from './decisions.ts';
import type { DeploymentPlan } from './deployment-plan.ts';
import { schemaChanges } from './schema-changes.ts';
import { describeExtension } from '../migrations/implicit-extension.ts';
import type { Project } from '../project/project.ts';
import { type ServerClient, ServerError } from '../project/server-client.ts';

/** Options of the deployment that is planned. */
export interface DeployRules {
  readonly allowChanged: boolean;
  readonly allowInconsistent: boolean;
  readonly run: MigrationOptions;
}

/** @throws ProjectFailure */
export async function makePlan(
  project: Project,
  read: ReadMetadata,
  server: ServerClient,
  kinds: Kinds<Backend>,
  { trial: options, rules }: { readonly trial: PlanOptions; readonly rules: DeployRules },
): Promise<DeploymentPlan> {
  const { metadata, resourceVersion } = await exportFrom(server);
  const moved = movedSources(read.document, metadata, kinds);
  // A deployment connects a source as the project configures it before its migrations run.
  const existing = sourcesOf(metadata, kinds).filter(({ name }) => !moved.some((each) => each.name === name));
  const projectSources = sourcesOf(read.document, kinds);
  const notes: string[] = [];
  const { migrated, problems: withoutSource } = sourcesWithMigrations(project, projectSources, kinds);
  const histories = await readHistories({ server, migrated, existing, moved, options, rules });
  const { planned, problems } = await planSources(
    project,
    migrated.flatMap(({ name }) => histories.get(name)?.source ?? []),
    { kind: 'up', count: 'all' },
    migrationRules(rules, histories),
  );
  const pending: Pending[] = [];
  for (const { source, known } of planned)
    for (const { status, migration, version } of known) {
      if (status === 'pending' && migration !== undefined) pending.push({ source, migration });
      else if (status === 'missing' || (status === 'changed' && rules.allowChanged))
        notes.push(`migration ${version} of ${source.name} is ${status}`);
    }
  notes.push(...schemaDrift({ ...project, document: read.document, kinds }).map(describeDrift));
  const changes = isApplied(read.document, metadata, kinds) ? [] : changesOf(metadata, read.document, kinds);
  const untried = untriedOf(pending, options);
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
  const schemas = schemaChanges(trial);
  return {
    hash: hashOf(read.document, resourceVersion, pending),
    migrations: pending.map((each) => stepOf(each, untried.get(each), trial)),
    rejections: [...withoutSource, ...problems],
    refusals: changes.length > 0 && options.hashOnly !== true ? await refusalsBy(server, project) : [],
    changes,
    schemas: schemas.all,
    mainSchemas: schemas.main,
    destructive: pending.flatMap(destructiveSteps),
    inconsistencies: plannedInconsistencies(trial, read, addedBy(read.document, metadata, 'remote_schemas')),
    notCompared: {
      roles: namesIn(trial['roles_not_compared']),
      sources: namesIn(trial['untried_sources']),
      remoteSchemas: namesIn(trial['untried_remote_schemas']),
    },
    notes,
  };
}

/** Returns the error of a service that accepts no changes of its metadata. Unknown if its config API is disabled. */
async function refusalsBy(server: ServerClient, { settings }: Project): Promise<readonly Problem[]> {
  const { status, body } = await server.send(settings.paths.config);
  if (status !== 200 || !isJsonObject(body) || body['is_metadata_read_only'] !== true) return [];
  const message = 'the metadata of this service is read-only (--metadata-read-only): "replace_metadata" is refused';
  return [{ code: 'access-denied', message, path: '$.args' }];
}

function hashOf(document: JsonObject, resourceVersion: number, pending: readonly Pending[]): string {
  return createHash('sha256')
    .update(canonical(document))
    .update(`\n${resourceVersion}\n`)
    .update(pending.map(({ source, migration }) => `${source.name} ${migration.version} ${migration.checksum}`).join('\n'))
    .digest('hex');
}

/** Returns the migrations that are not tried, with the reasons. */
function untriedOf(pending: readonly Pending[], { tries }: PlanOptions): ReadonlyMap<Pending, string> {
  const untried = new Map<Pending, string>();
  const stopped = new Set<string>();
  for (const each of pending) {
    const { name } = each.source;
    const own = tries ? reasonNotTried(each) : '--no-try';
    const reason = own ?? (stopped.has(name) ? 'an earlier one is not tried' : undefined);
    if (reason === undefined) continue;
    untried.set(each, reason);
    stopped.add(name);
  }
  return untried;
}

interface SourceHistory {
  readonly source: ListedSource;
  readonly entries: readonly HistoryEntry[];
}

interface HistoryInput {
  readonly server: ServerClient;
  readonly migrated: readonly ListedSource[];
  /** Sources of the service that a deployment does not connect differently. */
  readonly existing: readonly ListedSource[];
  readonly moved: readonly ListedSource[];
  readonly options: PlanOptions;
  readonly rules: DeployRules;
}

/** Reads the migration histories, by source. @throws ProjectFailure */
async function readHistories({
  server,
  migrated,
  existing,
  moved,
  options,
  rules,
}: HistoryInput): Promise<ReadonlyMap<string, SourceHistory>> {
  const found = new Map<string, SourceHistory>();
  for (const source of migrated) {
    const known = existing.find(({ name }) => name === source.name);
    const isMoved = moved.some(({ name }) => name === source.name);
    try {
      const entries = await (known === undefined
        ? readEntriesOfNew(server, source, options)
        : readEntriesWhenIdle(server, known, rules.run));
      found.set(source.name, { source: known ?? source, entries });
    } catch (thrown) {
      if (!(thrown instanceof ServerError) || thrown.exit !== EXIT.failed) throw thrown;
      // A deployment skips sources whose databases do not respond, but rejects a changed connection.
      if (rules.allowInconsistent && !isMoved) rules.run.report(skippedSource(source, thrown));
      else throw known === undefined ? rejectedConnection(source, thrown, isMoved ? 'changed' : 'new') : thrown;
    }
  }
  return found;
}

function migrationRules({ allowChanged, run }: DeployRules, histories: ReadonlyMap<string, SourceHistory>): PlanRules {
  return { allowChanged, strictOrder: false, options: run, history: async ({ name }) => histories.get(name)?.entries ?? [] };
}

/** Returns the names of the sources or remote schemas of the project that the service does not have. */
function addedBy(document: JsonObject, current: JsonObject, section: 'sources' | 'remote_schemas'): readonly string[] {
  const existing = new Set(objectsIn(current[section]).map(({ name }) => name));
  return objectsIn(document[section]).flatMap(({ name }) => (existing.has(name) ? [] : [String(name)]));
}

function namesIn(list: Json | undefined): readonly string[] {
  return isJsonArray(list) ? list.map(String) : [];
}

function destructiveSteps({ source, migration }: Pending): readonly DestructiveStep[] {
  const { statements } = migrationsOf(source).scan(migration.up ?? '');
  return destructiveStatements(statements).map((each) => ({ ...each, file: shownFile(migration, 'up') }));
}
