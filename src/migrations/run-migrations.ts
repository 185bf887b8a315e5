/** Runs migrations in a source, by the service's `run_sql`, and tells what was and what was not run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonArray, isJsonObject, type Json, parseJson } from '../util/json.ts';
import { EXIT, failure, type Problem, ProjectFailure } from '../project/failure.ts';
import { ServerError, type ServerClient, type SqlSource } from '../project/server-client.ts';
import {
  type ImplicitCommits,
  type Limits,
  type MigrationDialect,
  type NewEntry,
  refusalOf,
  type ScannedSql,
} from '../backend/migration-dialect.ts';
import { checksumOf, type Migration, shownFile } from './migration-files.ts';
import { cellOf, type ListedSource, migrationsOf } from './sources.ts';
import { pieceAt } from './text-place.ts';

/** Entry of the history in a database. */
export interface Entry extends NewEntry {
  readonly appliedAt: string;
  readonly appliedBy: string;
  readonly durationMs: number;
  /** Began and did not end: it is running, or was cut off. */
  readonly dirty: boolean;
}

export type MigrationStatus = 'applied' | 'pending' | 'missing' | 'changed' | 'dirty';

export interface KnownMigration {
  readonly version: bigint;
  readonly name: string;
  readonly status: MigrationStatus;
  /** undefined: there is no folder any more. */
  readonly migration: Migration | undefined;
  readonly entry: Entry | undefined;
}

export interface Step {
  readonly direction: 'up' | 'down';
  readonly known: KnownMigration;
}

export interface Done {
  readonly version: bigint;
  readonly name: string;
  readonly direction: 'up' | 'down';
  /** `elsewhere`: somebody else has run it in between. */
  readonly outcome: 'run' | 'recorded' | 'elsewhere';
  readonly ms: number;
}

export interface RunOptions {
  /** Only written down. */
  readonly skipExecution: boolean;
  readonly withoutTransaction: boolean;
  readonly singleTransaction: boolean;
  /** To wait for somebody else who migrates this source. */
  readonly lockTimeoutMs: number;
  readonly limits: Limits;
  readonly tell: (message: string) => void;
  readonly onDone?: (done: Done) => void;
}

/** What is written down in a source. @throws ProjectFailure */
export async function readEntries(server: ServerClient, source: ListedSource): Promise<readonly Entry[]> {
  return (await readList(server, source, migrationsOf(source).history.entries)).map(entryOf);
}

/**
 * What is written down in a source, when nobody is in the middle of a migration without a transaction: waits for those who are.
 * What is dirty then began and did not end.
 * @throws ProjectFailure
 */
export async function readSettledEntries(
  server: ServerClient,
  source: ListedSource,
  { lockTimeoutMs, tell }: Pick<RunOptions, 'lockTimeoutMs' | 'tell'>,
): Promise<readonly Entry[]> {
  const dirty = (entries: readonly Entry[]): string =>
    entries.flatMap((entry) => (entry.dirty ? [`${entry.version} ${entry.appliedAt}`] : [])).join('\n');
  let entries = await readEntries(server, source);
  for (const pause of pauses(lockTimeoutMs)) {
    const before = dirty(entries);
    if (before === '') return entries;
    const isLocked = (await cellOf(server, source)(migrationsOf(source).history.locked)) === '1';
    if (isLocked) {
      if (pause === FIRST_PAUSE_MS) tell(`somebody else migrates the source ${source.name}: waiting`);
      await sleep(pause);
    }
    entries = await readEntries(server, source);
    // Dirty before and after nobody held the lock: nobody is running it.
    if (!isLocked && dirty(entries) === before) return entries;
  }
  if (dirty(entries) === '') return entries;
  throw lockedTooLong(source, lockTimeoutMs);
}

/** The seeds that were run once, with their checksums. @throws ProjectFailure */
export async function readSeedEntries(server: ServerClient, source: ListedSource): Promise<ReadonlyMap<string, string>> {
  const list = await readList(server, source, migrationsOf(source).history.seeds);
  return new Map(list.map((each) => (isJsonObject(each) ? [String(each['name']), String(each['checksum'])] : ['', ''])));
}

async function readList(server: ServerClient, source: ListedSource, sql: string): Promise<readonly Json[]> {
  if ((await cellOf(server, source)(migrationsOf(source).history.exists)) !== '1') return [];
  const list = parseJson(await cellOf(server, source)(sql));
  return isJsonArray(list) ? list : [];
}

/** Entries in the one cell that {@link MigrationHistory.entries} returns. */
export function entriesIn(cell: string): readonly Entry[] {
  const list = parseJson(cell);
  return isJsonArray(list) ? list.map(entryOf) : [];
}

function entryOf(json: Json): Entry {
  const row = isJsonObject(json) ? json : {};
  const dirty = row['dirty'];
  return {
    version: BigInt(String(row['version'])),
    name: String(row['name']),
    checksum: String(row['checksum']),
    appliedAt: String(row['applied_at']),
    appliedBy: String(row['applied_by']),
    durationMs: Number(row['duration_ms']),
    dirty: dirty === true || dirty === 1,
    down: typeof row['down'] === 'string' ? row['down'] : null,
  };
}

/** Files and entries side by side, by version. */
export function compareMigrations(migrations: readonly Migration[], entries: readonly Entry[]): readonly KnownMigration[] {
  const files = new Map(migrations.map((migration) => [migration.version, migration]));
  const written = new Map(entries.map((entry) => [entry.version, entry]));
  return [...new Set([...files.keys(), ...written.keys()])]
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    .map((version) => {
      const [migration, entry] = [files.get(version), written.get(version)];
      return { version, name: migration?.name ?? entry?.name ?? '-', status: statusOf(migration, entry), migration, entry };
    });
}

function statusOf(migration: Migration | undefined, entry: Entry | undefined): MigrationStatus {
  if (entry?.dirty === true) return 'dirty';
  if (entry === undefined) return 'pending';
  if (migration === undefined) return 'missing';
  return entry.checksum === migration.checksum || entry.checksum === '' ? 'applied' : 'changed';
}

export type Wish =
  | { readonly kind: 'up' | 'down'; readonly count: number | 'all' }
  | { readonly kind: 'goto'; readonly version: bigint }
  | { readonly kind: 'version'; readonly version: bigint; readonly direction: 'up' | 'down' };

/**
 * The steps that a wish takes.
 * @returns `short`: by how many there are fewer than were asked for
 * @throws ProjectFailure
 */
export function stepsFor(all: readonly KnownMigration[], wish: Wish): { readonly steps: readonly Step[]; readonly short: number } {
  const pending = all.filter(({ status }) => status === 'pending');
  const applied = all.filter(({ entry }) => entry !== undefined).reverse();
  const up = (known: KnownMigration): Step => ({ direction: 'up', known });
  const down = (known: KnownMigration): Step => ({ direction: 'down', known });
  switch (wish.kind) {
    case 'up':
    case 'down': {
      const there = wish.kind === 'up' ? pending.map(up) : applied.map(down);
      if (wish.count === 'all') return { steps: there, short: 0 };
      return { steps: there.slice(0, wish.count), short: Math.max(0, wish.count - there.length) };
    }
    case 'goto': {
      if (!all.some(({ version }) => version === wish.version)) throw failure('migration', `there is no migration ${wish.version}`);
      const later = applied.filter(({ version }) => version > wish.version).map(down);
      return { steps: [...later, ...pending.filter(({ version }) => version <= wish.version).map(up)], short: 0 };
    }
    case 'version': {
      const known = all.find(({ version }) => version === wish.version);
      if (known === undefined) throw failure('migration', `there is no migration ${wish.version}`);
      if (wish.direction === 'up' && known.entry !== undefined) throw failure('migration', `migration ${wish.version} is applied already`);
      if (wish.direction === 'down' && known.entry === undefined) throw failure('migration', `migration ${wish.version} is not applied`);
      return { steps: [{ direction: wish.direction, known }], short: 0 };
    }
  }
}

/** SQL that is ready to be sent. */
export interface Runnable {
  readonly sql: string;
  readonly inTransaction: boolean;
}

interface Prepared extends Step {
  readonly sql: string;
  readonly inTransaction: boolean;
}

/**
 * Looks at all steps before the first one is run.
 * @throws ProjectFailure with everything that cannot be run
 */
export function checkSteps(
  steps: readonly Step[],
  options: Pick<RunOptions, 'withoutTransaction' | 'singleTransaction' | 'skipExecution' | 'tell'>,
  dialect: MigrationDialect,
): readonly Prepared[] {
  const problems: Problem[] = [];
  const prepared = steps.map((step): Prepared => {
    const { known, direction } = step;
    const shown = known.migration === undefined ? `migration ${known.version}` : shownFile(known.migration, direction);
    const sql = direction === 'up' ? (known.migration?.up ?? null) : (known.migration?.down ?? known.entry?.down ?? null);
    if (options.skipExecution) return { ...step, sql: '', inTransaction: true };
    if (sql === null) {
      problems.push({ code: 'migration', message: `${known.version} ${direction} migration not found`, file: shown });
      return { ...step, sql: '', inTransaction: true };
    }
    const scanned = dialect.scan(sql);
    for (const { line, what, client } of scanned.foreign)
      problems.push({ code: 'migration', message: `${what} is for ${client} only`, file: shown, line });
    for (const { line, value } of scanned.enumValues)
      options.tell(
        `${shown}:${line}: the value '${value}' is added to an enum and used by a later statement: the database refuses that in one transaction; use it in the next migration`,
      );
    const isMarked =
      options.withoutTransaction ||
      (direction === 'up' && known.migration?.withoutTransaction === true) ||
      /^\s*--\s*svc:\s*no-transaction\b/.test(sql);
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
  readonly options: Pick<RunOptions, 'singleTransaction' | 'tell'>;
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
        message: `"${words.slice(0, 4).join(' ')} …" cannot run in a transaction: begin the file with "-- svc: no-transaction"`,
        file: shown,
        line,
      });
  if (options.singleTransaction && (isMarked || scanned.control.length > 0) && scanned.unwrapped === undefined)
    problems.push({ code: 'no-transaction', message: 'cannot share a transaction with other migrations', file: shown });
  if (isMarked) return { sql, inTransaction: false };
  if (scanned.control.length === 0) return { sql, inTransaction: true };
  if (scanned.unwrapped !== undefined) return { sql: scanned.unwrapped, inTransaction: true };
  const line = scanned.control[0]?.line;
  options.tell(`${shown}:${line}: the file has transactions of its own: it is run without one around it`);
  return { sql, inTransaction: false };
}

/**
 * Runs the steps in their order, each with its entry in one transaction.
 * @throws ProjectFailure at the first that fails; what was run before stays
 */
export async function runSteps(
  server: ServerClient,
  source: ListedSource,
  steps: readonly Step[],
  options: RunOptions,
): Promise<readonly Done[]> {
  const dialect = migrationsOf(source);
  const { history } = dialect;
  const prepared = checkSteps(steps, options, dialect);
  const done: Done[] = [];
  const add = (each: Done): void => {
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
      throw thrown instanceof ServerError && refusalOf(thrown.databaseError?.message ?? '') === undefined
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
      const refusal = refusalOf(thrown.databaseError?.message ?? '');
      if (refusal === undefined) throw explained(thrown, [step], sql, await whatStands(server, source, step, thrown));
      if (refusal === 'dirty') throw new ProjectFailure([dirtyProblem(source, step.known)]);
      if (refusal !== (step.direction === 'up' ? 'done' : 'gone')) throw thrown;
      options.tell(`${step.known.version} was run by somebody else meanwhile`);
      add(doneOf(step, 'elsewhere', start));
    }
  }
  return done;
}

function doneOf({ known: { version, name }, direction }: Step, outcome: Done['outcome'], start: number): Done {
  return { version, name, direction, outcome, ms: Math.round(performance.now() - start) };
}

/** The SQL of a step with its entry. */
function stepText(
  { history, implicitCommits, terminated }: MigrationDialect,
  { known, direction, sql, inTransaction }: Prepared,
  skip: boolean,
): string {
  const { version, name, migration } = known;
  const stands = !inTransaction || implicitCommits !== undefined;
  const body = skip ? '' : withNote(terminated(sql), implicitCommits, history.markBegun(version));
  if (direction === 'down')
    return `${history.refuseMissing(version)}${stands ? history.markDirty(version) : ''}${body}${history.remove(version)}`;
  const entry = { version, name, checksum: migration?.checksum ?? checksumOf(''), down: migration?.down ?? null };
  const guard = history.refuseApplied(version);
  // Behind its SQL, so that the time is known; where a transaction does not hold them together, before.
  if (!stands) return guard + body + history.insert(entry, { dirty: false });
  return guard + history.insert(entry, { dirty: true }) + body + history.markApplied(version);
}

/** Returns SQL with a note after the first statement, if that runs either in full or not at all. */
function withNote(sql: string, implicitCommits: ImplicitCommits | undefined, note: string): string {
  const end = implicitCommits?.endOfFirst(sql);
  return end === undefined ? sql : `${sql.slice(0, end)}\n${note}${sql.slice(end)}`;
}

/** What is there of a step that failed, for its message; '' where its transaction is undone. Nothing of it is left where nothing was run. */
async function whatStands(server: ServerClient, source: ListedSource, step: Prepared, error: ServerError): Promise<string> {
  const { history, implicitCommits, terminated } = migrationsOf(source);
  const { known, direction, inTransaction, sql } = step;
  if (inTransaction && implicitCommits === undefined) return '';
  const half = '; what ran before stands, and the migration counts as dirty';
  const isRefused = implicitCommits?.isRefusedAtOnce(error.databaseError?.sqlState ?? '') === true;
  if (!isRefused || implicitCommits?.endOfFirst(terminated(sql)) === undefined) return half;
  try {
    const entry = (await readEntries(server, source)).find(({ version }) => version === known.version);
    if (entry === undefined || !entry.dirty || entry.durationMs < 0) return half;
    const clean = direction === 'up' ? history.remove(known.version) : history.clearDirty(known.version);
    await writeHistory(server, source, history.refuseMissing(known.version) + clean);
    return '; nothing of it was run';
  } catch (thrown) {
    if (thrown instanceof ProjectFailure) return half;
    throw thrown;
  }
}

/** Writes to the history of a source, under its lock. @throws ProjectFailure */
export async function writeHistory(server: ServerClient, source: ListedSource, sql: string): Promise<void> {
  await server.sql(source, migrationsOf(source).history.inTransaction({}, sql), { check_metadata_consistency: false });
}

/** Of a migration that nobody runs any more. */
export function dirtyProblem(source: SqlSource, { version, name, migration }: KnownMigration): Problem {
  const which = `--version ${version} --database-name ${source.name}`;
  return {
    code: 'dirty',
    message: `migration ${version} ${name} of ${source.name} began and did not end: look at the database; then svc migrate delete --server ${which} forgets that it began, and svc migrate apply --skip-execution ${which} behind that writes down that it is done`,
    ...(migration === undefined ? {} : { file: migration.shown }),
  };
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1000;

/** Longer and longer ones, until the time is over. */
function* pauses(timeoutMs: number): Generator<number> {
  const end = performance.now() + timeoutMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
    yield pause;
    if (performance.now() > end) return;
  }
}

function lockedTooLong({ name }: SqlSource, timeoutMs: number): ProjectFailure {
  const seconds = Math.round(timeoutMs / 1000);
  return failure('locked', `somebody else has been migrating the source ${name} for ${seconds} s: see --lock-timeout`);
}

/** Waits for somebody else who migrates the source. @throws ProjectFailure; ServerError of the SQL */
async function attempt(
  server: ServerClient,
  source: SqlSource,
  sql: string,
  steps: readonly Prepared[],
  options: RunOptions,
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
      const refusal = refusalOf(thrown.databaseError?.message ?? '');
      if (refusal !== 'locked') throw thrown;
      if (pause === FIRST_PAUSE_MS) options.tell(`somebody else migrates the source ${source.name}: waiting`);
      await sleep(pause);
    }
  }
  throw lockedTooLong(source, options.lockTimeoutMs);
}

/** @param stands what is there of it, told behind the message */
function explained(error: ServerError, steps: readonly Prepared[], sent: string, stands: string): ProjectFailure {
  const said = error.databaseError;
  const found = said?.position === undefined ? undefined : pieceAt(steps, sent, said.position);
  const step = found?.piece ?? steps[0];
  if (said === undefined || step === undefined) return error;
  const { known, direction } = step;
  const isKnown = steps.length === 1 || found !== undefined;
  const file = !isKnown || known.migration === undefined ? {} : { file: shownFile(known.migration, direction), ...found?.place };
  const hint = said.hint === undefined || said.hint === null ? '' : ` (${said.hint})`;
  const which = !isKnown ? `of the migrations ${steps.map((each) => each.known.version).join(', ')}: ` : '';
  return new ProjectFailure(
    [{ code: error.code, message: `${which}${said.message}${hint}${said.sqlState === '' ? '' : ` [${said.sqlState}]`}${stands}`, ...file }],
    EXIT.failed,
  );
}

/** Writes what is applied where scripts of others look for it. Nothing depends on it. */
export async function mirrorState(server: ServerClient, applied: ReadonlyMap<string, readonly Entry[]>): Promise<void> {
  const current = await server.metadata('get_catalog_state', {});
  const before = isJsonObject(current) && isJsonObject(current['cli_state']) ? current['cli_state'] : {};
  const migrations = isJsonObject(before['migrations']) ? before['migrations'] : {};
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
