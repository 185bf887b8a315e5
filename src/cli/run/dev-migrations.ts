/** Migrations from SQL that administrators run in the service of `svc dev`, such as in its console. */
import type { SqlRun } from '../../metadata-api/operation.ts';
import type { ScannedStatement } from '../../backend/migration-dialect.ts';
import { serverSources } from '../../migrations/sources.ts';
import { shortened } from '../../errors/shortened.ts';
import { reasonOf } from '../../project/failure.ts';
import type { Project } from '../../project/project.ts';
import { COMMAND_LINE_CLIENT } from '../../config/command-line-client.ts';
import type { CommandContext } from '../context.ts';
import type { Enqueue } from './change-queue.ts';
import { isFileName, markApplied, type MigrationTarget, projectSources, unusableName, writeMigration } from './migrate-files.ts';
import { hasSecretWord, MAY_DEFINE, mayHaveSecret, recordedSql } from './recorded-sql.ts';

/** Maximum length of SQL in a message, in characters. */
const MAX_SHOWN = 200_000;
/** Answer to the question for a name. */
const NO_MIGRATION = '-';
/** Maximum number of questions that wait for an answer. */
const MAX_WAITING = 100;

interface RecordedRun extends SqlRun {
  /** Time after the SQL ran, in epoch milliseconds: migrations are in the order in which their SQL was run. */
  readonly ranAt: number;
}

export interface SqlRecorderOptions extends Omit<MigrationTarget, 'project'> {
  /** Opens the project with its current files. */
  readonly project: () => Project;
  readonly ask: CommandContext['ask'];
  readonly enqueue: Enqueue;
  readonly progress: (message: string) => void;
}

export interface SqlRecorder {
  /** Writes SQL with definitions as a migration, after it has run. */
  record(run: SqlRun): void;
  /** True while a migration is not written yet. */
  readonly isBusy: boolean;
  /** Reports SQL whose migration is not written yet: called when the process is stopped. */
  reportUnwritten(): void;
}

export function createSqlRecorder(options: SqlRecorderOptions): SqlRecorder {
  let last: Promise<void> = Promise.resolve();
  const waiting = new Set<RecordedRun>();
  const start = (sqlRun: SqlRun): void => {
    const run: RecordedRun = { ...sqlRun, ranAt: Date.now() };
    // Migrations that the command line applies have files already.
    if (run.clientName === COMMAND_LINE_CLIENT) return;
    if (waiting.size >= MAX_WAITING) {
      options.progress(`SQL was run in ${run.source} while ${MAX_WAITING} questions were open: it is in no migration`);
      return;
    }
    waiting.add(run);
    last = last.then(async () => {
      try {
        await writeAsMigration(run, options);
      } catch (thrown) {
        options.progress(unwritten(run, reasonOf(thrown)));
      } finally {
        waiting.delete(run);
      }
    });
  };
  return {
    record: start,
    get isBusy() {
      return waiting.size > 0;
    },
    reportUnwritten() {
      for (const run of waiting) if (MAY_DEFINE.test(run.sql)) options.progress(unwritten(run, 'svc dev was stopped'));
    },
  };
}

function unwritten({ source, sql }: SqlRun, reason: string): string {
  const shown = hasSecretWord(sql) || mayHaveSecret(sql) ? 'SQL that may have a password' : shortened(sql.trim(), MAX_SHOWN);
  return `no migration was written (${reason}): svc migrate create writes one, and svc migrate apply --skip-execution records it in ${source}: ${shown}`;
}

async function writeAsMigration({ source: name, sql, ranAt }: RecordedRun, options: SqlRecorderOptions): Promise<void> {
  const { server, kinds, ask, progress, enqueue } = options;
  const source = (await serverSources(server, kinds)).find((each) => each.name === name);
  const migrations = source?.backend?.migrations;
  const recorded = migrations === undefined ? undefined : recordedSql(sql, migrations.scan(sql), migrations.implicitCommits === undefined);
  if (recorded === undefined) return;
  if (projectSources(options.project())?.includes(name) !== true) {
    progress(`SQL has changed the schema of ${name}, which the files do not contain: it is in no migration`);
    return;
  }
  const answer = await usableAnswer(
    () =>
      ask(
        `The SQL that was run in ${name} changes its schema.\nName of its migration, or ${NO_MIGRATION} for none:`,
        nameOf(recorded.first),
      ),
    progress,
  );
  if (answer === NO_MIGRATION) {
    progress(`the change of the schema of ${name} is in no migration`);
    return;
  }
  await enqueue('recorded SQL', async () => {
    const project = options.project();
    let written: ReturnType<typeof writeMigration>;
    try {
      written = writeMigration(project, name, answer, { up: recorded.text, down: '', ranAt });
    } catch (thrown) {
      return unwritten({ source: name, sql, clientName: undefined }, reasonOf(thrown));
    }
    const { version, folder } = written;
    try {
      await markApplied({ ...options, project }, name, version);
    } catch (thrown) {
      return `written ${folder}, but it could not be marked as applied: ${reasonOf(thrown)}. Run svc migrate apply --version ${version} --skip-execution --database-name ${name}`;
    }
    return `written ${folder}: SQL that was run in the service. Add the SQL that reverts it to down.sql`;
  });
}

/** Maximum number of times that a question is repeated. */
const MAX_ATTEMPTS = 5;

/** Repeats a question while its answer cannot be the name of a migration. @returns the last answer */
async function usableAnswer(ask: () => Promise<string>, progress: (message: string) => void): Promise<string> {
  let answer = await ask();
  for (let attempt = 1; attempt < MAX_ATTEMPTS && !isFileName(answer); attempt++) {
    progress(unusableName(answer));
    answer = await ask();
  }
  return answer;
}

const NOT_NAMES = /^(?:or|replace|if|not|exists|only|concurrently|unique|unlogged|on|column|to|in|as)$/;

/** Returns a name such as `create_table_author`. */
function nameOf({ words }: ScannedStatement): string {
  const plain = words.map((word) => /^[\p{L}\p{N}_$.]*/u.exec(word.replaceAll(/["`]/g, ''))?.[0] ?? '');
  const named = plain.filter((word) => word !== '' && !NOT_NAMES.test(word));
  return named.slice(0, 3).join('_').slice(0, 60);
}
