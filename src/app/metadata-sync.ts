/**
 * Follows metadata changes of other instances on the same metadata database: listens for announcements, and polls the version in case
 * one was missed. While the database cannot be reached, the service continues with the metadata that it has.
 */
import type { Listening } from '../backend/backend.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import type { Announcement, AnswerSelection, Storage } from '../metadata-store/storage.ts';
import type { Observer } from '../observability/observation.ts';
import type { RunningState } from '../state/create-state.ts';

export interface MetadataSyncOptions {
  readonly state: Pick<RunningState, 'current' | 'synchronize'>;
  readonly storage: Pick<Storage, 'currentVersion' | 'listen'>;
  /** This instance, whose own announcements are ignored. */
  readonly instanceId: string;
  /** Called when another instance clears cached answers, and when such an announcement may have been missed. */
  readonly onForget?: (which: AnswerSelection) => void;
  /** Interval between polls, in ms; 0 disables polling and listening. */
  readonly interval: number;
  readonly observe: Observer;
}

export interface MetadataSync {
  /** Time since the newest version was last read or announced, in seconds; 0 while disabled. */
  lag(): number;
  stop(): Promise<void>;
}

export async function startMetadataSync(options: MetadataSyncOptions): Promise<MetadataSync> {
  const follower = new Follower(options);
  await follower.start();
  return follower;
}

class Follower implements MetadataSync {
  readonly #options: MetadataSyncOptions;
  #listening: Listening | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #isPolling = false;
  /** An announcement arrived during a poll. */
  #pollAgain = false;
  #isFailing = false;
  #lastPoll = performance.now();

  constructor(options: MetadataSyncOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#options.interval === 0) return;
    this.#listening = await this.#options.storage.listen((change) => this.#onChange(change));
    // Catches changes between the load of the metadata and the start of listening.
    await this.#poll();
  }

  lag(): number {
    return this.#options.interval === 0 ? 0 : (performance.now() - this.#lastPoll) / 1000;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#listening?.stop();
  }

  #onChange(change: Announcement | null): void {
    const { state, instanceId, onForget } = this.#options;
    if (change?.instance === instanceId) return;
    if (change !== null && 'forget' in change) {
      onForget?.(change.forget);
      return;
    }
    if (change === null) onForget?.({});
    else if (change.version === state.current().resourceVersion) return;
    if (this.#isPolling) this.#pollAgain = true;
    else void this.#poll();
  }

  async #poll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isPolling = true;
    do {
      this.#pollAgain = false;
      await this.#catchUp();
    } while (this.#pollAgain && !this.#stopped);
    this.#isPolling = false;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#poll(), this.#options.interval);
    this.#timer.unref();
  }

  async #catchUp(): Promise<void> {
    const { state, storage } = this.#options;
    try {
      if ((await storage.currentVersion()) !== state.current().resourceVersion) await state.synchronize();
      this.#lastPoll = performance.now();
      if (this.#isFailing) this.#report('available', 'the metadata database is reachable again: changes of other instances are followed');
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#report('unreachable', describeFailure(error));
      this.#isFailing = true;
    }
  }

  #report(event: string, message: string): void {
    if (!this.#stopped) this.#options.observe({ kind: 'source', source: 'metadata', event, message });
  }
}
