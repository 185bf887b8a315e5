/** Makes the plan of a deployment: what it would do, without doing it. */
import { createHash } from 'node:crypto';
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { canonical } from '../project/directory/sections.ts';
import type { ReadMetadata } from '../project/directory/read-metadata.ts';
import { planSources } from '../migrations/plan-sources.ts';
import { destructiveStatements } from '../migrations/destructive.ts';
import { shownFile } from '../migrations/migration-files.ts';
import { describeDrift, schemaDrift } from '../migrations/schema-drift.ts';
import { migrationsOf } from '../migrations/sources.ts';
import type { Problem } from '../project/failure.ts';
import { plannedInconsistencies } from './trial-inconsistencies.ts';
import { changesOf, exportFrom, isApplied } from '../project/project-metadata.ts';
import { extensionsOf, type Pending, type PlanOptions, stepOf, runTrial, reasonNotTried } from './trial.ts';
import type { DestructiveStep } from './decisions.ts';
import type { DeploymentPlan } from './deployment-plan.ts';
import { checksVariables, unsetVariables } from './metadata-check.ts';
import { schemaChanges } from './schema-changes.ts';
import { checksumOf } from '../migrations/migration-files.ts';
import { seedsOf } from '../migrations/seeds.ts';
import type { ListedSource } from '../migrations/sources.ts';
import { type PendingSeed, pendingSeeds, plannedSeed, triedSeeds } from './seed-trial.ts';
import { describeExtension } from '../migrations/implicit-extension.ts';
import type { Project } from '../project/project.ts';
import type { ServerClient } from '../project/server-client.ts';
import {
  ALL_PENDING,
  type ComparedSources,
  compareSources,
  type DeployRules,
  migrationRules,
  readHistories,
  sourcesOfHistories,
} from './source-histories.ts';

interface PlanInput {
  readonly project: Project;
  readonly read: ReadMetadata;
  readonly server: ServerClient;
  readonly kinds: Kinds<Backend>;
  readonly trial: PlanOptions;
  readonly rules: DeployRules;
}

/** @throws ProjectFailure */
export async function makePlan(input: PlanInput): Promise<DeploymentPlan> {
  const plan = await planOnce(input);
  if (!plan.migrations.some(({ state }) => state === 'failed')) return plan;
  // Another run may have applied migrations after their history was read, such as the first deployment of svc dev.
  const { hash } = await planOnce({ ...input, trial: { ...input.trial, hashOnly: true } });
  return hash === plan.hash ? plan : planOnce(input);
}

async function planOnce({ project, read, server, kinds, trial: options, rules }: PlanInput): Promise<DeploymentPlan> {
  const { metadata, resourceVersion } = await exportFrom(server);
  const sources = compareSources(project, read.document, metadata, kinds);
  const { added, moved, kept, problems: withoutSource } = sources;
  const notes: string[] = [];
  const histories = await readHistories(server, sources, { ...rules, timeoutMs: options.timeoutMs, warn: rules.run.report });
  const { planned, problems } = await planSources(project, sourcesOfHistories(histories), ALL_PENDING, migrationRules(rules, histories));
  const pending: Pending[] = [];
  for (const { source, known } of planned)
    for (const { status, migration, version } of known) {
      if (status === 'pending' && migration !== undefined) pending.push({ source, migration });
      else if (status === 'missing' || (status === 'changed' && rules.allowChanged))
        notes.push(`migration ${version} of ${source.name} is ${status}`);
    }
  notes.push(...schemaDrift({ ...project, document: read.document, kinds }).map(describeDrift));
  const changes = isApplied(read.document, metadata, kinds) ? [] : changesOf(metadata, read.document, kinds);
  const isReadOnly =
    options.hashOnly !== true &&
    (changes.length + pending.length > 0 || options.seeds !== undefined) &&
    (await isReadOnlyService(server, project));
  const seeds = await seedsToRun(project, server, sources, options);
  const untried = untriedOf(pending, options, isReadOnly);
  const reasonFor = seedRefusal(untried, seeds, options, isReadOnly);
  const tried = pending.filter((each) => !untried.has(each));
  const extensions = options.hashOnly === true ? new Map() : await extensionsOf(server, sqlOf(pending, seeds), kept, options);
  for (const [name, needed] of extensions) notes.push(`a deployment creates ${describeExtension(needed, name)}`);
  const document = untried.size === 0 ? read.document : undefined;
  const trial = await runTrial(
    server,
    { tried, seeds: triedSeeds(seeds, reasonFor), document, added: [...added, ...moved], extensions },
    options,
    notes,
  );
  if (untried.size > 0)
    notes.push(
      `${options.tries ? 'not all migrations could be tried' : 'no SQL was run'}: inconsistencies and changes of GraphQL schemas are not known`,
    );
  const schemas = schemaChanges(trial);
  const checksFirst = isReadOnly && checksVariables(read.document, pending.length > 0);
  return {
    hash: hashOf(read.document, resourceVersion, pending, seeds),
    migrations: pending.map((each) => stepOf(each, untried.get(each), trial)),
    seeds: seeds.map((each) => plannedSeed(each, reasonFor, trial)),
    rejections: [...withoutSource, ...problems],
    refusals: isReadOnly && changes.length + pending.length + seeds.length > 0 ? [refusalOf(pending, seeds)] : [],
    changes,
    schemas: schemas.all,
    mainSchemas: schemas.main,
    destructive: pending.flatMap(destructiveSteps),
    inconsistencies: plannedInconsistencies(trial, read, namesIn(trial['untried_remote_schemas'])),
    unset: checksFirst ? await unsetVariables(server, read, [...added, ...moved]) : [],
    notCompared: {
      roles: namesIn(trial['roles_not_compared']),
      sources: namesIn(trial['untried_sources']),
      remoteSchemas: namesIn(trial['untried_remote_schemas']),
    },
    notes,
  };
}

/** Returns true for a service that accepts no changes of its metadata. Unknown if its config API is disabled. */
async function isReadOnlyService(server: ServerClient, { settings }: Project): Promise<boolean> {
  const { status, body } = await server.send(settings.paths.config);
  return status === 200 && isJsonObject(body) && body['is_metadata_read_only'] === true;
}

/** Returns the error of the first step of a deployment that a read-only service refuses. */
function refusalOf(pending: readonly Pending[], seeds: readonly PendingSeed[]): Problem {
  const [first] = [...pending, ...seeds];
  const operation = first === undefined ? 'replace_metadata' : `${first.source.kind}_run_sql`;
  const message = `the metadata of this service is read-only (--metadata-read-only): "${operation}" is refused`;
  return { code: 'access-denied', message, path: '$.args' };
}

function hashOf(document: JsonObject, resourceVersion: number, pending: readonly Pending[], seeds: readonly PendingSeed[]): string {
  return createHash('sha256')
    .update(canonical(document))
    .update(`\n${resourceVersion}\n`)
    .update(pending.map(({ source, migration }) => `${source.name} ${migration.version} ${migration.checksum}`).join('\n'))
    .update(seeds.map(({ source, seed }) => `\nseed ${source.name} ${seed.name} ${checksumOf(seed.sql)}`).join(''))
    .digest('hex');
}

/** @throws ProjectFailure */
async function seedsToRun(
  project: Project,
  server: ServerClient,
  { all, kept }: ComparedSources,
  { seeds, timeoutMs }: PlanOptions,
): Promise<readonly PendingSeed[]> {
  return seeds === undefined ? [] : pendingSeeds(server, seedsOf(project, all), { once: seeds === 'once', kept, timeoutMs });
}

function sqlOf(
  pending: readonly Pending[],
  seeds: readonly PendingSeed[],
): readonly { readonly source: ListedSource; readonly sql: string }[] {
  return [
    ...pending.map(({ source, migration }) => ({ source, sql: migration.up ?? '' })),
    ...seeds.map(({ source, seed }) => ({ source, sql: seed.sql })),
  ];
}

/** Returns a function that gives the reason why seeds of a source are not tried, if there is one. */
function seedRefusal(
  untried: ReadonlyMap<Pending, string>,
  seeds: readonly PendingSeed[],
  { tries }: PlanOptions,
  isReadOnly: boolean,
): (source: ListedSource) => string | undefined {
  const stopped = new Set([...untried.keys()].map(({ source }) => source.name));
  const unusable = new Set(seeds.flatMap(({ source, problems }) => (problems.length > 0 ? [source.name] : [])));
  return ({ name, backend }) => {
    if (isReadOnly) return READ_ONLY;
    if (!tries) return '--no-try';
    if (backend?.migrations?.rollback === undefined) return 'its database cannot roll back definitions';
    if (stopped.has(name)) return 'a migration of its source is not tried';
    return unusable.has(name) ? 'another seed of its source cannot run' : undefined;
  };
}

const READ_ONLY = 'the service refuses SQL that is not read-only (--metadata-read-only)';

/** Returns the migrations that are not tried, with the reasons. */
function untriedOf(pending: readonly Pending[], { tries }: PlanOptions, isReadOnly: boolean): ReadonlyMap<Pending, string> {
  const untried = new Map<Pending, string>();
  const stopped = new Set<string>();
  for (const each of pending) {
    const { name } = each.source;
    const own = isReadOnly ? READ_ONLY : tries ? reasonNotTried(each) : '--no-try';
    const reason = own ?? (stopped.has(name) ? 'an earlier one is not tried' : undefined);
    if (reason === undefined) continue;
    untried.set(each, reason);
    stopped.add(name);
  }
  return untried;
}

function namesIn(list: Json | undefined): readonly string[] {
  return isJsonArray(list) ? list.map(String) : [];
}

function destructiveSteps({ source, migration }: Pending): readonly DestructiveStep[] {
  const dialect = migrationsOf(source);
  const { statements } = dialect.scan(migration.up ?? '');
  return destructiveStatements(statements, dialect.lexis).map((each) => ({ ...each, file: shownFile(migration, 'up') }));
}
