/**
 * The change whose commit in the metadata database had no answer. Nothing of it is undone until the next read of the metadata shows
 * whether it was stored; no other change begins before.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SvcError } from '../errors/svc-error.ts';
import type { Assembled } from './assembled.ts';
import type { CaptureRepairs } from './capture-repairs.ts';
import type { Draft } from './draft.ts';
import type { TogetherOptions } from './state.ts';

/** `unknown`: other instances have changed the metadata so often since that the author of the version is not recorded any more. */
export type Outcome = 'stored' | 'not-stored' | 'unknown';

export interface UncertainChangeOptions {
  readonly instanceId: string;
  readonly repairs: CaptureRepairs;
  now(): Assembled;
  /**
   * Reads and shows the newest metadata, after the end of a commit under way.
   * @returns the instance that made the version after this one's; `''` if that is unknown, `undefined` if there is no such version
   */
  synchronize(): Promise<string | undefined>;
  /** Removes from the sources what the change does not need any more. */
  settle(before: Assembled, draft: Draft, outcome: Outcome, onWarning?: TogetherOptions['onWarning']): Promise<void>;
  /** Removes from the sources what the draft has installed and the shown metadata does not need. */
  undo(draft: Draft): Promise<void>;
  report(error: unknown): void;
}

/** Attempts within a request to find out whether its change was stored, the time for them and the pause between, in ms. */
const ATTEMPTS = 4;
const ATTEMPTS_MS = 2000;
const PAUSE_MS = 100;

/** Error of a change that the metadata database did not confirm. */
export function unavailable(message: string, cause: SvcError): SvcError {
  const internal = cause.internal === undefined ? {} : { internal: cause.internal };
  return new SvcError('unexpected', message, { status: 503, isPassing: true, cause, ...internal });
}

export class UncertainChange {
  readonly #options: UncertainChangeOptions;
  #change: { readonly draft: Draft; readonly before: Assembled } | undefined;

  constructor(options: UncertainChangeOptions) {
    this.#options = options;
  }

  /** Whether there is one. */
  get isPending(): boolean {
    return this.#change !== undefined;
  }

  begin(draft: Draft): void {
    this.#change = { draft, before: this.#options.now() };
  }

  /**
   * Settles it within the request: a connection that broke is usually replaced at once. The rest is done in the background.
   * @throws SvcError while the outcome cannot be read
   */
  async settleSoon(onWarning?: TogetherOptions['onWarning']): Promise<Outcome> {
    const began = performance.now();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.settle(onWarning);
      } catch (error) {
        if (attempt === ATTEMPTS || performance.now() - began > ATTEMPTS_MS) throw error;
        await sleep(PAUSE_MS * attempt);
      }
    }
  }

  /**
   * Reads whether the change was stored, and completes it or takes it back.
   * @throws SvcError while the outcome cannot be read
   */
  async settle(onWarning?: TogetherOptions['onWarning']): Promise<Outcome> {
    const { instanceId, repairs, now, synchronize, settle, undo, report } = this.#options;
    if (this.#change === undefined) return 'unknown';
    const { draft, before } = this.#change;
    let author: string | undefined;
    try {
      author = await synchronize();
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      repairs.request([]);
      throw unavailable('the metadata database cannot be reached: it is not known yet whether the last change was stored', error);
    }
    this.#change = undefined;
    const outcome = author === instanceId ? 'stored' : author === '' ? 'unknown' : 'not-stored';
    // The outcome is certain now; repairs do what fails here.
    try {
      if (outcome !== 'stored') await undo(draft);
      if (outcome !== 'not-stored') await settle(before, draft, outcome, onWarning);
    } catch (error) {
      report(error);
    }
    const current = now();
    repairs.request(sourcesTouchedBy(draft, current), { ended: draft.id });
    await draft.close(current);
    return outcome;
  }

  /** Closes the connections that it opened. */
  async close(): Promise<void> {
    await this.#change?.draft.close(this.#options.now());
  }
}

/** Returns the names of the sources in which a draft may have installed something. */
export function sourcesTouchedBy({ touched }: Draft, { snapshot }: Assembled): readonly string[] {
  return [...snapshot.connections].flatMap(([name, connection]) => (touched.has(connection) ? [name] : []));
}
