/** HTTP client for kinds with an HTTP interface. Types only. */
import type { PromptCancellation } from '../util/cancellation.ts';

export interface HttpCall {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Timeout for the whole call, in milliseconds. */
  readonly timeout: number;
  /** Maximum size of the response body, in bytes. */
  readonly maxResponseSize: number;
  readonly signal?: PromptCancellation;
  /** Allows the link-local address of the platform's metadata server. Never set for URLs from metadata. */
  readonly metadataServer?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface HttpClient {
  /** Resolves with the response, whatever its status. @throws if there is none */
  send(call: HttpCall): Promise<HttpAnswer>;
}
