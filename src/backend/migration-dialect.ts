/** SQL of migrations for a kind. All texts are for `run_sql`. */
import type { QualifiedName } from '../catalog/catalog.ts';
import type { SqlLexis } from '../model/sql-lexis.ts';
import type { JsonObject } from '../util/json.ts';

/** An applied migration as an entry of the history. */
export interface NewEntry {
  readonly version: bigint;
  readonly name: string;
  readonly checksum: string;
  readonly down: string | null;
}

export interface Limits {
  /** In milliseconds. Defaults to that of the source. */
  readonly statementTimeoutMs?: number | undefined;
  readonly lockTimeoutMs?: number | undefined;
}

/**
 * History of migrations and seeds, stored in the database that is migrated: where definitions are transactional, it is written in the
 * transaction of the migration, and the two cannot disagree.
 */
export interface MigrationHistory {
  /** Query with one cell: `1` if the history has been created, else `0`. */
  readonly exists: string;
  /** Query with one cell: a JSON list of all entries. */
  readonly entries: string;
  /** Query with one cell: why the role cannot write the history and what permits it, or nothing. Absent if the role always can, or not known. */
  readonly missingPrivilege?: string;
  /** Query with one cell: `1` while a run holds the lock, else `0`. */
  readonly locked: string;
  /** Query with one cell: a JSON list of the seeds that were run once. */
  readonly seeds: string;
  /** Puts SQL in one transaction that takes the lock, or fails with `locked`, and creates the history if needed. */
  inTransaction(limits: Limits, sql: string): string;
  /** Does the same without a transaction around the SQL; the session holds the lock. */
  inSession(limits: Limits, sql: string): string;
  /**
   * Fails with `done` if the version is applied, with `dirty` if it is dirty: the caller holds the lock, so no run is still applying it.
   */
  refuseApplied(version: bigint): string;
  /** Fails with `gone` if the version has no entry. */
  refuseMissing(version: bigint): string;
  insert(entry: NewEntry, options: { readonly dirty: boolean }): string;
  /** Clears dirty after the last statement, and records the duration. */
  markApplied(version: bigint): string;
  /** Marks an entry before its SQL is undone without a transaction. */
  markDirty(version: bigint): string;
  clearDirty(version: bigint): string;
  /** Marks a dirty entry after its first statement: its duration is negative from then on. */
  markBegun(version: bigint): string;
  remove(version: bigint): string;
  /** Fails with `done` if the seed was run once. */
  refuseSeed(name: string): string;
  insertSeed(name: string, checksum: string): string;
}

/** Messages of the errors that a history raises. */
export const REFUSALS = {
  locked: 'svc: locked',
  done: 'svc: applied already',
  gone: 'svc: not applied',
  dirty: 'svc: began and did not end',
} as const;

export type Refusal = keyof typeof REFUSALS;

/**
 * Returns the refusal in a database's message; `undefined` if something else failed. All refusals of a kind have one SQLSTATE, so the message
 * tells them apart.
 */
export function historyRefusalOf(message: string): Refusal | undefined {
  return (Object.keys(REFUSALS) as Refusal[]).find((refusal) => message.includes(REFUSALS[refusal]));
}

export interface ScannedStatement {
  readonly text: string;
  /** Index of the first character in the whole text. */
  readonly at: number;
  /** Line of the first character after comments, from 1. */
  readonly line: number;
  /** First words in lower case, without comments. */
  readonly words: readonly string[];
}

export interface ScannedSql {
  readonly statements: readonly ScannedStatement[];
  /** Statements that cannot run inside a transaction. */
  readonly outside: readonly ScannedStatement[];
  /** `begin`, `commit` and the like. */
  readonly control: readonly ScannedStatement[];
  /** Commands of a client, which the database does not read. */
  readonly foreign: readonly { readonly line: number; readonly what: string; readonly client: string }[];
  /** Values that are added to an enum and used later in the same text. */
  readonly enumValues: readonly { readonly line: number; readonly value: string }[];
  /** Text without the one `begin` and `commit` around it; `undefined` if they are not around all of it. */
  readonly unwrapped: string | undefined;
  /** Text without any `begin` and `commit`, for one transaction in their place; `undefined` if something may be rolled back. */
  readonly joined: string | undefined;
}

/** Recovery for databases in which definitions commit implicitly. */
export interface ImplicitCommits {
  /** Returns the index after the first statement and its semicolon; `undefined` if it is not clear, or the statement may run in part. */
  endOfFirst(sql: string): number | undefined;
  /** Returns whether the database reports such an error before the statement changes anything. */
  isRefusedAtOnce(sqlState: string): boolean;
}

/** Statements for a database that holds nothing but the objects of a trial. */
export interface ScratchDialect {
  /** Query with one cell: `1` if the database holds nothing, else `0`. */
  readonly empty: string;
  /** Query with one cell: the state that `clear` has to keep or to restore. Run while the database is empty. */
  readonly baseline: string;
  /** Returns SQL that removes everything else. @param baseline the cell of `baseline` */
  clear(baseline: string): string;
}

/** Trials of SQL in a transaction of a source that always fails, with the result in its message after `marker`. */
export interface RollbackDialect {
  readonly marker: string;
  /** The result is a JSON list of the lines of the schema after the SQL. */
  linesAfter(sql: string): string;
  /**
   * The result is a JSON list of two differences, `{left, lost}`: before `up` against after `down`, and after the first `up` against
   * after the second.
   */
  upDownUp(before: string, up: string, down: string, maxLines: number): string;
  /** SQL before the first migration of a plan, for `probe`. */
  prelude(limits: Limits): string;
  /**
   * Query for the tables that were there before the plan and are locked now. A row each, in the order of their names: name, strongest
   * mode, operations that wait for it (`reads and writes`, `writes` or empty), and `t` if all of its rows are rewritten.
   */
  readonly probe: string;
}

/** Runs one read-only statement. Returns its rows without the header; SQL NULL is the text `NULL`. */
export type Query = (sql: string) => Promise<readonly (readonly string[])[]>;

/** Access of a dump to the database of a source. */
export interface DumpContext {
  /** Name of the source. */
  readonly source: string;
  readonly rows: Query;
  /** Returns an error to throw. */
  failure(code: 'not-exists' | 'not-supported' | 'seed' | 'server', message: string): Error;
}

export interface SchemaDump {
  readonly sql: string;
  /** Objects that the dump does not contain. */
  readonly omitted: readonly string[];
}

/** One direction of a difference between two schemas. */
export interface SchemaDiffScript {
  /** Empty if there is nothing to change. */
  readonly sql: string;
  /** Differences that the SQL names in comments only. */
  readonly omitted: readonly string[];
}

export interface SchemaDiff {
  readonly up: SchemaDiffScript;
  /** Leads back from what `up` does, without the parts that are comments in `up`. */
  readonly down: SchemaDiffScript;
}

export interface NeededExtension {
  readonly name: string;
  readonly schema: string;
  /** Functions that the SQL calls and the database lacks. */
  readonly functions: readonly string[];
  readonly sql: string;
}

export interface MigrationDialect {
  readonly history: MigrationHistory;
  readonly lexis: SqlLexis;
  scan(sql: string): ScannedSql;
  /** Returns SQL that a statement may follow; empty or blank if it has no statement. */
  terminated(sql: string): string;
  /** Returns SQL with one blank in place of whitespace and comments. Absent if projects of other engines have no such SQL. */
  withoutComments?(sql: string): string;
  /** Present if and only if definitions are not transactional. */
  readonly implicitCommits?: ImplicitCommits;
  /** Query with one column: the lines of the schema, for comparison. */
  readonly schemaLines: string;
  /** Present if migrations can be tried in a separate database. */
  readonly scratch?: ScratchDialect;
  /** Present if migrations can be tried in transactions that are rolled back. */
  readonly rollback?: RollbackDialect;
  /**
   * Returns SQL that creates the schema.
   * @param schemas only these; empty: all but those of the system and of services
   * @param filled tables whose rows are written too
   */
  dumpSchema?(context: DumpContext, schemas: readonly string[], filled: readonly QualifiedName[]): Promise<SchemaDump>;
  /** Returns the SQL that leads from the schema of one database to that of another, and back. */
  diffSchemas?(from: DumpContext, to: DumpContext): Promise<SchemaDiff>;
  /** Returns the rows of a table as `insert` statements. @param upsert whether existing rows with the same key are overwritten */
  dumpRows(context: DumpContext, table: string, upsert: boolean): Promise<string>;
  /** Returns whether one of the tables exists and has no rows. Present if `Capabilities.enumTables`. */
  hasEmpty?(rows: Query, tables: readonly QualifiedName[]): Promise<boolean>;
  /**
   * Returns the extension that SQL needs and the database lacks, if it is one that other engines create by themselves.
   * @param entry of the source in a metadata document
   * @param texts SQL in the order in which it runs
   * @param cell runs a query in the database and returns its one cell
   */
  neededExtension?(
    entry: JsonObject,
    texts: readonly string[],
    cell: (sql: string) => Promise<string>,
  ): Promise<NeededExtension | undefined>;
}
