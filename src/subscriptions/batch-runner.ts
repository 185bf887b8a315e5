/** Runs cohorts together in one statement, distributes the results, and isolates the cohorts that make a statement fail. */
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { MemoryReservation } from '../pipeline/result-memory.ts';
import { OperationBudget } from '../pipeline/operation-budget.ts';
import type { CellPart } from '../plan/plan.ts';
import { type Bytes, sizeOfBytes } from '../util/bytes.ts';
import type { CancellationSource } from '../util/cancellation.ts';
import { applyLayout } from '../util/json-layout.ts';
import { runCooperatively, type Cooperative } from '../util/cooperative.ts';
import type { Cohort } from './cohort.ts';
import type { Cohorts } from './cohorts.ts';
import type { Detector } from './detector.ts';
import { isAway, isLasting, AWAY_GRACE_MS } from './failures.ts';
import type { PollerOptions, PollerWork } from './poller-work.ts';
import type { RunClock } from './run-clock.ts';
import type { SubscriptionAnswer } from './subscriptions.ts';
import type { JsonRow } from '../backend/connection.ts';

/** Database time in ms from which on a cohort runs alone, and below which it runs in batches again. */
const SLOW_MS = 100;
const QUICK_MS = 50;
const MAX_PAUSE_MS = 30_000;

/** Stops the distribution of a closed poller. */
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
  /** Average bytes per cohort in the last batch. */
  #averageSize = 0;

  /** @param cancellation stops the delivery of answers */
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

  /** Throws only unexpected errors. */
  async run(batch: readonly Cohort[], clock: RunClock): Promise<void> {
    const { query, connection, role, expected } = this.#work;
    const { detector } = this.#tools;
    const { epoch } = detector;
    const began = performance.now();
    let rows: readonly JsonRow[];
    const reservation = new MemoryReservation(this.#options.memory);
    try {
      const { text, values } = query.batch(batch.map((cohort) => cohort.values));
      const deadline = Date.now() + this.#options.timeoutMs;
      const signal = this.#cancellation;
      const resultBudget = new OperationBudget(this.#options.responseLimit, reservation);
      const sizes = batch.map(({ size }) => Math.max(expected, size ?? this.#averageSize));
      const total = sizes.reduce((sum, size) => sum + size, 0);
      rows = await reservation.run(null, total, { role, deadline, signal }, () =>
        connection.runRows({ text, repeatable: query.repeatable }, values, {
          signal,
          deadline,
          role: `subscriptions of ${role}`,
          resultBudget,
        }),
      );
    } catch (error) {
      for (const cohort of batch) cohort.size = Math.max(cohort.size ?? this.#averageSize, reservation.peak / batch.length);
      reservation.release();
      clock.batch(batch.length, performance.now() - began, 0);
      if (this.#cancellation.aborted) return;
      clock.failures += 1;
      if (!(error instanceof SvcError)) this.#tools.onFault(error);
      await this.#handleFailure(batch, toSvcError(error), clock);
      return;
    }
    const database = performance.now() - began;
    this.#averageSize = reservation.peak / batch.length;
    // After a reconnect (a new epoch), an equal snapshot number may mean other rows.
    const counts = this.#isBound && detector.epoch === epoch;
    noteTimes(batch, rows, query.reportsTime ? query.columns + (query.cursor === null ? 1 : 2) : null, database);
    let bytes = 0;
    try {
      // Yields to other work, however many subscribers there are and however large the answers.
      bytes = await runCooperatively(this.#distribute(batch, rows, counts ? snapshotOf(rows) : null, clock, reservation), () => {
        if (this.#cancellation.aborted) throw CLOSED;
      });
    } catch (error) {
      if (error !== CLOSED) throw error;
    } finally {
      reservation.release();
    }
    clock.batch(batch.length, database, bytes);
  }

  *#distribute(
    batch: readonly Cohort[],
    rows: readonly JsonRow[],
    snapshot: string | null,
    clock: RunClock,
    reservation: MemoryReservation,
  ): Cooperative<number> {
    const { query } = this.#work;
    let bytes = 0;
    for (const row of rows) {
      if (this.#cancellation.aborted) break;
      const cohort = batch[Number(row[0]?.join(''))];
      if (cohort === undefined || cohort.members.size === 0) continue;
      const read = row.reduce((sum, cell) => sum + (cell === null ? 0 : sizeOfBytes(cell)), 0);
      // Decreases slowly, so that one small answer does not admit many large ones.
      cohort.size = Math.max(read, (cohort.size ?? 0) * (63 / 64));
      const cursor = query.cursor === null ? null : (row[query.columns + 1] ?? null);
      const printed = new OperationBudget(this.#options.responseLimit, reservation);
      let answer: SubscriptionAnswer | null = null;
      try {
        if (cursor !== null || !this.#isStream) answer = yield* this.#answerOf(row, printed);
      } catch (error) {
        printed.release(printed.used);
        clock.failures += 1;
        this.#failCohort(cohort, error);
        continue;
      }
      cohort.failures = 0;
      if (!cohort.isSlow) cohort.notBefore = 0;
      cohort.awaySince = null;
      cohort.hasAnswered = true;
      cohort.seen = cohort.isTimeless ? snapshot : null;
      if (answer !== null)
        bytes += yield* cursor === null ? this.#sendAnswer(cohort, answer, clock) : this.#advance(cohort, cursor, answer, clock);
      printed.release(printed.used);
      yield;
    }
    return bytes;
  }

  *#sendAnswer(cohort: Cohort, answer: SubscriptionAnswer, clock: RunClock): Cooperative<number> {
    const began = performance.now();
    const isKnown = cohort.isKnown(answer);
    const compared = performance.now();
    clock.hashing += compared - began;
    if (!isKnown) {
      clock.sent += yield* cohort.send(answer);
      clock.sending += performance.now() - compared;
    }
    return sizeOfBytes(answer.body);
  }

  /** Sends the next rows of a stream to members that are ready; for the others the cursor does not advance. */
  *#advance(cohort: Cohort, cursor: readonly Bytes[], answer: SubscriptionAnswer, clock: RunClock): Cooperative<number> {
    const began = performance.now();
    const values = cohort.values.with(this.#work.query.cursor ?? 0, cellText(cursor));
    let sent = 0;
    for (const member of [...cohort.members]) {
      if (this.#cancellation.aborted) break;
      if (member.cohort !== cohort || !member.isReady) continue;
      // Each member advances as it gets the rows, so that a cancellation in between loses none. Members of the next cohort have seen these
      // rows already, and there may be more after them.
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
      member.send(answer);
      sent += 1;
      yield;
    }
    if (cohort.members.size === 0) this.#cohorts.forget(cohort);
    else cohort.seen = null;
    clock.sent += sent;
    clock.sending += performance.now() - began;
    return sent === 0 ? 0 : sizeOfBytes(answer.body);
  }

  /** @param printed limits the body, which is in memory at the same time as the row @throws SvcError if the body exceeds a limit */
  *#answerOf(row: JsonRow, printed: OperationBudget): Cooperative<SubscriptionAnswer> {
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
        const printable = yield* applyLayout(text, part.layout, take);
        for (const piece of printable.pieces()) {
          body += piece;
          yield;
        }
      }
    }
    return { body: [body as Bytes] };
  }

  /** Fails one cohort: the others of its batch get their answers. */
  #failCohort(cohort: Cohort, thrown: unknown): void {
    if (!(thrown instanceof SvcError)) this.#tools.onFault(thrown);
    const error = toSvcError(thrown);
    if (isAway(error)) this.#setAway(cohort, error, performance.now());
    else {
      this.#backOff(cohort);
      cohort.fail(error, false);
    }
  }

  /** Isolates the cohorts that fail; the others get their answers. */
  async #handleFailure(batch: readonly Cohort[], error: SvcError, clock: RunClock): Promise<void> {
    const now = performance.now();
    if (isAway(error)) {
      for (const cohort of batch) this.#setAway(cohort, error, now);
      return;
    }
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      await this.#failAlone(only, error);
      return;
    }
    if (!isLasting(error)) {
      // Each will run alone later, which isolates the one that fails; a timeout is not retried at once.
      for (const cohort of batch) this.#backOff(cohort);
      return;
    }
    const half = Math.ceil(batch.length / 2);
    await this.run(batch.slice(0, half), clock);
    if (!this.#cancellation.aborted) await this.run(batch.slice(half), clock);
  }

  #setAway(cohort: Cohort, error: SvcError, now: number): void {
    cohort.seen = null;
    cohort.awaySince ??= now;
    cohort.notBefore = now + this.#options.refetchIntervalMs;
    if (now - cohort.awaySince >= AWAY_GRACE_MS) cohort.fail(error, false);
  }

  async #failAlone(cohort: Cohort, error: SvcError): Promise<void> {
    const final = !cohort.hasAnswered && (await this.#hasWrongValues(cohort));
    if (this.#cancellation.aborted) return;
    this.#backOff(cohort);
    cohort.fail(this.#work.schema.introspectionDisabled ? error.redacted() : error, final);
  }

  #backOff(cohort: Cohort): void {
    cohort.seen = null;
    cohort.failures += 1;
    cohort.notBefore = performance.now() + Math.min(MAX_PAUSE_MS, this.#options.refetchIntervalMs * 2 ** Math.min(cohort.failures, 16));
  }

  /** Returns true if the request's values make the statement fail, also the next time. */
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

function cellText(cell: readonly Bytes[] | null | undefined): string {
  return cell === null || cell === undefined ? '' : Buffer.from(cell.join(''), 'latin1').toString();
}

/**
 * Records the database time of each cohort of a batch.
 * @param column cell with the seconds from the start of the statement until the row; `null` if there is none
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
