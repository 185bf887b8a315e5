import type { FunctionCall } from '../../../ir/read.ts';
import type { Join, Relation } from '../../../ir/relation.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import { aliasRow, type Context, type Row } from './context.ts';
import { operandSql } from './operand.ts';
import { qualified } from './type-name.ts';

/**
 * An item of a from clause and the row that it gives.
 * @param parent the row that a table computed field is about
 */
export function relationSql(context: Context, relation: Relation, parent: Row | null): { readonly item: Sql; readonly row: Row } {
  const alias = context.alias();
  const relationName = relation.kind === 'table' ? qualified(relation.name) : callSql(context, relation.call, parent);
  return { item: sql`${relationName} as ${alias}`, row: aliasRow(alias) };
}

/** A function call. Arguments are positional up to the last one that has to be, then named. */
export function callSql(context: Context, call: FunctionCall, row: Row | null): Sql {
  if (call.volatile !== false) context.volatile = true;
  const positional = 1 + call.arguments.findLastIndex((argument) => argument.kind === 'row' || argument.name === null);
  const items = call.arguments.map((argument, i) => {
    if (argument.kind === 'row') {
      if (row === null) throw new Error('invariant: a function of a row is called without one');
      return row.whole();
    }
    const value = operandSql(argument.operand);
    return i < positional ? value : sql`${identifier(argument.name as string)} => ${value}`;
  });
  return sql`${qualified(call.function)}(${join(items, sql`, `)})`;
}

/** Equality of the join columns; empty without any. */
export function joinConditions(columns: Join['columns'], local: Row, remote: Row): readonly Sql[] {
  return columns.map((pair) => sql`${remote.column(pair.remote)} = ${local.column(pair.local)}`);
}
