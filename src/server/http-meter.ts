/** Metrics of HTTP. */
import type { IncomingMessage } from 'node:http';
import type { CredentialPlace } from '../auth/credentials.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import { Histogram, WIDE_BOUNDS } from '../observability/metrics/histogram.ts';
import type { Counter, Registry } from '../observability/metrics/registry.ts';
import type { SocketTimes } from './pending-responses.ts';
import type { OperationLabels } from '../pipeline/operation-counts.ts';

/** Current state of the server. */
export interface ServerState {
  readonly inFlight: number;
  readonly connections: number;
  readonly longLived: number;
  /** Bytes that websockets have sent and received since the start. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Bytes of request bodies since the start. */
  readonly bodyBytes: number;
  /** Used and reserved bytes of `--result-memory`. */
  readonly results: { readonly used: number; readonly reserved: number };
}

/** Label for requests without a route. */
export const UNKNOWN_ENDPOINT = 'unknown';

interface EndpointMetrics {
  readonly method: string;
  readonly time: Histogram;
  /** Counters by the first digit of the status. */
  readonly byStatus: (Counter | undefined)[];
}

/** Known methods: others would let clients create arbitrary labels. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

export class HttpMeter {
  /** Times of websocket messages. */
  readonly socketTimes: SocketTimes = { queue: new Histogram(WIDE_BOUNDS), write: new Histogram(WIDE_BOUNDS) };
  /** Counters returned by `sentOf`. */
  readonly #sent = new Set<Counter>();
  readonly #registry: Registry;
  readonly #byEndpoint = new Map<string, Map<string, EndpointMetrics>>();
  /** Metrics of the last request, which the next one often shares. */
  #last: { readonly endpoint: string; readonly method: string | undefined; readonly metrics: EndpointMetrics } | null = null;
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
    const { method } = request;
    if (this.#last === null || this.#last.endpoint !== endpoint || this.#last.method !== method)
      this.#last = { endpoint, method, metrics: this.#metricsOf(endpoint, method !== undefined && METHODS.has(method) ? method : 'other') };
    const { metrics } = this.#last;
    const digit = Math.floor(status / 100);
    let counter = metrics.byStatus[digit];
    if (counter === undefined) {
      counter = this.#registry.counter(METRICS.httpRequests, endpoint, metrics.method, `${digit}xx`);
      metrics.byStatus[digit] = counter;
    }
    counter.value += 1;
    metrics.time.observe(seconds);
    if (endpoint !== UNKNOWN_ENDPOINT) this.#responseBytes.value += size;
  }

  /** Returns the counter for bytes that websockets send for an operation. */
  sentOf(labels: OperationLabels): Counter {
    const counter = this.#registry.counter(METRICS.websocketSentBytes, ...labels);
    this.#sent.add(counter);
    return counter;
  }

  authenticated(place: CredentialPlace, isAccepted: boolean): void {
    if (isAccepted) this.#accepted[place].value += 1;
    else this.#registry.counter(METRICS.authRequests, place, 'refused').add();
  }

  /** Registers the source of gauges, which is read when metrics are collected. */
  watch(state: () => ServerState): void {
    const registry = this.#registry;
    const read = (metric: (typeof METRICS)[keyof typeof METRICS], of: (now: ServerState) => number): void =>
      registry.read(metric, () => [{ labels: [], value: of(state()) }]);
    read(METRICS.httpRequestsInFlight, ({ inFlight }) => inFlight);
    read(METRICS.httpConnections, ({ connections }) => connections);
    read(METRICS.httpRequestBytes, ({ bodyBytes }) => bodyBytes);
    read(METRICS.resultMemoryBytes, ({ results }) => results.used);
    read(METRICS.resultMemoryExpectedBytes, ({ results }) => results.reserved);
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

  #metricsOf(endpoint: string, method: string): EndpointMetrics {
    let byMethod = this.#byEndpoint.get(endpoint);
    if (byMethod === undefined) {
      byMethod = new Map();
      this.#byEndpoint.set(endpoint, byMethod);
    }
    let metrics = byMethod.get(method);
    if (metrics === undefined) {
      metrics = { method, time: this.#registry.histogram(METRICS.httpRequestDuration, endpoint, method), byStatus: [] };
      byMethod.set(method, metrics);
    }
    return metrics;
  }
}
