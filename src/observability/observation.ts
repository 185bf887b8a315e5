/**
 * Everything worth telling, as one union. Code reports observations; the logger (and, when they
 * exist, metrics and tracing) subscribe. Nobody calls a logger directly.
 */
export type Observation =
  | { readonly kind: 'startup'; readonly message: string; readonly info?: Readonly<Record<string, unknown>> }
  | { readonly kind: 'shutdown'; readonly message: string }
  | HttpObservation
  | { readonly kind: 'source'; readonly source: string; readonly event: string; readonly message: string }
  | { readonly kind: 'metadata'; readonly message: string; readonly info?: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unexpected'; readonly message: string; readonly error: unknown };

export interface HttpObservation {
  readonly kind: 'http';
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly ip: string;
  readonly status: number;
  readonly role: string | null;
  readonly userVariables: ReadonlyMap<string, string> | null;
  readonly mode: 'single' | 'batched' | 'non-graphql' | 'error';
  readonly operationName: string | null;
  readonly responseSize: number;
  /** seconds */
  readonly duration: number;
  readonly encoding: string | null;
  /** Set when the request failed. */
  readonly error: { readonly path: string; readonly code: string; readonly message: string } | null;
}

export type Observer = (observation: Observation) => void;
