import type { ResultBudget } from '../../../backend/result-budget.ts';
import type { CancelledError, ConnectionError, DatabaseError, PoolTimeoutError } from './database-error.ts';
import type { Bytes } from '../../../util/bytes.ts';
import type { Cancellation } from '../../../util/cancellation.ts';
import type { JsonRow } from '../../../backend/connection.ts';

/** One statement with the texts of its parameters. */
export interface WireStep {
  readonly text: string;
  readonly values: readonly (string | null)[];
  /** Never prepared under a name: it will not come again. */
  readonly once?: boolean;
  /** The text without tags, which tell one request from another. */
  readonly untagged?: string;
}

/** The result of a step whose rows were asked for as texts. */
export interface TextResult {
  columns: readonly string[] | null;
  readonly rows: (readonly (string | null)[])[];
  /** Command tag, such as `INSERT 0 1`. */
  command: string;
  /** There were more rows than `maxRows`. */
  isCut?: true;
}

export type Failure = DatabaseError | ConnectionError | CancelledError | PoolTimeoutError;

/**
 * What travels between two points of synchronisation: one or several statements and everything
 * that the server answers to them, up to ReadyForQuery. The session fills it in; `settle` is
 * called once, synchronously, when nothing more will come.
 */
export class WireExchange {
  /** `json`: the values of one row as they came, in pieces; `text`: all rows as strings; `simple`: the simple query protocol. */
  readonly mode: 'json' | 'text' | 'simple';
  readonly steps: readonly WireStep[];
  readonly settle: (exchange: WireExchange) => void;
  signal: Cancellation | undefined = undefined;
  /** The role that it is run for; empty: the service itself. */
  turn = '';
  /** epoch milliseconds; Infinity is none */
  deadline = Number.POSITIVE_INFINITY;

  /** One row per finished step (`json`), empty when the step returned none. */
  readonly rows: JsonRow[] = [];
  /** One result per finished step (`text`, `simple`). */
  readonly results: TextResult[] = [];
  /** Finished steps, or statements of a `simple` one. */
  completed = 0;
  failure: Failure | null = null;
  /** Under which its cost is known: the text of its main statement, without tags. */
  get costKey(): string {
    const main = this.steps[this.steps.length - 1] as WireStep;
    return main.untagged ?? main.text;
  }

  /** The caller is told of a cancellation at once; else when the server has answered. For repeatable reads. */
  releasesEarly = false;
  /** Why the caller no longer wants it. */
  cancelled: CancelledError | null = null;
  /** Or, where that is later, when the server began with it. */
  cancelledAt = 0;
  /** The server has been asked to stop it. */
  cancelSent = false;
  /** Stopped by a cancel request that was meant for another exchange. */
  accident = false;
  /** Names of statements whose Parse message is part of this exchange and not yet acknowledged. */
  parsing: string[] | null = null;
  settled = false;
  /** Milliseconds that the server was busy with it. */
  duration = 0;

  /** Most rows of a result that are kept (`text`, `simple`). */
  maxRows = Number.POSITIVE_INFINITY;
  /** Bytes that the values may have together (`text`, `simple`); what is more is not kept, and the statement is cancelled. */
  mostBytes = Number.POSITIVE_INFINITY;
  /** Of the values that came and were kept. */
  bytes = 0;
  /** What the values are kept in, beside that. */
  intake: ResultBudget | null = null;
  /** What is more than it takes is not kept, but the statement goes on: it writes. */
  goesOn = false;
  /** The intake takes no more. */
  refused: CancelledError | null = null;
  /** Gets all rows of the last step, where more than one is wanted (`json`). */
  collected: JsonRow[] | null = null;

  row: (readonly Bytes[] | null)[] | null = null;
  text: TextResult | null = null;

  constructor(mode: 'json' | 'text' | 'simple', steps: readonly WireStep[], settle: (exchange: WireExchange) => void) {
    this.mode = mode;
    this.steps = steps;
    this.settle = settle;
  }

  /** Index of the step that the server is working on, or has failed at. */
  get position(): number {
    return this.mode === 'json' ? this.rows.length : this.results.length;
  }
}
