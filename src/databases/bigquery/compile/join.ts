import { SvcError } from '../../../errors/svc-error.ts';
import type { JoinToSource } from '../../../ir/remote-join.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import { aliasRow } from '../../shared/row.ts';
import { related } from '../../shared/set-plan/answer.ts';
import { Columns, type Keys, Named } from '../../shared/set-plan/columns.ts';
import { JoinBase } from '../../shared/set-plan/join-base.ts';
import type { SetWriter } from '../../shared/set-plan/writer.ts';
import { isKeyType } from '../families.ts';
import { types } from '../types.ts';
import { limited } from './levels.ts';
import { operandSql } from './operand.ts';

/**
 * Selects a row for each key, in their order, with the JSON of the rows that it leads to. The keys are the level above these rows and
 * are passed as one array for each column, of the column's type.
 */
export function joinSql(writer: SetWriter, { query, columns, unique }: JoinToSource): Sql {
  const parts = columns.map(({ type }, part) => {
    if (!isKeyType(type)) throw new SvcError('not-supported', `BigQuery cannot join by values of type ${types.print(type)}`);
    const [value, at] = [identifier(`:k${part}`), identifier(`:i${part}`)];
    const keys = (): Sql => sql`unnest(${operandSql({ value: { kind: 'join-keys', part }, type, list: true })})`;
    return { value, at, keys, item: sql`${keys()} as ${value} with offset as ${at}` };
  });
  const [first, ...others] = parts;
  if (first === undefined) throw new Error('invariant: a join has a key');
  const items = [first.item, ...others.map(({ item, at }) => sql` join ${item} on ${at} = ${first.at}`)];
  const names = parts.map(({ value }, part) => sql`${value} as ${identifier(`k${part}`)}`);
  const typed = sql`select ${join([...names, sql`${first.at} as ${identifier('i')}`], sql`, `)} from ${join(items, sql``)}`;
  const alias = writer.alias();
  const keys = new Columns(aliasRow(alias));
  const select = (): Sql => sql`select ${keys.list()} from (${typed}) as ${alias}`;
  // With one list for each column, BigQuery reads only the blocks of a table that may contain one of the values.
  const among: Keys = (locals, values) =>
    locals.map((local, i) => sql`${values[i] as Sql} in ${(parts.find((_, part) => local === `k${part}`) ?? first).keys()}`);
  const place = new JoinBase(writer, new Named(writer, keys, select, among));
  const on = { columns: columns.map(({ name }, part) => ({ local: `k${part}`, remote: name })), unique };
  const answer = related(writer, limited(query), on, place);
  const order = place.row.column('i');
  return sql`select ifnull(${answer}, 'null') from ${place.from(false)} order by ${order}`;
}
