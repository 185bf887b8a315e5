import type { Span } from '../observability/tracing/span.ts';
import type { PromptCancellation } from '../util/cancellation.ts';

/** What a call is for. */
export type CallKind = 'auth' | 'action' | 'event' | 'cron' | 'oneoff' | 'remote_schema' | 'validation' | 'telemetry';

export interface OutboundRequest {
  /** For whoever counts calls. */
  readonly kind?: CallKind;
  /** `http:` or `https:`; user and password in it become basic authentication. */
  readonly url: string;
  /** The URL as the metadata write it: what its path has from the environment is in no trace. Absent: it has nothing from there. */
  readonly template?: string | undefined;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** ms for the whole call, redirects and the body of the answer included */
  readonly timeout: number;
  /** bytes */
  readonly maxResponseSize: number;
  /** A body that is larger is cut off there, rather than no answer at all. */
  readonly cutLargeResponse?: boolean;
  /** Hears of the bytes of the answer as they come; false: they are too many, together with those of other calls. */
  readonly take?: (bytes: number) => boolean;
  /** Hears of them too; a promise: nothing more is read before that. The time of the call goes on. */
  readonly hold?: (bytes: number) => Promise<void> | null;
  readonly signal?: PromptCancellation;
  /** The call goes to the metadata server of the platform, which has a link-local address. Never set for URLs of metadata. */
  readonly metadataServer?: true;
  /** What it is a part of. */
  readonly trace?: Span | undefined;
}

export interface OutboundResponse {
  readonly status: number;
  /** Lower-case names; a list for a header that came more than once. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** The body was larger. */
  readonly isCut?: true;
}
