import type { QualifiedName } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Join, Relation } from '../../../ir/relation.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../shared/row.ts';
import type { Context } from './context.ts';
import { operandSql } from './operand.ts';
import type { FunctionCall } from '../../../ir/function-call.ts';

type Called = Extract<Relation, { readonly kind: 'function' }>;

/** Rows of a function, called once for each distinct combination of the caller's argument columns, and joined by these columns. */
export interface CalledForRows extends Called {
  readonly callers: QualifiedName;
}

/** Returns the join between calling rows and the rows of the function. */
export function callJoin({ arguments: args }: FunctionCall): Join {
  const columns = args.flatMap((argument) => (argument.kind === 'column' ? [argument.column] : []));
  return { columns: columns.map((local, i) => ({ local, remote: `:a${i}` })), unique: false };
}

export function relationSql(context: Context, relation: Relation): { readonly item: Sql; readonly row: Row } {
  const alias = context.alias();
  const row = aliasRow(alias);
  if (relation.kind === 'table') return { item: sql`${qualified(relation.name)} as ${alias}`, row };
  if (!('callers' in relation)) throw new SvcError('not-supported', 'functions of BigQuery cannot be queried directly');
  return { item: sql`(${callsSql(context, relation as CalledForRows)}) as ${alias}`, row };
}

/** Returns the rows of a function that is called for the current row. */
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
  const [caller, keyRow, result] = [context.alias(), context.alias(), context.alias()];
  const values = columns.map(({ local, remote }) => sql`${caller}.${identifier(local)} as ${identifier(remote)}`);
  const keys = sql`select distinct ${join(values, sql`, `)} from ${qualified(callers)} as ${caller}`;
  const argumentColumns = columns.map(({ remote }) => sql`${keyRow}.${identifier(remote)}`);
  const rows = sql`array(select as struct * from ${callSql(call, (index) => argumentColumns[index] as Sql)})`;
  return sql`select ${join(argumentColumns, sql`, `)}, ${result}.* from (${keys}) as ${keyRow} cross join unnest(${rows}) as ${result}`;
}

/** @param column compiles an argument column, given its index among the argument columns */
function callSql({ function: name, arguments: args }: FunctionCall, column: (index: number) => Sql): Sql {
  let columns = 0;
  const values = args.map((argument) => {
    if (argument.kind === 'column') return column(columns++);
    if (argument.kind === 'row') throw new Error('invariant: BigQuery has no functions of rows');
    return operandSql(argument.operand);
  });
  return sql`${qualified(name)}(${join(values, sql`, `)})`;
}
