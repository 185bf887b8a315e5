/** What the compilation of one statement shares: options, fresh aliases, what was found on the way. */
import type { CompilerOptions } from '../../../backend/backend.ts';
import type { AggregatePredicate, BoolExp, Exists } from '../../../ir/bool-exp.ts';
import type { Join } from '../../../ir/relation.ts';
import type { AggregateQuery, RowsQuery } from '../../../ir/select.ts';
import { identifier, type Sql } from '../../../sql/fragment.ts';
import type { Row, Scope } from '../../shared/row.ts';

/** Answers conditions about other tables where correlated sub-selects will not do. */
export interface Elsewhere {
  /** The parts of a `where`. */
  conditions(exp: BoolExp, scope: Scope): readonly Sql[];
  exists(exp: Exists, scope: Scope): Sql;
  aggregate(exp: AggregatePredicate, scope: Scope): Sql;
}

export interface Context {
  readonly options: CompilerOptions;
  /** Null: correlated sub-selects do. */
  elsewhere: Elsewhere | null;
  /** A table alias that this statement has not used yet. */
  alias(): Sql;
  /** Set once a function is called that may be volatile. */
  volatile: boolean;
  /** What the answer may depend on besides rows of ordinary tables, the first of it, for people; null: nothing so far. */
  dependsOn: string | null;
  /**
   * A query as a select with one column `json`: an array, an object or, for a single row that is
   * not there, no row. `join` and `parent` are set for a related query.
   */
  readonly query: (query: RowsQuery | AggregateQuery, parent: Row | null, join: Join | null) => Sql;
  /**
   * Whether one more table may be joined to the select at hand. Beyond `MANY_JOINS` a sub-select is asked for each row
   * instead: the time that PostgreSQL takes to plan grows with the cube of the joins.
   */
  takeJoin(): boolean;
  /** The same for a table that a condition asks about, of which fewer are joined (`MANY_CONDITIONS`). */
  takeCondition(): boolean;
  /** Makes what is planned apart from the select at hand, so that its joins do not count there. */
  apart(make: () => Sql): Sql;
  /**
   * The same for an `exists` inside an expression. The outermost ones may be answered for all rows at
   * once, by a hash table; the ones inside are fenced, because PostgreSQL plans an `exists` that it
   * may hash twice: with all that is inside, so that n levels would be planned 2^n times.
   * @param make what to make, fenced or not
   */
  question(make: (fenced: boolean) => Sql): Sql;
}

/** 32 lateral joins take 20 ms to plan, 128 half a second, 400 most of a minute. */
const MANY_JOINS = 32;
/**
 * Tables that are joined, semijoined or antijoined on columns that are all equal to each other cost more
 * than their number says: 8 take 15 ms to plan, 16 take 140, 30 take 5 seconds and half a gigabyte.
 */
const MANY_CONDITIONS = 8;

/** @param alias makes a table alias of a number */
export function createContext(
  options: CompilerOptions,
  query: (context: Context, ...of: Parameters<Context['query']>) => Sql,
  alias: (number: number) => Sql = (number) => identifier(`t${number}`),
): Context {
  let aliases = 0;
  let joins = 0;
  let inQuestion = false;
  const context: Context = {
    options,
    elsewhere: null,
    alias: () => alias(++aliases),
    volatile: false,
    dependsOn: null,
    query: (...of) => {
      // A single row may be joined like a table; an array is made in a plan of its own.
      const [asked, parent] = of;
      const isApart = parent === null || asked.kind === 'aggregate' || asked.shape === 'list';
      return isApart ? context.apart(() => query(context, ...of)) : query(context, ...of);
    },
    takeJoin() {
      joins += 1;
      return joins <= MANY_JOINS;
    },
    takeCondition() {
      joins += 1;
      return joins <= MANY_CONDITIONS;
    },
    apart(make) {
      const before = joins;
      joins = 0;
      const made = make();
      joins = before;
      return made;
    },
    question(make) {
      const fenced = inQuestion;
      inQuestion = true;
      const made = context.apart(() => make(fenced));
      inQuestion = fenced;
      return made;
    },
  };
  return context;
}
