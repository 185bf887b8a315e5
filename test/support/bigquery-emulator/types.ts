/** GoogleSQL types in the notations of the engine, of SQL and of the REST API. */
import type { Tree } from './engine.ts';

export type ScalarKind =
  | 'INT64'
  | 'FLOAT64'
  | 'NUMERIC'
  | 'BIGNUMERIC'
  | 'BOOL'
  | 'STRING'
  | 'BYTES'
  | 'DATE'
  | 'DATETIME'
  | 'TIME'
  | 'TIMESTAMP'
  | 'INTERVAL'
  | 'JSON'
  | 'GEOGRAPHY';

export type Type =
  | { readonly kind: ScalarKind }
  | { readonly kind: 'ARRAY' | 'RANGE'; readonly element: Type }
  | { readonly kind: 'STRUCT'; readonly fields: readonly { readonly name: string; readonly type: Type }[] };

export type Mode = 'NULLABLE' | 'REQUIRED' | 'REPEATED';

/** A field in the REST API. */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly mode?: Mode;
  readonly description?: string;
  readonly fields?: readonly Field[];
  readonly rangeElementType?: { readonly type: string };
}

/** A type of parameters and routines in the REST API. */
export interface ParameterType {
  readonly type?: string;
  readonly arrayType?: ParameterType;
  readonly structTypes?: readonly { readonly name?: string; readonly type?: ParameterType }[];
  readonly rangeElementType?: ParameterType;
}

const ENGINE_KINDS: Readonly<Record<ScalarKind, string>> = {
  INT64: 'TYPE_INT64',
  FLOAT64: 'TYPE_DOUBLE',
  NUMERIC: 'TYPE_NUMERIC',
  BIGNUMERIC: 'TYPE_BIGNUMERIC',
  BOOL: 'TYPE_BOOL',
  STRING: 'TYPE_STRING',
  BYTES: 'TYPE_BYTES',
  DATE: 'TYPE_DATE',
  DATETIME: 'TYPE_DATETIME',
  TIME: 'TYPE_TIME',
  TIMESTAMP: 'TYPE_TIMESTAMP',
  INTERVAL: 'TYPE_INTERVAL',
  JSON: 'TYPE_JSON',
  GEOGRAPHY: 'TYPE_GEOGRAPHY',
};
const KINDS_OF_ENGINE = new Map(Object.entries(ENGINE_KINDS).map(([kind, engine]) => [engine, kind as ScalarKind]));

/** Legacy type names in schemas of the REST API. */
const SCHEMA_NAMES: Readonly<Record<string, ScalarKind>> = {
  INTEGER: 'INT64',
  INT: 'INT64',
  FLOAT: 'FLOAT64',
  BOOLEAN: 'BOOL',
  DECIMAL: 'NUMERIC',
  BIGDECIMAL: 'BIGNUMERIC',
};

/** @returns undefined if the name is no type */
export function scalarKind(name: string): ScalarKind | undefined {
  const upper = name.toUpperCase();
  return Object.hasOwn(ENGINE_KINDS, upper) ? (upper as ScalarKind) : SCHEMA_NAMES[upper];
}

export function engineType(type: Type): Tree {
  switch (type.kind) {
    case 'ARRAY':
      return { typeKind: 'TYPE_ARRAY', arrayType: { elementType: engineType(type.element) } };
    case 'RANGE':
      return { typeKind: 'TYPE_RANGE', rangeType: { elementType: engineType(type.element) } };
    case 'STRUCT':
      return {
        typeKind: 'TYPE_STRUCT',
        structType: { field: type.fields.map((field) => ({ fieldName: field.name, fieldType: engineType(field.type) })) },
      };
    default:
      return { typeKind: ENGINE_KINDS[type.kind] };
  }
}

/** @throws Error for a type that BigQuery does not have */
export function typeOfEngine(tree: Tree): Type {
  switch (tree['typeKind']) {
    case 'TYPE_ARRAY':
      return { kind: 'ARRAY', element: typeOfEngine((tree['arrayType'] as Tree)['elementType'] as Tree) };
    case 'TYPE_RANGE':
      return { kind: 'RANGE', element: typeOfEngine((tree['rangeType'] as Tree)['elementType'] as Tree) };
    case 'TYPE_STRUCT': {
      const fields = ((tree['structType'] as Tree)['field'] ?? []) as readonly Tree[];
      return {
        kind: 'STRUCT',
        fields: fields.map((field) => ({ name: (field['fieldName'] ?? '') as string, type: typeOfEngine(field['fieldType'] as Tree) })),
      };
    }
    default: {
      const kind = KINDS_OF_ENGINE.get(tree['typeKind'] as string);
      if (kind === undefined) throw new Error(`BigQuery has no type ${String(tree['typeKind'])}`);
      return { kind };
    }
  }
}

/** The SQL notation. */
export function typeName(type: Type): string {
  switch (type.kind) {
    case 'ARRAY':
    case 'RANGE':
      return `${type.kind}<${typeName(type.element)}>`;
    case 'STRUCT':
      return `STRUCT<${type.fields.map(({ name, type: of }) => (name === '' ? typeName(of) : `${name} ${typeName(of)}`)).join(', ')}>`;
    default:
      return type.kind;
  }
}

const REST_NAMES: Readonly<Partial<Record<ScalarKind, string>>> = { INT64: 'INTEGER', FLOAT64: 'FLOAT', BOOL: 'BOOLEAN' };

/** A field of a result schema. */
export function fieldOf(name: string, type: Type, mode: Mode = 'NULLABLE', description?: string): Field {
  const more = description === undefined ? {} : { description };
  if (type.kind === 'ARRAY') return { ...fieldOf(name, type.element), mode: 'REPEATED', ...more };
  if (type.kind === 'RANGE') return { name, type: 'RANGE', mode, rangeElementType: { type: typeName(type.element) }, ...more };
  if (type.kind === 'STRUCT') {
    const fields = type.fields.map((field, index) => fieldOf(field.name === '' ? `_field_${index + 1}` : field.name, field.type));
    return { name, type: 'RECORD', mode, fields, ...more };
  }
  return { name, type: REST_NAMES[type.kind] ?? type.kind, mode, ...more };
}

/** @throws Error for an invalid type */
export function typeOfField(field: Field): Type {
  const type = bareTypeOfField(field);
  return field.mode === 'REPEATED' ? { kind: 'ARRAY', element: type } : type;
}

function bareTypeOfField({ name, type, fields, rangeElementType }: Field): Type {
  const upper = type.toUpperCase();
  if (upper === 'RECORD' || upper === 'STRUCT') {
    return { kind: 'STRUCT', fields: (fields ?? []).map((field) => ({ name: field.name, type: typeOfField(field) })) };
  }
  if (upper === 'RANGE' && rangeElementType !== undefined) {
    return { kind: 'RANGE', element: bareTypeOfField({ name, type: rangeElementType.type }) };
  }
  const kind = scalarKind(upper);
  if (kind === undefined) throw new Error(`Invalid value for type: ${type} is not a valid value`);
  return { kind };
}

/** @throws Error for an invalid type */
export function typeOfParameter({ type, arrayType, structTypes, rangeElementType }: ParameterType): Type {
  const upper = (type ?? '').toUpperCase();
  if (upper === 'ARRAY' && arrayType !== undefined) return { kind: 'ARRAY', element: typeOfParameter(arrayType) };
  if (upper === 'RANGE' && rangeElementType !== undefined) return { kind: 'RANGE', element: typeOfParameter(rangeElementType) };
  if (upper === 'STRUCT' && structTypes !== undefined) {
    return { kind: 'STRUCT', fields: structTypes.map((field) => ({ name: field.name ?? '', type: typeOfParameter(field.type ?? {}) })) };
  }
  const kind = scalarKind(upper);
  if (kind === undefined || upper === 'INTEGER' || upper === 'FLOAT') throw new Error(`Invalid parameter type: ${type ?? ''}`);
  return { kind };
}

/** The type in the format of routines. */
export function restType(type: Type): object {
  switch (type.kind) {
    case 'ARRAY':
      return { typeKind: 'ARRAY', arrayElementType: restType(type.element) };
    case 'RANGE':
      return { typeKind: 'RANGE', rangeElementType: restType(type.element) };
    case 'STRUCT':
      return { typeKind: 'STRUCT', structType: { fields: type.fields.map((field) => ({ name: field.name, type: restType(field.type) })) } };
    default:
      return { typeKind: type.kind };
  }
}
