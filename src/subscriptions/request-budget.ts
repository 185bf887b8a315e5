/** Limits the memory for the requests of open subscriptions, which are stored to be planned again. */
import { SvcError } from '../errors/svc-error.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import { jsonSizeWithin } from '../util/json-size.ts';

/** Size of a request that does not count, in characters. */
const SMALL = 4096;

export class RequestBudget {
  readonly #limit: number;
  #used = 0;

  /** @param limit maximum size of all requests together, in characters, small ones excluded */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Counts a request. Returns a function that releases its memory, to be called once.
   * @throws SvcError busy
   */
  take({ query, variables }: Pick<GraphqlRequest, 'query' | 'variables'>): () => void {
    const left = this.#limit - this.#used;
    const size = Math.max(0, query.length + jsonSizeWithin(variables, left + SMALL) - SMALL);
    if (size > left) throw new SvcError('busy', 'too many subscriptions with large documents or variables are open', { status: 503 });
    this.#used += size;
    return () => {
      this.#used -= size;
    };
  }
}
