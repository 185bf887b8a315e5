/**
 * The contract that a database kind fulfils: types only. Data before methods: operators, aggregates (`type-system.ts`)
 * and flags are tables that the core reads to build GraphQL types for any kind.
 */
import type { ErrorCode } from '../errors/codes.ts';
import type { InsertColumn, InsertRow, MutationRoot, UniformRows } from '../ir/mutation.ts';
import type { JoinToSource } from '../ir/remote-join.ts';
import type { SelectRoot } from '../ir/select.ts';
import type { Codec } from '../metadata/codec.ts';
import type { Parameter } from '../sql/fragment.ts';
import type { Cancellation } from '../util/cancellation.ts';
import type { Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import type { Captures } from './captures.ts';
import type { ConsoleForm } from '../model/console-form.ts';
import type { ServerMeasures } from './connection-counts.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { HttpClient } from './http-client.ts';
import type { MigrationDialect } from './migration-dialect.ts';
import type { ServerMetrics } from './server-metrics.ts';
import type { SqlText } from './sql-text.ts';
import type { StatementFlow } from './statement-flow.ts';
import type { TypeSystem } from './type-system.ts';
import type { QualifiedName } from '../catalog/catalog.ts';
import type { Connection, JsonRow, RunOptions, SessionSettings, Statement } from './connection.ts';

export interface Backend<C = unknown, S extends Source = Source> {
  /** Kind of a source in metadata and prefix of its operations: `pg`. */
  readonly kind: string;
  /** Other spellings in metadata and operation prefixes: `postgres`. */
  readonly aliases: readonly string[];
  /** Name of the product in messages: `postgres`. */
  readonly product: string;
  /** Schema of a table name that is a plain string: `public`. */
  readonly defaultSchema: string;
  /** Configuration of `<kind>_add_source`. */
  readonly configuration: Codec<C>;
  /** Example for documentation. */
  readonly exampleConfiguration: Json;
  /** Returns the name of a table or function for documentation. Defaults to a plain string. */
  readonly exampleName?: (name: string) => Json;
  /** Stored form, if the exported one also has defaults. */
  readonly storedConfiguration?: Codec<C>;
  readonly tableName: Codec<QualifiedName>;
  readonly functionName: Codec<QualifiedName>;
  /**
   * Returns this backend for sources in which names may also name `unnamedSchema` (see `Catalog`): both spellings decode to the name
   * without it.
   */
  readonly namedWithin?: (unnamedSchema: string) => Backend<C>;
  /** Functions of computed fields take column values instead of rows, and the metadata names the table whose rows they return. */
  readonly functionsOfColumns?: boolean;
  readonly capabilities: Capabilities;
  readonly types: TypeSystem;
  readonly sqlText: SqlText;
  /** Present if sources have `measures`. */
  readonly metrics?: ServerMetrics;
  readonly diagnostics?: Diagnostics;
  readonly console: ConsoleForm;
  /** Present if databases of the kind can be migrated. */
  readonly migrations?: MigrationDialect;
  /** Codes of errors that come from the database. */
  readonly errorCodes: {
    /** SQL of an administrator failed, or the database cannot be reached. */
    readonly failed: ErrorCode;
    /** No connection is free. */
    readonly noConnection: ErrorCode;
  };
  /** Returns whether the database generates such names for constraints without one: `author_pkey`. */
  isMadeUpConstraint(name: string): boolean;
  /** Called once per service, because output options are part of the compiler. Pure. */
  compiler(options: CompilerOptions): Compiler;
  /**
   * Resolves environment references and opens the source. Stops waiting for a silent server when it is cancelled or its deadline passes.
   * @throws SvcError, `timeout` after the deadline
   */
  connect(config: C, context: ConnectContext, options?: Pick<RunOptions, 'signal' | 'deadline'>): Promise<S>;
}

export interface ConnectContext {
  readonly sourceName: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Defaults for sources whose configuration does not set them: this one and those up to `isolation`. */
  readonly usePreparedStatements: boolean;
  /** Estimated memory of prepared statements per connection, in bytes. Default: the kind's own. */
  readonly preparedStatementMemory?: number;
  readonly maxConnections: number;
  /** Time after which an idle connection is closed, in milliseconds. */
  readonly idleTimeoutMs?: number;
  /** Maximum age of a connection, in milliseconds. 0: unlimited. */
  readonly lifetimeMs?: number;
  /** Timeout for a free connection, in milliseconds. `null`: unlimited. */
  readonly waitTimeoutMs?: number | null;
  readonly isolation?: 'read-committed' | 'repeatable-read' | 'serializable';
  /** Time limit of requests, in milliseconds, after which the database cancels their statements. Absent or 0: unlimited. */
  readonly requestTimeoutMs?: number;
  /** The only folder from which secrets may be read. Absent or `null`: none. */
  readonly secretsFolder?: string | null;
  /** True if large numbers are strings in event payloads. */
  readonly stringifyNumericTypes?: boolean;
  /** Client for kinds with an HTTP interface. */
  readonly http?: HttpClient;
  /** Called for retries, connections that broke while idle and the like. */
  readonly onEvent?: (event: { readonly kind: string; readonly message: string }) => void;
}

/** Features that the core offers only for kinds that have them. */
export interface Capabilities {
  readonly mutations: boolean;
  readonly functions: boolean;
  readonly enumTables: boolean;
  readonly namingConventions: boolean;
  readonly computedFields: boolean;
  /** The first row for each value of some columns (`distinct_on`). */
  readonly distinctOn: boolean;
  /** Upserts (`on_conflict`). */
  readonly onConflict: boolean;
  /** The statements of an upsert do not depend on the number of its rows. */
  readonly conflictsTogether: boolean;
  /** Connections and node ids of Relay. */
  readonly connections?: boolean;
  /** Groups of rows (`groups` in aggregates). `TypeSystem.grouping` describes the types. */
  readonly groups?: boolean;
  /** Streaming subscriptions. */
  readonly streaming: boolean;
  /** Sources have `captures`. */
  readonly eventTriggers: boolean;
}

export interface CompilerOptions {
  /** Prints bigint, numeric, float8 and money as JSON strings. */
  readonly stringifyNumericTypes: boolean;
}

export interface Compiler {
  /** Compiles the roots of an operation on one source to one row with a JSON column per root. */
  select(roots: readonly SelectRoot[]): Statement;
  /**
   * Compiles root fields that run in order in one transaction; a select among them calls a function that may write. Present if
   * `Capabilities.mutations`.
   * @param once whether the statements serve one request only
   * @throws SvcError validation-failed if there would be too many statements
   */
  mutation?(roots: readonly (SelectRoot | MutationRoot)[], once: boolean): CompiledMutation;
  /**
   * Compiles the rows for keys of another answer to one row with one cell: the JSON for each key in the order of the keys (`null` for a
   * single row that does not exist), separated by the name of the placeholders and a semicolon. The parameters of the keys are
   * `join-keys`, lists of texts. Absent if a kind cannot be the target of a join.
   */
  join?(target: JoinToSource): Statement;
  /** Compiles `select` for many cohorts at once, or the one root of a stream. */
  liveQuery?(roots: readonly SelectRoot[]): LiveQuery;
  /** Returns a statement with its values, to be shown or run by hand. */
  inlined?(statement: Statement, values: readonly (string | null)[]): string;
}

/**
 * A statement that answers a batch of cohorts. Its rows are in no order. The cells of a row are:
 * - the index of its cohort in the batch,
 * - one JSON text per root,
 * - for a stream, the text of the cursor after its rows (`null` without rows),
 * - with `reportsTime`, the seconds after which the statement had computed the row,
 * - in the row of the first cohort, the snapshot that the statement saw (`null` if unknown).
 */
export interface LiveQuery {
  /** Identifies the live query, and is shown to administrators. `batch` may repeat it for each cohort. */
  readonly text: string;
  /** Values that differ between cohorts. */
  readonly parameters: readonly Parameter[];
  /** Number of JSON columns: one per root. */
  readonly columns: number;
  /** Index of the parameter that is the cursor of a stream; `null` for a live query. */
  readonly cursor: number | null;
  /** See `Statement.repeatable`. */
  readonly repeatable: boolean;
  /** Rows arrive as soon as they are computed, with the time. */
  readonly reportsTime: boolean;
  /**
   * Description, for messages, of what results depend on in addition to stored rows; `null` if the same snapshot gives the same results.
   */
  readonly dependsOn: string | null;
  /** Returns whether values mean the same at any time, unlike `'today'`. Not part of `dependsOn`. */
  isTimeless(values: readonly (string | null)[]): boolean;
  /**
   * Returns the statement for a batch and its values.
   * @param cohorts values of `parameters` for each
   */
  batch(cohorts: readonly (readonly (string | null)[])[]): { readonly text: string; readonly values: readonly (string | null)[] };
  /** Returns a statement that fails if its type does not accept one of the values, and does nothing else. */
  check(values: readonly (string | null)[]): { readonly text: string; readonly values: readonly (string | null)[] };
}

export interface CompiledMutation {
  /** Empty if nothing is to be changed. */
  readonly statements: readonly CompiledMutationStatement[];
  /** The JSON of each root, in pieces. */
  readonly results: readonly (readonly ResultPiece[])[];
  /**
   * Returns fallback statements for the case that the database refuses to change a row twice in one statement: rows that are written
   * together here are written one by one there. Results have the same places. Present only if the statements serve one request.
   * @throws SvcError validation-failed if there would be too many statements
   */
  readonly fallback?: () => CompiledMutation;
}

/** JSON text, or a cell of a statement's row; `absent` is the text if there is no row or the cell is NULL. */
export type ResultPiece = string | { readonly statement: number; readonly column: number; readonly absent: string };

export interface CompiledMutationStatement {
  readonly statement: Statement;
  /** Path of the database's errors. */
  readonly path: Path;
  /** Errors that the statement may raise itself, by number. */
  readonly failures: readonly RaisedFailure[];
  /** Rows that it inserts, if an error may be about one of several. */
  readonly rows?: InsertedRows;
  /** Present for kinds whose sources pass rows from one statement to another. */
  readonly flow?: StatementFlow;
}

/** Rows that a statement inserts, to find the one that the database refuses. */
export interface InsertedRows {
  readonly table: QualifiedName;
  readonly columns: readonly InsertColumn[];
  /** True if the rows are written as they are: no trigger or default changes them first, and they update no existing rows. */
  readonly unchanged: boolean;
  readonly rows: readonly Pick<InsertRow, 'path' | 'values'>[] | UniformRows;
}

/** Inserted rows with the values of a request. */
export interface RowsOfRequest extends Omit<InsertedRows, 'rows'> {
  /** Returns the path of a row. */
  place(index: number): Path;
  /** Returns the values of a column by row; `undefined` for a row without one. */
  cells(column: string): readonly (Json | undefined)[];
}

/** An error that a statement raises itself, such as a failed check. */
export interface RaisedFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly path: Path;
}

/** Fingerprint by which a changed catalog is recognized. */
export interface CatalogFingerprint {
  /** Differs whenever the catalog may differ. */
  readonly definitions: string;
  /** Cheaper fingerprint that is compared first; `null` if there is none. */
  readonly seen: string | null;
}

export interface TransactionOptions {
  /** Opens a read-only transaction. SQL of administrators must have passed `SqlText.requireReads` before. */
  readonly readOnly?: boolean;
  /** Settings for the transaction. */
  readonly settings?: SessionSettings;
  readonly isolation?: 'read-committed' | 'repeatable-read' | 'serializable';
  /** Deadline of the wait for a connection, of the transaction, and of statements without one, in epoch milliseconds. */
  readonly deadline?: number | undefined;
  /** Cancels the wait for a connection. */
  readonly signal?: Cancellation | undefined;
  /**
   * Maximum pause between statements, in milliseconds, after which the server ends the transaction: the locks of a stalled process
   * block others. Defaults to the limit of the kind or the server, if there is one.
   */
  readonly idleMs?: number;
}

/** One statement of a mutation. */
export interface MutationStatement {
  readonly statement: Statement;
  readonly values: readonly (string | null)[];
  readonly path?: Path;
  readonly failures?: readonly RaisedFailure[];
  /** Called if the statement fails. */
  readonly rows?: () => RowsOfRequest;
  readonly flow?: StatementFlow;
  /** The statement serves one request: preparing it would not pay. */
  readonly once?: boolean;
}

export interface MutationOptions extends RunOptions {
  /** Defaults to the source's isolation level. */
  readonly isolation?: 'read-committed' | 'repeatable-read' | 'serializable';
  /** Session settings for the transaction, such as `svc.user`. */
  readonly settings: SessionSettings;
  /** Returns the statements to run if one would change a row twice; see `CompiledMutation.fallback`. @throws SvcError */
  readonly fallback?: (() => readonly MutationStatement[]) | undefined;
}

/** Address of a database for traces and messages, without user and password. */
export interface SourceAddress {
  /** Name in OpenTelemetry: `postgresql`. */
  readonly system: string;
  readonly database: string | null;
  readonly host: string | null;
  readonly port: number | null;
}

export type HealthStatus = { readonly status: 'OK' | 'TIMEOUT' } | { readonly status: 'ERROR' | 'FAILED'; readonly message: string };

/** Polls the snapshot that statements see. */
export interface SnapshotWatch {
  /** Polls at once, after a write. */
  poll(): void;
  stop(): void;
}

export interface Listening {
  stop(): Promise<void>;
}

/** Reads and administration, which every kind has. The source owns its pool. */
export interface Reads extends Connection {
  transaction<T>(options: TransactionOptions, run: (connection: Connection) => Promise<T>): Promise<T>;
  /** Runs statements in one session of the database, without a transaction. The settings hold for the session. */
  session<T>(run: (connection: Connection) => Promise<T>, settings?: SessionSettings): Promise<T>;
  health(sql: string, timeoutMs: number): Promise<HealthStatus>;
  /**
   * Reads the fingerprint of the catalog, at a lower cost than the catalog itself.
   * @param before last fingerprint, if any
   */
  catalogFingerprint?(before: CatalogFingerprint | null, options?: RunOptions): Promise<CatalogFingerprint>;
  /** Address for traces. */
  readonly address?: SourceAddress;
  /** Returns measures of each server that statements run on. */
  measures?(): readonly ServerMeasures[];
  /** Waits for running statements for a limited time, then closes all connections. */
  close(): Promise<void>;
}

/** Mutations; present if `Capabilities.mutations`. */
export interface Writes {
  /**
   * Runs the statements in one transaction, and in one round trip if the database can. The first failure rolls back. Returns one row
   * per statement, empty for a statement that returned none.
   */
  runMutation(statements: readonly MutationStatement[], options: MutationOptions): Promise<readonly JsonRow[]>;
}

/** Statements of live queries; present if the compiler has `liveQuery`. */
export interface Polls {
  /** Runs a statement with bound texts on the primary and returns all of its rows. @throws SvcError */
  runRows(
    statement: Pick<Statement, 'text' | 'repeatable'>,
    values: readonly (string | null)[],
    options: RunOptions,
  ): Promise<readonly JsonRow[]>;
}

/** Messages from the database. */
export interface Listens {
  /**
   * Listens for messages on a channel, on a connection of its own. Resolves after the first attempt and never rejects: it reconnects
   * until `stop` or `close`. `onMessage(null)` follows a reconnect, before which messages may have been lost.
   */
  listen(channel: string, onMessage: (payload: string | null) => void): Promise<Listening>;
  /**
   * Reports the snapshot that statements see at an interval until `stop` or `close`, on a connection of its own, which is reopened when
   * it breaks. `null` if the snapshot is unknown; then earlier snapshots are invalid, because the database is unreachable or another copy.
   */
  watchSnapshots(intervalMs: number, onSnapshot: (snapshot: string | null) => void): SnapshotWatch;
}

/** Event triggers; present if `Capabilities.eventTriggers`. */
export interface CapturesEvents {
  readonly captures: Captures;
}

/** An open source, without the capabilities that its kind lacks. */
export type Source = Reads & Partial<Writes & Polls & Listens & CapturesEvents>;
