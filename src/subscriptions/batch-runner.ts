/** Runs cohorts together in one statement, hands out what it answers, and finds out who is at fault where it fails. */
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { MemoryHold } from '../pipeline/result-memory.ts';
import { AnswerLimit } from '../pipeline/answer-limit.ts';
import type { CellPart } from '../plan/plan.ts';
import { type Bytes, sizeOfBytes } from '../util/bytes.ts';
import type { CancellationSource } from '../util/cancellation.ts';
import { laidOut } from '../util/json-layout.ts';
import { inSlices, type Sliced } from '../util/sliced.ts';
import type { Cohort } from './cohort.ts';
import type { Cohorts } from './cohorts.ts';
import type { Detector } from './detector.ts';
import { isAway, isLasting, PATIENCE_MS } from './failures.ts';
import type { PollerOptions, PollerWork } from './poller-work.ts';
import type { RunClock } from './run-clock.ts';
import type { Answer } from './subscriptions.ts';
import type { JsonRow } from '../backend/connection.ts';

/** ms of the database from which on a cohort runs apart, and below which it comes back. */
const SLOW_MS = 100;
const QUICK_MS = 50;
const LONGEST_PAUSE_MS = 30_000;

/** Ends the printing of a poller that was closed. */
const CLOSED = new SvcError('unexpected', 'the poller was closed');

export interface BatchTools {
  readonly detector: Detector;
  readonly onFault: (error: unknown) => void;
}

export class BatchRunner {
  readonly #work: PollerWork;
  readonly #options: PollerOptions;
  readonly #tools: BatchTools;
  readonly #cohorts: Cohorts;
  readonly #cancellation: CancellationSource;
  /** Average bytes that the last batch read for each of its cohorts. */
  #usual = 0;

  /** @param cancellation once it is cancelled, nobody is given anything any more */
  constructor(work: PollerWork, options: PollerOptions, tools: BatchTools, cohorts: Cohorts, cancellation: CancellationSource) {
    this.#work = work;
    this.#options = options;
    this.#tools = tools;
    this.#cohorts = cohorts;
    this.#cancellation = cancellation;
  }

  get #isBound(): boolean {
    return this.#work.query.dependsOn === null;
  }

  get #isStream(): boolean {
    return this.#work.query.cursor !== null;
  }

  /** Throws only what is not foreseen. */
  async run(batch: readonly Cohort[], clock: RunClock): Promise<void> {
    const { query, connection, role, expected } = this.#work;
    const { detector } = this.#tools;
    const { epoch } = detector;
    const began = performance.now();
    let rows: readonly JsonRow[];
    const hold = new MemoryHold(this.#options.memory);
    try {
      const { text, values } = query.batch(batch.map((cohort) => cohort.values));
      const deadline = Date.now() + this.#options.timeoutMs;
      const signal = this.#cancellation;
      const intake = new AnswerLimit(this.#options.responseLimit, hold);
      const sizes = batch.map(({ size }) => Math.max(expected, size ?? this.#usual));
      const total = sizes.reduce((sum, size) => sum + size, 0);
      rows = await hold.run(null, total, { role, deadline, signal }, () =>
        connection.runRows({ text, repeatable: query.repeatable }, values, { signal, deadline, turn: `subscriptions of ${role}`, intake }),
      );
    } catch (error) {
      for (const cohort of batch) cohort.size = Math.max(cohort.size ?? this.#usual, hold.peak / batch.length);
      hold.release();
      clock.batch(batch.length, performance.now() - began, 0);
      if (this.#cancellation.aborted) return;
      clock.failures += 1;
      if (!(error instanceof SvcError)) this.#tools.onFault(error);
      await this.#failed(batch, toSvcError(error), clock);
      return;
    }
    const database = performance.now() - began;
    this.#usual = hold.peak / batch.length;
    // Rows that are read again after a change of what connects to the database may be other ones under the same number.
    const counts = this.#isBound && detector.epoch === epoch;
    noteTimes(batch, rows, query.tellsTime ? query.columns + (query.cursor === null ? 1 : 2) : null, database);
    let bytes = 0;
    try {
      // Other work runs in between, however many subscribers there are and however large the answers.
      bytes = await inSlices(this.#handOut(batch, rows, counts ? snapshotOf(rows) : null, clock, hold), () => {
        if (this.#cancellation.aborted) throw CLOSED;
      });
    } catch (error) {
      if (error !== CLOSED) throw error;
    } finally {
      hold.release();
    }
    clock.batch(batch.length, database, bytes);
  }

  *#handOut(
    batch: readonly Cohort[],
    rows: readonly JsonRow[],
    snapshot: string | null,
    clock: RunClock,
    hold: MemoryHold,
  ): Sliced<number> {
    const { query } = this.#work;
    let bytes = 0;
    for (const row of rows) {
      if (this.#cancellation.aborted) break;
      const cohort = batch[Number(row[0]?.join(''))];
      if (cohort === undefined || cohort.members.size === 0) continue;
      const read = row.reduce((sum, cell) => sum + (cell === null ? 0 : sizeOfBytes(cell)), 0);
      // One small answer does not let many large ones in.
      cohort.size = Math.max(read, (cohort.size ?? 0) * (63 / 64));
      const cursor = query.cursor === null ? null : (row[query.columns + 1] ?? null);
      const printed = new AnswerLimit(this.#options.responseLimit, hold);
      let answer: Answer | null = null;
      try {
        if (cursor !== null || !this.#isStream) answer = yield* this.#answerOf(row, printed);
      } catch (error) {
        printed.giveBack(printed.taken);
        clock.failures += 1;
        this.#notPrinted(cohort, error);
        continue;
      }
      cohort.failures = 0;
      if (!cohort.isSlow) cohort.notBefore = 0;
      cohort.awaySince = null;
      cohort.hasAnswered = true;
      cohort.seen = cohort.isTimeless ? snapshot : null;
      if (answer !== null)
        bytes += yield* cursor === null ? this.#answer(cohort, answer, clock) : this.#advance(cohort, cursor, answer, clock);
      printed.giveBack(printed.taken);
      yield;
    }
    return bytes;
  }

  *#answer(cohort: Cohort, answer: Answer, clock: RunClock): Sliced<number> {
    const began = performance.now();
    const isKnown = cohort.isKnown(answer);
    const compared = performance.now();
    clock.hashing += compared - began;
    if (!isKnown) {
      clock.sent += yield* cohort.give(answer);
      clock.sending += performance.now() - compared;
    }
    return sizeOfBytes(answer.body);
  }

  /** Hands the next rows of a stream to those who are ready; for the others the cursor stays where it is. */
  *#advance(cohort: Cohort, cursor: readonly Bytes[], answer: Answer, clock: RunClock): Sliced<number> {
    const began = performance.now();
    const values = cohort.values.with(this.#work.query.cursor ?? 0, textOf(cursor));
    let given = 0;
    for (const member of [...cohort.members]) {
      if (this.#cancellation.aborted) break;
      if (member.cohort !== cohort || !member.isReady) continue;
      // Each moves on as it gets the rows: where this comes to an end in between, nobody has missed any. Who is there already knows
      // what it has seen, and there may be more behind the rows.
      const next = this.#cohorts.of(values);
      next.hasAnswered = true;
      next.size = cohort.size;
      if (cohort.isSlow) {
        next.isSlow = true;
        next.notBefore = Math.max(next.notBefore, cohort.notBefore);
      }
      cohort.members.delete(member);
      next.members.add(member);
      member.cohort = next;
      member.give(answer);
      given += 1;
      yield;
    }
    if (cohort.members.size === 0) this.#cohorts.forget(cohort);
    else cohort.seen = null;
    clock.sent += given;
    clock.sending += performance.now() - began;
    return given === 0 ? 0 : sizeOfBytes(answer.body);
  }

  /** @param printed limits the body, which is in memory beside the row @throws SvcError if the body is too large or memory is short */
  *#answerOf(row: JsonRow, printed: AnswerLimit): Sliced<Answer> {
    let body = '';
    const take = (bytes: number): void => {
      if (!printed.take(bytes)) throw printed.refusal(false);
    };
    for (const part of this.#work.template) {
      if (typeof part === 'string' || 'column' in part) {
        const text = typeof part === 'string' ? part : textOfCell(row, part);
        take(text.length);
        body += text;
      } else if ('layout' in part) {
        const text = part.of.map((each) => (typeof each === 'string' ? each : textOfCell(row, each))).join('') as Bytes;
        const made = yield* laidOut(text, part.layout, take);
        for (const piece of made.pieces()) {
          body += piece;
          yield;
        }
      }
    }
    return { body: [body as Bytes] };
  }

  /** Fails the cohort alone: the others of its batch get their answers. */
  #notPrinted(cohort: Cohort, thrown: unknown): void {
    if (!(thrown instanceof SvcError)) this.#tools.onFault(thrown);
    const error = toSvcError(thrown);
    if (isAway(error)) this.#isAway(cohort, error, performance.now());
    else {
      this.#rest(cohort);
      cohort.fail(error, false);
    }
  }

  /** Finds out who is at fault; the others get their answers. */
  async #failed(batch: readonly Cohort[], error: SvcError, clock: RunClock): Promise<void> {
    const now = performance.now();
    if (isAway(error)) {
      for (const cohort of batch) this.#isAway(cohort, error, now);
      return;
    }
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      await this.#failedAlone(only, error);
      return;
    }
    if (!isLasting(error)) {
      // Whoever it was will be found when each runs alone; what took too long is not tried again at once.
      for (const cohort of batch) this.#rest(cohort);
      return;
    }
    const half = Math.ceil(batch.length / 2);
    await this.run(batch.slice(0, half), clock);
    if (!this.#cancellation.aborted) await this.run(batch.slice(half), clock);
  }

  #isAway(cohort: Cohort, error: SvcError, now: number): void {
    cohort.seen = null;
    cohort.awaySince ??= now;
    cohort.notBefore = now + this.#options.refetchIntervalMs;
    if (now - cohort.awaySince >= PATIENCE_MS) cohort.fail(error, false);
  }

  async #failedAlone(cohort: Cohort, error: SvcError): Promise<void> {
    const final = !cohort.hasAnswered && (await this.#hasWrongValues(cohort));
    if (this.#cancellation.aborted) return;
    this.#rest(cohort);
    cohort.fail(this.#work.schema.introspectionDisabled ? error.forStrangers() : error, final);
  }

  #rest(cohort: Cohort): void {
    cohort.seen = null;
    cohort.failures += 1;
    cohort.notBefore = performance.now() + Math.min(LONGEST_PAUSE_MS, this.#options.refetchIntervalMs * 2 ** Math.min(cohort.failures, 16));
  }

  /** Whether it is the fault of the request, and will be the next time too. */
  async #hasWrongValues({ values }: Cohort): Promise<boolean> {
    const { query, connection } = this.#work;
    const check = query.check(values);
    try {
      await connection.query(check.text, check.values, { deadline: Date.now() + this.#options.timeoutMs });
      return false;
    } catch (error) {
      const fault = toSvcError(error);
      return !isAway(fault) && isLasting(fault);
    }
  }
}

function textOfCell(row: JsonRow, { column, absent }: CellPart): string {
  return row[column + 1]?.join('') ?? absent;
}

function textOf(cell: readonly Bytes[] | null | undefined): string {
  return cell === null || cell === undefined ? '' : Buffer.from(cell.join(''), 'latin1').toString();
}

/**
 * How long the database took for each of a batch.
 * @param column the cell that tells after how many seconds of the statement a row was there; null: none does
 */
function noteTimes(batch: readonly Cohort[], rows: readonly JsonRow[], column: number | null, total: number): void {
  let before = 0;
  for (const row of rows) {
    const cohort = batch[Number(row[0]?.join(''))];
    if (cohort === undefined) continue;
    let time = total;
    if (column !== null) {
      const after = Number(row[column]?.join('')) * 1000;
      time = after - before;
      before = after;
    } else if (batch.length > 1) continue;
    if (time >= SLOW_MS) cohort.isSlow = true;
    else if (time < QUICK_MS) cohort.isSlow = false;
  }
}

function snapshotOf(rows: readonly JsonRow[]): string | null {
  const row = rows.find((each) => each[0]?.join('') === '0');
  return row?.at(-1)?.join('') ?? null;
}
