/** Compares in the background what sources have for their event triggers with the metadata, again until it fits. */
import type { Observer } from '../observability/observation.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { EventCaptures } from './event-captures.ts';
import type { Assembled, CaptureFailures } from './assembled.ts';

/** State that the metadata database has confirmed. */
export interface Confirmed {
  readonly now: Assembled;
  /** False while something is to be confirmed again later. */
  readonly isComplete: boolean;
}

export interface CaptureRepairsOptions {
  readonly captures: EventCaptures;
  readonly observe: Observer;
  /** Pause before the next attempt; doubles each time. */
  readonly retry: { readonly firstMs: number; readonly maxMs: number };
  /** Returns what counts, once it is known to be the newest. @throws SvcError while the metadata database does not answer */
  confirmed(): Promise<Confirmed>;
  /**
   * Shows what could not be repaired in a source, unless another comparison was requested meanwhile.
   * @returns whether it is shown
   */
  show(source: string, failures: CaptureFailures, isCurrent: () => boolean): Promise<boolean>;
}

interface Work {
  /** Ids of drafts that have ended. */
  readonly ended: ReadonlySet<string>;
  readonly gone: ReadonlySet<string>;
}

/** Maximum number of ids of ended drafts per source: what was installed for others is removed with the next version. */
const MAX_ENDED = 1000;

export class CaptureRepairs {
  readonly #options: CaptureRepairsOptions;
  readonly #work = new Map<string, Work>();
  #isAsked = false;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #isStopped = false;

  constructor(options: CaptureRepairsOptions) {
    this.#options = options;
  }

  /**
   * Compares these sources soon; without one it only waits until the newest metadata is known.
   * @param ended id of a draft that has ended: what was installed for it belongs to no change under way
   * @param gone names of triggers that were removed
   */
  request(sources: Iterable<string>, { ended, gone = [] }: { readonly ended?: string; readonly gone?: readonly string[] } = {}): void {
    const work = { ended: new Set(ended === undefined ? [] : [ended]), gone: new Set(gone) };
    for (const source of sources) this.#add(source, work);
    this.#isAsked = true;
    this.#attempts = 0;
    this.#begin();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #add(source: string, { ended, gone }: Work): void {
    const known = this.#work.get(source);
    this.#work.set(source, {
      ended: new Set([...(known?.ended ?? []), ...ended].slice(-MAX_ENDED)),
      gone: new Set([...gone, ...(known?.gone ?? [])]),
    });
  }

  #begin(): void {
    if (this.#running !== undefined || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isStopped) return;
      if (this.#isAsked) this.#begin();
      else if (this.#work.size > 0 || this.#hasFailed) this.#later();
    });
  }

  #hasFailed = false;

  async #run(): Promise<void> {
    this.#isAsked = false;
    this.#hasFailed = false;
    try {
      const { now, isComplete } = await this.#options.confirmed();
      this.#hasFailed = !isComplete;
      const work = [...this.#work];
      this.#work.clear();
      await Promise.all(work.map(([source, each]) => this.#repair(now, source, each)));
    } catch (error) {
      this.#hasFailed = true;
      // That the metadata database is away is reported by what follows it.
      if (!(error instanceof SvcError)) this.#options.observe({ kind: 'unexpected', message: 'event triggers cannot be compared', error });
    }
  }

  async #repair(now: Assembled, source: string, work: Work): Promise<void> {
    try {
      const { failures, isComplete } = await this.#options.captures.repair(now, source, { ...work, gone: [...work.gone] });
      // A change that ended meanwhile may have left other triggers, which the next comparison sees.
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
