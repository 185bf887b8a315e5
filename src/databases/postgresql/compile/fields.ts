import type { Field } from '../../../ir/select.ts';
import { string, type Sql, sql } from '../../../sql/fragment.ts';
import { readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import type { Row } from '../../shared/row.ts';
import { placeholderSql } from './placeholder.ts';
import type { Entry } from './json-object.ts';
import { textArraySql } from './operand.ts';
import { nodeIdSql } from './opaque-text.ts';
import { outputSql } from './output.ts';

export interface CompiledFields {
  readonly entries: readonly Entry[];
  /** Lateral joins that the entries read. */
  readonly joins: readonly Sql[];
}

/** Compiles the fields of a row's JSON object. */
export function fieldsOf(context: Context, fields: readonly Field[], row: Row): CompiledFields {
  const joins: Sql[] = [];
  return { entries: fields.map((field) => ({ key: field.alias, value: fieldSql(context, field, row, joins) })), joins };
}

function fieldSql(context: Context, field: Field, row: Row, joins: Sql[]): Sql {
  if (field.kind !== 'related') return leafSql(context, field, row);
  if (!context.allowsJoin()) return sql`(${context.planSeparately(() => context.query(field.query, row, field.join))})`;
  const alias = context.alias();
  joins.push(sql` left join lateral (${context.query(field.query, row, field.join)}) as ${alias} on true`);
  return sql`${alias}."json"`;
}

/** Compiles a field with a value of its row. */
export function leafSql(context: Context, field: Exclude<Field, { readonly kind: 'related' }>, row: Row): Sql {
  switch (field.kind) {
    case 'typename':
      return sql`${string(field.typeName)}::text`;
    case 'read':
      return readField(context, field, row);
    case 'node-id':
      return nodeIdSql(context, field, row);
    case 'joined':
      return placeholderSql(context, field.join, field.keys, row);
  }
}

export function hasRelated(fields: readonly Field[]): boolean {
  return fields.some((field) => field.kind === 'related');
}

function readField(context: Context, field: Extract<Field, { kind: 'read' }>, row: Row): Sql {
  const value = readSql(context, field.read, row);
  if (field.jsonPath === null) {
    const printed = outputSql(context, value, field.read.type);
    return field.upperCase === true ? sql`upper(${printed})` : printed;
  }
  const path = textArraySql(field.jsonPath);
  // A variable that is null means no path.
  return sql`(${value} #> ${field.jsonPath.kind === 'variable' ? sql`coalesce(${path}, '{}')` : path})`;
}
