/**
 * Values in statements: `($n)::type`, the text of the value cast by the database. A value that is used several times as one type is one
 * parameter.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Operand, Value } from '../../../ir/value.ts';
import { parameter, type Sql, sql } from '../../../sql/fragment.ts';
import { type Json, printJson } from '../../../util/json.ts';
import { encoder } from '../coerce/encode.ts';
import { baseType } from '../operators.ts';
import { typeNameSql } from './type-name.ts';

const TEXT = baseType('text');

/**
 * Compiles an operand; a list is an array, or a subquery if there is no such array.
 * @param refuse throws for texts that must not be sent; not called for session variables
 * @param perRow see `Parameter`
 */
export function operandSql(operand: Operand, refuse?: (text: string) => void, perRow?: number): Sql {
  const { value, type, list } = operand;
  if (value.kind === 'literal') {
    if (value.json === null) return sql`null::${typeNameSql(type, type.array || list)}`;
    // There are only two texts, and the planner can match partial indexes.
    if (typeof value.json === 'boolean' && isBoolean(type)) return value.json ? sql`true` : sql`false`;
  }
  if (isSpatial(type)) return spatialSql(operand);
  if (list && type.array) return sql`select "x"::${typeNameSql(type)} from unnest(${parameterSql(operand, TEXT, true)}) as "list" ("x")`;
  return parameterSql(operand, type, list || type.array, refuse, perRow);
}

/** Compiles a number, such as an offset, which has no type in the IR. */
export function bigintSql(value: Value): Sql {
  return operandSql({ value, type: baseType('int8'), list: false });
}

/** Compiles a text array, such as the path into a JSON value. */
export function textArraySql(value: Value): Sql {
  return operandSql({ value, type: TEXT, list: true });
}

/** Compiles the cast of a text to a scalar or an array. */
export function fromTextSql(text: Sql, type: CatalogType): Sql {
  if (!isSpatial(type)) return sql`(${text})::${typeNameSql(type)}`;
  return type.array ? sql`(${text})::${typeNameSql(type)}` : geoJsonOrText(text, type);
}

function parameterSql(operand: Operand, type: CatalogType, array: boolean, refuse?: (text: string) => void, perRow?: number): Sql {
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
  return sql`(${placed})::${typeNameSql(type, array)}`;
}

/** Compiles a parameter that is derived from the text of an operand. @param key distinguishes it from others of the same operand */
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

/** Returns whether values of a type are written as GeoJSON: PostGIS types but `raster`. */
export function isSpatial(type: CatalogType): boolean {
  return type.kind === 'base' && type.schema !== 'pg_catalog' && (type.name === 'geometry' || type.name === 'geography');
}

/** Returns whether a type is one of PostGIS. */
export function isPostgis(type: CatalogType): boolean {
  return isSpatial(type) || (type.kind === 'base' && type.schema !== 'pg_catalog' && type.name === 'raster');
}

/** Reads GeoJSON objects by PostGIS's function, other texts (WKT, hex WKB) by the input function of the type. */
function spatialSql(operand: Operand): Sql {
  const { value, type, list } = operand;
  const array = (texts: Sql) =>
    sql`array(select ${geoJsonOrText(sql`"x"`, type)} from unnest(${texts}) as "list" ("x"))::${typeNameSql(type, true)}`;
  if (list && type.array) {
    const one = sql`case when "y" is not null then ${array(sql`"y"::text[]`)} end`;
    return sql`select ${one} from unnest(${parameterSql(operand, TEXT, true)}) as "lists" ("y")`;
  }
  if (list || type.array) return array(parameterSql(operand, TEXT, true));
  const text = parameterSql(operand, TEXT, false);
  if (value.kind !== 'literal') return geoJsonOrText(text, type);
  return typeof value.json === 'string' ? sql`(${text})::${typeNameSql(type)}` : fromGeoJson(text, type);
}

function geoJsonOrText(text: Sql, type: CatalogType): Sql {
  return sql`case when ${text} like '{%' then ${fromGeoJson(text, type)} else (${text})::${typeNameSql(type, false)} end`;
}

function fromGeoJson(text: Sql, type: CatalogType): Sql {
  const geometry = sql`st_geomfromgeojson(${text})`;
  return type.name === 'geography' ? sql`${geometry}::${typeNameSql(type, false)}` : geometry;
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

/** Returns equal keys for references that resolve to the same value. */
function valueKey(value: Value): string {
  switch (value.kind) {
    case 'literal':
      return `=${printJson(value.json)}`;
    case 'variable':
      if (value.part !== undefined) return `$${value.name} ${JSON.stringify([value.part, ...value.path])}|`;
      return value.path.length === 0 ? `$${value.name}` : `$${value.name} ${JSON.stringify(value.path)}`;
    case 'members':
      return `*${value.name} ${JSON.stringify([value.key, ...value.path])}`;
    case 'session':
      return `@${value.name}`;
    case 'session-variables':
      return '@';
    case 'placeholder-name':
      return '#';
    case 'join-keys':
      return `#${value.part}`;
    case 'cursor':
      return '>';
    case 'transaction-local':
      throw new Error('invariant: PostgreSQL keeps rows itself');
    case 'list':
      return `[${value.items.map(valueKey).join(',')}]`;
  }
}
