/**
 * A change whose commit in the metadata database was not confirmed. It is not undone, and no other change begins, until a read of the
 * metadata shows whether it was stored.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SvcError } from '../errors/svc-error.ts';
import type { Assembled } from './assembled.ts';
import type { CaptureRepairs } from './capture-repairs.ts';
import type { MetadataDraft } from './draft.ts';
import type { StateTransactionOptions } from './state.ts';

/** `unknown` if other instances have changed the metadata so often since that the author of the version is no longer recorded. */
export type CommitOutcome = 'stored' | 'not-stored' | 'unknown';

export interface UncertainChangeOptions {
  readonly instanceId: string;
  readonly repairs: CaptureRepairs;
  now(): Assembled;
  /**
   * Reads and publishes the newest metadata, after the end of a pending commit.
   * @returns id of the instance that made the version after this one's; `''` if that is unknown, `undefined` if there is no such version
   */
  synchronize(): Promise<string | undefined>;
  /** Removes event triggers from the sources that the change no longer needs. */
  settle(before: Assembled, draft: MetadataDraft, outcome: CommitOutcome, onWarning?: StateTransactionOptions['onWarning']): Promise<void>;
  /** Removes event triggers from the sources that the draft installed and the current metadata does not need. */
  undo(draft: MetadataDraft): Promise<void>;
  report(error: unknown): void;
}

/** Attempts within a request to read whether its change was stored; the timeout of all of them and the first pause, in ms. */
const ATTEMPTS = 4;
const ATTEMPTS_MS = 2000;
const PAUSE_MS = 100;

const UNCONFIRMED: Readonly<Record<Exclude<CommitOutcome, 'stored'>, string>> = {
  'not-stored': 'the change was not stored: try it again',
  unknown: 'it is not known whether the change was stored: compare the metadata with it before you try it again',
};

/** Error of a change whose commit was not confirmed. */
export function unconfirmed(outcome: keyof typeof UNCONFIRMED, cause: SvcError): SvcError {
  return unavailable(UNCONFIRMED[outcome], cause);
}

/** Error of a change while the metadata database cannot be reached. */
export function unavailable(message: string, cause: SvcError): SvcError {
  const internal = cause.internal === undefined ? {} : { internal: cause.internal };
  return new SvcError('unexpected', message, { status: 503, isTransient: true, cause, ...internal });
}

export class UncertainChange {
  readonly #options: UncertainChangeOptions;
  #change: { readonly draft: MetadataDraft; readonly before: Assembled } | undefined;

  constructor(options: UncertainChangeOptions) {
    this.#options = options;
  }

  get isPending(): boolean {
    return this.#change !== undefined;
  }

  begin(draft: MetadataDraft): void {
    this.#change = { draft, before: this.#options.now() };
  }

  /**
   * Settles the change within the request, because a broken connection is usually replaced at once. Later attempts run in the background.
   * @throws SvcError while the outcome cannot be read
   */
  async settleSoon(onWarning?: StateTransactionOptions['onWarning']): Promise<CommitOutcome> {
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
   * Reads whether the change was stored, and completes or undoes it.
   * @throws SvcError while the outcome cannot be read
   */
  async settle(onWarning?: StateTransactionOptions['onWarning']): Promise<CommitOutcome> {
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
    // The outcome is certain now; background repairs complete what fails here.
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

  /** Closes the connections that the change opened. */
  async close(): Promise<void> {
    await this.#change?.draft.close(this.#options.now());
  }
}

/** Returns the names of the sources in which a draft may have installed event triggers. */
export function sourcesTouchedBy({ touched }: MetadataDraft, { snapshot }: Assembled): readonly string[] {
  return [...snapshot.connections].flatMap(([name, connection]) => (touched.has(connection) ? [name] : []));
}
