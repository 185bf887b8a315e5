/**
 * A Citus source: a PostgreSQL source for the coordinator, without the features of single servers (event triggers, snapshots). Errors of
 * other servers name tables instead of shards.
 */
import type {
  CatalogFingerprint,
  HealthStatus,
  Listening,
  MutationOptions,
  MutationStatement,
  Source,
  SourceAddress,
  TransactionOptions,
} from '../../backend/backend.ts';
import type { ServerMeasures } from '../../backend/connection-counts.ts';
import { type Catalog, type CatalogScope, nameKey, type QualifiedName, type TableOverview } from '../../catalog/catalog.ts';
import type { PostgresqlSource } from '../postgresql/source.ts';
import { distributed, distributionIn, type Distributions, knowsShard, readDistributions, readOwn } from './distribution.ts';
import { type KnowsShard, translateError, withoutShards } from './errors.ts';
import type {
  Connection,
  JsonRow,
  RunOptions,
  RunSqlOptions,
  RunSqlResult,
  SessionSettings,
  Statement,
  StatementOptions,
} from '../../backend/connection.ts';

/**
 * Required for reading and writing tables of different kinds in one transaction, or in one statement: a filter on a distributed table is
 * read before a reference table is written. Servers without the extension accept it as a custom setting.
 */
const ONE_BY_ONE = ['citus.multi_shard_modify_mode', 'sequential'] as const;

/** Timeout for the lookup of a shard, in milliseconds. */
const SHARD_TIMEOUT_MS = 2000;

class CitusConnection implements Connection {
  readonly #inner: Connection;
  protected readonly knowsShard: KnowsShard;

  constructor(inner: Connection, knowsShard: KnowsShard) {
    this.#inner = inner;
    this.knowsShard = knowsShard;
  }

  runJson(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow> {
    return this.translated(this.#inner.runJson(statement, values, options));
  }

  explain(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<readonly string[]> {
    return this.translated(this.#inner.explain(statement, values, options));
  }

  runSql(sql: string, options: RunSqlOptions): Promise<RunSqlResult> {
    return this.translated(this.#inner.runSql(sql, options), withoutShards);
  }

  query(text: string, values: readonly (string | null)[], options?: StatementOptions): Promise<RunSqlResult> {
    return this.#inner.query(text, values, options);
  }

  async introspect(scope?: CatalogScope, options: RunOptions = {}): Promise<Catalog> {
    const catalog = await this.#inner.introspect(scope, options);
    const found = await this.distributions(scope?.tables, options);
    return { ...catalog, tables: new Map([...catalog.tables].map(([key, table]) => [key, distributed(table, found)])) };
  }

  /** The coordinator's estimates are about its own part of a table. Objects of the extension are listed only if they are named. */
  async tableOverviews(tables?: readonly QualifiedName[], options: RunOptions = {}): Promise<readonly TableOverview[]> {
    const overviews = (await this.#inner.tableOverviews?.(tables, options)) ?? [];
    const own = tables === undefined ? await readOwn((text, values) => this.#inner.query(text, values, options)) : new Set<string>();
    const found = await this.distributions(tables, options);
    return overviews.flatMap((table) => {
      if (own.has(nameKey(table.name))) return [];
      const distribution = distributionIn(found, table);
      if (distribution === undefined) return table;
      return { ...table, distribution, estimatedRows: distribution.kind === 'local' ? table.estimatedRows : null };
    });
  }

  protected async translated<T>(result: Promise<T>, translate: typeof translateError = translateError): Promise<T> {
    try {
      return await result;
    } catch (error) {
      throw await translate(error, this.knowsShard);
    }
  }

  protected distributions(tables: readonly QualifiedName[] | undefined, options: RunOptions): Promise<Distributions> {
    return readDistributions((text, values) => this.#inner.query(text, values, options), tables);
  }
}

export class CitusSource extends CitusConnection implements Source {
  readonly #source: PostgresqlSource;

  constructor(source: PostgresqlSource) {
    super(source, (shard) =>
      knowsShard((text, values, options) => source.query(text, values, options), shard, Date.now() + SHARD_TIMEOUT_MS),
    );
    this.#source = source;
  }

  /** Reads from a function that may write run as mutations. */
  override async runJson(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow> {
    if (statement.repeatable) return super.runJson(statement, values, options);
    const [row = []] = await this.runMutation([{ statement, values }], { ...options, settings: [] });
    return row;
  }

  runMutation(statements: readonly MutationStatement[], options: MutationOptions): Promise<readonly JsonRow[]> {
    return this.translated(this.#source.runMutation(statements, { ...options, settings: [...options.settings, ONE_BY_ONE] }));
  }

  transaction<T>(options: TransactionOptions, run: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#source.transaction(options, (connection) => run(new CitusConnection(connection, this.knowsShard)));
  }

  session<T>(run: (connection: Connection) => Promise<T>, settings?: SessionSettings): Promise<T> {
    return this.#source.session((connection) => run(new CitusConnection(connection, this.knowsShard)), settings);
  }

  /** The fingerprint contains the distribution of tables. */
  async catalogFingerprint(before: CatalogFingerprint | null, options: RunOptions = {}): Promise<CatalogFingerprint> {
    const [own] = before === null ? [] : (JSON.parse(before.definitions) as [string]);
    const { seen, definitions } = await this.#source.catalogFingerprint(
      before === null ? null : { seen: before.seen, definitions: own ?? '' },
      options,
    );
    const found = before !== null && seen !== null && seen === before.seen ? null : await this.distributions(undefined, options);
    return { seen, definitions: found === null ? (before?.definitions ?? '') : JSON.stringify([definitions, [...found]]) };
  }

  health(sql: string, timeoutMs: number): Promise<HealthStatus> {
    return this.#source.health(sql, timeoutMs);
  }

  listen(channel: string, onMessage: (payload: string | null) => void): Promise<Listening> {
    return this.#source.listen(channel, onMessage);
  }

  runRows(
    statement: Pick<Statement, 'text' | 'repeatable'>,
    values: readonly (string | null)[],
    options: RunOptions,
  ): Promise<readonly JsonRow[]> {
    return this.translated(this.#source.runRows(statement, values, options));
  }

  get address(): SourceAddress {
    return this.#source.address;
  }

  measures(): readonly ServerMeasures[] {
    return this.#source.measures();
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}
