/**
 * Values in statements: always `($n)::type`, the text of the value cast by the database. One value
 * used several times as the same type is one parameter.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Operand, Value } from '../../../ir/value.ts';
import { parameter, type Sql, sql } from '../../../sql/fragment.ts';
import { type Json, printJson } from '../../../util/json.ts';
import { encoder } from '../coerce/encode.ts';
import { baseType } from '../operators.ts';
import { typeName } from './type-name.ts';

const TEXT = baseType('text');

/**
 * The SQL expression of an operand; a list is an array, or a sub-select where there is no such array.
 * @param refuse throws for texts that must not be sent; values of the session are not asked about
 * @param perRow of the parameter
 */
export function operandSql(operand: Operand, refuse?: (text: string) => void, perRow?: number): Sql {
  const { value, type, list } = operand;
  if (value.kind === 'literal') {
    if (value.json === null) return sql`null::${typeName(type, type.array || list)}`;
    // Two texts at most, and the planner can match partial indexes.
    if (typeof value.json === 'boolean' && isBoolean(type)) return value.json ? sql`true` : sql`false`;
  }
  if (isSpatial(type)) return spatialSql(operand);
  if (list && type.array) return sql`select "x"::${typeName(type)} from unnest(${placeholder(operand, TEXT, true)}) as "list" ("x")`;
  return placeholder(operand, type, list || type.array, refuse, perRow);
}

/** A number of rows or the like: a value that the IR gives no type. */
export function bigintSql(value: Value): Sql {
  return operandSql({ value, type: baseType('int8'), list: false });
}

/** A text array, such as the path into a JSON value. */
export function textArraySql(value: Value): Sql {
  return operandSql({ value, type: TEXT, list: true });
}

/** The text of a scalar or a whole array, brought to its type by the database. */
export function fromTextSql(text: Sql, type: CatalogType): Sql {
  if (!isSpatial(type)) return sql`(${text})::${typeName(type)}`;
  return type.array ? sql`(${text})::${typeName(type)}` : geoJsonOrText(text, type);
}

function placeholder(operand: Operand, type: CatalogType, array: boolean, refuse?: (text: string) => void, perRow?: number): Sql {
  const cast = type === operand.type && array === (operand.list || type.array) ? '' : `${typeKey(type)}${array}`;
  const key = `${valueKey(operand.value)} ${typeKey(operand.type)}${operand.list ? 'list' : ''}${cast}${refuse === undefined ? '' : ' refuse'}`;
  const encode = encoder(operand);
  const checked = (json: Json): string | null => {
    const text = encode(json);
    if (text !== null) refuse?.(text);
    return text;
  };
  const encoded = refuse === undefined ? encode : checked;
  const placed = parameter({ operand, key, encode: encoded, cast: { type, array }, ...(perRow === undefined ? {} : { perRow }) });
  return sql`(${placed})::${typeName(type, array)}`;
}

/** A parameter of another type than the operand's, made from its text. @param key tells it from others of the same operand */
export function derivedSql(operand: Operand, key: string, type: Sql, derive: (text: string) => string): Sql {
  const encode = encoder(operand);
  const derived = (json: Json): string | null => {
    const text = encode(json);
    return text === null ? null : derive(text);
  };
  return sql`(${parameter({ operand, key: `${valueKey(operand.value)} ${typeKey(operand.type)}${key}`, encode: derived })})::${type}`;
}

function isBoolean(type: CatalogType): boolean {
  return type.schema === 'pg_catalog' && type.name === 'bool' && !type.array;
}

/** PostGIS types that are written as GeoJSON. */
export function isSpatial(type: CatalogType): boolean {
  return type.kind === 'base' && type.schema !== 'pg_catalog' && (type.name === 'geometry' || type.name === 'geography');
}

/** Types of PostGIS, which compare in ways of their own. */
export function isPostgis(type: CatalogType): boolean {
  return isSpatial(type) || (type.kind === 'base' && type.schema !== 'pg_catalog' && type.name === 'raster');
}

/** GeoJSON objects go through PostGIS's reader; other texts (WKT, hex WKB) through the type's. */
function spatialSql(operand: Operand): Sql {
  const { value, type, list } = operand;
  const array = (texts: Sql) =>
    sql`array(select ${geoJsonOrText(sql`"x"`, type)} from unnest(${texts}) as "list" ("x"))::${typeName(type, true)}`;
  if (list && type.array) {
    const one = sql`case when "y" is not null then ${array(sql`"y"::text[]`)} end`;
    return sql`select ${one} from unnest(${placeholder(operand, TEXT, true)}) as "lists" ("y")`;
  }
  if (list || type.array) return array(placeholder(operand, TEXT, true));
  const text = placeholder(operand, TEXT, false);
  if (value.kind !== 'literal') return geoJsonOrText(text, type);
  return typeof value.json === 'string' ? sql`(${text})::${typeName(type)}` : fromGeoJson(text, type);
}

function geoJsonOrText(text: Sql, type: CatalogType): Sql {
  return sql`case when ${text} like '{%' then ${fromGeoJson(text, type)} else (${text})::${typeName(type, false)} end`;
}

function fromGeoJson(text: Sql, type: CatalogType): Sql {
  const geometry = sql`st_geomfromgeojson(${text})`;
  return type.name === 'geography' ? sql`${geometry}::${typeName(type, false)}` : geometry;
}

const typeKeys = new WeakMap<CatalogType, string>();

function typeKey(type: CatalogType): string {
  let key = typeKeys.get(type);
  if (key === undefined) {
    key = `${type.schema}.${type.name}${type.array ? '[]' : ''} `;
    typeKeys.set(type, key);
  }
  return key;
}

/** Equal for references that resolve to the same value. */
function valueKey(value: Value): string {
  switch (value.kind) {
    case 'literal':
      return `=${printJson(value.json)}`;
    case 'variable':
      return value.path.length === 0 ? `$${value.name}` : `$${value.name} ${JSON.stringify(value.path)}`;
    case 'members':
      return `*${value.name} ${JSON.stringify([value.key, ...value.path])}`;
    case 'session':
      return `@${value.name}`;
    case 'session-variables':
      return '@';
    case 'hole-name':
      return '#';
    case 'join-keys':
      return `#${value.part}`;
    case 'cursor':
      return '>';
    case 'kept':
      throw new Error('invariant: PostgreSQL keeps rows itself');
    case 'list':
      return `[${value.items.map(valueKey).join(',')}]`;
  }
}
