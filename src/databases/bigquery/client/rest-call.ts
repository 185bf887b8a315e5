/** Calls of BigQuery's REST API, with an access token, a deadline, retries of transient failures and cancellation. */
import type { HttpAnswer, HttpCall, HttpClient } from '../../../backend/http-client.ts';
import { OutboundError } from '../../../http-client/outbound-error.ts';
import type { CancellationSource } from '../../../util/cancellation.ts';
import { type Json, printJson } from '../../../util/json.ts';
import { BigQueryError, connectionError, isTransientJobFailure, isTransientFailure, StatementCancelledError } from '../errors.ts';
import type { BigQueryTarget } from '../target.ts';
import { Tokens } from './token.ts';

/** Cancellation and deadline of a statement. */
export interface CallScope {
  readonly cancellation: CancellationSource;
  /** epoch milliseconds */
  readonly deadline: number;
  /** @throws StatementCancelledError after cancellation or the deadline */
  check(): void;
}

export interface RestCall<T> {
  /** Path below `/bigquery/v2`. */
  readonly path: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly method: 'GET' | 'POST';
  readonly body: Json;
  /** ms */
  readonly timeout: number;
  /** Maximum bytes of the response. */
  readonly maxBytes: number;
  /** Retries status 404: BigQuery may not find a new job yet. */
  readonly retriesNotFound?: boolean;
  /** `false` makes the call only once. */
  readonly isRetried?: boolean;
  /** Maps the error of a failed call to the failure behind it. */
  readonly interpretError?: (error: BigQueryError) => BigQueryError | Promise<BigQueryError>;
  /** @throws BigQueryError */
  read(status: number, body: Buffer): T | Promise<T>;
}

export interface Retries {
  readonly retryBaseDelayMs: number;
  readonly retryLimit: number;
}

/** Responses are indented otherwise. */
const COMPACT = { prettyPrint: 'false' };
const MAX_DELAY_MS = 32_000;

export class RestCalls {
  readonly #http: HttpClient;
  readonly #target: BigQueryTarget;
  readonly #retries: Retries;
  readonly #tokens: Tokens;

  constructor(http: HttpClient, target: BigQueryTarget, retries: Retries) {
    this.#http = http;
    this.#target = target;
    this.#retries = retries;
    this.#tokens = new Tokens(target.account, (call) => this.#send(call));
  }

  /** @throws BigQueryError, StatementCancelledError, SvcError */
  async call<T>(call: RestCall<T>, scope: CallScope): Promise<T> {
    const { path, search, method, body, timeout, maxBytes, retriesNotFound, isRetried = true, interpretError, read } = call;
    const url = `${this.#target.endpoint}/bigquery/v2${path}?${new URLSearchParams({ ...search, ...COMPACT })}`;
    const text = body === null ? undefined : printJson(body);
    let refused = false;
    const attempt = async (): Promise<T> => {
      for (;;) {
        scope.check();
        const token = await raceCancellation(scope, this.#tokens.get());
        scope.check();
        const answer = await this.#send(
          {
            url,
            method,
            headers: {
              authorization: `Bearer ${token}`,
              accept: 'application/json',
              ...(text === undefined ? {} : { 'content-type': 'application/json' }),
            },
            ...(text === undefined ? {} : { body: text }),
            timeout: Math.max(Math.min(timeout, scope.deadline - Date.now()), 1),
            maxResponseSize: maxBytes,
            signal: scope.cancellation,
          },
          scope,
        );
        if (answer.status === 401 && !refused) {
          refused = true;
          this.#tokens.invalidate(token);
          continue;
        }
        return await read(answer.status, answer.body);
      }
    };
    const interpreted = async (): Promise<T> => {
      try {
        return await attempt();
      } catch (error) {
        throw error instanceof BigQueryError && interpretError !== undefined ? await interpretError(error) : error;
      }
    };
    const isRetryable = (error: BigQueryError): boolean =>
      isRetried &&
      (isTransientFailure(error) || (retriesNotFound === true && error.status === 404)) &&
      // Another request for a failed job concerns the same job.
      !isTransientJobFailure(error);
    return this.retried(scope, isRetryable, interpreted);
  }

  /** Repeats retryable failures with exponential delays. @throws the last failure, or StatementCancelledError */
  async retried<T>(
    { cancellation, deadline }: CallScope,
    isRetryable: (error: BigQueryError) => boolean,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const { retryBaseDelayMs, retryLimit } = this.#retries;
    for (let failures = 0; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof BigQueryError) || !isRetryable(error)) throw error;
        // Jitter keeps parallel statements from retrying together.
        const delay = Math.min(retryBaseDelayMs * 2 ** failures, MAX_DELAY_MS) * (0.5 + Math.random() / 2);
        if (failures >= retryLimit || Date.now() + delay >= deadline) throw error;
        await pause(delay, cancellation);
      }
    }
  }

  /** @throws StatementCancelledError, BigQueryError with status 599 if no response came, SvcError if none can come */
  async #send(call: HttpCall, scope?: CallScope): Promise<HttpAnswer> {
    try {
      return await this.#http.send(call);
    } catch (error) {
      scope?.check();
      if (!(error instanceof OutboundError)) throw error;
      if (error.failure === 'cancelled') throw new StatementCancelledError('abort');
      if (error.failure === 'too-large') throw new BigQueryError(0, 'responseTooLarge', error.message);
      if (error.failure === 'invalid-url' || error.failure === 'refused-address') throw connectionError(error.message, error);
      throw new BigQueryError(599, 'connection', error.message);
    }
  }
}

/**
 * Resolves with the result of `work`, or rejects as soon as the statement is cancelled or its deadline passes.
 * @throws StatementCancelledError
 */
export async function raceCancellation<T>(scope: CallScope, work: Promise<T>): Promise<T> {
  let unsubscribe = (): void => undefined;
  const cancelled = new Promise<never>((_, reject) => {
    unsubscribe = onEarlyEnd(scope, reject);
  });
  try {
    return await Promise.race([work, cancelled]);
  } finally {
    unsubscribe();
  }
}

/** Calls `listener` with the reason if the statement ends early. @returns a function that unsubscribes */
export function onEarlyEnd(scope: CallScope, listener: (error: Error) => void): () => void {
  return scope.cancellation.onCancel(() => {
    try {
      scope.check();
    } catch (error) {
      listener(error as Error);
    }
  });
}

/** Resolves after `ms`, or as soon as `cancellation` is cancelled. */
export function pause(ms: number, cancellation: CancellationSource): Promise<void> {
  return new Promise((resolve) => {
    let unsubscribe = (): void => undefined;
    const end = (): void => {
      clearTimeout(timer);
      unsubscribe();
      resolve();
    };
    const timer = setTimeout(end, ms);
    unsubscribe = cancellation.onCancel(end);
  });
}

/** @param isOver reports that the deadline's timer has fired, which may happen a moment before the clock reaches the deadline */
export function callScope(
  cancellation: CancellationSource,
  deadline: number,
  isAborted: () => boolean = () => false,
  isOver: () => boolean = () => false,
): CallScope {
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
