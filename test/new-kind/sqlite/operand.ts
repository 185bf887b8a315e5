/** Values of statements, each a parameter that is bound as a text. */
import type { CatalogType } from '../../../src/catalog/catalog.ts';
import { listItems } from '../../../src/databases/shared/list-items.ts';
import { checkedIntegerText, isNumberText, refuseValue } from '../../../src/databases/shared/value-text.ts';
import type { Operand, Value } from '../../../src/ir/value.ts';
import { parameter, type Sql, sql } from '../../../src/sql/fragment.ts';
import { isJsonNumber, type Json, numberText, printJson } from '../../../src/util/json.ts';
import { INTEGER, REAL, TEXT } from './types.ts';

/** Maximum bytes of a pattern in SQLite. */
const MAX_PATTERN = 50_000;
/** SQLite would truncate a text at NUL, and replace surrogates. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

function scalarText(type: CatalogType, json: Json): string {
  const text = typeof json === 'string' ? json : isJsonNumber(json) ? numberText(json) : printJson(json);
  if (UNSTORABLE.test(text)) return refuseValue(type, text);
  if (type.name === TEXT.name) return text;
  if (type.name !== REAL.name) return checkedIntegerText(type, text, -(2n ** 63n), 2n ** 63n - 1n);
  return isNumberText(text) && Number.isFinite(Number(text)) ? text.trim() : refuseValue(type, text);
}

function placed(operand: Operand, encode: (json: Json) => string | null): Sql {
  return parameter({ operand, key: '', encode });
}

function typed(value: Sql, type: CatalogType): Sql {
  if (type.name === TEXT.name) return value;
  return type.name === REAL.name ? sql`cast(${value} as real)` : sql`cast(${value} as integer)`;
}

/** @param isPattern the value is a pattern of `like` */
export function valueSql(operand: Operand, isPattern = false): Sql {
  const { type } = operand;
  const encode = (json: Json): string | null => {
    const text = json === null ? null : scalarText(type, json);
    return isPattern && text !== null && Buffer.byteLength(text) > MAX_PATTERN ? refuseValue(type, text) : text;
  };
  return typed(placed(operand, encode), type);
}

/** Compiles a list to a JSON array of texts. Membership in a null list is unknown, as in a list with a single null. */
export function itemsSql(operand: Operand): Sql {
  const { type } = operand;
  const encode = (json: Json): string => {
    const items = json === null ? [null] : (listItems(json) ?? refuseValue(type, json));
    return JSON.stringify(items.map((item) => (item === null ? null : scalarText(type, item))));
  };
  return sql`json_each(${placed(operand, encode)})`;
}

/** Returns an item of `json_each` as its type. */
export function itemSql(item: Sql, type: CatalogType): Sql {
  return typed(sql`${item}.value`, type);
}

/** Compiles a list to a select with one column. */
export function listSql(operand: Operand, alias: Sql): Sql {
  return sql`select ${itemSql(alias, operand.type)} from ${itemsSql(operand)} as ${alias}`;
}

export function textSql(value: Value): Sql {
  return valueSql({ value, type: TEXT, list: false });
}

/** Compiles a number of rows; null counts as 0. */
export function countSql(value: Value): Sql {
  return sql`ifnull(${valueSql({ value, type: INTEGER, list: false })}, 0)`;
}
