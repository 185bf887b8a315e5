/** Values in statements: a parameter of the type that it is compared with, for each. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Operand, Value } from '../../../ir/value.ts';
import { parameter, type Sql, sql } from '../../../sql/fragment.ts';
import type { Json } from '../../../util/json.ts';
import { encoder, refuseOpenPattern } from '../coerce/encode.ts';
import { sentType } from '../parameters.ts';
import { ROW_LIMIT, ROW_OFFSET, TEXT } from '../type-of.ts';

/** @param refuse throws for texts that must not be sent */
export function operandSql(operand: Operand, refuse?: (text: string) => void): Sql {
  const { value, type, list } = operand;
  const isArray = list || type.array;
  if (value.kind === 'literal' && value.json === null && !isArray) return nullSql(type);
  const encode = encoder(operand);
  const checked = (json: Json): string | null => {
    const text = encode(json);
    if (text !== null) refuse?.(text);
    return text;
  };
  const placed = parameter({
    operand,
    // No two placeholders are the same one.
    key: '',
    encode: refuse === undefined ? encode : checked,
    cast: { type, array: isArray },
  });
  return fromSentSql(placed, type, isArray);
}

/** A pattern of `_like`. */
export function patternSql(operand: Operand): Sql {
  // Bytes are sent in another form.
  return operandSql(operand, operand.type.name === TEXT.name ? refuseOpenPattern : refuseOpenBytes);
}

function refuseOpenBytes(text: string): void {
  refuseOpenPattern(Buffer.from(text, 'base64').toString('latin1'));
}

/** Typed: the database would take it for a number. */
export function nullSql(type: CatalogType): Sql {
  return sql`cast(null as ${typeName(type)})`;
}

/** A value as it is sent, or an array of them, as its type. */
export function fromSentSql(sent: Sql, type: CatalogType, isArray: boolean): Sql {
  if (sentType(type.name) === typeName(type).texts[0] || sentType(type.name) === 'INT64' || sentType(type.name) === type.name) return sent;
  if (!isArray) return fromTextSql(sent, type);
  return sql`array(select ${fromTextSql(sql`v`, type)} from unnest(${sent}) as v with offset as o order by o)`;
}

function fromTextSql(text: Sql, type: CatalogType): Sql {
  if (type.name === 'GEOGRAPHY') return sql`st_geogfromgeojson(${text})`;
  if (type.name === 'JSON') return sql`parse_json(${text})`;
  return sql`cast(${text} as ${typeName(type)})`;
}

/** Names of types are no identifiers. */
export function typeName({ name }: CatalogType): Sql & { readonly kind: 'template' } {
  const known = /^\w+(?:<\w+>)?$/.test(name) ? name : 'STRING';
  return { kind: 'template', texts: [known === 'INT' ? 'INT64' : known], values: [] };
}

export function textSql(value: Value): Sql {
  return operandSql({ value, type: TEXT, list: false });
}

/** A number of rows at most: the source's own limit where that is less. */
export function rowLimitSql(limit: number): Sql {
  return counted({ kind: 'literal', json: limit }, ROW_LIMIT);
}

/** A number of rows to skip; none for null. */
export function rowOffsetSql(value: Value): Sql {
  return counted(value, ROW_OFFSET);
}

function counted(value: Value, type: CatalogType): Sql {
  const operand = { value, type, list: false };
  const encode = encoder({ ...operand, type: { ...type, name: 'INT64' } });
  return parameter({ operand, key: '', encode });
}
