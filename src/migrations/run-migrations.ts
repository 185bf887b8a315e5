/** Runs migrations in a source by the service's `run_sql`, with their history. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonArray, isJsonObject, type Json, objectOf, parseJson } from '../util/json.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../project/failure.ts';
import { ServerError, type ServerClient, type SqlSource } from '../project/server-client.ts';
import {
  type ImplicitCommits,
  type Limits,
  type MigrationDialect,
  type NewEntry,
  historyRefusalOf,
  type ScannedSql,
} from '../backend/migration-dialect.ts';
import { checksumOf, compareVersions, EMPTY_MIGRATION, isEmptySql, type Migration, shownFile } from './migration-files.ts';
import { cellOf, type ListedSource, migrationsOf } from './sources.ts';
import { pieceAt } from './text-place.ts';

/** Entry of the migration history in a database. */
export interface HistoryEntry extends NewEntry {
  readonly appliedAt: string;
  readonly appliedBy: string;
  readonly durationMs: number;
  /** True if it began and did not end: it is still running, or was interrupted. */
  readonly dirty: boolean;
}

export type MigrationStatus = 'applied' | 'pending' | 'missing' | 'changed' | 'dirty';

export interface KnownMigration {
  readonly version: bigint;
  readonly name: string;
  readonly status: MigrationStatus;
  /** `undefined` if its folder does not exist. */
  readonly migration: Migration | undefined;
  readonly entry: HistoryEntry | undefined;
}

export interface MigrationStep {
  readonly direction: 'up' | 'down';
  readonly known: KnownMigration;
}

export interface StepResult {
  readonly version: bigint;
  readonly name: string;
  readonly direction: 'up' | 'down';
  /** `recorded` if only the history was written, `elsewhere` if another run has run it meanwhile. */
  readonly outcome: 'run' | 'recorded' | 'elsewhere';
  readonly ms: number;
}

export interface MigrationOptions {
  /** Writes the history only. */
  readonly skipExecution: boolean;
  readonly withoutTransaction: boolean;
  readonly singleTransaction: boolean;
  /** Maximum wait for another run that migrates the same source. */
  readonly lockTimeoutMs: number;
  readonly limits: Limits;
  readonly report: (message: string) => void;
  readonly onDone?: (done: StepResult) => void;
}

/** Returns the history of a source. @throws ProjectFailure */
export async function readEntries(server: ServerClient, source: ListedSource): Promise<readonly HistoryEntry[]> {
  return (await readList(cellOf(server, source), source, migrationsOf(source).history.entries)).map(entryOf);
}

/**
 * Returns the history of a source once no run is in the middle of a migration without a transaction. Entries that are dirty then are
 * those of interrupted migrations.
 * @throws ProjectFailure if the lock timeout passes before that
 */
export async function readEntriesWhenIdle(
  server: ServerClient,
  source: ListedSource,
  { lockTimeoutMs, report }: Pick<MigrationOptions, 'lockTimeoutMs' | 'report'>,
): Promise<readonly HistoryEntry[]> {
  const dirty = (entries: readonly HistoryEntry[]): string =>
    entries.flatMap((entry) => (entry.dirty ? [`${entry.version} ${entry.appliedAt}`] : [])).join('\n');
  let entries = await readEntries(server, source);
  for (const pause of pauses(lockTimeoutMs)) {
    const before = dirty(entries);
    if (before === '') return entries;
    const isLocked = (await cellOf(server, source)(migrationsOf(source).history.locked)) === '1';
    if (isLocked) {
      if (pause === FIRST_PAUSE_MS) report(waitingFor(source));
      await sleep(pause);
    }
    entries = await readEntries(server, source);
    // The lock was free while the same entries were dirty before and after, so no run is working on them.
    if (!isLocked && dirty(entries) === before) return entries;
  }
  if (dirty(entries) === '') return entries;
  throw lockedTooLong(source, lockTimeoutMs);
}

/** Runs a query and returns its first cell. */
type ReadCell = (sql: string) => Promise<string>;

/** Returns the checksums of the seeds in the history, by name. @throws ProjectFailure */
export async function readSeedEntries(cell: ReadCell, source: ListedSource): Promise<ReadonlyMap<string, string>> {
  const list = await readList(cell, source, migrationsOf(source).history.seeds);
  return new Map(list.map((each) => (isJsonObject(each) ? [String(each['name']), String(each['checksum'])] : ['', ''])));
}

async function readList(cell: ReadCell, source: ListedSource, sql: string): Promise<readonly Json[]> {
  if ((await cell(migrationsOf(source).history.exists)) !== '1') return [];
  return listIn(await cell(sql));
}

function unreadable(expected: string): ProjectFailure {
  const message = `the migration history that the service returned is not ${expected}: check that the endpoint is that of svc`;
  return failure('server', message, {}, EXIT.unreachable);
}

/** @throws ProjectFailure for a cell that is no JSON list */
function listIn(cell: string): readonly Json[] {
  try {
    const list = parseJson(cell);
    if (isJsonArray(list)) return list;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  throw unreadable('a JSON list');
}

/** Decodes the cell that {@link MigrationHistory.entries} returns. */
export function entriesIn(cell: string): readonly HistoryEntry[] {
  return listIn(cell).map(entryOf);
}

function entryOf(json: Json): HistoryEntry {
  const row = objectOf(json);
  const { dirty, version } = row;
  if (!/^\d+$/.test(String(version))) throw unreadable('a list of versions');
  return {
    version: BigInt(String(version)),
    name: String(row['name']),
    checksum: String(row['checksum']),
    appliedAt: String(row['applied_at']),
    appliedBy: String(row['applied_by']),
    durationMs: Number(row['duration_ms']),
    dirty: dirty === true || dirty === 1,
    down: typeof row['down'] === 'string' ? row['down'] : null,
  };
}

/** Returns all migrations that have a file or an entry, by ascending version. */
export function compareMigrations(migrations: readonly Migration[], entries: readonly HistoryEntry[]): readonly KnownMigration[] {
  const files = new Map(migrations.map((migration) => [migration.version, migration]));
  const written = new Map(entries.map((entry) => [entry.version, entry]));
  return [...new Set([...files.keys(), ...written.keys()])].sort(compareVersions).map((version) => {
    const [migration, entry] = [files.get(version), written.get(version)];
    return { version, name: migration?.name ?? entry?.name ?? '-', status: statusOf(migration, entry), migration, entry };
  });
}

function statusOf(migration: Migration | undefined, entry: HistoryEntry | undefined): MigrationStatus {
  if (entry?.dirty === true) return 'dirty';
  if (entry === undefined) return 'pending';
  if (migration === undefined) return 'missing';
  return entry.checksum === migration.checksum || entry.checksum === '' ? 'applied' : 'changed';
}

export type MigrationGoal =
  | { readonly kind: 'up' | 'down'; readonly count: number | 'all' }
  | { readonly kind: 'goto'; readonly version: bigint }
  | { readonly kind: 'version'; readonly version: bigint; readonly direction: 'up' | 'down' };

/**
 * Returns the steps to a goal.
 * @returns `short`: number of requested migrations that do not exist
 * @throws ProjectFailure
 */
export function stepsFor(
  all: readonly KnownMigration[],
  goal: MigrationGoal,
): { readonly steps: readonly MigrationStep[]; readonly short: number } {
  const pending = all.filter(({ status }) => status === 'pending');
  const applied = all.filter(({ entry }) => entry !== undefined).reverse();
  const up = (known: KnownMigration): MigrationStep => ({ direction: 'up', known });
  const down = (known: KnownMigration): MigrationStep => ({ direction: 'down', known });
  switch (goal.kind) {
    case 'up':
    case 'down': {
      const available = goal.kind === 'up' ? pending.map(up) : applied.map(down);
      if (goal.count === 'all') return { steps: available, short: 0 };
      return { steps: available.slice(0, goal.count), short: Math.max(0, goal.count - available.length) };
    }
    case 'goto': {
      if (!all.some(({ version }) => version === goal.version)) throw failure('migration', `there is no migration ${goal.version}`);
      const later = applied.filter(({ version }) => version > goal.version).map(down);
      return { steps: [...later, ...pending.filter(({ version }) => version <= goal.version).map(up)], short: 0 };
    }
    case 'version': {
      const known = all.find(({ version }) => version === goal.version);
      if (known === undefined) throw failure('migration', `there is no migration ${goal.version}`);
      if (goal.direction === 'up' && known.entry !== undefined) throw failure('migration', `migration ${goal.version} is already applied`);
      if (goal.direction === 'down' && known.entry === undefined) throw failure('migration', `migration ${goal.version} is not applied`);
      return { steps: [{ direction: goal.direction, known }], short: 0 };
    }
  }
}

/** SQL that is ready to be sent. */
export interface Runnable {
  readonly sql: string;
  readonly inTransaction: boolean;
}

interface Prepared extends MigrationStep, Runnable {}

/** Checks all steps before the first one runs. @throws ProjectFailure with every problem found */
export function checkSteps(
  steps: readonly MigrationStep[],
  options: Pick<MigrationOptions, 'withoutTransaction' | 'singleTransaction' | 'skipExecution' | 'report'>,
  dialect: MigrationDialect,
): readonly Prepared[] {
  const problems: Problem[] = [];
  const prepared = steps.map((step): Prepared => {
    const { known, direction } = step;
    const shown = known.migration === undefined ? `migration ${known.version}` : shownFile(known.migration, direction);
    const sql = direction === 'up' ? (known.migration?.up ?? null) : (known.migration?.down ?? known.entry?.down ?? null);
    if (options.skipExecution) return { ...step, sql: '', inTransaction: true };
    if (sql === null) {
      problems.push({ code: 'migration', message: `migration ${known.version} has no ${direction}.sql`, file: shown });
      return { ...step, sql: '', inTransaction: true };
    }
    if (direction === 'up' && isEmptySql(sql)) options.report(`${shown}: ${EMPTY_MIGRATION}`);
    const scanned = dialect.scan(sql);
    for (const { line, what, client } of scanned.foreign)
      problems.push({ code: 'migration', message: `${what} is for ${client} only`, file: shown, line });
    const isMarked =
      options.withoutTransaction ||
      (direction === 'up' && known.migration?.withoutTransaction === true) ||
      /^\s*--\s*svc:\s*no-transaction\b/.test(sql);
    for (const { line, value } of isMarked ? [] : scanned.enumValues)
      options.report(
        `${shown}:${line}: the value '${value}' is added to an enum and used by a later statement, which the database refuses in one transaction: use it in the next migration`,
      );
    return { ...step, ...modeOf(scanned, { sql, shown, isMarked, dialect, options, problems }) };
  });
  if (problems.length > 0) throw new ProjectFailure(problems);
  return prepared;
}

interface Around {
  readonly sql: string;
  readonly shown: string;
  readonly isMarked: boolean;
  readonly dialect: MigrationDialect;
  readonly options: Pick<MigrationOptions, 'singleTransaction' | 'report'>;
  readonly problems: Problem[];
}

function modeOf(
  scanned: ScannedSql,
  { sql, shown, isMarked, dialect, options, problems }: Around,
): Pick<Prepared, 'sql' | 'inTransaction'> {
  if (dialect.implicitCommits !== undefined) return { sql, inTransaction: true };
  if (!isMarked)
    for (const { line, words } of scanned.outside)
      problems.push({
        code: 'no-transaction',
        message: `"${words.slice(0, 4).join(' ')} …" cannot run in a transaction: start the file with "-- svc: no-transaction"`,
        file: shown,
        line,
      });
  if (options.singleTransaction && (isMarked || scanned.control.length > 0) && scanned.unwrapped === undefined)
    problems.push({
      code: 'no-transaction',
      message: 'cannot share a transaction with other migrations: run it without --single-transaction',
      file: shown,
    });
  if (isMarked) return { sql, inTransaction: false };
  if (scanned.control.length === 0) return { sql, inTransaction: true };
  if (scanned.unwrapped !== undefined) return { sql: scanned.unwrapped, inTransaction: true };
  const line = scanned.control[0]?.line;
  options.report(`${shown}:${line}: the file has its own transactions, so it runs without a surrounding one`);
  return { sql, inTransaction: false };
}

/**
 * Runs the steps in order, each with its history entry in one transaction.
 * @throws ProjectFailure when one fails; the steps before it are not rolled back
 */
export async function runSteps(
  server: ServerClient,
  source: ListedSource,
  steps: readonly MigrationStep[],
  options: MigrationOptions,
): Promise<readonly StepResult[]> {
  const dialect = migrationsOf(source);
  const { history } = dialect;
  const prepared = checkSteps(steps, options, dialect);
  const done: StepResult[] = [];
  const add = (each: StepResult): void => {
    done.push(each);
    options.onDone?.(each);
  };
  if (options.singleTransaction && prepared.length > 0) {
    const start = performance.now();
    const texts = prepared.map((step) => stepText(dialect, step, options.skipExecution));
    const sql = history.inTransaction(options.limits, texts.join(''));
    try {
      await attempt(server, source, sql, prepared, options);
    } catch (thrown) {
      throw thrown instanceof ServerError && historyRefusalOf(thrown.databaseError?.message ?? '') === undefined
        ? explained(thrown, prepared, sql, '')
        : thrown;
    }
    for (const step of prepared) add(doneOf(step, options.skipExecution ? 'recorded' : 'run', start));
    return done;
  }
  for (const step of prepared) {
    const start = performance.now();
    const text = stepText(dialect, step, options.skipExecution);
    const sql = step.inTransaction ? history.inTransaction(options.limits, text) : history.inSession(options.limits, text);
    try {
      await attempt(server, source, sql, [step], options);
      add(doneOf(step, options.skipExecution ? 'recorded' : 'run', start));
    } catch (thrown) {
      if (!(thrown instanceof ServerError)) throw thrown;
      const refusal = historyRefusalOf(thrown.databaseError?.message ?? '');
      if (refusal === undefined) throw explained(thrown, [step], sql, await effectOf(server, source, step, thrown));
      if (refusal === 'dirty') throw new ProjectFailure([dirtyProblem(source, step.known)]);
      if (refusal !== (step.direction === 'up' ? 'done' : 'gone')) throw thrown;
      options.report(`migration ${step.known.version} was run by another run in the meantime`);
      add(doneOf(step, 'elsewhere', start));
    }
  }
  return done;
}

function doneOf({ known: { version, name }, direction }: MigrationStep, outcome: StepResult['outcome'], start: number): StepResult {
  return { version, name, direction, outcome, ms: Math.round(performance.now() - start) };
}

/** Returns the SQL of a step with that of its history entry. */
function stepText(
  { history, implicitCommits, terminated }: MigrationDialect,
  { known, direction, sql, inTransaction }: Prepared,
  skip: boolean,
): string {
  const { version, name, migration } = known;
  const marksDirty = !inTransaction || implicitCommits !== undefined;
  const body = skip ? '' : withNote(terminated(sql), implicitCommits, history.markBegun(version));
  if (direction === 'down')
    return `${history.refuseMissing(version)}${marksDirty ? history.markDirty(version) : ''}${body}${history.remove(version)}`;
  const entry = { version, name, checksum: migration?.checksum ?? checksumOf(''), down: migration?.down ?? null };
  const guard = history.refuseApplied(version);
  // In one transaction, the entry follows the SQL and so has its duration. Otherwise it is written before, as dirty.
  if (!marksDirty) return guard + body + history.insert(entry, { dirty: false });
  return guard + history.insert(entry, { dirty: true }) + body + history.markApplied(version);
}

/** Returns SQL with a note after the first statement, if that runs either in full or not at all. */
function withNote(sql: string, implicitCommits: ImplicitCommits | undefined, note: string): string {
  const end = implicitCommits?.endOfFirst(sql);
  return end === undefined ? sql : `${sql.slice(0, end)}\n${note}${sql.slice(end)}`;
}

/**
 * Returns the end of the message about a step that failed: what is left of it, `''` if its transaction was rolled back. Clears its history
 * entry if none of its SQL has run.
 */
async function effectOf(server: ServerClient, source: ListedSource, step: Prepared, error: ServerError): Promise<string> {
  const { history, implicitCommits, terminated } = migrationsOf(source);
  const { known, direction, inTransaction, sql } = step;
  if (inTransaction && implicitCommits === undefined) return '';
  const half = '; the statements before it were not rolled back, and the migration is marked dirty';
  const isRefused = implicitCommits?.isRefusedAtOnce(error.databaseError?.sqlState ?? '') === true;
  if (!isRefused || implicitCommits?.endOfFirst(terminated(sql)) === undefined) return half;
  try {
    const entry = (await readEntries(server, source)).find(({ version }) => version === known.version);
    if (entry === undefined || !entry.dirty || entry.durationMs < 0) return half;
    const clear = direction === 'up' ? history.remove(known.version) : history.clearDirty(known.version);
    await writeHistory(server, source, history.refuseMissing(known.version) + clear);
    return '; none of its statements was run';
  } catch (thrown) {
    if (thrown instanceof ProjectFailure) return half;
    throw thrown;
  }
}

/** Writes to the history of a source, under its lock. @throws ProjectFailure */
export async function writeHistory(server: ServerClient, source: ListedSource, sql: string): Promise<void> {
  await server.sql(source, migrationsOf(source).history.inTransaction({}, sql), { check_metadata_consistency: false });
}

/** Problem of an interrupted migration. */
export function dirtyProblem(source: SqlSource, { version, name, migration }: KnownMigration): Problem {
  const which = `--version ${version} --database-name ${source.name}`;
  return {
    code: 'dirty',
    message: `migration ${version} ${name} of ${source.name} is dirty: it began and did not end. Check the database, then run svc migrate delete --server ${which} to clear the dirty mark; if the migration is complete, run svc migrate apply --skip-execution ${which} after that to mark it applied`,
    ...(migration === undefined ? {} : { file: migration.shown }),
  };
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1000;

/** Yields growing pauses until the timeout has passed. */
function* pauses(timeoutMs: number): Generator<number> {
  const end = performance.now() + timeoutMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    yield pause;
    if (performance.now() > end) return;
  }
}

function waitingFor({ name }: SqlSource): string {
  return `another run is migrating the source ${name}: waiting for it`;
}

function lockedTooLong({ name }: SqlSource, timeoutMs: number): ProjectFailure {
  const seconds = Math.round(timeoutMs / 1000);
  return failure('locked', `another run has been migrating the source ${name} for ${seconds} s: wait longer with --lock-timeout`);
}

/** Sends SQL, and repeats it while another run holds the lock. @throws ProjectFailure; ServerError of the SQL */
async function attempt(
  server: ServerClient,
  source: SqlSource,
  sql: string,
  steps: readonly Prepared[],
  options: MigrationOptions,
): Promise<void> {
  const inTransaction = steps.every((step) => step.inTransaction);
  for (const pause of pauses(options.lockTimeoutMs)) {
    try {
      await server.sql(source, sql, {
        check_metadata_consistency: false,
        locate_errors: true,
        ...(inTransaction ? {} : { no_transaction: true }),
      });
      return;
    } catch (thrown) {
      if (!(thrown instanceof ServerError)) throw thrown;
      if (historyRefusalOf(thrown.databaseError?.message ?? '') !== 'locked') throw thrown;
      if (pause === FIRST_PAUSE_MS) options.report(waitingFor(source));
      await sleep(pause);
    }
  }
  throw lockedTooLong(source, options.lockTimeoutMs);
}

/** @param effect end of the message */
function explained(error: ServerError, steps: readonly Prepared[], sent: string, effect: string): ProjectFailure {
  const cause = error.databaseError;
  const found = cause?.position === undefined ? undefined : pieceAt(steps, sent, cause.position);
  const step = found?.piece ?? steps[0];
  if (cause === undefined || step === undefined) return error;
  const { known, direction } = step;
  const isKnown = steps.length === 1 || found !== undefined;
  const file = !isKnown || known.migration === undefined ? {} : { file: shownFile(known.migration, direction), ...found?.place };
  const hint = cause.hint === undefined || cause.hint === null ? '' : ` (${cause.hint})`;
  const which = !isKnown ? `in one of the migrations ${steps.map((each) => each.known.version).join(', ')}: ` : '';
  return new ProjectFailure(
    [
      {
        code: error.code,
        message: `${which}${cause.message}${hint}${cause.sqlState === '' ? '' : ` [${cause.sqlState}]`}${effect}`,
        ...file,
      },
    ],
    EXIT.failed,
  );
}

/** Writes the applied migrations to the catalog state, where scripts for other engines look for them. Not read by this service. */
export async function mirrorState(server: ServerClient, applied: ReadonlyMap<string, readonly HistoryEntry[]>): Promise<void> {
  const current = await server.metadata('get_catalog_state', {});
  const before = objectOf(objectOf(current)['cli_state']);
  const migrations = objectOf(before['migrations']);
  const written = [...applied].map(
    ([source, entries]) => [source, Object.fromEntries(entries.map(({ version, dirty }) => [String(version), dirty]))] as const,
  );
  const state = {
    settings: { migration_mode: 'true' },
    isStateCopyCompleted: true,
    ...before,
    migrations: { ...migrations, ...Object.fromEntries(written) },
  };
  await server.metadata('set_catalog_state', { type: 'cli', state });
}
