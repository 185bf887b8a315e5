import type { QualifiedName } from '../../../catalog/catalog.ts';
import type { Relation } from '../../../ir/relation.ts';
import { identifier, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Context } from './context.ts';
import { aliasRow, type Row } from '../../shared/row.ts';
import { operandSql } from './operand.ts';
import { qualified } from './type-name.ts';
import type { FunctionCall } from '../../../ir/function-call.ts';

/**
 * Compiles an item of a from clause and its row.
 * @param parent row of a computed field that returns a table
 */
export function relationSql(context: Context, relation: Relation, parent: Row | null): { readonly item: Sql; readonly row: Row } {
  const alias = context.alias();
  if (relation.kind === 'table') context.dependsOn ??= besidesRows(relation);
  const relationName = relation.kind === 'table' ? qualified(relation.name) : callSql(context, relation.call, parent);
  return { item: sql`${relationName} as ${alias}`, row: aliasRow(alias) };
}

/** Compiles a function call. Arguments are positional up to the last one that has to be, then named. */
export function callSql(context: Context, call: FunctionCall, row: Row | null): Sql {
  if (call.volatile !== false) context.volatile = true;
  if (call.immutable !== true) context.dependsOn ??= `what the function ${printed(call.function)} does, which is not immutable`;
  const positional = 1 + call.arguments.findLastIndex((argument) => argument.kind !== 'value' || argument.name === null);
  const items = call.arguments.map((argument, i) => {
    if (argument.kind === 'row') {
      if (row === null) throw new Error('invariant: a function of a row is called without one');
      return row.whole();
    }
    if (argument.kind === 'column') throw new Error('invariant: functions of PostgreSQL take whole rows');
    const value = operandSql(argument.operand);
    return i < positional ? value : sql`${identifier(argument.name as string)} => ${value}`;
  });
  return sql`${qualified(call.function)}(${join(items, sql`, `)})`;
}

/** The server changes its system tables in place, outside of transactions. */
function besidesRows({ name, snapshotBound }: Extract<Relation, { kind: 'table' }>): string | null {
  return snapshotBound === true && name.schema !== 'pg_catalog'
    ? null
    : `what ${printed(name)} reads, which is no ordinary table, or has policies, rules or foreign parts`;
}

function printed({ schema, name }: QualifiedName): string {
  return `${schema}.${name}`;
}
