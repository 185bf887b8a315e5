/** Values in statements, each a parameter of the type that it is compared with. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Operand, Value } from '../../../ir/value.ts';
import { parameter, type Sql, sql } from '../../../sql/fragment.ts';
import type { Json } from '../../../util/json.ts';
import { encoder, refuseOpenPattern } from '../coerce/encode.ts';
import { sentType } from '../parameters.ts';
import { ROW_LIMIT, ROW_OFFSET, TEXT } from '../base-type.ts';

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
    // Placeholders are not shared.
    key: '',
    encode: refuse === undefined ? encode : checked,
    cast: { type, array: isArray },
  });
  return fromSentSql(placed, type, isArray);
}

export function patternSql(operand: Operand): Sql {
  // Patterns of bytes are sent in base64.
  return operandSql(operand, operand.type.name === TEXT.name ? refuseOpenPattern : refuseOpenBytes);
}

function refuseOpenBytes(text: string): void {
  refuseOpenPattern(Buffer.from(text, 'base64').toString('latin1'));
}

/** Casts null, which BigQuery would otherwise take for INT64. */
export function nullSql(type: CatalogType): Sql {
  return sql`cast(null as ${typeNameSql(type)})`;
}

/** Converts a parameter, or an array of them, to its type. */
function fromSentSql(sent: Sql, type: CatalogType, isArray: boolean): Sql {
  if (sentType(type.name) === typeNameSql(type).texts[0] || sentType(type.name) === 'INT64' || sentType(type.name) === type.name)
    return sent;
  if (!isArray) return fromTextSql(sent, type);
  return sql`array(select ${fromTextSql(sql`v`, type)} from unnest(${sent}) as v with offset as o order by o)`;
}

function fromTextSql(text: Sql, type: CatalogType): Sql {
  if (type.name === 'GEOGRAPHY') return sql`st_geogfromgeojson(${text})`;
  if (type.name === 'JSON') return sql`parse_json(${text})`;
  return sql`cast(${text} as ${typeNameSql(type)})`;
}

/** Compiles the name of a type, which must not be quoted like an identifier. */
export function typeNameSql({ name }: CatalogType): Sql & { readonly kind: 'template' } {
  const sqlName = /^\w+(?:<\w+>)?$/.test(name) ? name : 'STRING';
  return { kind: 'template', texts: [sqlName === 'INT' ? 'INT64' : sqlName], values: [] };
}

export function textSql(value: Value): Sql {
  return operandSql({ value, type: TEXT, list: false });
}

/** Limits rows; the source lowers the value to its own limit. */
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
