/** `svc deploy`: migrations, metadata and seeds in the right order. */
import { join } from 'node:path';
import { unsetVariables } from '../../deployment/unset-variables.ts';
import { type ReadMetadata, readMetadata } from '../../project/directory/read-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { EXIT, type Problem, ProjectFailure } from '../../project/failure.ts';
import { readMigrations } from '../../migrations/migration-files.ts';
import { planAll, type PlannedSource, rejectedConnection, skippedSource, sourcesWithMigrations } from '../../migrations/plan-sources.ts';
import { checkSteps, compareMigrations, readEntries, readEntriesWhenIdle, type MigrationOptions } from '../../migrations/run-migrations.ts';
import { hasEmptyEnum, readSeeds, runSeeds } from '../../migrations/seeds.ts';
import { emptySource, type ListedSource, migrationsOf, movedSources, serverSources, sourcesOf } from '../../migrations/sources.ts';
import { type Applied, applyMetadata, exportFrom, problemsOf } from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import { type ServerClient, ServerError, type SqlSource } from '../../project/server-client.ts';
import type { Backend } from '../../backend/backend.ts';
import type { Kinds } from '../../metadata/kinds.ts';
import { counted } from '../../util/counted.ts';
import type { JsonObject } from '../../util/json.ts';
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { type DoneIn, doneJson, runAll } from './migrate.ts';
import { requirePlan } from './plan.ts';
import { runOptions } from './run-options.ts';

export interface Deployment {
  readonly project: Project;
  readonly server: ServerClient;
  readonly kinds: Kinds<Backend>;
  readonly options: MigrationOptions;
  readonly withSeeds: boolean;
  readonly once: boolean;
  readonly allowInconsistent: boolean;
  readonly allowChanged: boolean;
  /** Does nothing if a migration is applied that is newer than all migrations of the project. */
  readonly unlessNewer?: boolean;
  readonly progress: (message: string) => void;
  readonly warn: (message: string) => void;
  /** Replaces the step that applies the metadata; `svc dev` also writes files in it. */
  readonly apply?: () => Promise<Applied>;
}

/** `svc deploy` */
export async function runDeploy(context: CommandContext): Promise<CommandOutcome> {
  const plan = textOption(context, 'plan');
  if (plan !== undefined) await requirePlan(context, plan);
  return deploy({
    project: await context.project(),
    server: await context.server(),
    kinds: await context.kinds(),
    options: runOptions(context),
    withSeeds: flagOption(context, 'withSeeds'),
    once: flagOption(context, 'once'),
    allowInconsistent: flagOption(context, 'allowInconsistent'),
    allowChanged: flagOption(context, 'allowChanged'),
    progress: context.progress,
    warn: context.warn,
  });
}

/**
 * Deploys a project to a service. If a step fails, the outcome lists the steps that were done and those that were not.
 * @throws ProjectFailure before the first step
 */
export async function deploy(at: Deployment): Promise<CommandOutcome> {
  const { project, server, kinds, options, warn } = at;
  const read = readMetadata(project.metadata);
  const problems = shapeProblems(read, kinds);
  if (problems.length > 0) throw new ProjectFailure(problems);
  const sources = sourcesOf(read.document, kinds);
  const { migrated, problems: withoutSource } = sourcesWithMigrations(project, sources, kinds);
  if (withoutSource.length > 0) throw new ProjectFailure(withoutSource);
  const isMigrated = (name: string): boolean => migrated.some((source) => source.name === name);
  const current = (await exportFrom(server)).metadata;
  const existing = new Set(sourcesOf(current, kinds).map(({ name }) => name));
  const checkVariables = (): Promise<void> =>
    requireVariables(
      at,
      read,
      sources.filter(({ name }) => !existing.has(name) && !isMigrated(name)),
    );
  const moved = movedSources(read.document, current, kinds).filter(({ name }) => isMigrated(name));
  if (moved.length > 0) await checkVariables();
  for (const source of moved) await moveSource(at, source);
  // All migrations of new sources are pending; they are checked before the sources are added.
  const missing = migrated.filter(({ name }) => !existing.has(name));
  for (const source of missing) {
    const steps = compareMigrations(readMigrations(project.files, join(project.migrationsFolder, source.name)), []).map((known) => ({
      direction: 'up' as const,
      known,
    }));
    checkSteps(steps, options, migrationsOf(source));
  }
  const known = migrated.filter(({ name }) => existing.has(name));
  const reachableNow = at.allowInconsistent ? await reachable(at, known) : known;
  if (at.unlessNewer === true) {
    const newer = await newerThan(at, reachableNow);
    if (newer !== undefined) return { text: `nothing is deployed: ${newer}`, data: { newer } };
  }
  const planIn = (some: readonly ListedSource[]): Promise<readonly PlannedSource[]> =>
    planAll(
      project,
      some,
      { kind: 'up', count: 'all' },
      { allowChanged: at.allowChanged, strictOrder: false, options, history: (source) => readEntriesWhenIdle(server, source, options) },
    );
  const plannedBefore = await planIn(reachableNow);
  const seeds = at.withSeeds
    ? sources
        .map((source) => ({ source, seeds: readSeeds(project.files, join(project.seedsFolder, source.name)) }))
        .filter(({ seeds }) => seeds.length > 0)
    : [];
  if (moved.length === 0 && (missing.length > 0 || plannedBefore.some(({ steps }) => steps.length > 0))) await checkVariables();
  const stages: string[] = [];
  const left = ['sources', 'migrations', 'metadata', ...(seeds.length > 0 ? ['seeds'] : [])];
  let planned: readonly PlannedSource[] = plannedBefore;
  const done: DoneIn[] = [];
  const finished = (stage: string): void => {
    stages.push(stage);
    left.splice(left.indexOf(stage), 1);
  };
  try {
    const added = await addSources(at, missing);
    finished('sources');
    planned = [...plannedBefore, ...(await planIn(added))];
    await runAll(server, planned, options, at.progress, done);
    finished('migrations');
    const seeded: JsonObject[] = [];
    const seed = async ({ source, seeds: files }: (typeof seeds)[number]): Promise<void> => {
      for (const name of await runSeeds(server, source, files, at.once, options)) seeded.push({ source: source.name, seed: name });
    };
    const reached = new Set([...reachableNow, ...added].map(({ name }) => name));
    // Sources without migrations have not been contacted yet; those that the metadata adds exist only once it is applied.
    const isReachable = async ({ source }: (typeof seeds)[number]): Promise<boolean> => {
      if (!at.allowInconsistent || reached.has(source.name)) return true;
      for (const { name } of await reachable(at, [source])) reached.add(name);
      return reached.has(source.name);
    };
    const selected: (typeof seeds)[number][] = [];
    for (const each of seeds) {
      const { name } = each.source;
      if (isMigrated(name) ? reached.has(name) : !existing.has(name) || (await isReachable(each))) selected.push(each);
    }
    const early = await beforeMetadata(at, selected);
    const seedsOf = ({ source }: (typeof seeds)[number]): string => `seeds of ${source.name}`;
    left.splice(left.indexOf('metadata'), 0, ...early.map(seedsOf));
    const late = selected.filter((each) => !early.includes(each));
    if (seeds.length > 0 && late.length === 0) left.splice(left.indexOf('seeds'), 1);
    for (const each of early) {
      await seed(each);
      finished(seedsOf(each));
    }
    const applied = await (at.apply?.() ?? applyMetadata(read, server, kinds, { allowInconsistent: at.allowInconsistent }));
    if (applied.inconsistencies.length > 0 && !at.allowInconsistent)
      throw new ProjectFailure(problemsOf(applied.inconsistencies), EXIT.inconsistent);
    finished('metadata');
    for (const { message } of problemsOf(applied.inconsistencies)) warn(message);
    for (const each of late) if (await isReachable(each)) await seed(each);
    if (late.length > 0) finished('seeds');
    const metadata = { sent: applied.sent, changes: applied.changes.length, resource_version: applied.resourceVersion };
    const text = [
      `migrations: ${done.length === 0 ? 'nothing to run' : `${done.length} run`}`,
      `metadata: ${applied.sent ? `${counted(applied.changes.length, 'change')}` : 'the service has it already'}`,
      ...(at.withSeeds ? [`seeds: ${seeded.length} run`] : []),
    ].join('\n');
    return { text, data: { migrations: done.map(doneJson), metadata, seeds: seeded } };
  } catch (thrown) {
    if (!(thrown instanceof ProjectFailure)) throw thrown;
    const { done: isDone, left: isLeft } = bySource(stages, left, planned, done);
    const state: Problem = { code: 'deploy', message: `done: ${isDone.join(', ') || 'nothing'}; not done: ${isLeft.join(', ')}` };
    return {
      exit: thrown.exit,
      problems: [...thrown.problems, state],
      data: { done: isDone, not_done: isLeft, migrations: done.map(doneJson) },
    };
  }
}

/** @param added sources that only the metadata adds @throws ProjectFailure if the metadata needs variables that the service does not have */
async function requireVariables(
  { server, allowInconsistent }: Deployment,
  read: ReadMetadata,
  added: readonly ListedSource[],
): Promise<void> {
  const problems = allowInconsistent ? [] : await unsetVariables(server, read, added);
  if (problems.length > 0) throw new ProjectFailure([...problems, { code: 'deploy', message: 'nothing was done' }], EXIT.inconsistent);
}

/** Seeds that must run before the metadata: those of sources with an empty enum table, which makes the metadata inconsistent. */
async function beforeMetadata<T extends { readonly source: ListedSource }>(
  { server, kinds }: Deployment,
  all: readonly T[],
): Promise<readonly T[]> {
  const seeds = all.filter(({ source }) => source.backend?.migrations?.hasEmpty !== undefined);
  if (seeds.length === 0) return [];
  const there = new Set((await serverSources(server, kinds)).map(({ name }) => name));
  const early: T[] = [];
  for (const each of seeds) if (there.has(each.source.name) && (await hasEmptyEnum(server, each.source))) early.push(each);
  return early;
}

/** Lists migrations by source if they were run in some sources and not in others. */
function bySource(
  stages: readonly string[],
  left: readonly string[],
  planned: readonly PlannedSource[],
  done: readonly DoneIn[],
): { readonly done: readonly string[]; readonly left: readonly string[] } {
  const pending = planned.filter(({ steps }) => steps.length > 0);
  if (!left.includes('migrations') || pending.length < 2 || done.length === 0) return { done: stages, left };
  const isRun = ({ source, steps }: PlannedSource): boolean => done.filter((each) => each.source === source.name).length === steps.length;
  const named = (list: readonly PlannedSource[]): readonly string[] => list.map(({ source }) => `migrations of ${source.name}`);
  return {
    done: [...stages, ...named(pending.filter(isRun))],
    left: left.flatMap((stage) => (stage === 'migrations' ? named(pending.filter((each) => !isRun(each))) : [stage])),
  };
}

/** Reason why the project is older than the deployed state, or `undefined`. */
async function newerThan({ project, server }: Deployment, sources: readonly ListedSource[]): Promise<string | undefined> {
  for (const source of sources) {
    const own = readMigrations(project.files, join(project.migrationsFolder, source.name)).at(-1)?.version ?? 0n;
    const newer = (await readEntries(server, source)).filter(({ version }) => version > own);
    if (newer.length > 0)
      return `migration ${newer.at(-1)?.version} of ${source.name} is applied, and the newest of the project is ${own}: the project is older than the service`;
  }
  return undefined;
}

/**
 * Updates the connection of a source before its migrations run, so that they do not run in the previous database.
 * @throws ProjectFailure if the service rejects the change
 */
async function moveSource({ server, progress }: Deployment, source: ListedSource): Promise<void> {
  const { name, kind, entry } = source;
  try {
    await server.metadata(`${kind}_update_source`, { name, configuration: entry['configuration'] ?? null });
    progress(`updated the connection of the source ${name}`);
  } catch (thrown) {
    if (!(thrown instanceof ServerError)) throw thrown;
    throw rejectedConnection(source, thrown, 'changed');
  }
}

/** Adds missing sources without tracked objects, so that their migrations can run. @returns the sources that exist now */
async function addSources(at: Deployment, missing: readonly ListedSource[]): Promise<readonly ListedSource[]> {
  const { server, progress } = at;
  const added: ListedSource[] = [];
  for (const source of missing) {
    const args: JsonObject = { name: source.name, ...emptySource(source.entry) };
    try {
      await server.metadata(`${source.kind}_add_source`, args);
      progress(`added the source ${source.name}`);
    } catch (thrown) {
      // `already-exists`: another deployment has added it meanwhile.
      if (!(thrown instanceof ServerError) || thrown.code !== 'already-exists') {
        if (isSkipped(at, source, thrown)) continue;
        throw thrown instanceof ServerError && thrown.exit === EXIT.failed ? rejectedConnection(source, thrown, 'new') : thrown;
      }
    }
    added.push(source);
  }
  return added;
}

/** With `--allow-inconsistent`, a source whose database does not respond is skipped with a warning. */
function isSkipped({ allowInconsistent, warn }: Deployment, source: SqlSource, thrown: unknown): boolean {
  if (!allowInconsistent || !(thrown instanceof ServerError) || thrown.exit !== EXIT.failed) return false;
  warn(skippedSource(source, thrown));
  return true;
}

/** Sources of the service whose databases respond. @throws ProjectFailure for one that does not and must not be skipped */
async function reachable<T extends ListedSource>(at: Deployment, sources: readonly T[]): Promise<readonly T[]> {
  const found: T[] = [];
  for (const source of sources) {
    try {
      await readEntries(at.server, source);
      found.push(source);
    } catch (thrown) {
      if (!isSkipped(at, source, thrown)) throw thrown;
    }
  }
  return found;
}
