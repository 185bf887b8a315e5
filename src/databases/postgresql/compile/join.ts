/** Rows for the keys of another answer. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { JoinToSource } from '../../../ir/remote-join.ts';
import type { RowsQuery } from '../../../ir/select.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Context } from './context.ts';
import { aliasRow, type Row } from '../../shared/row.ts';
import { PLACEHOLDER_NAME } from './placeholder.ts';
import { fromTextSql, operandSql, textArraySql } from './operand.ts';
import { isPaged } from './row-set.ts';
import { listsSql } from './rows.ts';

/**
 * Compiles one row with one cell: the JSON for each key, separated by the name of the placeholders and a semicolon. The keys are a list of
 * texts per part, and are cast to the types of the columns that they are compared with.
 */
export function joinSql(context: Context, { query, columns, unique }: JoinToSource): Sql {
  const keys = context.alias();
  const texts = context.alias();
  const answer = context.alias();
  const names = columns.map((_, part) => identifier(`k${part}`));
  const parts = columns.map(({ type }, part) => sql`${fromTextSql(sql`${texts}.${names[part] as Sql}`, type)} as ${names[part] as Sql}`);
  const lists = columns.map((_, part) => textArraySql({ kind: 'join-keys', part }));
  const row: Row = aliasRow(keys);
  const on = { columns: columns.map(({ name }, part) => ({ local: `k${part}`, remote: name })), unique };
  const [first] = columns;
  const isTogether = columns.length === 1 && first !== undefined && isGroupable(first.type) && hasListsTogether(query);
  // All rows have keys, so a left join would suffice, but the planner never turns a full join into a nested loop, however few keys and
  // rows it expects.
  const answers = isTogether
    ? sql`full join (${context.planSeparately(() => listsSql(context, query, first.name, arrayOfKeys(first.type)))}) as ${answer} on ${answer}."key" = ${keys}."k0"`
    : sql`left join lateral (${context.query(query, row, on)}) as ${answer} on true`;
  const without = isTogether ? sql`'[]'` : sql`'null'`;
  return sql`select coalesce(string_agg(coalesce(${answer}."json"::text, ${without}), ${operandSql(PLACEHOLDER_NAME)} || ';' order by ${keys}."i"), '')
 from (select ${join(parts, sql`, `)}, ${texts}."i" from unnest(${join(lists, sql`, `)}) with ordinality as ${texts} (${join(
   [...names, identifier('i')],
   sql`, `,
 )})) as ${keys} ${answers}`;
}

/** Returns whether the query is a list without limits, which would be per key. */
function hasListsTogether(query: JoinToSource['query']): query is RowsQuery {
  return query.kind === 'rows' && query.shape === 'list' && query.fields.length > 0 && !isPaged(query.rows);
}

const GROUPABLE = new Set(
  ['int2', 'int4', 'int8', 'numeric', 'text', 'varchar', 'bpchar', 'name', 'uuid', 'date', 'timestamp', 'timestamptz', 'bool', 'oid'].map(
    (name) => `pg_catalog.${name}`,
  ),
);

/** Returns whether a type has the same equality in its order, so that sorting puts the rows of a key together. */
function isGroupable({ kind, schema, name, array }: CatalogType): boolean {
  return !array && (kind === 'enum' || (kind === 'base' && GROUPABLE.has(`${schema}.${name}`)));
}

function arrayOfKeys(type: CatalogType): Sql {
  return sql`array(select ${fromTextSql(sql`"x"`, type)} from unnest(${textArraySql({ kind: 'join-keys', part: 0 })}) as "list" ("x"))`;
}
