/** `svc migrate apply` and `status`. */
import { join } from 'node:path';
import { EXIT, failure, reasonOf } from '../../project/failure.ts';
import { readMigrations } from '../../migrations/migration-files.ts';
import { planAll, type PlannedSource, readPermitted } from '../../migrations/plan-sources.ts';
import {
  compareMigrations,
  type StepResult,
  type KnownMigration,
  mirrorState,
  readEntries,
  readEntriesWhenIdle,
  type MigrationOptions,
  runSteps,
  type MigrationGoal,
} from '../../migrations/run-migrations.ts';
import { createNeededExtension } from '../../migrations/implicit-extension.ts';
import { cellOf, chosenSources, type ListedSource, migrationsOf } from '../../migrations/sources.ts';
import type { Project } from '../../project/project.ts';
import type { ServerClient, SqlSource } from '../../project/server-client.ts';
import type { JsonObject } from '../../util/json.ts';
import { type CommandContext, flagOption, type CommandOutcome, textOption } from '../context.ts';
import { runOptions, versionOption } from './run-options.ts';
import { table } from './table.ts';

/** Migrations of the files and of the history of the source. @throws ProjectFailure */
export async function knownMigrations(project: Project, server: ServerClient, source: ListedSource): Promise<readonly KnownMigration[]> {
  migrationsOf(source);
  const migrations = readMigrations(project.files, join(project.migrationsFolder, source.name));
  return compareMigrations(migrations, await readPermitted(source, cellOf(server, source), () => readEntries(server, source)));
}

/** `svc migrate status` */
export async function runMigrateStatus(context: CommandContext): Promise<CommandOutcome> {
  const [project, server] = [await context.project(), await context.server()];
  const sources = await chosenSources(
    project,
    server,
    await context.kinds(),
    project.migrationsFolder,
    textOption(context, 'databaseName'),
  );
  const texts: string[] = [];
  const databases: JsonObject[] = [];
  let found = false;
  for (const source of sources) {
    const all = await knownMigrations(project, server, source);
    found ||= all.some(({ status }) => status !== 'applied');
    texts.push(`Database: ${source.name}`, table(['VERSION', 'NAME', 'STATUS', 'APPLIED AT', 'MS'], all.map(statusRow)), '');
    databases.push({ source: source.name, migrations: all.map(statusJson) });
  }
  return {
    exit: flagOption(context, 'exitCode') && found ? EXIT.found : EXIT.done,
    text: sources.length === 0 ? 'there are no migrations' : texts.join('\n'),
    data: { databases },
  };
}

function statusRow({ version, name, status, entry }: KnownMigration): readonly string[] {
  return [String(version), name, status, entry?.appliedAt ?? '', entry === undefined || entry.dirty ? '' : String(entry.durationMs)];
}

function statusJson({ version, name, status, entry }: KnownMigration): JsonObject {
  const applied: JsonObject =
    entry === undefined ? {} : { applied_at: entry.appliedAt, applied_by: entry.appliedBy, duration_ms: Math.max(0, entry.durationMs) };
  return { version: String(version), name, status, ...applied };
}

/** `svc migrate apply` */
export async function runMigrateApply(context: CommandContext): Promise<CommandOutcome> {
  const [project, server] = [await context.project(), await context.server()];
  const goal = goalOf(context);
  if (flagOption(context, 'skipExecution') && (goal.kind === 'goto' || flagOption(context, 'dryRun')))
    throw failure('usage', '--skip-execution cannot be combined with --goto or --dry-run', {}, EXIT.usage);
  if (flagOption(context, 'allDatabases') && textOption(context, 'databaseName') !== undefined)
    throw failure('usage', '--all-databases and --database-name exclude each other', {}, EXIT.usage);
  const sources = await chosenSources(
    project,
    server,
    await context.kinds(),
    project.migrationsFolder,
    textOption(context, 'databaseName'),
  );
  requireOne(sources, goal, flagOption(context, 'allDatabases'));
  const options = runOptions(context);
  const planned = await planAll(project, sources, goal, {
    allowChanged: flagOption(context, 'allowChanged'),
    strictOrder: flagOption(context, 'strictOrder'),
    options,
    history: (source) => readPermitted(source, cellOf(server, source), () => readEntriesWhenIdle(server, source, options)),
    cell: (source) => cellOf(server, source),
  });
  if (flagOption(context, 'dryRun')) {
    const rows = planned.flatMap(({ source, steps }) =>
      steps.map(({ known, direction }) => [source.name, String(known.version), direction, known.name]),
    );
    const list = rows.map(([source, version, type, name]) => ({ source, version, type, name }) as JsonObject);
    return { text: rows.length === 0 ? 'nothing to run' : table(['SOURCE', 'VERSION', 'TYPE', 'NAME'], rows), data: { migrations: list } };
  }
  const done = await runAll(server, planned, options, context.print);
  const short = planned.reduce((sum, each) => sum + each.short, 0);
  const data = { migrations: done.map(doneJson) };
  // Migrations that ran have already been printed.
  const text = done.length === 0 ? 'nothing to run' : '';
  if (short > 0)
    return { text, data, exit: EXIT.failed, problems: [{ code: 'limit', message: `${short} of the requested migrations do not exist` }] };
  return { text, data };
}

/** Reverts migrations in several sources only with `--all-databases`. @throws ProjectFailure */
function requireOne(sources: readonly SqlSource[], goal: MigrationGoal, all: boolean): void {
  if (sources.length < 2 || all || goal.kind === 'up' || (goal.kind === 'version' && goal.direction === 'up')) return;
  const names = sources.map(({ name }) => name).join(', ');
  throw failure('usage', `there are migrations of ${names}: name one source with --database-name, or use --all-databases`, {}, EXIT.usage);
}

function goalOf(context: CommandContext): MigrationGoal {
  const set = ['up', 'down', 'goto', 'version'].filter((name) => textOption(context, name) !== undefined);
  if (set.length > 1) throw failure('usage', `--${set.join(' and --')} exclude each other`, {}, EXIT.usage);
  const count = (text: string, flag: string): number | 'all' => {
    if (text === 'all') return 'all';
    if (!/^\d+$/.test(text) || text === '0')
      throw failure('usage', `${flag} must be a number of migrations or "all", not "${text}"`, {}, EXIT.usage);
    return Number(text);
  };
  const text = (name: string): string => textOption(context, name) as string;
  switch (set[0]) {
    case 'down':
      return { kind: 'down', count: count(text('down'), '--down') };
    case 'goto':
      return { kind: 'goto', version: versionOption(text('goto'), '--goto') };
    case 'version':
      return { kind: 'version', version: versionOption(text('version'), '--version'), direction: text('type') === 'down' ? 'down' : 'up' };
    case 'up':
      return { kind: 'up', count: count(text('up'), '--up') };
    default:
      return { kind: 'up', count: 'all' };
  }
}

export type DoneIn = StepResult & { readonly source: string };

export function doneJson({ source, version, name, direction, outcome, ms }: DoneIn): JsonObject {
  return { source, version: String(version), name, type: direction, outcome, ms };
}

/**
 * Runs planned migrations, then makes the service read the changed sources again and updates the mirrored migration state.
 * @param progress called with a line for each migration
 * @param done receives the migrations that ran, even if a later one fails
 * @throws ProjectFailure
 */
export async function runAll(
  server: ServerClient,
  planned: readonly PlannedSource[],
  options: MigrationOptions,
  progress: (message: string) => void,
  done: DoneIn[] = [],
): Promise<readonly DoneIn[]> {
  const touched = new Set<ListedSource>();
  try {
    for (const { source, steps } of planned) {
      if (steps.length === 0) continue;
      touched.add(source);
      const onDone = (each: StepResult): void => {
        done.push({ ...each, source: source.name });
        progress(`${each.outcome} ${source.name} ${each.version} ${each.name} ${each.direction} (${each.ms} ms)`);
      };
      const texts = options.skipExecution
        ? []
        : steps.flatMap(({ direction, known }) => (direction === 'up' ? [known.migration?.up ?? ''] : []));
      await createNeededExtension(server, source, texts, progress);
      // Findings were reported when the steps were planned.
      await runSteps(server, source, steps, { ...options, report: () => undefined, onDone });
    }
  } finally {
    if (touched.size > 0)
      await followUp(server, [...touched]).catch((thrown: unknown) =>
        options.report(`the service could not read its sources again: ${reasonOf(thrown)}; run svc metadata reload`),
      );
  }
  return done;
}

async function followUp(server: ServerClient, sources: readonly ListedSource[]): Promise<void> {
  await server.metadata('reload_metadata', { reload_sources: sources.map(({ name }) => name), reload_remote_schemas: false });
  const applied = new Map<string, Awaited<ReturnType<typeof readEntries>>>();
  for (const source of sources) applied.set(source.name, await readEntries(server, source));
  await mirrorState(server, applied);
}
