/** Compiles IR to statements. Pure; holds nothing but the output options. */
import type { Compiler, CompilerOptions } from '../../../src/backend/backend.ts';
import type { Statement } from '../../../src/backend/connection.ts';
import { aliasRow } from '../../../src/databases/shared/row.ts';
import { related, rootAnswer } from '../../../src/databases/shared/set-plan/answer.ts';
import { Columns, Named } from '../../../src/databases/shared/set-plan/columns.ts';
import { JoinBase } from '../../../src/databases/shared/set-plan/join-base.ts';
import type { SetWriter } from '../../../src/databases/shared/set-plan/writer.ts';
import type { JoinToSource } from '../../../src/ir/remote-join.ts';
import { type Dialect, identifier, join, print, type Sql, sql } from '../../../src/sql/fragment.ts';
import type { Aliases } from './conditions.ts';
import { itemSql, itemsSql, listSql, textSql } from './operand.ts';
import { writerOf } from './writer.ts';

/** SQLite reads an unknown name in double quotes as a text, but reports one in backticks. */
const dialect: Dialect = {
  identifier: (name) => `\`${name.replaceAll('`', '``')}\``,
  string: (value) => `'${value.replaceAll("'", "''")}'`,
  parameterMarker: (index) => `?${index}`,
  sharesParameterMarkers: false,
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

/** Selects the rows for keys. Each column of the keys is a list; the items at one index make one key. */
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
  const keyColumns = new Columns(aliasRow(alias));
  const select = (): Sql => sql`select ${keyColumns.list()} from (${typed}) as ${alias}`;
  // Restricts rows to the values of each column.
  const keys = new Named(writer, keyColumns, select, (locals, values) =>
    locals.map((local, i) => sql`${values[i] as Sql} in (${(parts[Number(local.slice(1))] ?? first).list()})`),
  );
  const base = new JoinBase(writer, keys);
  const on = { columns: columns.map(({ name }, part) => ({ local: `k${part}`, remote: name })), unique };
  const answer = sql`ifnull(${related(writer, query, on, base)}, 'null')`;
  const separator = sql`concat(${textSql({ kind: 'placeholder-name' })}, ';')`;
  const order = base.row.column('i');
  return sql`select group_concat(${answer}, ${separator} order by ${order}) from ${base.from(false)}`;
}
