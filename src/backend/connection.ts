import type { Parameter } from '../sql/fragment.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { Bytes } from '../util/bytes.ts';
import type { Cancellation } from '../util/cancellation.ts';
import type { ResultBudget } from './result-budget.ts';
import type { QueryTags } from './query-tags.ts';
import type { Catalog, CatalogScope, QualifiedName, SurveyedTable } from '../catalog/catalog.ts';

export interface Statement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** Only reads plain tables and non-volatile functions: may be pipelined and repeated. */
  readonly repeatable: boolean;
  /** Number of JSON columns in the single result row. */
  readonly columns: number;
}

export interface RunOptions {
  readonly signal?: Cancellation | undefined;
  /** epoch milliseconds */
  readonly deadline?: number | undefined;
  /** The role that it is run for: where statements have to wait, roles take turns. Absent: the service itself. */
  readonly turn?: string;
  /** What it is a part of; absent: nothing is traced. */
  readonly trace?: Span | undefined;
  /** A copy of the database that is a little behind may answer. */
  readonly mayLag?: boolean;
  /** What the statement is to say of the request that it is for. */
  readonly tags?: QueryTags | undefined;
  /** Told what a statement has read, where the database charges for that. */
  readonly onCost?: (cost: StatementCost) => void;
  /** What the answer is kept in; of SQL of administrators too. Absent: nobody counts it. */
  readonly intake?: ResultBudget | undefined;
}

/** Bytes; null where the database does not say. */
export interface StatementCost {
  readonly processedBytes: number | null;
  readonly billedBytes: number | null;
}

/** How SQL of several statements is run. */
export interface RunSqlOptions extends RunOptions {
  /** Is told where the database failed, as far as it says that; before the failure is thrown. */
  readonly onFailure?: (at: SqlFailure) => void;
  /** Of rows beyond these nothing is kept. Absent: all are. */
  readonly maxRows?: number;
  /** Bytes that all rows may have together, beyond which it fails. Absent: `MOST_RESULT_BYTES`. */
  readonly mostBytes?: number;
  /** In a transaction: a backslash in a plain string is a character like any other, whatever the session says; so whoever looked at the text before has read it alike. */
  readonly standardStrings?: boolean;
}

export interface SqlFailure {
  /** Statements of the text that were done before. */
  readonly done: number;
  /** The character in the text, from 1, counted in code points; null: the statement failed while it ran. */
  readonly position: number | null;
}

/** Column values of the one result row as they came from the database; null is SQL NULL. */
export type JsonRow = readonly (readonly Bytes[] | null)[];

/** Text protocol rows, for administration. */
export interface RunSqlResult {
  /** `TuplesOk` when the last statement returned rows. */
  readonly kind: 'CommandOk' | 'TuplesOk';
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Command tag, such as `INSERT 0 1`. */
  readonly command: string;
  /** There were more rows than wanted. */
  readonly isCut?: true;
}

export interface Connection {
  /** Runs a statement with bound texts and returns its single row. Throws `SvcError`. */
  runJson(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<JsonRow>;
  /** Plan lines of `EXPLAIN (FORMAT TEXT)`. */
  explain(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<readonly string[]>;
  /** One or several statements separated by `;`. */
  runSql(sql: string, how: RunSqlOptions): Promise<RunSqlResult>;
  /** One statement with parameters, text results. For the service's own small queries. */
  query(text: string, values: readonly (string | null)[], how?: StatementOptions): Promise<RunSqlResult>;
  introspect(scope?: CatalogScope, how?: RunOptions): Promise<Catalog>;
  /** Tells of these tables, or of all, what is quickly told, in no order; absent where that is no less than the catalog. */
  survey?(tables?: readonly QualifiedName[], how?: RunOptions): Promise<readonly SurveyedTable[]>;
  /** What SQL will do to what is there; where definitions stand whatever becomes of their transaction, and objects have no ids that outlive new names. */
  foresee?(sql: string, before: Catalog): Foresight;
}

/** As far as the text of the SQL tells. */
export interface Foresight {
  /** The object that was given, where nothing changes. */
  readonly catalog: Catalog;
  /** What is found after the SQL has run; with the ids that its objects had before, also under new names. */
  recognize(found: Catalog): Catalog;
}

/** Values that functions and triggers of the database read in a session, by name: `svc.user`. */
export type SessionSettings = readonly (readonly [name: string, value: string])[];

export interface StatementOptions extends RunOptions {
  /** Hold for the statement and, in a transaction, for the rest of that. Of PostgreSQL alone. */
  readonly settings?: SessionSettings;
}
