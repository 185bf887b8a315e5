/**
 * Follows what other instances on the same metadata database change: hears of it at once, and looks
 * at the version now and then in case something was missed. While the database cannot be reached
 * the service goes on with what it has.
 */
import type { Listening } from '../backend/backend.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import type { Observer } from '../observability/observation.ts';
import type { RunningState } from '../state/create-state.ts';
import type { Announcement, AnswerSelection, Storage } from '../metadata-store/storage.ts';

export interface KeepInStepOptions {
  readonly state: Pick<RunningState, 'current' | 'synchronize'>;
  readonly storage: Pick<Storage, 'currentVersion' | 'listen'>;
  /** This one: what it announces itself is no news. */
  readonly instanceId: string;
  /** Hears that another instance wants answers of queries to be forgotten, or may have wanted it. */
  readonly onForget?: (which: AnswerSelection) => void;
  /** ms between looks; 0 neither looks nor listens. */
  readonly interval: number;
  readonly observe: Observer;
}

export interface KeepingInStep {
  /** Since the newest version was last asked for, or heard of. seconds; 0: nobody asks */
  lag(): number;
  stop(): Promise<void>;
}

export async function keepInStep(options: KeepInStepOptions): Promise<KeepingInStep> {
  const follower = new Follower(options);
  await follower.start();
  return follower;
}

class Follower implements KeepingInStep {
  readonly #options: KeepInStepOptions;
  #listening: Listening | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #looking = false;
  /** Something was heard during a look. */
  #lookAgain = false;
  #failing = false;
  #lastLook = performance.now();

  constructor(options: KeepInStepOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#options.interval === 0) return;
    this.#listening = await this.#options.storage.listen((change) => this.#hear(change));
    // What was changed since the metadata was loaded and before it listened.
    await this.#look();
  }

  lag(): number {
    return this.#options.interval === 0 ? 0 : (performance.now() - this.#lastLook) / 1000;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#listening?.stop();
  }

  #hear(change: Announcement | null): void {
    const { state, instanceId, onForget } = this.#options;
    if (change?.instance === instanceId) return;
    if (change !== null && 'forget' in change) {
      onForget?.(change.forget);
      return;
    }
    if (change === null) onForget?.({});
    else if (change.version === state.current().resourceVersion) return;
    if (this.#looking) this.#lookAgain = true;
    else void this.#look();
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    this.#looking = true;
    do {
      this.#lookAgain = false;
      await this.#catchUp();
    } while (this.#lookAgain && !this.#stopped);
    this.#looking = false;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#look(), this.#options.interval);
    this.#timer.unref();
  }

  async #catchUp(): Promise<void> {
    const { state, storage } = this.#options;
    try {
      if ((await storage.currentVersion()) !== state.current().resourceVersion) await state.synchronize();
      this.#lastLook = performance.now();
      if (this.#failing) this.#tell('available', 'the metadata of other instances is followed again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#tell('unreachable', describeFailure(error));
      this.#failing = true;
    }
  }

  #tell(event: string, message: string): void {
    if (!this.#stopped) this.#options.observe({ kind: 'source', source: 'metadata', event, message });
  }
}
