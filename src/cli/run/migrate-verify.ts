/** `svc migrate verify` */
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { readableMetadata } from '../../project/directory/read-metadata.ts';
import { type Migration, shownFile } from '../../migrations/migration-files.ts';
import type { KnownMigration } from '../../migrations/run-migrations.ts';
import { describeDrift, schemaDrift } from '../../migrations/schema-drift.ts';
import { type Difference, differenceBetween, trialSql, verifyMigration } from '../../migrations/schema-print.ts';
import { chosenSources, type ListedSource, migrationsOf } from '../../migrations/sources.ts';
import { counted } from '../../util/counted.ts';
import { type CommandContext, type CommandOutcome, textOption } from '../context.ts';
import { inScratch, type Trial } from './in-scratch.ts';
import { knownMigrations } from './migrate.ts';

interface Found {
  readonly problems: readonly Problem[];
  readonly verified: readonly string[];
}

export async function runMigrateVerify(context: CommandContext): Promise<CommandOutcome> {
  const [project, server] = [await context.project(), await context.server()];
  const scratch = textOption(context, 'scratch');
  const chosen = await chosenSources(project, server, await context.kinds(), project.migrationsFolder, textOption(context, 'databaseName'));
  const sources = chosen.length > 1 ? chosen.filter(({ name }) => name !== scratch) : chosen;
  const problems: Problem[] = [];
  const verified: string[] = [];
  if (scratch !== undefined && sources.length > 1)
    throw failure('usage', '--scratch is for the migrations of one source: name it with --database-name', {}, EXIT.usage);
  for (const source of sources) {
    const all = await knownMigrations(project, server, source);
    if (scratch === undefined && migrationsOf(source).rollback === undefined) {
      const message = `DDL of the source ${source.name} cannot be rolled back: name a source with an empty database with --scratch`;
      if (sources.length === 1) throw failure('not-supported', message);
      context.warn(message);
      continue;
    }
    const found =
      scratch === undefined
        ? await verifyPending(context, source, all)
        : await inScratch(context, scratch, source, (trial) => verifyInScratch(all, trial));
    problems.push(...found.problems);
    verified.push(...found.verified);
  }
  const document = readableMetadata(project.metadata)?.document ?? {};
  for (const drifted of schemaDrift({ ...project, document, kinds: await context.kinds() }))
    if (sources.some(({ name }) => name === drifted.source)) context.warn(describeDrift(drifted));
  return {
    exit: problems.length > 0 ? EXIT.failed : EXIT.done,
    problems,
    text: verifiedText(verified.length, scratch === undefined),
    data: { verified },
  };
}

function verifiedText(count: number, isPendingOnly: boolean): string {
  const hint = count === 0 && isPendingOnly ? ': only pending ones are; with --scratch also applied ones' : '';
  return `${counted(count, 'migration')} verified${hint}`;
}

/** Verifies pending migrations in transactions of the source that are rolled back. */
async function verifyPending(context: CommandContext, source: ListedSource, all: readonly KnownMigration[]): Promise<Found> {
  const problems: Problem[] = [];
  const verified: string[] = [];
  const before: string[] = [];
  for (const { migration, status } of all) {
    if (status !== 'pending' || migration === undefined) continue;
    const [up, down] = [migration.up === null ? undefined : trialSql(source, migration, 'up'), trialSql(source, migration, 'down')];
    if (up === undefined) {
      problems.push({
        code: 'not-tried',
        message: 'cannot run in a transaction: neither this migration nor later ones were verified; use --scratch',
        file: migration.shown,
      });
      break;
    }
    const found =
      down === undefined
        ? [
            noDown(
              migration,
              migration.down === null ? undefined : 'its down.sql cannot run in a transaction and was not verified; use --scratch',
            ),
          ]
        : await verifyOne(context, source, before.join('\n;\n'), migration, up, down);
    problems.push(...found);
    if (found.length === 0) verified.push(String(migration.version));
    before.push(up);
  }
  return { problems, verified };
}

function noDown({ shown }: Migration, message = 'has no down.sql, or an empty one: write the SQL that reverts its up.sql'): Problem {
  return { code: 'no-down', message, file: shown };
}

async function verifyOne(
  context: CommandContext,
  source: ListedSource,
  before: string,
  migration: Migration,
  up: string,
  down: string,
): Promise<readonly Problem[]> {
  try {
    const { differences, second } = await verifyMigration(await context.server(), source, before, up, down);
    return notUndone(migration, differences, second);
  } catch (thrown) {
    return problemsIn(thrown, migration.shown);
  }
}

function notUndone({ shown }: Migration, first: Difference | undefined, second: Difference | undefined): readonly Problem[] {
  const lines = [
    ...(first?.left ?? []).map((line) => `remains after down: ${line}`),
    ...(first?.lost ?? []).map((line) => `is missing after down: ${line}`),
    ...(second?.left ?? []).map((line) => `exists only after the second up: ${line}`),
    ...(second?.lost ?? []).map((line) => `is missing after the second up: ${line}`),
  ];
  return lines.map((message) => ({ code: 'not-undone', message, file: shown }));
}

/** @throws errors that do not concern the migration */
function problemsIn(thrown: unknown, file: string): readonly Problem[] {
  if (!(thrown instanceof ProjectFailure) || thrown.exit === EXIT.unreachable) throw thrown;
  return thrown.problems.map((problem) => ({ ...problem, file }));
}

/** Verifies all migrations from an empty database, including those that cannot run in a transaction. */
async function verifyInScratch(all: readonly KnownMigration[], trial: Trial): Promise<Found> {
  const problems: Problem[] = [];
  const verified: string[] = [];
  const run = async (known: KnownMigration, direction: 'up' | 'down'): Promise<readonly string[]> => {
    await trial.run(known, direction);
    return trial.lines();
  };
  let before = await trial.lines();
  for (const known of all) {
    const { migration } = known;
    if (migration === undefined || migration.up === null) continue;
    let direction: 'up' | 'down' = 'up';
    try {
      const made = await run(known, direction);
      if (migration.down === null) {
        problems.push(noDown(migration));
        before = made;
        continue;
      }
      direction = 'down';
      const undone = await run(known, direction);
      direction = 'up';
      const again = await run(known, direction);
      const found = notUndone(migration, differenceBetween(before, undone), differenceBetween(made, again));
      problems.push(...found);
      if (found.length === 0) verified.push(String(migration.version));
      before = again;
    } catch (thrown) {
      problems.push(...problemsIn(thrown, shownFile(migration, direction)));
      break;
    }
  }
  return { problems, verified };
}
