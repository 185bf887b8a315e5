/**
 * A source of Citus: that of PostgreSQL for the coordinator, without what only one server can do (event triggers, telling what has
 * changed), and with the errors of other servers in the words of the tables that they belong to.
 */
import type {
  CatalogMark,
  HealthStatus,
  Listening,
  MutationOptions,
  MutationStatement,
  Source,
  SourceAddress,
  TransactionOptions,
} from '../../backend/backend.ts';
import type { ServerMeasures } from '../../backend/connection-counts.ts';
import { type Catalog, type CatalogScope, nameKey, type QualifiedName, type SurveyedTable } from '../../catalog/catalog.ts';
import type { PostgresqlSource } from '../postgresql/source.ts';
import { distributed, distributionIn, type Distributions, knowsShard, readDistributions, readOwn } from './distribution.ts';
import { type KnowsShard, ofCitus, withoutShards } from './errors.ts';
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
 * Tables of different kinds may be read and written in one transaction only so, by one statement as well: a filter over a distributed table
 * is read before a reference table is written. Servers without the extension take it for a setting of ours.
 */
const ONE_BY_ONE = ['citus.multi_shard_modify_mode', 'sequential'] as const;

/** Timeout for reading whether a number is that of a shard, in milliseconds. */
const SHARD_TIMEOUT_MS = 2000;

class CitusConnection implements Connection {
  private readonly inner: Connection;
  protected readonly knowsShard: KnowsShard;

  constructor(inner: Connection, knowsShard: KnowsShard) {
    this.inner = inner;
    this.knowsShard = knowsShard;
  }

  runJson(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<JsonRow> {
    return this.translated(this.inner.runJson(statement, values, how));
  }

  explain(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<readonly string[]> {
    return this.translated(this.inner.explain(statement, values, how));
  }

  runSql(sql: string, how: RunSqlOptions): Promise<RunSqlResult> {
    return this.translated(this.inner.runSql(sql, how), withoutShards);
  }

  query(text: string, values: readonly (string | null)[], how?: StatementOptions): Promise<RunSqlResult> {
    return this.inner.query(text, values, how);
  }

  async introspect(scope?: CatalogScope, how: RunOptions = {}): Promise<Catalog> {
    const catalog = await this.inner.introspect(scope, how);
    const found = await this.distributions(scope?.tables, how);
    return { ...catalog, tables: new Map([...catalog.tables].map(([key, table]) => [key, distributed(table, found)])) };
  }

  /** What the coordinator estimates is about its own part of a table alone. Views of the extension are told of by name only. */
  async survey(tables?: readonly QualifiedName[], how: RunOptions = {}): Promise<readonly SurveyedTable[]> {
    const known = (await this.inner.survey?.(tables, how)) ?? [];
    const own = tables === undefined ? await readOwn((text, values) => this.inner.query(text, values, how)) : new Set<string>();
    const found = await this.distributions(tables, how);
    const wanted = known.filter(({ name }) => !own.has(nameKey(name)));
    return wanted.map((table) => {
      const distribution = distributionIn(found, table);
      if (distribution === undefined) return table;
      return { ...table, distribution, estimatedRows: distribution.kind === 'local' ? table.estimatedRows : null };
    });
  }

  protected async translated<T>(result: Promise<T>, translate: typeof ofCitus = ofCitus): Promise<T> {
    try {
      return await result;
    } catch (error) {
      throw await translate(error, this.knowsShard);
    }
  }

  protected distributions(tables: readonly QualifiedName[] | undefined, how: RunOptions): Promise<Distributions> {
    return readDistributions((text, values) => this.inner.query(text, values, how), tables);
  }
}

export class CitusSource extends CitusConnection implements Source {
  private readonly source: PostgresqlSource;

  constructor(source: PostgresqlSource) {
    super(source, (shard) => knowsShard((text, values, how) => source.query(text, values, how), shard, Date.now() + SHARD_TIMEOUT_MS));
    this.source = source;
  }

  /** A function that may write is a mutation to the servers, also where it is read. */
  override async runJson(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<JsonRow> {
    if (statement.repeatable) return super.runJson(statement, values, how);
    const [row = []] = await this.runMutation([{ statement, values }], { ...how, settings: [] });
    return row;
  }

  runMutation(statements: readonly MutationStatement[], how: MutationOptions): Promise<readonly JsonRow[]> {
    return this.translated(this.source.runMutation(statements, { ...how, settings: [...how.settings, ONE_BY_ONE] }));
  }

  transaction<T>(how: TransactionOptions, run: (connection: Connection) => Promise<T>): Promise<T> {
    return this.source.transaction(how, (connection) => run(new CitusConnection(connection, this.knowsShard)));
  }

  session<T>(run: (connection: Connection) => Promise<T>, settings?: SessionSettings): Promise<T> {
    return this.source.session((connection) => run(new CitusConnection(connection, this.knowsShard)), settings);
  }

  /** Where tables are is part of the catalog. */
  async catalogMark(before: CatalogMark | null, how: RunOptions = {}): Promise<CatalogMark> {
    const [own] = before === null ? [] : (JSON.parse(before.definitions) as [string]);
    const { seen, definitions } = await this.source.catalogMark(
      before === null ? null : { seen: before.seen, definitions: own ?? '' },
      how,
    );
    const found = before !== null && seen !== null && seen === before.seen ? null : await this.distributions(undefined, how);
    return { seen, definitions: found === null ? (before?.definitions ?? '') : JSON.stringify([definitions, [...found]]) };
  }

  health(sql: string, timeoutMs: number): Promise<HealthStatus> {
    return this.source.health(sql, timeoutMs);
  }

  listen(channel: string, onMessage: (payload: string | null) => void): Promise<Listening> {
    return this.source.listen(channel, onMessage);
  }

  runRows(
    statement: Pick<Statement, 'text' | 'repeatable'>,
    values: readonly (string | null)[],
    how: RunOptions,
  ): Promise<readonly JsonRow[]> {
    return this.translated(this.source.runRows(statement, values, how));
  }

  get address(): SourceAddress {
    return this.source.address;
  }

  measures(): readonly ServerMeasures[] {
    return this.source.measures();
  }

  close(): Promise<void> {
    return this.source.close();
  }
}
