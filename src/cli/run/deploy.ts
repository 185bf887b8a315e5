/** `svc deploy`: everything in its order. */
import { join } from 'node:path';
import { readMetadata } from '../../project/directory/read-metadata.ts';
import { shapeProblems } from '../../project/document.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { migratedSources, readMigrations } from '../../migrations/migration-files.ts';
import { checkSteps, compareMigrations, readEntries, type RunOptions } from '../../migrations/run-migrations.ts';
import { hasEmptyEnum, readSeeds, runSeeds } from '../../migrations/seeds.ts';
import { emptySource, type ListedSource, migrationsOf, movedSources, serverSources, sourcesOf } from '../../migrations/sources.ts';
import { type Applied, applyMetadata, exportFrom, problemsOf } from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import { type ServerClient, ServerError, type SqlSource } from '../../project/server-client.ts';
import type { Backend } from '../../backend/backend.ts';
import type { Kinds } from '../../metadata/kinds.ts';
import { counted } from '../../util/counted.ts';
import type { JsonObject } from '../../util/json.ts';
import { type Call, flagOption, type Outcome, textOption } from '../call.ts';
import { type DoneIn, doneJson, planAll, type PlannedSource, runAll } from './migrate.ts';
import { requirePlan } from './plan.ts';
import { runOptions } from './run-options.ts';

export interface Deployment {
  readonly project: Project;
  readonly server: ServerClient;
  readonly kinds: Kinds<Backend>;
  readonly options: RunOptions;
  readonly withSeeds: boolean;
  readonly once: boolean;
  readonly allowInconsistent: boolean;
  readonly allowChanged: boolean;
  /** Nothing is done where migrations are applied that the project does not have and that are newer than all it has. */
  readonly unlessNewer?: boolean;
  readonly tell: (message: string) => void;
  readonly warn: (message: string) => void;
  /** Applies the metadata in place of what does so by itself: for whoever changes the files by it. */
  readonly apply?: () => Promise<Applied>;
}

/** `svc deploy` */
export async function runDeploy(call: Call): Promise<Outcome> {
  const plan = textOption(call, 'plan');
  if (plan !== undefined) await requirePlan(call, plan);
  return deploy({
    project: await call.project(),
    server: await call.server(),
    kinds: await call.kinds(),
    options: runOptions(call),
    withSeeds: flagOption(call, 'withSeeds'),
    once: flagOption(call, 'once'),
    allowInconsistent: flagOption(call, 'allowInconsistent'),
    allowChanged: flagOption(call, 'allowChanged'),
    tell: call.tell,
    warn: call.warn,
  });
}

/** Brings a service up to a project. What fails is told with what was done before and what was not. @throws ProjectFailure when nothing was done */
export async function deploy(at: Deployment): Promise<Outcome> {
  const { project, server, kinds, options, warn } = at;
  const read = readMetadata(project.metadata);
  const problems = shapeProblems(read, kinds);
  if (problems.length > 0) throw new ProjectFailure(problems);
  const wanted = sourcesOf(read.document, kinds);
  const folders = migratedSources(project.migrationsFolder);
  for (const name of folders) {
    if (!wanted.some((source) => source.name === name))
      throw failure('no-source', `there are migrations of the source "${name}", which the metadata does not have`);
  }
  const current = (await exportFrom(server)).metadata;
  const there = new Set(sourcesOf(current, kinds).map(({ name }) => name));
  const migrated: readonly ListedSource[] = wanted.filter(({ name }) => folders.includes(name));
  for (const source of movedSources(read.document, current, kinds)) if (folders.includes(source.name)) await moveSource(at, source);
  // Of sources that are not there yet, all is pending: looked at before they are added.
  for (const source of migrated.filter(({ name }) => !there.has(name))) {
    const steps = compareMigrations(readMigrations(project.files, join(project.migrationsFolder, source.name)), []).map((known) => ({
      direction: 'up' as const,
      known,
    }));
    checkSteps(steps, options, migrationsOf(source));
  }
  const known = migrated.filter(({ name }) => there.has(name));
  const answered = at.allowInconsistent ? await answering(at, known) : known;
  if (at.unlessNewer === true) {
    const newer = await newerThan(at, answered);
    if (newer !== undefined) return { text: `nothing is deployed: ${newer}`, data: { newer } };
  }
  const plannedBefore = await planAll(
    project,
    server,
    answered,
    { kind: 'up', count: 'all' },
    { allowChanged: at.allowChanged, strictOrder: false, options },
  );
  const seeds = at.withSeeds
    ? wanted
        .map((source) => ({ source, seeds: readSeeds(project.files, join(project.seedsFolder, source.name)) }))
        .filter(({ seeds }) => seeds.length > 0)
    : [];
  const stages: string[] = [];
  const left = ['sources', 'migrations', 'metadata', ...(seeds.length > 0 ? ['seeds'] : [])];
  let planned: readonly PlannedSource[] = plannedBefore;
  const done: DoneIn[] = [];
  const finished = (stage: string): void => {
    stages.push(stage);
    left.splice(left.indexOf(stage), 1);
  };
  try {
    const added = await addSources(
      at,
      migrated.filter(({ name }) => !there.has(name)),
    );
    finished('sources');
    const plannedAfter =
      added.length === 0
        ? []
        : await planAll(
            project,
            server,
            added,
            { kind: 'up', count: 'all' },
            { allowChanged: at.allowChanged, strictOrder: false, options },
          );
    planned = [...plannedBefore, ...plannedAfter];
    await runAll(server, planned, options, at.tell, done);
    finished('migrations');
    const seeded: JsonObject[] = [];
    const seed = async ({ source, seeds: files }: (typeof seeds)[number]): Promise<void> => {
      for (const name of await runSeeds(server, source, files, at.once, options)) seeded.push({ source: source.name, seed: name });
    };
    const reached = new Set([...answered, ...added].map(({ name }) => name));
    // What has no migrations has not been asked yet, and what comes with the metadata cannot be asked before.
    const isReached = async ({ source }: (typeof seeds)[number]): Promise<boolean> => {
      if (!at.allowInconsistent || reached.has(source.name)) return true;
      for (const { name } of await answering(at, [source])) reached.add(name);
      return reached.has(source.name);
    };
    const sown: (typeof seeds)[number][] = [];
    for (const each of seeds) {
      const { name } = each.source;
      if (folders.includes(name) ? reached.has(name) : !there.has(name) || (await isReached(each))) sown.push(each);
    }
    const early = await beforeMetadata(at, sown);
    const seedsOf = ({ source }: (typeof seeds)[number]): string => `seeds of ${source.name}`;
    left.splice(left.indexOf('metadata'), 0, ...early.map(seedsOf));
    const late = sown.filter((each) => !early.includes(each));
    if (seeds.length > 0 && late.length === 0) left.splice(left.indexOf('seeds'), 1);
    for (const each of early) {
      await seed(each);
      finished(seedsOf(each));
    }
    const applied = await (at.apply?.() ?? applyMetadata(read, server, kinds, { allowInconsistent: at.allowInconsistent }));
    finished('metadata');
    if (applied.inconsistencies.length > 0 && !at.allowInconsistent)
      throw new ProjectFailure(problemsOf(applied.inconsistencies), EXIT.inconsistent);
    for (const { message } of problemsOf(applied.inconsistencies)) warn(message);
    for (const each of late) if (await isReached(each)) await seed(each);
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

/** Seeds of sources whose metadata would be inconsistent without them. */
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

/** Migrations that were run in some sources and not in others are told source by source. */
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

/** Why the project is older than what is deployed; undefined: it is not. */
async function newerThan({ project, server }: Deployment, sources: readonly ListedSource[]): Promise<string | undefined> {
  for (const source of sources) {
    const own = readMigrations(project.files, join(project.migrationsFolder, source.name)).at(-1)?.version ?? 0n;
    const newer = (await readEntries(server, source)).filter(({ version }) => version > own);
    if (newer.length > 0)
      return `migration ${newer.at(-1)?.version} of ${source.name} is applied, and the project ends with ${own}: it is an older one`;
  }
  return undefined;
}

/**
 * Connects a source as the project says, before its migrations run: else they would run in the database of before.
 * @throws ProjectFailure if the service refuses it
 */
async function moveSource({ server, tell }: Deployment, { name, kind, entry }: ListedSource): Promise<void> {
  try {
    await server.metadata(`${kind}_update_source`, { name, configuration: entry['configuration'] ?? null });
    tell(`connected the source ${name} as the project says`);
  } catch (thrown) {
    if (!(thrown instanceof ServerError)) throw thrown;
    throw failure(
      'source',
      `the project connects the source ${name} otherwise than the service, which refuses the change: ${thrown.message}. Nothing was run; svc metadata apply --allow-inconsistent connects it all the same`,
    );
  }
}

/** Sources with nothing tracked in them, so that there is something to migrate. @returns those that are there now */
async function addSources(at: Deployment, missing: readonly ListedSource[]): Promise<readonly ListedSource[]> {
  const { server, tell } = at;
  const added: ListedSource[] = [];
  for (const source of missing) {
    const args: JsonObject = { name: source.name, ...emptySource(source.entry) };
    try {
      await server.metadata(`${source.kind}_add_source`, args);
      tell(`added the source ${source.name}`);
    } catch (thrown) {
      // Another deployment was faster.
      if (!(thrown instanceof ServerError) || thrown.code !== 'already-exists') {
        if (isLeftOut(at, source, thrown)) continue;
        throw thrown;
      }
    }
    added.push(source);
  }
  return added;
}

/** Where inconsistencies are allowed, a database that does not answer keeps nobody from the rest. */
function isLeftOut({ allowInconsistent, warn }: Deployment, { name }: SqlSource, thrown: unknown): boolean {
  if (!allowInconsistent || !(thrown instanceof ServerError) || thrown.exit !== EXIT.failed) return false;
  warn(`the source ${name} is left out, with its migrations and seeds: ${thrown.message}`);
  return true;
}

/** Of sources that the service has, those whose databases answer. @throws ProjectFailure where one does not that is not to be left out */
async function answering<T extends ListedSource>(at: Deployment, sources: readonly T[]): Promise<readonly T[]> {
  const found: T[] = [];
  for (const source of sources) {
    try {
      await readEntries(at.server, source);
      found.push(source);
    } catch (thrown) {
      if (!isLeftOut(at, source, thrown)) throw thrown;
    }
  }
  return found;
}
