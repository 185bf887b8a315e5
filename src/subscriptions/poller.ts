/**
 * Repeats one statement for all who wait for its answers. Cohorts run in batches: all that may have news, when the
 * detector says so or an interval is over; those with somebody new at once.
 */
import { randomUUID } from 'node:crypto';
import type { JsonRow, LiveQuery, Source } from '../backend/backend.ts';
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { PollerReport } from '../metadata-api/poller-report.ts';
import type { RunTimes } from '../observability/observation.ts';
import type { TemplatePart } from '../plan/plan.ts';
import type { RoleSchema } from '../schema/translation.ts';
import { type Bytes, sizeOfBytes } from '../util/bytes.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { inSlices, type Sliced } from '../util/sliced.ts';
import { type CohortOwner, Cohort } from './cohort.ts';
import type { Detecting, Detector } from './detector.ts';
import { isAway, isLasting, PATIENCE_MS } from './failures.ts';
import type { Member } from './member.ts';
import { RunClock } from './run-clock.ts';
import type { Answer } from './subscriptions.ts';
import type { Room } from './version.ts';

export interface PollerOptions {
  /** Least time between two runs. */
  readonly refetchIntervalMs: number;
  /** Cohorts in one statement. */
  readonly batchSize: number;
  /** Of a statement. */
  readonly timeoutMs: number;
}

/** What is repeated, and for whom. */
export interface PollerWork {
  readonly source: string;
  readonly connection: Source;
  readonly schema: RoleSchema;
  readonly role: string;
  readonly variant: 'frontend' | 'backend';
  readonly document: string;
  readonly query: LiveQuery;
  readonly template: readonly TemplatePart[];
}

export interface PollerTools {
  readonly detector: Detector;
  readonly room: Room;
  readonly onRun: (poller: Poller, times: RunTimes) => void;
  readonly onFault: (error: unknown) => void;
  /** Nobody is left. */
  readonly onEmpty: (poller: Poller) => void;
}

/** Batches of a poller that are in the database at a time; and as many cohorts that run apart. */
const PARALLEL = 2;
/** ms of the database from which on a cohort runs apart, and below which it comes back. */
const SLOW_MS = 100;
const QUICK_MS = 50;
const LONGEST_PAUSE_MS = 30_000;

export class Poller implements CohortOwner, Detecting {
  readonly id = randomUUID();
  readonly work: PollerWork;
  readonly options: PollerOptions;
  readonly room: Room;
  readonly #tools: PollerTools;
  readonly #cohorts = new Map<string, Cohort>();
  /** Those with somebody who has not been given anything yet. */
  readonly #fresh = new Set<Cohort>();
  /** Those that run alone and wait for their turn; nobody waits for them. */
  readonly #apart: Cohort[] = [];
  #apartRuns = 0;
  #flush: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = 0;
  #isRunning = false;
  #freshRuns = 0;
  #lastStart = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  readonly #cancellation = new CancellationSource();
  #runs = 0;
  #last: RunTimes | null = null;

  constructor(work: PollerWork, options: PollerOptions, tools: PollerTools) {
    this.work = work;
    this.options = options;
    this.room = tools.room;
    this.#tools = tools;
    if (this.isBound) tools.detector.add(this);
  }

  get isStream(): boolean {
    return this.work.query.cursor !== null;
  }

  /** The same snapshot means the same answers. */
  get isBound(): boolean {
    return this.work.query.dependsOn === null;
  }

  get members(): readonly Member[] {
    return [...this.#cohorts.values()].flatMap(({ members }) => [...members]);
  }

  join(member: Member, values: readonly (string | null)[]): void {
    const cohort = this.#cohortOf(values);
    cohort.members.add(member);
    member.cohort = cohort;
    this.#fresh.add(cohort);
    this.#serveSoon();
  }

  leave(member: Member): void {
    const { cohort } = member;
    member.cohort = null;
    if (cohort === null || !cohort.members.delete(member) || cohort.members.size > 0) return;
    this.#forget(cohort);
    if (this.#cohorts.size === 0) this.#tools.onEmpty(this);
  }

  cursorOf(values: readonly (string | null)[]): string | null | undefined {
    const { cursor } = this.work.query;
    return cursor === null ? undefined : (values[cursor] ?? null);
  }

  detected(): void {
    this.#schedule();
  }

  wanted(cohort: Cohort): void {
    if (!this.#isClosed && !this.#isRunning && this.#needsRun(cohort)) this.#arm(Math.max(this.#earliest, cohort.notBefore));
  }

  /** What is under way is cancelled and reaches nobody any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancellation.cancel();
    if (this.isBound) this.#tools.detector.remove(this);
    clearImmediate(this.#flush);
    clearTimeout(this.#timer);
    for (const cohort of this.#cohorts.values()) cohort.end();
    this.#fresh.clear();
    this.#apart.length = 0;
  }

  report(): PollerReport {
    const { source, role, document, query } = this.work;
    const cohorts = [...this.#cohorts.values()];
    const { detector } = this.#tools;
    const isTimeless = cohorts.every((cohort) => cohort.isTimeless);
    const reason = !this.isBound
      ? `answers depend on ${query.dependsOn}`
      : !isTimeless
        ? 'values such as "now" mean something else at another time'
        : detector.snapshot === null
          ? 'the database does not tell what it sees'
          : 'answers follow from stored rows alone';
    return {
      id: this.id,
      kind: this.isStream ? 'streaming' : 'live-query',
      source,
      role,
      query: document,
      sql: query.text,
      cohorts: cohorts.length,
      subscribers: cohorts.reduce((sum, { members }) => sum + members.size, 0),
      failing: cohorts.filter(({ failures, awaySince }) => failures > 0 || awaySince !== null).length,
      slow: cohorts.filter(({ isSlow }) => isSlow).length,
      waitsFor: this.isBound && isTimeless && detector.snapshot !== null ? 'change' : 'interval',
      reason,
      refetchIntervalMs: this.options.refetchIntervalMs,
      batchSize: this.options.batchSize,
      runs: this.#runs,
      last: this.#last,
    };
  }

  #cohortOf(values: readonly (string | null)[]): Cohort {
    const key = keyOf(values);
    let cohort = this.#cohorts.get(key);
    if (cohort === undefined) {
      cohort = new Cohort(this, values, this.work.query.isTimeless(values));
      this.#cohorts.set(key, cohort);
    }
    return cohort;
  }

  #forget(cohort: Cohort): void {
    cohort.end();
    this.#fresh.delete(cohort);
    const key = keyOf(cohort.values);
    if (this.#cohorts.get(key) === cohort) this.#cohorts.delete(key);
  }

  /** Whether there is nothing that the database could say and the cohort does not know. */
  #isCurrent(cohort: Cohort): boolean {
    return cohort.seen !== null && cohort.seen === this.#tools.detector.snapshot;
  }

  #needsRun(cohort: Cohort): boolean {
    if (cohort.isRunning || this.#isCurrent(cohort) || !cohort.isWanted) return false;
    const { cursor } = this.work.query;
    // Nothing lies behind a null.
    return cursor === null || cohort.values[cursor] !== null;
  }

  #serveFresh(): void {
    this.#flush = undefined;
    const now = performance.now();
    const cohorts: Cohort[] = [];
    for (const cohort of this.#fresh) {
      if (cohort.isRunning) continue; // what runs may have seen less than whoever came since
      this.#fresh.delete(cohort);
      const { latest } = cohort;
      if (this.#isCurrent(cohort) && !this.#tools.detector.isOutdated && (this.isStream || latest !== null)) {
        if (latest !== null) void inSlices(cohort.give(latest)).catch(this.#tools.onFault);
      } else if (cohort.notBefore <= now && this.#needsRun(cohort)) cohorts.push(cohort);
    }
    if (cohorts.length === 0) {
      this.#schedule();
      return;
    }
    if (this.#lastStart === Number.NEGATIVE_INFINITY) this.#lastStart = now;
    const together = this.#setApart(cohorts);
    if (together.length > 0) void this.#runFresh(together);
  }

  /** Who comes meanwhile waits for it: they will run together. */
  async #runFresh(cohorts: readonly Cohort[]): Promise<void> {
    this.#freshRuns += 1;
    await this.#run(cohorts);
    this.#freshRuns -= 1;
    if (this.#fresh.size > 0) this.#serveSoon();
    this.#schedule();
  }

  /** Sees to it that what needs to run does when it may. */
  #schedule(): void {
    if (this.#isClosed || this.#isRunning) return;
    const earliest = this.#earliest;
    if (this.#timer !== undefined && this.#timerAt <= earliest) return;
    let due = Number.POSITIVE_INFINITY;
    for (const cohort of this.#cohorts.values()) {
      const at = Math.max(earliest, cohort.notBefore);
      if (at < due && this.#needsRun(cohort)) due = at;
      if (due === earliest) break;
    }
    if (due !== Number.POSITIVE_INFINITY) this.#arm(due);
  }

  /** `performance.now()` before which there is no next run. */
  get #earliest(): number {
    return this.#lastStart + this.options.refetchIntervalMs;
  }

  #arm(due: number): void {
    if (this.#timer !== undefined && this.#timerAt <= due) return;
    clearTimeout(this.#timer);
    this.#timerAt = due;
    this.#timer = setTimeout(() => void this.#tick(), Math.max(0, due - performance.now()));
  }

  async #tick(): Promise<void> {
    this.#timer = undefined;
    const now = performance.now();
    // A timer may come a little early.
    const due = [...this.#cohorts.values()].filter((cohort) => cohort.notBefore <= now + 1 && this.#needsRun(cohort));
    const cohorts = this.#setApart(due);
    if (cohorts.length > 0) {
      this.#isRunning = true;
      this.#lastStart = now;
      await this.#run(cohorts);
      this.#isRunning = false;
    }
    this.#schedule();
  }

  /** Lets those run that run apart. @returns the others */
  #setApart(cohorts: readonly Cohort[]): readonly Cohort[] {
    const together: Cohort[] = [];
    for (const cohort of cohorts) {
      if (cohort.isApart) {
        cohort.isRunning = true;
        this.#apart.push(cohort);
      } else together.push(cohort);
    }
    this.#runNextApart();
    return together;
  }

  #runNextApart(): void {
    while (this.#apartRuns < PARALLEL) {
      const cohort = this.#apart.shift();
      if (cohort === undefined) return;
      if (cohort.members.size > 0) void this.#runApart(cohort);
    }
  }

  async #runApart(cohort: Cohort): Promise<void> {
    this.#apartRuns += 1;
    cohort.notBefore = performance.now() + this.options.refetchIntervalMs;
    await this.#run([cohort]);
    this.#apartRuns -= 1;
    this.#runNextApart();
    this.#schedule();
  }

  /** Never throws. */
  async #run(cohorts: readonly Cohort[]): Promise<void> {
    const { detector, onRun } = this.#tools;
    const clock = new RunClock(cohorts.length, this.isBound && detector.snapshot !== null ? detector.changedAt : null);
    for (const cohort of cohorts) cohort.isRunning = true;
    const batches = this.#batches(cohorts);
    const work = async (): Promise<void> => {
      for (let batch = batches.shift(); batch !== undefined && !this.#isClosed; batch = batches.shift()) {
        // What is not foreseen is told, and the others go on.
        await this.#runBatch(batch, clock).catch(this.#tools.onFault);
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL, batches.length) }, work));
    for (const cohort of cohorts) cohort.isRunning = false;
    if (this.#isClosed) return;
    this.#runs += 1;
    this.#last = clock.times();
    onRun(this, this.#last);
    if (this.#fresh.size > 0) this.#serveSoon();
  }

  #serveSoon(): void {
    if (this.#freshRuns < PARALLEL) this.#flush ??= setImmediate(() => this.#serveFresh());
  }

  #batches(cohorts: readonly Cohort[]): (readonly Cohort[])[] {
    const batches: (readonly Cohort[])[] = [];
    const { batchSize } = this.options;
    for (let i = 0; i < cohorts.length; i += batchSize) batches.push(cohorts.slice(i, i + batchSize));
    return batches;
  }

  async #runBatch(batch: readonly Cohort[], clock: RunClock): Promise<void> {
    const { query, connection, role } = this.work;
    const { detector } = this.#tools;
    const { epoch } = detector;
    const began = performance.now();
    let rows: readonly JsonRow[];
    try {
      const { text, values } = query.batch(batch.map((cohort) => cohort.values));
      rows = await connection.runRows({ text, repeatable: query.repeatable }, values, {
        signal: this.#cancellation,
        deadline: Date.now() + this.options.timeoutMs,
        turn: `subscriptions of ${role}`,
      });
    } catch (error) {
      clock.batch(batch.length, performance.now() - began, 0);
      if (this.#isClosed) return;
      if (!(error instanceof SvcError)) this.#tools.onFault(error);
      await this.#failed(batch, toSvcError(error), clock);
      return;
    }
    const database = performance.now() - began;
    // Rows that are read again after a change of what connects to the database may be other ones under the same number.
    const counts = this.isBound && detector.epoch === epoch;
    noteTimes(batch, rows, query.tellsTime ? query.columns + (query.cursor === null ? 1 : 2) : null, database);
    // Others get their turn in between, however many subscribers there are and however large the answers.
    const bytes = await inSlices(this.#handOut(batch, rows, counts ? snapshotOf(rows) : null, clock));
    clock.batch(batch.length, database, bytes);
  }

  *#handOut(batch: readonly Cohort[], rows: readonly JsonRow[], snapshot: string | null, clock: RunClock): Sliced<number> {
    let bytes = 0;
    for (const row of rows) {
      if (this.#isClosed) break;
      const cohort = batch[Number(row[0]?.join(''))];
      if (cohort === undefined || cohort.members.size === 0) continue;
      cohort.failures = 0;
      if (!cohort.isSlow) cohort.notBefore = 0;
      cohort.awaySince = null;
      cohort.hasAnswered = true;
      cohort.seen = cohort.isTimeless ? snapshot : null;
      bytes += yield* this.isStream ? this.#advance(cohort, row, clock) : this.#answer(cohort, row, clock);
      yield;
    }
    return bytes;
  }

  *#answer(cohort: Cohort, row: JsonRow, clock: RunClock): Sliced<number> {
    const answer = this.#answerOf(row);
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
  *#advance(cohort: Cohort, row: JsonRow, clock: RunClock): Sliced<number> {
    const { query } = this.work;
    const cursor = row[query.columns + 1];
    if (cursor === null || cursor === undefined || query.cursor === null) return 0;
    const answer = this.#answerOf(row);
    const began = performance.now();
    const values = cohort.values.with(query.cursor, textOf(cursor));
    let given = 0;
    for (const member of [...cohort.members]) {
      if (this.#isClosed) break;
      if (member.cohort !== cohort || !member.isReady) continue;
      // Each moves on as it gets the rows: where this comes to an end in between, nobody has missed any. Who is there already knows
      // what it has seen, and there may be more behind the rows.
      const next = this.#cohortOf(values);
      next.hasAnswered = true;
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
    if (cohort.members.size === 0) this.#forget(cohort);
    else cohort.seen = null;
    clock.sent += given;
    clock.sending += performance.now() - began;
    return given === 0 ? 0 : sizeOfBytes(answer.body);
  }

  #answerOf(row: JsonRow): Answer {
    let body = '';
    for (const part of this.work.template) {
      if (typeof part === 'string') body += part;
      else if ('column' in part) {
        const cell = row[part.column + 1];
        if (cell === null || cell === undefined) body += part.absent;
        else for (const piece of cell) body += piece;
      }
    }
    return { body: [body as Bytes] };
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
    await this.#runBatch(batch.slice(0, half), clock);
    if (!this.#isClosed) await this.#runBatch(batch.slice(half), clock);
  }

  #isAway(cohort: Cohort, error: SvcError, now: number): void {
    cohort.seen = null;
    cohort.awaySince ??= now;
    cohort.notBefore = now + this.options.refetchIntervalMs;
    if (now - cohort.awaySince >= PATIENCE_MS) cohort.fail(error, false);
  }

  async #failedAlone(cohort: Cohort, error: SvcError): Promise<void> {
    const final = !cohort.hasAnswered && (await this.#hasWrongValues(cohort));
    if (this.#isClosed) return;
    this.#rest(cohort);
    cohort.fail(this.work.schema.introspectionDisabled ? error.forStrangers() : error, final);
  }

  #rest(cohort: Cohort): void {
    cohort.seen = null;
    cohort.failures += 1;
    cohort.notBefore = performance.now() + Math.min(LONGEST_PAUSE_MS, this.options.refetchIntervalMs * 2 ** Math.min(cohort.failures, 16));
  }

  /** Whether it is the fault of the request, and will be the next time too. */
  async #hasWrongValues({ values }: Cohort): Promise<boolean> {
    const { query, connection } = this.work;
    const check = query.check(values);
    try {
      await connection.query(check.text, check.values, { deadline: Date.now() + this.options.timeoutMs });
      return false;
    } catch (error) {
      const fault = toSvcError(error);
      return !isAway(fault) && isLasting(fault);
    }
  }
}

function keyOf(values: readonly (string | null)[]): string {
  return values.length === 0 ? '' : JSON.stringify(values);
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
