import type { JoinToSource } from '../../../ir/remote-join.ts';
import { join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../../shared/row.ts';
import type { Context } from './context.ts';
import { listItem, listValue, textSql } from './operand.ts';
import { querySql } from './query.ts';

/**
 * Selects one cell with the JSON for each key, separated by the placeholder name and a semicolon. The keys are passed as one list of
 * texts for each column.
 */
export function joinSql(context: Context, { query, columns, unique }: JoinToSource): Sql {
  const parts = columns.map(({ name, type }, part) => {
    const alias = context.alias();
    const item = listItem({ value: { kind: 'join-keys', part }, type, list: true }, alias);
    return { name, alias, item, value: listValue(type, alias) };
  });
  const [first] = parts;
  if (first === undefined) throw new Error('invariant: a join has a key');
  const items = parts.map(({ item, alias }, part) => (part === 0 ? item : sql`${item} on ${alias}.\`i\` = ${first.alias}.\`i\``));
  const key: Row = {
    column: (name) => parts[Number(name)]?.value ?? sql`null`,
    whole: () => {
      throw new Error('invariant: MariaDB has no functions of rows');
    },
  };
  const on = { columns: columns.map(({ name }, part) => ({ local: String(part), remote: name })), unique };
  const answer = sql`coalesce(${querySql(context, query, key, on)}, 'null')`;
  const separator = sql`if(${first.alias}.\`i\` = 1, '', concat(${textSql({ kind: 'placeholder-name' })}, ';'))`;
  return sql`select coalesce(group_concat(concat(${separator}, ${answer}) order by ${first.alias}.\`i\` separator ''), '') from ${join(items, sql` join `)}`;
}
