import type { Span } from '../observability/tracing/span.ts';
import type { PromptCancellation } from '../util/cancellation.ts';

/** Purpose of a call. */
export type CallKind = 'auth' | 'action' | 'event' | 'cron' | 'oneoff' | 'remote_schema' | 'validation' | 'telemetry';

export interface OutboundRequest {
  /** Purpose, for metrics. */
  readonly kind?: CallKind;
  /** `http:` or `https:`; user and password in it become basic authentication. */
  readonly url: string;
  /** The URL as written in the metadata, so that traces do not contain path segments from environment variables. Absent if it has none. */
  readonly template?: string | undefined;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Timeout for the whole call, redirects and the body of the response included, in ms. */
  readonly timeout: number;
  /** In bytes. */
  readonly maxResponseSize: number;
  /** Truncates a larger body instead of rejecting the response. */
  readonly cutLargeResponse?: boolean;
  /** Called with the size of each piece of the body; `false` rejects the response as too large, e.g. together with other calls. */
  readonly onBytes?: (bytes: number) => boolean;
  /** Reserves memory for each piece of the body. While the promise is pending, reading pauses; the timeout goes on. */
  readonly reserveMemory?: (bytes: number) => Promise<void> | null;
  readonly signal?: PromptCancellation;
  /** The call goes to the platform's metadata server, which has a link-local address. Never set for URLs from the metadata. */
  readonly metadataServer?: boolean;
  /** Parent span. */
  readonly trace?: Span | undefined;
}

export interface OutboundResponse {
  readonly status: number;
  /** Names in lower case; a list if a header occurs more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** The body was truncated. */
  readonly isCut?: boolean;
}
