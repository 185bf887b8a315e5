import type { Parameter } from '../sql/fragment.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { Bytes } from '../util/bytes.ts';
import type { Cancellation } from '../util/cancellation.ts';
import type { ResultBudget } from './result-budget.ts';
import type { QueryTags } from './query-tags.ts';
import type { Catalog, CatalogScope, QualifiedName, TableOverview } from '../catalog/catalog.ts';

export interface Statement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** Reads only plain tables and non-volatile functions: it may be pipelined and repeated. */
  readonly repeatable: boolean;
  /** Number of JSON columns in the single result row. */
  readonly columns: number;
}

export interface RunOptions {
  readonly signal?: Cancellation | undefined;
  /** Deadline in epoch milliseconds. */
  readonly deadline?: number | undefined;
  /** Role of the request, for fair queueing between roles. Absent for statements of the service itself. */
  readonly role?: string;
  /** Parent span; without one nothing is traced. */
  readonly trace?: Span | undefined;
  /** A read replica may answer. */
  readonly mayLag?: boolean;
  /** Description of the request for the statement's comment or labels. */
  readonly tags?: QueryTags | undefined;
  /** Called with the bytes that a statement has read, if the database bills them. */
  readonly onCost?: (cost: StatementCost) => void;
  /** Budget for the bytes of the answer. Default: unlimited. */
  readonly resultBudget?: ResultBudget | undefined;
}

/** Numbers of bytes; `null` if the database does not report them. */
export interface StatementCost {
  readonly processedBytes: number | null;
  readonly billedBytes: number | null;
}

/** Options for SQL with several statements. */
export interface RunSqlOptions extends RunOptions {
  /** Called before an error is thrown, with its place in the SQL as far as the database reports it. */
  readonly onFailure?: (at: SqlFailure) => void;
  /** Number of rows that are returned. Default: all. */
  readonly maxRows?: number;
  /** Maximum size of all rows together, in bytes. Default: `MAX_RESULT_BYTES`. */
  readonly maxBytes?: number;
  /** Makes a backslash in a plain string an ordinary character in the transaction, as the checks of the SQL text assume. */
  readonly standardStrings?: boolean;
}

export interface SqlFailure {
  /** Number of statements that completed before it. */
  readonly completed: number;
  /** Position in the text from 1, in code points; `null` if the statement failed during execution. */
  readonly position: number | null;
}

/** Column values of a result row as the database sent them; `null` is SQL NULL. */
export type JsonRow = readonly (readonly Bytes[] | null)[];

/** Rows of texts, for administration. */
export interface RunSqlResult {
  /** `TuplesOk` if the last statement returned rows. */
  readonly kind: 'CommandOk' | 'TuplesOk';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Command tag, such as `INSERT 0 1`. */
  readonly command: string;
  /** There were more rows than `maxRows`. */
  readonly isCut?: boolean;
}

export interface Connection {
  /** Runs a statement with bound texts and returns its single row. @throws SvcError */
  runJson(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow>;
  /** Returns the lines of `EXPLAIN (FORMAT TEXT)`. */
  explain(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<readonly string[]>;
  /** Runs one or several statements separated by `;`. */
  runSql(sql: string, options: RunSqlOptions): Promise<RunSqlResult>;
  /** Runs one statement with parameters and returns texts. For small queries of the service itself. */
  query(text: string, values: readonly (string | null)[], options?: StatementOptions): Promise<RunSqlResult>;
  introspect(scope?: CatalogScope, options?: RunOptions): Promise<Catalog>;
  /** Returns overviews of these tables, or of all, in no order. Absent if they cost as much as the catalog. */
  tableOverviews?(tables?: readonly QualifiedName[], options?: RunOptions): Promise<readonly TableOverview[]>;
  /**
   * Analyzes SQL without running it. Only for databases whose DDL commits implicitly and whose objects have no ids that survive a rename.
   */
  analyzeDryRun?(sql: string, before: Catalog): DryRunAnalysis;
}

/** Effect of SQL on a catalog, as far as its text shows it. */
export interface DryRunAnalysis {
  /** Expected catalog; the same object as before if nothing changes. */
  readonly catalog: Catalog;
  /** Returns the catalog found after the SQL has run, with the ids that its objects had before, also if they were renamed. */
  recognize(found: Catalog): Catalog;
}

/** Session settings that functions and triggers of the database read, by name: `svc.user`. */
export type SessionSettings = readonly (readonly [name: string, value: string])[];

export interface StatementOptions extends RunOptions {
  /** Settings for the statement, or in a transaction for the rest of it. PostgreSQL only. */
  readonly settings?: SessionSettings;
}
