/** What rows are in the order of, be it values of related rows. */
import type { OrderBy, OrderTerm } from '../../../ir/select.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import { groupBy, keyColumns, looksElsewhere, numbered, type Place, type Source, sourceOf } from './place.ts';
import type { SetWriter } from './writer.ts';

export interface OrderKey {
  readonly value: Sql;
  readonly order: OrderBy;
}

/** Whether the value comes from other tables than the row's. */
export function isElsewhere(term: OrderTerm): boolean {
  return term.kind !== 'read' || looksElsewhere(term.read);
}

/** The values of a row's order. */
export function orderKeys(writer: SetWriter, orderBy: readonly OrderBy[], source: Source): readonly OrderKey[] {
  return orderBy.map((order) => ({ value: termValue(writer, order.term, source), order }));
}

const KEY = identifier(':key');
const FIRST = identifier(':first');

function termValue(writer: SetWriter, term: OrderTerm, source: Source): Sql {
  if (term.kind === 'read') return writer.read(term.read, source.row, source.asks);
  const place = placeOf(source);
  const on = term.join?.columns ?? [];
  if (term.kind === 'related') {
    const target = sourceOf(writer, term, on, place, isElsewhere(term.term));
    const value = termValue(writer, term.term, target);
    const columns = [...keyColumns(on, target.row), sql`${value} as ${KEY}`];
    const keys = on.map(({ remote }) => target.row.column(remote));
    target.seal();
    const found = place.attach(on, () => {
      if (term.join.unique) return sql`select ${join(columns, sql`, `)} from ${target.body()}`;
      const inside = writer.alias();
      const first = numbered(keys, []);
      const all = sql`select ${join([...columns, sql`${first} as ${FIRST}`], sql`, `)} from ${target.body()}`;
      return sql`select ${inside}.* from (${all}) as ${inside} where ${inside}.${FIRST} = 1`;
    });
    return found(KEY);
  }
  const target = sourceOf(writer, term, on, place, term.arguments.some(looksElsewhere));
  const values = term.arguments.map((read) => ({ value: writer.read(read, target.row, target.asks), type: read.type }));
  const aggregate = writer.aggregate(term.function, values, false);
  const columns = join([...keyColumns(on, target.row), sql`${aggregate} as ${KEY}`], sql`, `);
  const group = groupBy(on, target.row);
  target.seal();
  const found = place.attach(on, () => sql`select ${columns} from ${target.body()}${group}`);
  return term.function === 'count' ? sql`coalesce(${found(KEY)}, 0)` : found(KEY);
}

function placeOf({ place }: Source): Place {
  if (place === null) throw new Error('invariant: what comes from elsewhere is joined to a relation');
  return place;
}
