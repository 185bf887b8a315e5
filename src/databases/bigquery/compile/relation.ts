import type { QualifiedName } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Join, Relation } from '../../../ir/relation.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../shared/row.ts';
import type { Context } from './context.ts';
import { operandSql } from './operand.ts';
import type { FunctionCall } from '../../../ir/function-call.ts';

type Called = Extract<Relation, { readonly kind: 'function' }>;

/**
 * The rows of a function for each of the values that rows of a table have in the columns that it is called with: they are found by
 * these values, as those of a table are by keys.
 */
export interface CalledForRows extends Called {
  readonly callers: QualifiedName;
}

/** The columns of the rows of a function that is called for others, and how they are found. */
export function callJoin({ arguments: given }: FunctionCall): Join {
  const columns = given.flatMap((argument) => (argument.kind === 'column' ? [argument.column] : []));
  return { columns: columns.map((local, i) => ({ local, remote: `:a${i}` })), unique: false };
}

/** An item of a from clause and the row that it gives. */
export function relationSql(context: Context, relation: Relation): { readonly item: Sql; readonly row: Row } {
  const alias = context.alias();
  const row = aliasRow(alias);
  if (relation.kind === 'table') return { item: sql`${qualified(relation.name)} as ${alias}`, row };
  if (!('callers' in relation)) throw new SvcError('not-supported', 'functions of BigQuery cannot be queried by themselves');
  return { item: sql`(${callsSql(context, relation as CalledForRows)}) as ${alias}`, row };
}

/** The rows of a function that is called for the row at hand. */
export function calledSql(context: Context, call: FunctionCall, row: Row): { readonly item: Sql; readonly row: Row } {
  const alias = context.alias();
  const { columns } = callJoin(call);
  const rows = callSql(call, (index) => row.column(columns[index]?.local ?? ''));
  return { item: sql`unnest(array(select as struct * from ${rows})) as ${alias}`, row: aliasRow(alias) };
}

export function qualified({ schema, name }: QualifiedName): Sql {
  return sql`${identifier(schema)}.${identifier(name)}`;
}

function callsSql(context: Context, { call, callers }: CalledForRows): Sql {
  const { columns } = callJoin(call);
  const [inside, outside, made] = [context.alias(), context.alias(), context.alias()];
  const values = columns.map(({ local, remote }) => sql`${inside}.${identifier(local)} as ${identifier(remote)}`);
  const keys = sql`select distinct ${join(values, sql`, `)} from ${qualified(callers)} as ${inside}`;
  const shown = columns.map(({ remote }) => sql`${outside}.${identifier(remote)}`);
  const rows = sql`array(select as struct * from ${callSql(call, (index) => shown[index] as Sql)})`;
  return sql`select ${join(shown, sql`, `)}, ${made}.* from (${keys}) as ${outside} cross join unnest(${rows}) as ${made}`;
}

/** @param column the value of the column that stands so far among those that the function is called with */
function callSql({ function: name, arguments: given }: FunctionCall, column: (index: number) => Sql): Sql {
  let columns = 0;
  const values = given.map((argument) => {
    if (argument.kind === 'column') return column(columns++);
    if (argument.kind === 'row') throw new Error('invariant: BigQuery has no functions of rows');
    return operandSql(argument.operand);
  });
  return sql`${qualified(name)}(${join(values, sql`, `)})`;
}
