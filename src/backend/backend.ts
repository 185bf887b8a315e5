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
  /** Also the prefix of its operations: `pg`. */
  readonly kind: string;
  /** Other spellings in metadata and operation prefixes: `postgres`. */
  readonly aliases: readonly string[];
  /** What messages call its databases: `postgres`. */
  readonly product: string;
  /** Schema of a table name that is a plain string: `public`. */
  readonly defaultSchema: string;
  /** Configuration of `<kind>_add_source`. */
  readonly configuration: Codec<C>;
  /** Of one, for documentation. */
  readonly exampleConfiguration: Json;
  /** How documentation writes the name of a table or function; absent: as a text. */
  readonly exampleName?: (name: string) => Json;
  /** The stored form, where it says less than the exported one. */
  readonly storedConfiguration?: Codec<C>;
  readonly tableName: Codec<QualifiedName>;
  readonly functionName: Codec<QualifiedName>;
  /** Returns this backend for sources in which names may also name `unnamedSchema` (see `Catalog`): both spellings decode to the name without it. */
  readonly namedWithin?: (unnamedSchema: string) => Backend<C>;
  /** Functions of computed fields take values of columns, and no rows; which table's rows they return is said with them. */
  readonly functionsOfColumns?: true;
  readonly capabilities: Capabilities;
  readonly types: TypeSystem;
  readonly sqlText: SqlText;
  /** Absent if sources have no `measures`. */
  readonly metrics?: ServerMetrics;
  readonly diagnostics?: Diagnostics;
  readonly console: ConsoleForm;
  /** Absent if its databases are not migrated. */
  readonly migrations?: MigrationDialect;
  /** Of errors that tell what only such a database says. */
  readonly errorCodes: {
    /** SQL of administrators that fails, a database that is out of reach. */
    readonly failed: ErrorCode;
    /** No connection is free. */
    readonly noConnection: ErrorCode;
  };
  /** Whether the database makes up such a name for a constraint that was given none: `author_pkey`. */
  isMadeUpConstraint(name: string): boolean;
  /** Pure; made once per service because output options are part of it. */
  compiler(options: CompilerOptions): Compiler;
  /**
   * Resolves environment references and opens the source.
   * @param how it is given up when its deadline passes or nobody waits any more, also where a server says nothing
   * @throws SvcError, `timeout` where it was given up
   */
  connect(config: C, context: ConnectContext, how?: Pick<RunOptions, 'signal' | 'deadline'>): Promise<S>;
}

export interface ConnectContext {
  readonly sourceName: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What holds where the source's own configuration says nothing. */
  readonly usePreparedStatements: boolean;
  /** Bytes that prepared statements may take in the database for each connection, estimated; absent: the kind decides. */
  readonly preparedStatementMemory?: number;
  readonly maxConnections: number;
  /** ms; a connection that was idle for so long is closed */
  readonly idleTimeoutMs?: number;
  /** ms; 0 is for ever */
  readonly lifetimeMs?: number;
  /** ms to wait for a free connection; null is for ever */
  readonly waitTimeoutMs?: number | null;
  readonly isolation?: 'read-committed' | 'repeatable-read' | 'serializable';
  /** ms that a request may take; the database ends what goes on after it. Absent or 0: for ever. */
  readonly requestTimeoutMs?: number;
  /** The only folder whose files may hold database URLs; absent or null: there is none. */
  readonly secretsFolder?: string | null;
  /** Whether large numbers are strings in events, as in answers. */
  readonly stringifyNumericTypes?: boolean;
  /** For kinds that are called by HTTP. */
  readonly http?: HttpClient;
  /** Told about connections that broke while idle, retries and so on. */
  readonly onEvent?: (event: { readonly kind: string; readonly message: string }) => void;
}

/** What the core asks before it offers something. */
export interface Capabilities {
  readonly mutations: boolean;
  readonly functions: boolean;
  readonly enumTables: boolean;
  readonly namingConventions: boolean;
  readonly computedFields: boolean;
  /** The first row for each value of some columns (`distinct_on`). */
  readonly distinctOn: boolean;
  /** What becomes of an inserted row whose key is there already (`on_conflict`). */
  readonly onConflict: boolean;
  /** Rows with such a clause are written by statements that do not depend on how many there are. */
  readonly conflictsTogether: boolean;
  /** Subscriptions that hand out the rows of a table in the order of a column. */
  readonly streaming: boolean;
  /** Sources have `captures`. */
  readonly eventTriggers: boolean;
}

export interface CompilerOptions {
  /** bigint, numeric, float8 and money as JSON strings. */
  readonly stringifyNumericTypes: boolean;
}

export interface Compiler {
  /** All roots of one operation on one source: one row with one JSON column per root, in order. */
  select(roots: readonly SelectRoot[]): Statement;
  /**
   * Root fields that run in one transaction, in order; a select among them is a function that may write.
   * Absent without `Capabilities.mutations`.
   * @param once whether the statements serve one request only
   * @throws SvcError validation-failed where it would take too many statements
   */
  mutation?(roots: readonly (SelectRoot | MutationRoot)[], once: boolean): CompiledMutation;
  /**
   * The rows that keys of another answer lead to: one row with one cell, the JSON for each key in the order of the keys
   * (`null` where a single row is not there), with the name of the holes and a semicolon between each two. Absent where a kind cannot be
   * joined to. The parameters of the keys are `join-keys`, lists of texts.
   */
  join?(target: JoinToSource): Statement;
  /** The same as `select` for many cohorts at once, or the one root of a stream; absent where a kind cannot do that. */
  liveQuery?(roots: readonly SelectRoot[]): LiveQuery;
  /** A statement with its values written into it, for people; absent: the text says enough. */
  inlined?(statement: Statement, values: readonly (string | null)[]): string;
}

/**
 * A statement that answers a batch of cohorts, subscribers that share all values. Its rows are in no order. The cells of
 * a row: the number of its cohort in the batch, one JSON text per root, of a stream the text of the cursor behind its
 * rows (null: there are none), where `tellsTime` the seconds of the statement after which the row was there, and in the row of the
 * first cohort the snapshot that the statement saw (null: unknown).
 */
export interface LiveQuery {
  /** What it is known by, to people too; `batch` may write it once for each cohort. */
  readonly text: string;
  /** The values by which cohorts differ. */
  readonly parameters: readonly Parameter[];
  /** Number of JSON columns: one per root. */
  readonly columns: number;
  /** Of a stream: which of `parameters` is its cursor. */
  readonly cursor: number | null;
  /** As that of a statement. */
  readonly repeatable: boolean;
  /** Rows come one after the other as they are made, and tell when. */
  readonly tellsTime: boolean;
  /** What answers may depend on besides stored rows, for people; null: nothing, so that the same snapshot means the same answers. */
  readonly dependsOn: string | null;
  /** Whether values mean the same at any time, unlike `'today'`; `dependsOn` does not tell of them. */
  isTimeless(values: readonly (string | null)[]): boolean;
  /**
   * The statement for such a batch, and the values of its placeholders.
   * @param cohorts the values of `parameters` of each
   */
  batch(cohorts: readonly (readonly (string | null)[])[]): { readonly text: string; readonly values: readonly (string | null)[] };
  /** A statement that fails where one of the values has no meaning for its type, and does nothing else. */
  check(values: readonly (string | null)[]): { readonly text: string; readonly values: readonly (string | null)[] };
}

export interface CompiledMutation {
  /** In order; none when nothing is to be done. */
  readonly statements: readonly CompiledMutationStatement[];
  /** The JSON of each root, in pieces. */
  readonly results: readonly (readonly ResultPiece[])[];
  /**
   * The same with rows apart that are one statement here, though the database may find that it would change a row
   * twice: for when it does. The results are at the same places. Only where the statements serve one request.
   * @throws SvcError validation-failed where it would take too many statements
   */
  readonly apart?: () => CompiledMutation;
}

/** JSON text, or a cell of a statement's row; `absent` is the text when there is no row or it is NULL. */
export type ResultPiece = string | { readonly statement: number; readonly column: number; readonly absent: string };

export interface CompiledMutationStatement {
  readonly statement: Statement;
  /** Where the database's errors are reported. */
  readonly path: Path;
  /** What the statement may raise on purpose, by number. */
  readonly failures: readonly RaisedFailure[];
  /** What it inserts, where errors may be about one row of several. */
  readonly rows?: InsertedRows;
  /** Of kinds whose sources hand rows from one statement to another. */
  readonly flow?: StatementFlow;
}

/** Rows that a statement inserts, to find the one that the database refuses. */
export interface InsertedRows {
  readonly table: QualifiedName;
  readonly columns: readonly InsertColumn[];
  /** They are written as they are given: nothing in the database changes them before, and they update no others. */
  readonly unchanged: boolean;
  readonly rows: readonly Pick<InsertRow, 'path' | 'values'>[] | UniformRows;
}

/** The same with the values of a request. */
export interface RowsOfRequest extends Omit<InsertedRows, 'rows'> {
  /** Of a row. */
  place(index: number): Path;
  /** Of a column, by row; undefined where a row has none. */
  cells(column: string): readonly (Json | undefined)[];
}

/** An error that a statement raises itself, such as a check that does not hold. */
export interface RaisedFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly path: Path;
}

/** What is looked at to find out whether a catalog has changed. */
export interface CatalogMark {
  /** Another text whenever what the catalog says may be another. */
  readonly definitions: string;
  /** What the database looks at first; null: nothing is known that would do. */
  readonly seen: string | null;
}

export interface TransactionOptions {
  /** The caller checks SQL of administrators with `SqlText.requireReads` before. */
  readonly readOnly?: boolean;
  /** Hold for the transaction. */
  readonly settings?: SessionSettings;
  readonly isolation?: 'read-committed' | 'repeatable-read' | 'serializable';
  /** epoch milliseconds, for the wait for a connection, the end of the transaction, and statements that name none */
  readonly deadline?: number | undefined;
  /** For the wait for a connection. */
  readonly signal?: Cancellation | undefined;
  /**
   * Maximum pause between statements, in ms, after which the server ends the transaction: the locks of a process that stands still
   * block others. Defaults to the limit of the kind or the server, if there is one.
   */
  readonly idleMs?: number;
}

/** One statement of a mutation; `path` is where its errors are reported. */
export interface MutationStatement {
  readonly statement: Statement;
  readonly values: readonly (string | null)[];
  readonly path?: Path;
  readonly failures?: readonly RaisedFailure[];
  /** Looked at when the statement fails. */
  readonly rows?: () => RowsOfRequest;
  readonly flow?: StatementFlow;
  /** It will not come again: not worth preparing. */
  readonly once?: boolean;
}

export interface MutationOptions extends RunOptions {
  /** The source's own level when absent. */
  readonly isolation?: 'read-committed' | 'repeatable-read' | 'serializable';
  /** Session settings that hold for the transaction, such as `svc.user`. */
  readonly settings: SessionSettings;
  /** What to run instead where a statement would change a row twice; see `CompiledMutation`. May throw `SvcError`. */
  readonly apart?: (() => readonly MutationStatement[]) | undefined;
}

/** Which database it is, for people: without user and password. */
export interface SourceAddress {
  /** As OpenTelemetry calls it: `postgresql`. */
  readonly system: string;
  readonly database: string | null;
  readonly host: string | null;
  readonly port: number | null;
}

export type HealthStatus = { readonly status: 'OK' | 'TIMEOUT' } | { readonly status: 'ERROR' | 'FAILED'; readonly message: string };

/** Asks again and again what statements see. */
export interface SnapshotWatch {
  /** Asks now: something has been written. */
  ask(): void;
  stop(): void;
}

export interface Listening {
  stop(): Promise<void>;
}

/** Reads of requests, and what every kind can do. The source owns its pool. */
export interface Reads extends Connection {
  transaction<T>(how: TransactionOptions, run: (connection: Connection) => Promise<T>): Promise<T>;
  /** Statements in one session of the database, without a transaction around them. The settings hold for the session. */
  session<T>(run: (connection: Connection) => Promise<T>, settings?: SessionSettings): Promise<T>;
  health(sql: string, timeoutMs: number): Promise<HealthStatus>;
  /**
   * Tells whether the catalog is the same, for less than it takes to read it; absent where there is no such way.
   * @param before what it told the last time; null: nothing
   */
  catalogMark?(before: CatalogMark | null, how?: RunOptions): Promise<CatalogMark>;
  /** For traces; absent where the kind does not tell. */
  readonly address?: SourceAddress;
  /** Of each server that statements run on; absent where the kind does not count. */
  measures?(): readonly ServerMeasures[];
  /** Waits for running statements up to a bound, then ends all connections. */
  close(): Promise<void>;
}

/** Mutations; present if `Capabilities.mutations`. */
export interface Writes {
  /**
   * Runs the statements in one transaction and, where the database can, in one round trip; the
   * first failure rolls everything back. One row per statement, empty where it returned none.
   */
  runMutation(statements: readonly MutationStatement[], how: MutationOptions): Promise<readonly JsonRow[]>;
}

/** Statements of live queries; present if the compiler has `liveQuery`. */
export interface Polls {
  /** Runs a statement with bound texts on the primary and returns all of its rows. Throws `SvcError`. */
  runRows(
    statement: Pick<Statement, 'text' | 'repeatable'>,
    values: readonly (string | null)[],
    how: RunOptions,
  ): Promise<readonly JsonRow[]>;
}

/** Messages from the database. */
export interface Listens {
  /**
   * Calls back for messages that are sent on a channel, on a connection of its own. Resolves after the first attempt and never rejects:
   * a connection that cannot be made, or breaks, is tried again until `stop` or `close`. `onMessage(null)` says that messages may have
   * been missed: the connection is there again.
   */
  listen(channel: string, onMessage: (payload: string | null) => void): Promise<Listening>;
  /**
   * Reports what statements see, as live queries do, every so often until `stop` or `close`, on a connection of its own that is
   * opened anew when it breaks. `null` if it is not known; then nothing that was known is valid any more, because the database is away or
   * another copy of it.
   */
  watchSnapshots(intervalMs: number, onSnapshot: (snapshot: string | null) => void): SnapshotWatch;
}

/** Event triggers; present if `Capabilities.eventTriggers`. */
export interface CapturesEvents {
  readonly captures: Captures;
}

/** An open source. Abilities that its kind lacks are absent. */
export type Source = Reads & Partial<Writes & Polls & Listens & CapturesEvents>;
