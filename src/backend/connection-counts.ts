/** What a pool counts of its connections to one server, since the source was opened: plain fields, whoever asks reads them. */
import { FETCH_BOUNDS, Histogram, WAIT_BOUNDS, WIDE_BOUNDS } from '../observability/metrics/histogram.ts';

export class ConnectionCounts {
  /** Seconds. */
  readonly initTime = new Histogram(WIDE_BOUNDS);
  readonly waitTime = new Histogram(WAIT_BOUNDS);
  readonly queryTime = new Histogram(FETCH_BOUNDS);
  /** Connections that could not be opened or broke. */
  errors = 0;
  /** Statements that got no connection in time. */
  timeouts = 0;
  /** Statements whose time was over. */
  late = 0;
  /** Statements that nobody waited for any more. */
  abandoned = 0;
  /** Queries that the primary had to answer for it; of a replica. */
  fallbacks = 0;
  /** Bytes that statements have read and that are charged for, where a database says so. */
  processedBytes = 0;
  billedBytes = 0;
}

/** The connections to one server, now. */
export interface ServerMeasures {
  /** Sort of server, which names its metrics: `postgres`. */
  readonly family: string;
  readonly role: 'primary' | 'replica';
  readonly used: number;
  readonly idle: number;
  readonly most: number;
  /** Statements that wait for a connection. */
  readonly pending: number;
  readonly counts: ConnectionCounts;
}
