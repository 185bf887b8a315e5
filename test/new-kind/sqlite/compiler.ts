/** The compiler: operations to statements. Pure; holds nothing but the output options. */
import type { Compiler, CompilerOptions } from '../../../src/backend/backend.ts';
import type { Statement } from '../../../src/backend/connection.ts';
import { aliasRow } from '../../../src/databases/shared/row.ts';
import { related, rootAnswer } from '../../../src/databases/shared/set-plan/answer.ts';
import { Columns, Named } from '../../../src/databases/shared/set-plan/columns.ts';
import { Place } from '../../../src/databases/shared/set-plan/place.ts';
import type { SetWriter } from '../../../src/databases/shared/set-plan/writer.ts';
import type { JoinToSource } from '../../../src/ir/remote-join.ts';
import { type Dialect, identifier, join, print, type Sql, sql } from '../../../src/sql/fragment.ts';
import type { Aliases } from './conditions.ts';
import { itemSql, itemsSql, listSql, textSql } from './operand.ts';
import { writerOf } from './writer.ts';

/** SQLite reads an unknown name in double quotes as a text, and one in backticks as an error. */
const dialect: Dialect = {
  identifier: (name) => `\`${name.replaceAll('`', '``')}\``,
  string: (value) => `'${value.replaceAll("'", "''")}'`,
  placeholder: (index) => `?${index}`,
  sharesPlaceholders: false,
};

export function compiler(options: CompilerOptions): Compiler {
  const begin = (): SetWriter => {
    let count = 0;
    const aliases: Aliases = () => identifier(`:t${++count}`);
    return writerOf(aliases, options);
  };
  return {
    select(roots) {
      const writer = begin();
      const answers = roots.map(({ query }) => sql`(${rootAnswer(writer, query)})`);
      return statementOf(sql`select ${join(answers, sql`, `)}`, roots.length);
    },
    join: (target) => statementOf(joinSql(begin(), target), 1),
  };
}

function statementOf(select: Sql, columns: number): Statement {
  return { ...print(select, dialect), repeatable: true, columns };
}

/** The rows that keys lead to. Each part of the keys is a list; an item of each list makes one key. */
function joinSql(writer: SetWriter, { query, columns, unique }: JoinToSource): Sql {
  const parts = columns.map(({ type }, part) => {
    const operand = { value: { kind: 'join-keys', part }, type, list: true } as const;
    const alias = writer.alias();
    return {
      alias,
      item: sql`${itemsSql(operand)} as ${alias}`,
      value: itemSql(alias, type),
      list: () => listSql(operand, writer.alias()),
    };
  });
  const [first, ...others] = parts;
  if (first === undefined) throw new Error('invariant: a join has a key');
  const items = [first.item, ...others.map(({ item, alias }) => sql` join ${item} on ${alias}.key = ${first.alias}.key`)];
  const names = parts.map(({ value }, part) => sql`, ${value} as ${identifier(`k${part}`)}`);
  const typed = sql`select ${first.alias}.key as ${identifier('i')}${join(names, sql``)} from ${join(items, sql``)}`;
  const alias = writer.alias();
  const shown = new Columns(aliasRow(alias));
  const select = (): Sql => sql`select ${shown.list()} from (${typed}) as ${alias}`;
  // Rows are restricted to the values of each part.
  const keys = new Named(writer, shown, select, (locals, values) =>
    locals.map((local, i) => sql`${values[i] as Sql} in (${(parts[Number(local.slice(1))] ?? first).list()})`),
  );
  const place = new Place(writer, keys);
  const on = { columns: columns.map(({ name }, part) => ({ local: `k${part}`, remote: name })), unique };
  const answer = sql`ifnull(${related(writer, query, on, place)}, 'null')`;
  const separator = sql`concat(${textSql({ kind: 'hole-name' })}, ';')`;
  const order = place.row.column('i');
  return sql`select group_concat(${answer}, ${separator} order by ${order}) from ${place.from(false)}`;
}
