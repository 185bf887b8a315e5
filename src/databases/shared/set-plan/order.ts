/** Sort keys, which may be values of related rows. */
import type { OrderBy, OrderTerm } from '../../../ir/select.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import { groupByKeys, joinKeyColumns, maskReadsOtherTables, numbered, type JoinBase, type RowSource, sourceOf } from './join-base.ts';
import type { SetWriter } from './writer.ts';

export interface OrderKey {
  readonly value: Sql;
  readonly order: OrderBy;
}

/** Returns whether the sort key is read from other tables. */
export function isRelatedTerm(term: OrderTerm): boolean {
  return term.kind !== 'read' || maskReadsOtherTables(term.read);
}

/** Compiles the sort keys of a row. */
export function orderKeys(writer: SetWriter, orderBy: readonly OrderBy[], source: RowSource): readonly OrderKey[] {
  return orderBy.map((order) => ({ value: termValue(writer, order.term, source), order }));
}

const KEY = identifier(':key');
const FIRST = identifier(':first');

function termValue(writer: SetWriter, term: OrderTerm, source: RowSource): Sql {
  if (term.kind === 'read') return writer.read(term.read, source.row, source.relatedConditions);
  const base = baseOf(source);
  const on = term.join?.columns ?? [];
  if (term.kind === 'related') {
    const target = sourceOf(writer, term, on, base, isRelatedTerm(term.term));
    const value = termValue(writer, term.term, target);
    const columns = [...joinKeyColumns(on, target.row), sql`${value} as ${KEY}`];
    const keys = on.map(({ remote }) => target.row.column(remote));
    target.seal();
    const found = base.attach(on, () => {
      if (term.join.unique) return sql`select ${join(columns, sql`, `)} from ${target.body()}`;
      const inside = writer.alias();
      const first = numbered(keys, []);
      const all = sql`select ${join([...columns, sql`${first} as ${FIRST}`], sql`, `)} from ${target.body()}`;
      return sql`select ${inside}.* from (${all}) as ${inside} where ${inside}.${FIRST} = 1`;
    });
    return found(KEY);
  }
  const target = sourceOf(writer, term, on, base, term.arguments.some(maskReadsOtherTables));
  const values = term.arguments.map((read) => ({ value: writer.read(read, target.row, target.relatedConditions), type: read.type }));
  const aggregate = writer.aggregate(term.function, values, false);
  const columns = join([...joinKeyColumns(on, target.row), sql`${aggregate} as ${KEY}`], sql`, `);
  const group = groupByKeys(on, target.row);
  target.seal();
  const found = base.attach(on, () => sql`select ${columns} from ${target.body()}${group}`);
  return term.function === 'count' ? sql`coalesce(${found(KEY)}, 0)` : found(KEY);
}

function baseOf({ base }: RowSource): JoinBase {
  if (base === null) throw new Error('invariant: values of related rows are joined to a relation');
  return base;
}
