/** Rows of a table, read and written as a persona through GraphQL. */
import { EnumName, type Literal, literal } from '../model/graphql-text.ts';
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Persona } from '../model/persona.ts';
import { graphql } from './graphql.ts';
import type { GraphqlNames } from '../model/graphql-names.ts';
import { type FieldType, typeNamed } from './types.ts';

export interface RowColumn {
  /** In the GraphQL schema. */
  readonly name: string;
  readonly type: FieldType;
  readonly isNumber: boolean;
}

export interface ReadableTable {
  readonly columns: readonly RowColumn[];
  /** Fields that lead to rows of other tables. */
  readonly relations: readonly { readonly name: string; readonly isList: boolean; readonly type: string }[];
  readonly hasAggregate: boolean;
}

const NUMBERS = /^(?:Int|Float|bigint|numeric|smallint|float8|float4|int8|int2|decimal|double|bigserial|money|double_precision)$/;

/** What a persona may read of a table; undefined when it may not read it at all. @throws Failure */
export async function readableTable(persona: Persona, { type: typeName }: GraphqlNames): Promise<ReadableTable | undefined> {
  const type = await typeNamed(persona, typeName);
  if (type === undefined) return undefined;
  const fields = [...type.fields.values()];
  const aggregate = await typeNamed(persona, `${typeName}_aggregate`);
  return {
    columns: fields
      .filter(({ kind, arguments: given, text }) => (kind === 'SCALAR' || kind === 'ENUM') && given.every(({ field }) => field === 'path') && !text.startsWith('[['))
      .map((field) => ({ name: field.field, type: field, isNumber: NUMBERS.test(field.text.replaceAll('!', '')) })),
    relations: fields
      .filter(({ kind, field }) => kind === 'OBJECT' && !field.endsWith('_aggregate'))
      .map(({ field, text, name }) => ({ name: field, isList: text.startsWith('['), type: name })),
    hasAggregate: aggregate !== undefined,
  };
}

export interface RowsQuery {
  readonly where: JsonObject;
  readonly order: readonly (readonly [column: string, direction: 'asc' | 'desc'])[];
  readonly limit: number;
  readonly offset: number;
}

/** @throws Failure */
export async function readRows(persona: Persona, names: GraphqlNames, columns: readonly string[], { where, order, limit, offset }: RowsQuery, signal?: AbortSignal): Promise<readonly JsonObject[]> {
  const given: string[] = [`limit: ${limit}`];
  if (Object.keys(where).length > 0) given.unshift(`where: ${literal(where)}`);
  if (order.length > 0) given.push(`${names.orderByArgument}: ${literal(order.map(([column, direction]) => ({ [column]: new EnumName(direction) })) as Literal)}`);
  if (offset > 0) given.push(`offset: ${offset}`);
  const data = await graphql({ query: `query Browse { rows: ${names.select}(${given.join(', ')}) { ${columns.join(' ')} } }` }, persona, signal);
  return isList(data['rows']) ? data['rows'].filter(isObject) : [];
}

/** @throws Failure */
export async function countRows(persona: Persona, names: GraphqlNames, where: JsonObject, signal?: AbortSignal): Promise<string> {
  const given = Object.keys(where).length > 0 ? `(where: ${literal(where)})` : '';
  const data = await graphql({ query: `query Count { found: ${names.selectAggregate}${given} { aggregate { count } } }` }, persona, signal);
  const found = isObject(data['found']) ? data['found'] : {};
  return String(isObject(found['aggregate']) ? found['aggregate']['count'] : '?');
}

/** Values by column with the types of an input. */
interface TypedValues {
  readonly declarations: string;
  readonly object: string;
  readonly variables: JsonObject;
}

function typed(values: Readonly<Record<string, Json>>, fields: ReadonlyMap<string, FieldType>): TypedValues {
  const entries = Object.entries(values);
  return {
    declarations: entries.length === 0 ? '' : `(${entries.map(([name], index) => `$v${index}: ${fields.get(name)?.text ?? 'String'}`).join(', ')})`,
    object: `{${entries.map(([name], index) => `${name}: $v${index}`).join(', ')}}`,
    variables: Object.fromEntries(entries.map(([, value], index) => [`v${index}`, value])),
  };
}

/** @throws Failure */
export async function insertRow(persona: Persona, names: GraphqlNames, values: Readonly<Record<string, Json>>): Promise<number> {
  const input = await typeNamed(persona, names.insertInput);
  const { declarations, object, variables } = typed(values, input?.inputFields ?? new Map());
  const data = await graphql({ query: `mutation Insert${declarations} { done: ${names.insert}(objects: [${object}]) { affected_rows } }`, variables }, persona);
  return affected(data);
}

/** @throws Failure */
export async function updateRow(persona: Persona, names: GraphqlNames, key: JsonObject, values: Readonly<Record<string, Json>>): Promise<number> {
  const input = await typeNamed(persona, names.setInput);
  const { declarations, object, variables } = typed(values, input?.inputFields ?? new Map());
  const query = `mutation Update${declarations} { done: ${names.update}(where: ${literal(whereOf(key))}, _set: ${object}) { affected_rows } }`;
  return affected(await graphql({ query, variables }, persona));
}

/** @throws Failure */
export async function deleteRows(persona: Persona, names: GraphqlNames, where: JsonObject): Promise<number> {
  return affected(await graphql({ query: `mutation Delete { done: ${names.delete}(where: ${literal(where)}) { affected_rows } }` }, persona));
}

/** The condition that finds the rows with these keys. */
export function whereAny(keys: readonly JsonObject[]): JsonObject {
  const [only] = keys;
  return keys.length === 1 && only !== undefined ? whereOf(only) : { _or: keys.map(whereOf) };
}

function whereOf(key: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(key).map(([column, value]) => [column, value === null ? { _is_null: true } : { _eq: value }]));
}

function affected(data: JsonObject): number {
  return isObject(data['done']) ? Number(data['done']['affected_rows']) : 0;
}
