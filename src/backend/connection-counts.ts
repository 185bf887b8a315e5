/** Counters of the connections to one server since the source was opened. */
import { FETCH_BOUNDS, Histogram, WAIT_BOUNDS, WIDE_BOUNDS } from '../observability/metrics/histogram.ts';

export class ConnectionCounts {
  /** Histograms of seconds. */
  readonly initTime = new Histogram(WIDE_BOUNDS);
  readonly waitTime = new Histogram(WAIT_BOUNDS);
  readonly queryTime = new Histogram(FETCH_BOUNDS);
  /** Connections that could not be opened or broke. */
  errors = 0;
  /** Statements for which no connection became free in time. */
  timeouts = 0;
  /** Statements whose deadline passed. */
  timedOut = 0;
  /** Statements that the caller cancelled. */
  cancelled = 0;
  /** Queries of a replica that the primary answered after it failed. */
  fallbacks = 0;
  /** Bytes that statements read and bytes that are billed, for databases that report them. */
  processedBytes = 0;
  billedBytes = 0;
}

/** State of the connections to one server. */
export interface ServerMeasures {
  /** Prefix of its metrics: `postgres`. */
  readonly family: string;
  readonly role: 'primary' | 'replica';
  readonly used: number;
  readonly idle: number;
  readonly maxConnections: number;
  /** Statements that wait for a connection. */
  readonly pending: number;
  readonly counts: ConnectionCounts;
}
