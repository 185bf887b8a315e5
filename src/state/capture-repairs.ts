/** Compares the event triggers that are installed in sources with the metadata, in the background, until they match. */
import type { Observer } from '../observability/observation.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { EventCaptures } from './event-captures.ts';
import type { Assembled, CaptureFailures } from './assembled.ts';

/** State that the metadata database has confirmed. */
export interface ConfirmedState {
  readonly now: Assembled;
  /** False if it has to be confirmed again later. */
  readonly isComplete: boolean;
}

export interface CaptureRepairsOptions {
  readonly captures: EventCaptures;
  readonly observe: Observer;
  /** Pause before the next attempt; doubles each time. */
  readonly retry: { readonly firstMs: number; readonly maxMs: number };
  /** Returns the state once it is known to be the newest. @throws SvcError while the metadata database does not respond */
  confirmed(): Promise<ConfirmedState>;
  /**
   * Publishes the failures of a source, unless another comparison was requested meanwhile.
   * @returns whether they are published
   */
  show(source: string, failures: CaptureFailures, isCurrent: () => boolean): Promise<boolean>;
}

interface Work {
  /** Ids of drafts that have ended. */
  readonly ended: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/** Maximum number of ids of ended drafts per source: event triggers of other drafts are removed with the next version. */
const MAX_ENDED = 1000;

export class CaptureRepairs {
  readonly #options: CaptureRepairsOptions;
  readonly #work = new Map<string, Work>();
  #isRequested = false;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #isStopped = false;

  constructor(options: CaptureRepairsOptions) {
    this.#options = options;
  }

  /**
   * Compares these sources soon. Without a source, only confirms the newest metadata.
   * @param ended id of a draft that has ended: its event triggers do not belong to a pending change
   * @param removed names of removed triggers
   */
  request(
    sources: Iterable<string>,
    { ended, removed = [] }: { readonly ended?: string; readonly removed?: readonly string[] } = {},
  ): void {
    const work = { ended: new Set(ended === undefined ? [] : [ended]), removed: new Set(removed) };
    for (const source of sources) this.#add(source, work);
    this.#isRequested = true;
    this.#attempts = 0;
    this.#begin();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #add(source: string, { ended, removed }: Work): void {
    const known = this.#work.get(source);
    this.#work.set(source, {
      ended: new Set([...(known?.ended ?? []), ...ended].slice(-MAX_ENDED)),
      removed: new Set([...removed, ...(known?.removed ?? [])]),
    });
  }

  #begin(): void {
    if (this.#running !== undefined || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isStopped) return;
      if (this.#isRequested) this.#begin();
      else if (this.#work.size > 0 || this.#hasFailed) this.#later();
    });
  }

  #hasFailed = false;

  async #run(): Promise<void> {
    this.#isRequested = false;
    this.#hasFailed = false;
    try {
      const { now, isComplete } = await this.#options.confirmed();
      this.#hasFailed = !isComplete;
      const work = [...this.#work];
      this.#work.clear();
      await Promise.all(work.map(([source, each]) => this.#repair(now, source, each)));
    } catch (error) {
      this.#hasFailed = true;
      // The synchronization of instances reports an unreachable metadata database.
      if (!(error instanceof SvcError)) this.#options.observe({ kind: 'unexpected', message: 'event triggers cannot be compared', error });
    }
  }

  async #repair(now: Assembled, source: string, work: Work): Promise<void> {
    try {
      const { failures, isComplete } = await this.#options.captures.repair(now, source, { ...work, removed: [...work.removed] });
      // A change that ended meanwhile may have left other triggers, which the next comparison finds.
      const isShown = await this.#options.show(source, failures, () => !this.#work.has(source));
      if (!isComplete || !isShown) this.#add(source, work);
    } catch (error) {
      this.#add(source, work);
      throw error;
    }
  }

  #later(): void {
    const { firstMs, maxMs } = this.#options.retry;
    this.#timer = setTimeout(() => this.#begin(), Math.min(maxMs, firstMs * 2 ** this.#attempts));
    this.#timer.unref();
    this.#attempts += 1;
  }
}
