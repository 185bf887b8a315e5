/**
 * Repeats one statement for all its subscribers. Cohorts run in batches: those that may have changed, when the detector reports a change
 * or the interval has passed; those with new members at once.
 */
import { randomUUID } from 'node:crypto';
import type { PollerReport } from './poller-report.ts';
import type { RunTimes } from '../observability/observation.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { runCooperatively } from '../util/cooperative.ts';
import { BatchRunner } from './batch-runner.ts';
import type { Cohort, CohortOwner, Member } from './cohort.ts';
import { Cohorts } from './cohorts.ts';
import type { DetectorListener, Detector } from './detector.ts';
import type { PollerOptions, PollerWork } from './poller-work.ts';
import { RunClock } from './run-clock.ts';
import type { CacheBudget } from './version.ts';

export interface PollerTools {
  readonly detector: Detector;
  readonly cacheBudget: CacheBudget;
  readonly onRun: (poller: Poller, times: RunTimes) => void;
  readonly onFault: (error: unknown) => void;
  /** Called when the last member has left. */
  readonly onEmpty: (poller: Poller) => void;
}

/** Maximum number of concurrent batches of a poller; the same number of slow cohorts may run at the same time. */
const PARALLEL = 2;

export class Poller implements CohortOwner, DetectorListener {
  readonly id = randomUUID();
  readonly work: PollerWork;
  readonly options: PollerOptions;
  readonly cacheBudget: CacheBudget;
  readonly #tools: PollerTools;
  readonly #cohorts: Cohorts;
  readonly #runner: BatchRunner;
  /** Cohorts that run alone and wait; the batches do not wait for them. */
  readonly #slowQueue: Cohort[] = [];
  #slowRuns = 0;
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
    this.cacheBudget = tools.cacheBudget;
    this.#tools = tools;
    this.#cohorts = new Cohorts(this, work.query);
    this.#runner = new BatchRunner(work, options, tools, this.#cohorts, this.#cancellation);
    if (this.isBound) tools.detector.add(this);
  }

  get isStream(): boolean {
    return this.work.query.cursor !== null;
  }

  /** True if equal snapshots imply equal results. */
  get isBound(): boolean {
    return this.work.query.dependsOn === null;
  }

  get members(): readonly Member[] {
    return [...this.#cohorts.all()].flatMap(({ members }) => [...members]);
  }

  join(member: Member, values: readonly (string | null)[]): void {
    const cohort = this.#cohorts.of(values);
    cohort.members.add(member);
    member.cohort = cohort;
    this.#cohorts.fresh.add(cohort);
    this.#serveSoon();
  }

  leave(member: Member): void {
    const { cohort } = member;
    member.cohort = null;
    if (cohort === null || !cohort.members.delete(member) || cohort.members.size > 0) return;
    this.#cohorts.forget(cohort);
    if (this.#cohorts.size === 0) this.#tools.onEmpty(this);
  }

  cursorOf(values: readonly (string | null)[]): string | null | undefined {
    const { cursor } = this.work.query;
    return cursor === null ? undefined : (values[cursor] ?? null);
  }

  onChange(): void {
    this.#schedule();
  }

  onReady(cohort: Cohort): void {
    if (!this.#isClosed && !this.#isRunning && this.#needsRun(cohort)) this.#arm(Math.max(this.#earliest, cohort.notBefore));
  }

  /** Cancels runs in progress, whose answers are not sent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancellation.cancel();
    if (this.isBound) this.#tools.detector.remove(this);
    clearImmediate(this.#flush);
    clearTimeout(this.#timer);
    this.#cohorts.end();
    this.#slowQueue.length = 0;
  }

  report(): PollerReport {
    const { source, role, document, query } = this.work;
    const cohorts = [...this.#cohorts.all()];
    const { detector } = this.#tools;
    const isTimeless = cohorts.every((cohort) => cohort.isTimeless);
    const reason = !this.isBound
      ? `answers depend on ${query.dependsOn}`
      : !isTimeless
        ? 'values such as "now" depend on the time'
        : detector.snapshot === null
          ? 'the database does not report its snapshot'
          : 'answers depend on stored rows alone';
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

  /** Returns true if the last answer reflects the current snapshot. */
  #isCurrent(cohort: Cohort): boolean {
    return cohort.seen !== null && cohort.seen === this.#tools.detector.snapshot;
  }

  #needsRun(cohort: Cohort): boolean {
    if (cohort.isRunning || this.#isCurrent(cohort) || !cohort.hasReadyMember) return false;
    const { cursor } = this.work.query;
    // A stream with a null cursor has ended.
    return cursor === null || cohort.values[cursor] !== null;
  }

  #serveFresh(): void {
    this.#flush = undefined;
    const now = performance.now();
    const cohorts: Cohort[] = [];
    for (const cohort of this.#cohorts.fresh) {
      if (cohort.isRunning) continue; // The run may have started before the newest member joined.
      this.#cohorts.fresh.delete(cohort);
      const { latest } = cohort;
      // An answer that was not cached is read again.
      if (latest === null && !this.isStream) cohort.seen = null;
      if (this.#isCurrent(cohort) && !this.#tools.detector.isOutdated && (this.isStream || latest !== null)) {
        if (latest !== null) void runCooperatively(cohort.send(latest)).catch(this.#tools.onFault);
      } else if (cohort.notBefore <= now && this.#needsRun(cohort)) cohorts.push(cohort);
    }
    if (cohorts.length === 0) {
      this.#schedule();
      return;
    }
    if (this.#lastStart === Number.NEGATIVE_INFINITY) this.#lastStart = now;
    const together = this.#queueSlow(cohorts);
    if (together.length > 0) void this.#runFresh(together);
  }

  /** New members wait while the maximum number of these runs is in progress, and then run together. */
  async #runFresh(cohorts: readonly Cohort[]): Promise<void> {
    this.#freshRuns += 1;
    await this.#run(cohorts);
    this.#freshRuns -= 1;
    if (this.#cohorts.fresh.size > 0) this.#serveSoon();
    this.#schedule();
  }

  /** Arms the timer for the next cohort that needs to run. */
  #schedule(): void {
    if (this.#isClosed || this.#isRunning) return;
    const earliest = this.#earliest;
    if (this.#timer !== undefined && this.#timerAt <= earliest) return;
    let due = Number.POSITIVE_INFINITY;
    for (const cohort of this.#cohorts.all()) {
      const at = Math.max(earliest, cohort.notBefore);
      if (at < due && this.#needsRun(cohort)) due = at;
      if (due === earliest) break;
    }
    if (due !== Number.POSITIVE_INFINITY) this.#arm(due);
  }

  /** `performance.now()` of the earliest next run. */
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
    // Timers may fire slightly early.
    const due = [...this.#cohorts.all()].filter((cohort) => cohort.notBefore <= now + 1 && this.#needsRun(cohort));
    const cohorts = this.#queueSlow(due);
    if (cohorts.length > 0) {
      this.#isRunning = true;
      this.#lastStart = now;
      await this.#run(cohorts);
      this.#isRunning = false;
    }
    this.#schedule();
  }

  /** Queues the cohorts that run alone, and returns the others. */
  #queueSlow(cohorts: readonly Cohort[]): readonly Cohort[] {
    const together: Cohort[] = [];
    for (const cohort of cohorts) {
      if (cohort.runsAlone) {
        cohort.isRunning = true;
        this.#slowQueue.push(cohort);
      } else together.push(cohort);
    }
    this.#runNextSlow();
    return together;
  }

  #runNextSlow(): void {
    while (this.#slowRuns < PARALLEL) {
      const cohort = this.#slowQueue.shift();
      if (cohort === undefined) return;
      if (cohort.members.size > 0) void this.#runSlow(cohort);
    }
  }

  async #runSlow(cohort: Cohort): Promise<void> {
    this.#slowRuns += 1;
    cohort.notBefore = performance.now() + this.options.refetchIntervalMs;
    await this.#run([cohort]);
    this.#slowRuns -= 1;
    this.#runNextSlow();
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
        // Unexpected errors are reported, and the other batches continue.
        await this.#runner.run(batch, clock).catch(this.#tools.onFault);
      }
    };
    await Promise.all(Array.from({ length: Math.min(PARALLEL, batches.length) }, work));
    for (const cohort of cohorts) cohort.isRunning = false;
    if (this.#isClosed) return;
    this.#runs += 1;
    this.#last = clock.times();
    onRun(this, this.#last);
    if (this.#cohorts.fresh.size > 0) this.#serveSoon();
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
}
