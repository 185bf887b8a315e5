/** Compiles the selects of root fields to one row per object, so that no cell holds a whole answer. */
import { type SelectRoot, withoutConnection } from '../../../ir/select.ts';
import { identifier, integer, join, type Sql, sql } from '../../../sql/fragment.ts';
import { rowObject, rootAnswer } from '../../shared/set-plan/answer.ts';
import { rootRows } from '../../shared/set-plan/level.ts';
import { numbered, orderedBy, JoinBase } from '../../shared/set-plan/join-base.ts';
import type { SetWriter } from '../../shared/set-plan/writer.ts';
import type { ResultLayout } from '../answer.ts';
import { limited } from './levels.ts';

interface Root {
  readonly object: Sql;
  readonly from: Sql;
  readonly order: readonly Sql[];
  readonly isList: boolean;
}

export function rootsSql(writer: SetWriter, roots: readonly SelectRoot[]): { readonly select: Sql; readonly layout: ResultLayout } {
  const all = roots.map((root) => rootOf(writer, root));
  const [only] = all;
  if (only !== undefined && all.length === 1) {
    return { select: sql`select ${only.object} from ${only.from}${orderedBy(only.order)}`, layout: { kind: 'root', isList: only.isList } };
  }
  const names = [identifier(':root'), identifier(':n'), identifier(':json')] as const;
  const selects = all.map(({ object, from, order }, i) => {
    const number = order.length === 0 ? integer(0) : numbered([], order);
    return sql`select ${integer(i)} as ${names[0]}, ${number} as ${names[1]}, ${object} as ${names[2]} from ${from}`;
  });
  const alias = writer.alias();
  const rows = join(selects, sql` union all `);
  return {
    select: sql`select ${alias}.${names[0]}, ${alias}.${names[2]} from (${rows}) as ${alias} order by ${alias}.${names[0]}, ${alias}.${names[1]}`,
    layout: { kind: 'roots', isList: all.map(({ isList }) => isList) },
  };
}

function rootOf(writer: SetWriter, { query }: SelectRoot): Root {
  const own = limited(withoutConnection(query));
  if (own.kind === 'aggregate') {
    const alias = writer.alias();
    return { object: sql`${alias}.${identifier('json')}`, from: sql`(${rootAnswer(writer, own)}) as ${alias}`, order: [], isList: false };
  }
  const isList = own.shape === 'list';
  const limit = isList ? own.rows.limit : Math.min(own.rows.limit ?? 1, 1);
  const rows = rootRows(writer, { from: own.from, rows: { ...own.rows, limit } });
  const place = new JoinBase(writer, rows.rows);
  const object = rowObject(writer, own.fields, place);
  return { object, from: place.from(false), order: rows.order(place.alias), isList };
}
