/** `svc migrate verify` */
import { EXIT, failure, type Problem, ProjectFailure } from '../../project/failure.ts';
import { type Migration, shownFile } from '../../migrations/migration-files.ts';
import type { KnownMigration } from '../../migrations/run-migrations.ts';
import { type Difference, differenceBetween, trialSql, verifyMigration } from '../../migrations/schema-print.ts';
import { chosenSources, type ListedSource, migrationsOf } from '../../migrations/sources.ts';
import { counted } from '../../util/counted.ts';
import { type Call, type Outcome, textOption } from '../call.ts';
import { inScratch, type Trial } from './in-scratch.ts';
import { knownMigrations } from './migrate.ts';

interface Found {
  readonly problems: readonly Problem[];
  readonly verified: readonly string[];
}

export async function runMigrateVerify(call: Call): Promise<Outcome> {
  const [project, server] = [await call.project(), await call.server()];
  const scratch = textOption(call, 'scratch');
  const chosen = await chosenSources(project, server, await call.kinds(), project.migrationsFolder, textOption(call, 'databaseName'));
  const sources = chosen.length > 1 ? chosen.filter(({ name }) => name !== scratch) : chosen;
  const problems: Problem[] = [];
  const verified: string[] = [];
  if (scratch !== undefined && sources.length > 1)
    throw failure('usage', '--scratch is for the migrations of one source: name it with --database-name', {}, EXIT.usage);
  for (const source of sources) {
    const all = await knownMigrations(project, server, source);
    if (scratch === undefined && migrationsOf(source).rollback === undefined) {
      const message = `definitions of the source ${source.name} cannot be rolled back: name a source with an empty database for the trial with --scratch`;
      if (sources.length === 1) throw failure('not-supported', message);
      call.warn(message);
      continue;
    }
    const found =
      scratch === undefined
        ? await verifyPending(call, source, all)
        : await inScratch(call, scratch, source, (trial) => verifyInScratch(all, trial));
    problems.push(...found.problems);
    verified.push(...found.verified);
  }
  return {
    exit: problems.length > 0 ? EXIT.failed : EXIT.done,
    problems,
    text: `${counted(verified.length, 'migration')} verified`,
    data: { verified },
  };
}

/** In transactions of the source that are rolled back. */
async function verifyPending(call: Call, source: ListedSource, all: readonly KnownMigration[]): Promise<Found> {
  const problems: Problem[] = [];
  const verified: string[] = [];
  const before: string[] = [];
  for (const { migration, status } of all) {
    if (status !== 'pending' || migration === undefined) continue;
    const [up, down] = [migration.up === null ? undefined : trialSql(source, migration, 'up'), trialSql(source, migration, 'down')];
    if (up === undefined) {
      problems.push({
        code: 'not-tried',
        message: 'cannot run in a transaction: it is not tried, nor is what follows; --scratch tries it in a database of its own',
        file: migration.shown,
      });
      break;
    }
    const found =
      down === undefined
        ? [
            noDown(
              migration,
              migration.down === null
                ? undefined
                : 'its down cannot run in a transaction: it is not tried; --scratch tries it in a database of its own',
            ),
          ]
        : await verifyOne(call, source, before.join('\n;\n'), migration, up, down);
    problems.push(...found);
    if (found.length === 0) verified.push(String(migration.version));
    before.push(up);
  }
  return { problems, verified };
}

function noDown({ shown }: Migration, message = 'has no down.sql'): Problem {
  return { code: 'no-down', message, file: shown };
}

async function verifyOne(
  call: Call,
  source: ListedSource,
  before: string,
  migration: Migration,
  up: string,
  down: string,
): Promise<readonly Problem[]> {
  try {
    const { differences, second } = await verifyMigration(await call.server(), source, before, up, down);
    return notUndone(migration, differences, second);
  } catch (thrown) {
    return problemsIn(thrown, migration.shown);
  }
}

function notUndone({ shown }: Migration, first: Difference | undefined, second: Difference | undefined): readonly Problem[] {
  const lines = [
    ...(first?.left ?? []).map((line) => `is left after down: ${line}`),
    ...(first?.lost ?? []).map((line) => `is gone after down: ${line}`),
    ...(second?.left ?? []).map((line) => `is there after up for the second time only: ${line}`),
    ...(second?.lost ?? []).map((line) => `is not there after up for the second time: ${line}`),
  ];
  return lines.map((message) => ({ code: 'not-undone', message, file: shown }));
}

/** @throws what is about no migration */
function problemsIn(thrown: unknown, file: string): readonly Problem[] {
  if (!(thrown instanceof ProjectFailure) || thrown.exit === EXIT.unreachable) throw thrown;
  return thrown.problems.map((problem) => ({ ...problem, file }));
}

/** All of them, from an empty database on, also those that cannot run in a transaction. */
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
