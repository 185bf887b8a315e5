import type { ResultBudget } from '../../../backend/result-budget.ts';
import type { CancelledError, ConnectionError, DatabaseError, PoolTimeoutError } from './database-error.ts';
import type { Bytes } from '../../../util/bytes.ts';
import type { Cancellation } from '../../../util/cancellation.ts';
import type { JsonRow } from '../../../backend/connection.ts';

/** One statement with the texts of its parameters. */
export interface WireStep {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Never prepared: the statement serves one request. */
  readonly once?: boolean;
  /** Text without the tags of the request. */
  readonly untagged?: string;
}

/** Result of a step with rows of texts. */
export interface TextResult {
  columns: readonly string[] | null;
  readonly rows: (readonly (string | null)[])[];
  /** Command tag, such as `INSERT 0 1`. */
  command: string;
  /** There were more rows than `maxRows`. */
  isCut?: boolean;
}

export type Failure = DatabaseError | ConnectionError | CancelledError | PoolTimeoutError;

/**
 * One or several statements and all responses of the server up to ReadyForQuery. The session sets the results, and calls `settle` once,
 * synchronously, at the end.
 */
export class WireExchange {
  /** `json`: the values of one row as received, in pieces; `text`: all rows as strings; `simple`: the simple query protocol. */
  readonly mode: 'json' | 'text' | 'simple';
  readonly steps: readonly WireStep[];
  readonly settle: (exchange: WireExchange) => void;
  signal: Cancellation | undefined = undefined;
  /** Role of the request; empty for the service itself. */
  role = '';
  /** In epoch milliseconds; Infinity for none. */
  deadline = Number.POSITIVE_INFINITY;

  /** One row per finished step (`json`), empty if the step returned none. */
  readonly rows: JsonRow[] = [];
  /** One result per finished step (`text`, `simple`). */
  readonly results: TextResult[] = [];
  /** Number of finished steps, or of finished statements of `simple`. */
  completed = 0;
  failure: Failure | null = null;
  /** Key of its cost: the text of its main statement, without tags. */
  get costKey(): string {
    const main = this.steps[this.steps.length - 1] as WireStep;
    return main.untagged ?? main.text;
  }

  /** True if a cancellation settles it at once, instead of after the server's answer. For repeatable reads. */
  releasesEarly = false;
  /** Set when it is cancelled. */
  cancelled: CancelledError | null = null;
  /** Time of the cancellation, or of the start on the server if that is later. */
  cancelledAt = 0;
  /** True if a cancel request has been sent. */
  cancelSent = false;
  /** True if a cancel request for another exchange stopped it. */
  accident = false;
  /** Names of statements whose Parse message is part of this exchange and not acknowledged yet. */
  parsing: string[] | null = null;
  settled = false;
  /** Time that the server is expected to take, in milliseconds; 0 if it is unknown. More for a statement that is slow for some values. */
  expected = 0;
  /** Time that the server took, in milliseconds. */
  duration = 0;
  /** Time that the server had taken when it was cancelled, in milliseconds. */
  ran = 0;

  /** Maximum number of rows to return of a result (`text`, `simple`). */
  maxRows = Number.POSITIVE_INFINITY;
  /** Maximum size of all values (`text`, `simple`), in bytes. Further values are dropped, and the statement is cancelled. */
  maxBytes = Number.POSITIVE_INFINITY;
  /** Size of the collected values, in bytes. */
  bytes = 0;
  /** Budget for the values. */
  resultBudget: ResultBudget | null = null;
  /** True if the statement writes: values beyond the budget are dropped, but it is not cancelled. */
  continues = false;
  /** Set when the budget is exceeded. */
  refused: CancelledError | null = null;
  /** Collects all rows of the last step (`json`). */
  collected: JsonRow[] | null = null;

  row: (readonly Bytes[] | null)[] | null = null;
  text: TextResult | null = null;

  constructor(mode: 'json' | 'text' | 'simple', steps: readonly WireStep[], settle: (exchange: WireExchange) => void) {
    this.mode = mode;
    this.steps = steps;
    this.settle = settle;
  }

  /** Index of the step that the server executes, or that failed. */
  get position(): number {
    return this.mode === 'json' ? this.rows.length : this.results.length;
  }
}
