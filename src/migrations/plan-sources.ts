/** Plans the migrations of several sources, and checks all of them before the first one runs. */
import { join } from 'node:path';
import { EXIT, failure, type Problem, ProjectFailure } from '../project/failure.ts';
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Project } from '../project/project.ts';
import { ServerError, type SqlSource } from '../project/server-client.ts';
import { migratedSources, readMigrations } from './migration-files.ts';
import { missingSourceProblems } from './missing-sources.ts';
import {
  checkSteps,
  compareMigrations,
  dirtyProblem,
  type HistoryEntry,
  type KnownMigration,
  type MigrationGoal,
  type MigrationOptions,
  type MigrationStep,
  stepsFor,
} from './run-migrations.ts';
import { type ListedSource, migrationsOf } from './sources.ts';

export interface PlannedSource {
  readonly source: ListedSource;
  readonly steps: readonly MigrationStep[];
  /** Number of requested migrations that do not exist. */
  readonly short: number;
  /** All migrations of the files and of the history. */
  readonly known: readonly KnownMigration[];
}

export interface PlanRules {
  /** Accepts applied migrations whose files have changed. */
  readonly allowChanged: boolean;
  /** Rejects pending migrations that are older than the last applied one. */
  readonly strictOrder: boolean;
  readonly options: Pick<MigrationOptions, 'withoutTransaction' | 'singleTransaction' | 'skipExecution' | 'report'>;
  /** Reads the history of a source. */
  readonly history: (source: ListedSource) => Promise<readonly HistoryEntry[]>;
  /** Returns a function that runs a query in the database of a source, and returns its first cell. */
  readonly cell: (source: ListedSource) => (sql: string) => Promise<string>;
}

/** Returns the steps of all sources, and everything that speaks against running them. @throws ProjectFailure */
export async function planSources(
  project: Project,
  sources: readonly ListedSource[],
  goal: MigrationGoal,
  rules: PlanRules,
): Promise<{ readonly planned: readonly PlannedSource[]; readonly problems: readonly Problem[] }> {
  const problems: Problem[] = [];
  const planned: PlannedSource[] = [];
  for (const source of sources) {
    const dialect = migrationsOf(source);
    const migrations = readMigrations(project.files, join(project.migrationsFolder, source.name));
    const known = compareMigrations(migrations, await rules.history(source));
    const { steps, short } = stepsFor(known, goal);
    problems.push(...stateProblems(source, known, goal, rules), ...orderProblems(source, known, steps, rules));
    planned.push({ source, steps, short, known });
    if (steps.length > 0) problems.push(...(await privilegeProblems(source, rules.cell(source))));
    try {
      checkSteps(steps, rules.options, dialect);
    } catch (thrown) {
      if (!(thrown instanceof ProjectFailure)) throw thrown;
      problems.push(...thrown.problems);
    }
  }
  return { planned, problems };
}

/** Returns a problem if the role of a source may not record migrations. */
export async function privilegeProblems(source: ListedSource, cell: (sql: string) => Promise<string>): Promise<readonly Problem[]> {
  const { missingPrivilege } = migrationsOf(source).history;
  const missing = missingPrivilege === undefined ? '' : await cell(missingPrivilege);
  return missing === '' ? [] : [{ code: 'privilege', message: `the source ${source.name} cannot be migrated: ${missing}` }];
}

/**
 * Reads the history of a source.
 * @throws ProjectFailure that names the missing privilege, if that is why it cannot be read
 */
export async function readPermitted<T>(source: ListedSource, cell: (sql: string) => Promise<string>, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (!(thrown instanceof ServerError) || thrown.exit !== EXIT.failed) throw thrown;
    const problems = await privilegeProblems(source, cell).catch(() => []);
    throw problems.length === 0 ? thrown : new ProjectFailure(problems);
  }
}

/** Like `planSources`. @throws ProjectFailure with all problems */
export async function planAll(
  project: Project,
  sources: readonly ListedSource[],
  goal: MigrationGoal,
  rules: PlanRules,
): Promise<readonly PlannedSource[]> {
  const { planned, problems } = await planSources(project, sources, goal, rules);
  if (problems.length > 0) throw new ProjectFailure(problems);
  return planned;
}

function stateProblems(
  source: ListedSource,
  all: readonly KnownMigration[],
  goal: MigrationGoal,
  { allowChanged }: PlanRules,
): readonly Problem[] {
  return all.flatMap((known): readonly Problem[] => {
    const { status, version, migration } = known;
    if (status === 'dirty' && goal.kind !== 'version') return [dirtyProblem(source, known)];
    if (status !== 'changed' || allowChanged) return [];
    const message = `migration ${version} of ${source.name} has changed since it was applied: create a new migration, or continue with --allow-changed`;
    return [{ code: 'changed', message, ...(migration === undefined ? {} : { file: migration.shown }) }];
  });
}

/** Returns pending migrations that are older than the last applied one, or reports them if that is allowed. */
function orderProblems(
  source: ListedSource,
  all: readonly KnownMigration[],
  steps: readonly MigrationStep[],
  { strictOrder, options }: PlanRules,
): readonly Problem[] {
  const last = all.findLast(({ entry }) => entry !== undefined)?.version;
  const late = steps.filter(({ direction, known }) => direction === 'up' && last !== undefined && known.version < last);
  return late.flatMap(({ known }): readonly Problem[] => {
    const message = `migration ${known.version} ${known.name} of ${source.name} is older than ${last}, which is applied`;
    if (strictOrder) return [{ code: 'order', message, ...(known.migration === undefined ? {} : { file: known.migration.shown }) }];
    options.report(message);
    return [];
  });
}

/** Returns the sources that have a folder of migrations, and a problem for each folder without a source. */
export function sourcesWithMigrations(
  project: Project,
  sources: readonly ListedSource[],
  kinds: Kinds<Backend>,
): { readonly migrated: readonly ListedSource[]; readonly problems: readonly Problem[] } {
  const folders = migratedSources(project.migrationsFolder);
  return {
    migrated: sources.filter(({ name }) => folders.includes(name)),
    problems: missingSourceProblems(
      project,
      sources.map(({ name }) => name),
      kinds,
    ),
  };
}

/** Prefix of the message about a source that could not be opened for a trial. */
const NOT_OPENED = /^source with name ".*?" is inconsistent: /s;

function reasonOf(error: ServerError): string {
  return error.databaseError?.message ?? (error.problems[0]?.message ?? error.message).replace(NOT_OPENED, '');
}

/** Returns the warning about a source that `--allow-inconsistent` leaves out. */
export function skippedSource({ name }: SqlSource, error: ServerError): string {
  return `the source ${name} is skipped with its migrations and seeds: ${reasonOf(error)}`;
}

/** Makes the error for a source whose connection the service rejects in a deployment or in its trial. */
export function rejectedConnection({ name }: ListedSource, error: ServerError, connection: 'new' | 'changed'): ProjectFailure {
  const reason = reasonOf(error);
  return failure(
    'source',
    connection === 'new'
      ? `the service cannot add the source ${name}: ${reason}`
      : `the project has another connection for the source ${name} than the service, which rejects the change: ${reason}. Nothing was run; svc metadata apply --allow-inconsistent changes the connection anyway`,
  );
}
