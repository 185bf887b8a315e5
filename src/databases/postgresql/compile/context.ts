/** Context of the compilation of one statement. */
import type { CompilerOptions } from '../../../backend/backend.ts';
import type { AggregatePredicate, BoolExp, Exists } from '../../../ir/bool-exp.ts';
import type { Join } from '../../../ir/relation.ts';
import type { SelectQuery } from '../../../ir/select.ts';
import { identifier, type Sql } from '../../../sql/fragment.ts';
import type { Row, Scope } from '../../shared/row.ts';

/** Compiles conditions on other tables for kinds without correlated subqueries. */
export interface RelatedConditionCompiler {
  /** Compiles the parts of a `where`. */
  conditions(exp: BoolExp, scope: Scope): readonly Sql[];
  exists(exp: Exists, scope: Scope): Sql;
  aggregate(exp: AggregatePredicate, scope: Scope): Sql;
}

export interface Context {
  readonly options: CompilerOptions;
  /** `null` compiles correlated subqueries. */
  relatedConditions: RelatedConditionCompiler | null;
  /** Returns an unused table alias. */
  alias(): Sql;
  /** True if the statement calls a function that may be volatile. */
  volatile: boolean;
  /** First thing other than rows of ordinary tables that the answer may depend on, for messages. */
  dependsOn: string | null;
  /**
   * Compiles a query to a select with one column `json`: an array, an object or, for a single row that does not exist, no row. `join` and
   * `parent` are set for a related query.
   */
  readonly query: (query: SelectQuery, parent: Row | null, join: Join | null) => Sql;
  /**
   * Returns whether one more table may be joined to the current select. Beyond `MANY_JOINS` a subquery per row is used instead: the time
   * to plan grows with the cube of the number of joins.
   */
  allowsJoin(): boolean;
  /** Returns whether one more table of a condition may be joined; the limit is `MANY_CONDITIONS`. */
  allowsCondition(): boolean;
  /** Compiles a part that is planned separately from the current select, so that its joins do not count. */
  planSeparately(make: () => Sql): Sql;
  /**
   * Compiles an `exists` inside an expression, which is planned separately. The outermost ones may be computed for all rows at once by a
   * hash table. Nested ones are fenced, because PostgreSQL plans an `exists` that it may hash twice, with its contents: n levels would be
   * planned 2^n times.
   * @param make compiles it, fenced or not
   */
  subquery(make: (fenced: boolean) => Sql): Sql;
}

/** 32 lateral joins take 20 ms to plan, 128 half a second, 400 most of a minute. */
const MANY_JOINS = 32;
/**
 * Joins, semijoins and antijoins on columns that are all equal to each other cost more than others: 8 take 15 ms to plan, 16 take 140,
 * 30 take 5 seconds and half a gigabyte.
 */
const MANY_CONDITIONS = 8;

/** @param alias returns the table alias for a number */
export function createContext(
  options: CompilerOptions,
  query: (context: Context, ...of: Parameters<Context['query']>) => Sql,
  alias: (number: number) => Sql = (number) => identifier(`t${number}`),
): Context {
  let aliases = 0;
  let joins = 0;
  let inSubquery = false;
  const context: Context = {
    options,
    relatedConditions: null,
    alias: () => alias(++aliases),
    volatile: false,
    dependsOn: null,
    query: (...of) => {
      // A single row may be joined like a table; an array is planned separately.
      const [related, parent] = of;
      const isSeparate = parent === null || related.kind !== 'rows' || related.shape === 'list';
      return isSeparate ? context.planSeparately(() => query(context, ...of)) : query(context, ...of);
    },
    allowsJoin() {
      joins += 1;
      return joins <= MANY_JOINS;
    },
    allowsCondition() {
      joins += 1;
      return joins <= MANY_CONDITIONS;
    },
    planSeparately(make) {
      const before = joins;
      joins = 0;
      const made = make();
      joins = before;
      return made;
    },
    subquery(make) {
      const fenced = inSubquery;
      inSubquery = true;
      const made = context.planSeparately(() => make(fenced));
      inSubquery = fenced;
      return made;
    },
  };
  return context;
}
