/** Counts what goes over HTTP. */
import type { IncomingMessage } from 'node:http';
import type { CredentialPlace } from '../auth/credentials.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import { Histogram, WIDE_BOUNDS } from '../observability/metrics/histogram.ts';
import type { Counter, Registry } from '../observability/metrics/registry.ts';
import type { SocketTimes } from './answers.ts';
import type { OperationLabels } from '../pipeline/operation-counts.ts';

/** What a server knows of itself at any moment. */
export interface ServerState {
  readonly inFlight: number;
  readonly connections: number;
  readonly longLived: number;
  /** Bytes that websockets have sent and received since the start. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Bytes of request bodies since the start. */
  readonly bodyBytes: number;
  /** Bytes of `--result-memory` that are held, and that are expected. */
  readonly results: { readonly held: number; readonly expected: number };
}

/** In place of a route where there is none. */
export const UNKNOWN_ENDPOINT = 'unknown';

interface Cells {
  readonly method: string;
  readonly time: Histogram;
  /** By the first digit of the status. */
  readonly byStatus: (Counter | undefined)[];
}

/** Methods of strangers would be labels of their choice. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

export class HttpMeter {
  /** Of messages of websockets. */
  readonly socketTimes: SocketTimes = { queue: new Histogram(WIDE_BOUNDS), write: new Histogram(WIDE_BOUNDS) };
  /** Those of `sentOf`. */
  readonly #sent = new Set<Counter>();
  readonly #registry: Registry;
  readonly #cells = new Map<string, Map<string, Cells>>();
  /** What was counted last: most requests are alike. */
  #last: { readonly endpoint: string; readonly method: string | undefined; readonly cells: Cells } | null = null;
  readonly #responseBytes: Counter;
  readonly #accepted: Readonly<Record<CredentialPlace, Counter>>;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#responseBytes = registry.counter(METRICS.httpResponseBytes);
    const accepted = (place: CredentialPlace): Counter => registry.counter(METRICS.authRequests, place, 'accepted');
    this.#accepted = { browser: accepted('browser'), header: accepted('header'), none: accepted('none'), open: accepted('open') };
  }

  /** @param endpoint the route, never the path of a request */
  done(request: IncomingMessage, endpoint: string, status: number, seconds: number, size: number): void {
    const { method: given } = request;
    if (this.#last === null || this.#last.endpoint !== endpoint || this.#last.method !== given)
      this.#last = { endpoint, method: given, cells: this.#cellsOf(endpoint, given !== undefined && METHODS.has(given) ? given : 'other') };
    const { cells } = this.#last;
    const digit = Math.floor(status / 100);
    let counter = cells.byStatus[digit];
    if (counter === undefined) {
      counter = this.#registry.counter(METRICS.httpRequests, endpoint, cells.method, `${digit}xx`);
      cells.byStatus[digit] = counter;
    }
    counter.value += 1;
    cells.time.observe(seconds);
    if (endpoint !== UNKNOWN_ENDPOINT) this.#responseBytes.value += size;
  }

  /** For the bytes that a websocket gets of an operation. */
  sentOf(labels: OperationLabels): Counter {
    const counter = this.#registry.counter(METRICS.websocketSentBytes, ...labels);
    this.#sent.add(counter);
    return counter;
  }

  authenticated(place: CredentialPlace, isAccepted: boolean): void {
    if (isAccepted) this.#accepted[place].value += 1;
    else this.#registry.counter(METRICS.authRequests, place, 'refused').add();
  }

  /** From now on the server is asked when somebody asks. */
  watch(state: () => ServerState): void {
    const registry = this.#registry;
    const read = (metric: (typeof METRICS)[keyof typeof METRICS], of: (now: ServerState) => number): void =>
      registry.read(metric, () => [{ labels: [], value: of(state()) }]);
    read(METRICS.httpRequestsInFlight, ({ inFlight }) => inFlight);
    read(METRICS.httpConnections, ({ connections }) => connections);
    read(METRICS.httpRequestBytes, ({ bodyBytes }) => bodyBytes);
    read(METRICS.resultMemoryBytes, ({ results }) => results.held);
    read(METRICS.resultMemoryExpectedBytes, ({ results }) => results.expected);
    read(METRICS.websocketConnections, ({ longLived }) => longLived);
    registry.read(METRICS.websocketSentBytes, () => {
      let ofOperations = 0;
      for (const { value } of this.#sent) ofOperations += value;
      return [{ labels: ['', ''], value: state().sentBytes - ofOperations }];
    });
    read(METRICS.websocketReceivedBytes, ({ receivedBytes }) => receivedBytes);
    registry.read(METRICS.websocketQueueTime, () => [{ labels: [], value: this.socketTimes.queue }]);
    registry.read(METRICS.websocketWriteTime, () => [{ labels: [], value: this.socketTimes.write }]);
  }

  #cellsOf(endpoint: string, method: string): Cells {
    let methods = this.#cells.get(endpoint);
    if (methods === undefined) {
      methods = new Map();
      this.#cells.set(endpoint, methods);
    }
    let cells = methods.get(method);
    if (cells === undefined) {
      cells = { method, time: this.#registry.histogram(METRICS.httpRequestDuration, endpoint, method), byStatus: [] };
      methods.set(method, cells);
    }
    return cells;
  }
}
