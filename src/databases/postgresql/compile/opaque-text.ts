/** Node ids and cursors: base64 of the JSON of values. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { CursorKey, Field } from '../../../ir/select.ts';
import type { Operand } from '../../../ir/value.ts';
import { integer, join, string, type Sql, sql } from '../../../sql/fragment.ts';
import { groupBy } from '../../../util/group-by.ts';
import { isJsonType } from '../coerce/encode.ts';
import { baseType } from '../operators.ts';
import type { Row } from '../../shared/row.ts';
import { readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { builtObject } from './json-object.ts';
import { fromTextSql, operandSql } from './operand.ts';

const TEXT = baseType('text');
/** Types whose JSON is a number or a boolean. Other values are written as the texts that their type reads. */
const NATIVE: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'numeric', 'float4', 'float8', 'bool']);

export function nodeIdSql(context: Context, { table, keys }: Extract<Field, { kind: 'node-id' }>, row: Row): Sql {
  const names = table.map((part) => (typeof part === 'string' ? sql`${string(part)}::text` : integer(part)));
  const values = keys.map((read) => partSql(readSql(context, read, row), read.type));
  return encodedSql(sql`json_build_array(${join([...names, ...values], sql`, `)})`);
}

/** @param values of the keys in a row */
export function cursorSql(keys: readonly CursorKey[], values: readonly Sql[]): Sql {
  return encodedSql(cursorObject(keys.map(({ path, type }, i) => ({ path, value: partSql(values[i] as Sql, type) }))));
}

/** Compiles the value of a key in a cursor of the request. */
export function cursorValueSql(operand: Operand): Sql {
  // The JSON of a JSON value would be JSON of a string: it is its text.
  return isJsonType(operand.type) ? fromTextSql(operandSql({ ...operand, type: TEXT }), operand.type) : operandSql(operand);
}

interface CursorPart {
  readonly path: readonly string[];
  readonly value: Sql;
}

function cursorObject(parts: readonly CursorPart[]): Sql {
  return builtObject(
    [...groupBy(parts, ({ path: [key = ''] }) => key)].map(([key, group]) => {
      const [only] = group;
      if (only !== undefined && only.path.length === 1) return { key, value: only.value };
      return { key, value: cursorObject(group.map(({ path, value }) => ({ path: path.slice(1), value }))) };
    }),
  );
}

function partSql(value: Sql, { schema, name, array }: CatalogType): Sql {
  return !array && schema === 'pg_catalog' && NATIVE.has(name) ? value : sql`(${value})::text`;
}

/** The database breaks base64 into lines. */
function encodedSql(json: Sql): Sql {
  return sql`translate(encode(convert_to(${json}::text, 'UTF8'), 'base64'), ${string('\n')}, '')`;
}
