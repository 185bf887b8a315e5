/** What a kind of database that is called by HTTP needs of a client: the one for all calls out fulfils it. */
import type { PromptCancellation } from '../util/cancellation.ts';

export interface HttpCall {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** ms for the whole call */
  readonly timeout: number;
  /** bytes */
  readonly maxResponseSize: number;
  readonly signal?: PromptCancellation;
  /** The call goes to the metadata server of the platform, which has a link-local address. Never set for URLs of metadata. */
  readonly metadataServer?: true;
}

export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface HttpClient {
  /** @throws when there is no answer; an answer of any status is no failure */
  send(call: HttpCall): Promise<HttpAnswer>;
}
