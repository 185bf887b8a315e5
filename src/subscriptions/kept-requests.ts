/** What subscriptions were asked for is kept as long as they run: it may not fill the memory. */
import { SvcError } from '../errors/svc-error.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import { jsonSizeWithin } from '../util/json-size.ts';

/** Characters of a request that do not count. */
const SMALL = 4096;

export class KeptRequests {
  readonly #limit: number;
  #held = 0;

  /** @param limit characters of all requests together, small ones aside */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Makes room for a request.
   * @returns gives it back; to be called once
   * @throws SvcError busy
   */
  take({ query, variables }: Pick<GraphqlRequest, 'query' | 'variables'>): () => void {
    const left = this.#limit - this.#held;
    const size = Math.max(0, query.length + jsonSizeWithin(variables, left + SMALL) - SMALL);
    if (size > left) throw new SvcError('busy', 'too many subscriptions with large documents or variables are open', { status: 503 });
    this.#held += size;
    return () => {
      this.#held -= size;
    };
  }
}
