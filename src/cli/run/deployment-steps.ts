/** The steps of a deployment, after everything was checked: sources, migrations, metadata, seeds. */
import { ALL_PENDING } from '../../deployment/source-histories.ts';
import { planAll, type PlannedSource, rejectedConnection, skippedSource } from '../../migrations/plan-sources.ts';
import { readEntries, readEntriesWhenIdle } from '../../migrations/run-migrations.ts';
import { hasEmptyEnum, runSeeds, type SourceSeeds } from '../../migrations/seeds.ts';
import { cellOf, emptySource, type ListedSource, serverSources } from '../../migrations/sources.ts';
import { errorsIn, EXIT, ProjectFailure } from '../../project/failure.ts';
import { type Applied, applyMetadata, problemsOf } from '../../project/project-metadata.ts';
import { ServerError, type SqlSource } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import type { JsonObject } from '../../util/json.ts';
import type { CommandOutcome } from '../context.ts';
import { type DoneIn, doneJson, runAll } from './migrate.ts';
import type { Deployment, PreparedDeployment } from './prepare-deployment.ts';

export class DeploymentSteps {
  readonly #at: Deployment;
  readonly #prepared: PreparedDeployment;
  /** Names of finished steps. */
  readonly #finished: string[] = [];
  /** Names of steps that are not finished, in order. */
  readonly #left: string[];
  /** Names of sources that were added or connected differently. */
  readonly #connected: string[] = [];
  #planned: readonly PlannedSource[];
  readonly #migrations: DoneIn[] = [];
  readonly #seeded: JsonObject[] = [];
  /** Names of sources whose databases respond. */
  readonly #reached: Set<string>;

  constructor(at: Deployment, prepared: PreparedDeployment) {
    this.#at = at;
    this.#prepared = prepared;
    this.#planned = prepared.planned;
    this.#reached = new Set(prepared.planned.map(({ source }) => source.name));
    this.#left = ['sources', 'migrations', 'metadata', ...(prepared.seeds.length > 0 ? ['seeds'] : [])];
  }

  /** Runs all steps. If one fails, the outcome lists those that were done and those that were not. */
  async run(): Promise<CommandOutcome> {
    try {
      await this.#migrate();
      const late = await this.#seedEarly();
      const applied = await this.#apply();
      for (const each of late) if (await this.#isReachable(each.source)) await this.#seed(each);
      if (late.length > 0) this.#finish('seeds');
      return this.#report(applied);
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure)) throw thrown;
      return this.#failure(thrown);
    }
  }

  /** Connects the sources with migrations as the project configures them, and runs the migrations. */
  async #migrate(): Promise<void> {
    const { options, progress, server } = this.#at;
    const { added, moved } = this.#prepared.sources;
    const isPlanned = ({ name }: ListedSource): boolean => this.#reached.has(name);
    for (const source of moved.filter(isPlanned)) {
      await moveSource(this.#at, source);
      this.#connected.push(source.name);
    }
    for (const source of added.filter(isPlanned)) {
      if (await addSource(this.#at, source)) this.#connected.push(source.name);
      else this.#reached.delete(source.name);
    }
    this.#finish('sources');
    this.#planned = await this.#plannedAgain();
    await runAll(server, this.#planned, options, progress, this.#migrations);
    this.#finish('migrations');
  }

  /** Plans again what the service could not read before it had the sources: histories of kinds whose SQL cannot be tried. */
  #plannedAgain(): Promise<readonly PlannedSource[]> {
    const { project, server, options, allowChanged } = this.#at;
    const known = new Map(this.#prepared.planned.map((each) => [each.source.name, each]));
    const sources = [...known.values()].flatMap(({ source }) => (this.#reached.has(source.name) ? [source] : []));
    return planAll(project, sources, ALL_PENDING, {
      allowChanged,
      strictOrder: false,
      // What it reports was reported before.
      options: { ...options, report: () => undefined },
      history: async (source) =>
        this.#connected.includes(source.name)
          ? readEntriesWhenIdle(server, source, options)
          : (known.get(source.name)?.known.flatMap(({ entry }) => entry ?? []) ?? []),
      cell: (source) => (this.#connected.includes(source.name) ? cellOf(server, source) : async () => ''),
    });
  }

  /** Runs the seeds that the metadata needs. @returns those to run after the metadata */
  async #seedEarly(): Promise<readonly SourceSeeds[]> {
    const { seeds, sources } = this.#prepared;
    const isIn = (list: readonly ListedSource[], name: string): boolean => list.some((source) => source.name === name);
    const selected: SourceSeeds[] = [];
    for (const each of seeds) {
      const { name } = each.source;
      // Sources without migrations have not been contacted yet; those that the metadata adds exist only once it is applied.
      const isReady = isIn(sources.migrated, name)
        ? this.#reached.has(name)
        : isIn(sources.added, name) || (await this.#isReachable(each.source));
      if (isReady) selected.push(each);
    }
    const early = await beforeMetadata(this.#at, selected);
    const late = selected.filter((each) => !early.includes(each));
    this.#left.splice(this.#left.indexOf('metadata'), 0, ...early.map(stepOfSeeds));
    if (seeds.length > 0 && late.length === 0) this.#left.splice(this.#left.indexOf('seeds'), 1);
    for (const each of early) {
      await this.#seed(each);
      this.#finish(stepOfSeeds(each));
    }
    return late;
  }

  async #apply(): Promise<Applied> {
    const { server, kinds, allowInconsistent, warn, apply } = this.#at;
    const applied = await (apply?.() ?? applyMetadata(this.#prepared.read, server, kinds, { allowInconsistent }));
    const problems = problemsOf(applied.inconsistencies);
    const rejected = errorsIn(problems);
    if (rejected.length > 0 && !allowInconsistent) throw new ProjectFailure(rejected, EXIT.inconsistent);
    this.#finish('metadata');
    for (const { message } of problems) warn(message);
    return applied;
  }

  async #seed({ source, seeds }: SourceSeeds): Promise<void> {
    const { server, once, options, progress } = this.#at;
    for (const name of await runSeeds(server, source, seeds, once, options)) {
      this.#seeded.push({ source: source.name, seed: name });
      progress(`run seed ${source.name} ${name}`);
    }
  }

  async #isReachable(source: ListedSource): Promise<boolean> {
    if (!this.#at.allowInconsistent || this.#reached.has(source.name)) return true;
    if (await isResponding(this.#at, source)) this.#reached.add(source.name);
    return this.#reached.has(source.name);
  }

  #finish(step: string): void {
    this.#finished.push(step);
    this.#left.splice(this.#left.indexOf(step), 1);
  }

  #report({ sent, changes, resourceVersion }: Applied): CommandOutcome {
    const run = this.#migrations.length;
    const text = [
      `migrations: ${run === 0 ? 'nothing to run' : `${run} run`}`,
      `metadata: ${sent ? counted(changes.length, 'change') : 'the service has it already'}`,
      ...(this.#at.withSeeds ? [`seeds: ${this.#seeded.length} run`] : []),
    ].join('\n');
    const metadata = { sent, changes: changes.length, resource_version: resourceVersion };
    return { text, data: { migrations: this.#migrations.map(doneJson), metadata, seeds: this.#seeded } };
  }

  #failure({ exit, problems }: ProjectFailure): CommandOutcome {
    const connected = this.#left.includes('sources') ? this.#connected.map((name) => `source ${name}`) : [];
    const { done, left } = bySource([...connected, ...this.#finished], this.#left, this.#planned, this.#migrations);
    const message = `done: ${done.join(', ') || 'nothing'}; not done: ${left.join(', ')}`;
    const data = { done, not_done: left, migrations: this.#migrations.map(doneJson) };
    return { exit, problems: [...problems, { code: 'deploy', message }], data };
  }
}

function stepOfSeeds({ source }: SourceSeeds): string {
  return `seeds of ${source.name}`;
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

/**
 * Updates the connection of a source, so that its migrations do not run in the previous database.
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

/**
 * Adds a source without tracked objects, so that its migrations can run.
 * @returns false if the source is left out with `allowInconsistent`, because its database does not respond
 * @throws ProjectFailure
 */
async function addSource(at: Deployment, source: ListedSource): Promise<boolean> {
  const { server, progress } = at;
  const { name, kind, entry } = source;
  try {
    await server.metadata(`${kind}_add_source`, { name, ...emptySource(entry) });
    progress(`added the source ${name}`);
    return true;
  } catch (thrown) {
    // Another deployment has added it meanwhile.
    if (thrown instanceof ServerError && thrown.code === 'already-exists') return true;
    if (isSkipped(at, source, thrown)) return false;
    throw thrown instanceof ServerError && thrown.exit === EXIT.failed ? rejectedConnection(source, thrown, 'new') : thrown;
  }
}

/** With `allowInconsistent`, a source whose database does not respond is left out with a warning. */
function isSkipped({ allowInconsistent, warn }: Deployment, source: SqlSource, thrown: unknown): boolean {
  if (!allowInconsistent || !(thrown instanceof ServerError) || thrown.exit !== EXIT.failed) return false;
  warn(skippedSource(source, thrown));
  return true;
}

/** Returns whether the database of a source responds. @throws ProjectFailure if it does not and must not be left out */
async function isResponding(at: Deployment, source: ListedSource): Promise<boolean> {
  try {
    await readEntries(at.server, source);
    return true;
  } catch (thrown) {
    if (isSkipped(at, source, thrown)) return false;
    throw thrown;
  }
}
