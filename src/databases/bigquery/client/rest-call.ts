/** One call of BigQuery's REST interface: under a token, within a time, repeated where it fails in passing, and given up when nobody waits. */
import type { HttpAnswer, HttpCall, HttpClient } from '../../../backend/http-client.ts';
import { OutboundError } from '../../../http-client/outbound-error.ts';
import type { CancellationSource } from '../../../util/cancellation.ts';
import { type Json, printJson } from '../../../util/json.ts';
import { BigQueryError, connectionError, hasJobFailed, isPassingFailure, StatementCancelledError } from '../errors.ts';
import type { Target } from '../target.ts';
import { Tokens } from './token.ts';

/** When a statement is over, and what is told of it then. */
export interface Waiting {
  readonly cancellation: CancellationSource;
  /** epoch milliseconds */
  readonly deadline: number;
  /** @throws StatementCancelledError where it is over */
  check(): void;
}

/** One call of the interface. */
export interface Call<T> {
  /** Below `/bigquery/v2`. */
  readonly path: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly method: 'GET' | 'POST';
  readonly body: Json;
  /** ms */
  readonly timeout: number;
  /** Bytes of the answer at most. */
  readonly most: number;
  /** The call is about a job, which BigQuery may not find yet: status 404 may pass. */
  readonly ofJob?: boolean;
  /** `false`: the call is made once. */
  readonly isRepeated?: boolean;
  /** Returns the failure that a failed call stands for. */
  readonly meant?: (error: BigQueryError) => BigQueryError | Promise<BigQueryError>;
  /** @throws BigQueryError */
  read(status: number, body: Buffer): T | Promise<T>;
}

export interface Retries {
  readonly retryBaseDelayMs: number;
  readonly retryLimit: number;
}

/** Answers come with blanks for people otherwise. */
const COMPACT = { prettyPrint: 'false' };
/** ms */
const LONGEST_DELAY_MS = 32_000;

export class RestCalls {
  private readonly http: HttpClient;
  private readonly target: Target;
  private readonly retries: Retries;
  private readonly tokens: Tokens;

  constructor(http: HttpClient, target: Target, retries: Retries) {
    this.http = http;
    this.target = target;
    this.retries = retries;
    this.tokens = new Tokens(target.account, (call) => this.sent(call));
  }

  /** @throws BigQueryError, StatementCancelledError, SvcError */
  async call<T>(call: Call<T>, waiting: Waiting): Promise<T> {
    const { path, search, method, body, timeout, most, ofJob, isRepeated, meant = (error: BigQueryError) => error, read } = call;
    const url = `${this.target.endpoint}/bigquery/v2${path}?${new URLSearchParams({ ...search, ...COMPACT })}`;
    const text = body === null ? undefined : printJson(body);
    let refused = false;
    const attempt = async (): Promise<T> => {
      for (;;) {
        waiting.check();
        const token = await unlessOver(waiting, this.tokens.get());
        waiting.check();
        const answer = await this.sent(
          {
            url,
            method,
            headers: {
              authorization: `Bearer ${token}`,
              accept: 'application/json',
              ...(text === undefined ? {} : { 'content-type': 'application/json' }),
            },
            ...(text === undefined ? {} : { body: text }),
            timeout: Math.max(Math.min(timeout, waiting.deadline - Date.now()), 1),
            maxResponseSize: most,
            signal: waiting.cancellation,
          },
          waiting,
        );
        if (answer.status === 401 && !refused) {
          refused = true;
          this.tokens.forget(token);
          continue;
        }
        return await read(answer.status, answer.body);
      }
    };
    const once = async (): Promise<T> => {
      try {
        return await attempt();
      } catch (error) {
        throw error instanceof BigQueryError ? await meant(error) : error;
      }
    };
    // A job that has failed is not another one when it is asked for again.
    const mayPass = (error: BigQueryError): boolean => isPassingFailure(error) || (ofJob === true && error.status === 404);
    return this.repeated(waiting, (error) => isRepeated !== false && mayPass(error) && !hasJobFailed(error), once);
  }

  /** @param again whether what failed so is tried again, later each time @throws what the last attempt does, StatementCancelledError */
  async repeated<T>({ cancellation, deadline }: Waiting, again: (error: BigQueryError) => boolean, attempt: () => Promise<T>): Promise<T> {
    const { retryBaseDelayMs, retryLimit } = this.retries;
    for (let failures = 0; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof BigQueryError) || !again(error)) throw error;
        // Not all at the same time.
        const delay = Math.min(retryBaseDelayMs * 2 ** failures, LONGEST_DELAY_MS) * (0.5 + Math.random() / 2);
        if (failures >= retryLimit || Date.now() + delay >= deadline) throw error;
        await pause(delay, cancellation);
      }
    }
  }

  /** @throws StatementCancelledError, BigQueryError of status 599 where no answer came, SvcError where none can come */
  private async sent(call: HttpCall, waiting?: Waiting): Promise<HttpAnswer> {
    try {
      return await this.http.send(call);
    } catch (error) {
      waiting?.check();
      if (!(error instanceof OutboundError)) throw error;
      if (error.failure === 'cancelled') throw new StatementCancelledError('abort');
      if (error.failure === 'too-large') throw new BigQueryError(0, 'responseTooLarge', error.message);
      if (error.failure === 'invalid-url' || error.failure === 'refused-address') throw connectionError(error.message, error);
      throw new BigQueryError(599, 'connection', error.message);
    }
  }
}

/** What is waited for, or sooner that nobody waits any more. @throws StatementCancelledError */
export async function unlessOver<T>(waiting: Waiting, work: Promise<T>): Promise<T> {
  let leave = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    leave = waiting.cancellation.onCancel(() => {
      try {
        waiting.check();
        reject(new StatementCancelledError('abort'));
      } catch (error) {
        reject(error as Error);
      }
    });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    leave();
  }
}

export function pause(ms: number, cancellation: CancellationSource): Promise<void> {
  return new Promise((resolve) => {
    let forget = (): void => undefined;
    const end = (): void => {
      clearTimeout(timer);
      forget();
      resolve();
    };
    const timer = setTimeout(end, ms);
    forget = cancellation.onCancel(end);
  });
}

/**
 * @param isOver whether a timer has found the deadline to be over: it may fire a moment before the clock says so
 */
export function waitingOf(
  cancellation: CancellationSource,
  deadline: number,
  isAborted: () => boolean = () => false,
  isOver: () => boolean = () => false,
): Waiting {
  return {
    cancellation,
    deadline,
    check() {
      if (isAborted()) throw new StatementCancelledError('abort');
      if (isOver() || Date.now() >= deadline) throw new StatementCancelledError('deadline');
      if (cancellation.aborted) throw new StatementCancelledError('abort');
    },
  };
}
