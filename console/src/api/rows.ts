/** Reads and writes rows as a persona through GraphQL. */
import { EnumName, type Literal, literal } from '../model/graphql-text.ts';
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Persona } from '../model/persona.ts';
import { graphql } from './graphql.ts';
import type { GraphqlNames } from '../model/graphql-names.ts';
import { type FieldType, type SchemaType, readType } from './types.ts';

export interface RowColumn {
  /** Field name in the GraphQL schema. */
  readonly name: string;
  readonly type: FieldType;
  readonly isNumber: boolean;
}

export interface ReadableTable {
  readonly columns: readonly RowColumn[];
  /** Fields of relationships. */
  readonly relations: readonly { readonly name: string; readonly isList: boolean; readonly type: string }[];
  readonly hasAggregate: boolean;
}

const NUMBERS = /^(?:Int|Float|bigint|numeric|smallint|float8|float4|int8|int2|decimal|double|bigserial|money|double_precision)$/;

/** Returns the fields of a table that a persona can read; undefined without a select permission. @throws Failure */
export async function readableTable(persona: Persona, { type: typeName, aggregateType }: GraphqlNames): Promise<ReadableTable | undefined> {
  const type = await readType(persona, typeName);
  if (type === undefined) return undefined;
  const fields = [...type.fields.values()];
  const aggregate = await readType(persona, aggregateType);
  return {
    columns: fields
      .filter(
        ({ kind, arguments: args, text }) =>
          (kind === 'SCALAR' || kind === 'ENUM') && args.every(({ field }) => field === 'path') && !text.startsWith('[['),
      )
      .map((field) => ({ name: field.field, type: field, isNumber: NUMBERS.test(field.text.replaceAll('!', '')) })),
    relations: fields
      .filter(({ kind, field }) => kind === 'OBJECT' && !/_aggregate$|Aggregate$/.test(field))
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
export async function readRows(
  persona: Persona,
  names: GraphqlNames,
  columns: readonly string[],
  { where, order, limit, offset }: RowsQuery,
  signal?: AbortSignal,
): Promise<readonly JsonObject[]> {
  const args: string[] = [`limit: ${limit}`];
  if (Object.keys(where).length > 0) args.unshift(`where: ${literal(where)}`);
  if (order.length > 0)
    args.push(
      `${names.words.orderBy}: ${literal(order.map(([column, direction]) => ({ [column]: new EnumName(names.words[direction]) })) as Literal)}`,
    );
  if (offset > 0) args.push(`offset: ${offset}`);
  const rows = await readRoot(
    persona,
    names,
    { head: 'query Browse', field: `${names.select}(${args.join(', ')}) { ${columns.join(' ')} }` },
    signal,
  );
  return isList(rows) ? rows.filter(isObject) : [];
}

/** @throws Failure */
export async function countRows(persona: Persona, names: GraphqlNames, where: JsonObject, signal?: AbortSignal): Promise<string> {
  const args = Object.keys(where).length > 0 ? `(where: ${literal(where)})` : '';
  const found = await readRoot(
    persona,
    names,
    { head: 'query Count', field: `${names.selectAggregate}${args} { aggregate { count } }` },
    signal,
  );
  return String(isObject(found) && isObject(found['aggregate']) ? found['aggregate']['count'] : '?');
}

/** Values as variables with the types of an input object. */
interface TypedValues {
  readonly declarations: string;
  readonly object: string;
  readonly variables: JsonObject;
}

function typed(values: Readonly<Record<string, Json>>, fields: ReadonlyMap<string, FieldType>): TypedValues {
  const entries = Object.entries(values);
  return {
    declarations:
      entries.length === 0 ? '' : `(${entries.map(([name], index) => `$v${index}: ${fields.get(name)?.text ?? 'String'}`).join(', ')})`,
    object: `{${entries.map(([name], index) => `${name}: $v${index}`).join(', ')}}`,
    variables: Object.fromEntries(entries.map(([, value], index) => [`v${index}`, value])),
  };
}

/** @throws Failure */
export async function insertRow(persona: Persona, names: GraphqlNames, values: Readonly<Record<string, Json>>): Promise<number> {
  const input = await inputOf(persona, names.insertInput);
  const { declarations, object, variables } = typed(values, input?.inputFields ?? new Map());
  const field = `${names.insert}(objects: [${object}]) { ${names.words.affectedRows} }`;
  return affected(names, await readRoot(persona, names, { head: `mutation Insert${declarations}`, field, variables }));
}

/**
 * Inserts rows in one transaction: first `objects` in one statement, then each of `singles`. The path of an error ends with
 * `.args.objects[i]` for the former, if its row is known, and with `.args.object` for the latter. @throws Failure
 */
export async function insertRows(
  persona: Persona,
  names: GraphqlNames,
  objects: readonly JsonObject[],
  singles: readonly JsonObject[] = [],
): Promise<number> {
  const input = `${names.insertInput ?? ''}!`;
  const head = `mutation Import($objects: [${input}]!${singles.map((_, index) => `, $single${index}: ${input}`).join('')})`;
  const field = [
    `${names.insert}(objects: $objects) { ${names.words.affectedRows} }`,
    ...singles.map((_, index) => `single${index}: ${names.insertOne}(object: $single${index}) { __typename }`),
  ].join(' ');
  const variables: JsonObject = { objects, ...Object.fromEntries(singles.map((object, index) => [`single${index}`, object])) };
  return affected(names, await readRoot(persona, names, { head, field, variables })) + singles.length;
}

/** @throws Failure */
export function updateRow(persona: Persona, names: GraphqlNames, key: JsonObject, values: Readonly<Record<string, Json>>): Promise<number> {
  return updateRows(persona, names, whereOf(key), values);
}

/** Sets the same values in all rows that a condition matches. @throws Failure */
export async function updateRows(
  persona: Persona,
  names: GraphqlNames,
  where: JsonObject,
  values: Readonly<Record<string, Json>>,
): Promise<number> {
  const input = await inputOf(persona, names.setInput);
  const { declarations, object, variables } = typed(values, input?.inputFields ?? new Map());
  const field = `${names.update}(where: ${literal(where)}, _set: ${object}) { ${names.words.affectedRows} }`;
  return affected(names, await readRoot(persona, names, { head: `mutation Update${declarations}`, field, variables }));
}

/** @throws Failure */
export async function deleteRows(persona: Persona, names: GraphqlNames, where: JsonObject): Promise<number> {
  const field = `${names.delete}(where: ${literal(where)}) { ${names.words.affectedRows} }`;
  return affected(names, await readRoot(persona, names, { head: 'mutation Delete', field }));
}

/** Returns the condition for the rows with these keys. */
export function whereAny(keys: readonly JsonObject[]): JsonObject {
  const [only] = keys;
  return keys.length === 1 && only !== undefined ? whereOf(only) : { _or: keys.map(whereOf) };
}

function whereOf(key: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(key).map(([column, value]): [string, JsonObject] => [column, value === null ? { _is_null: true } : { _eq: value }]),
  );
}

function affected({ words }: GraphqlNames, json: Json | undefined): number {
  return isObject(json) ? Number(json[words.affectedRows]) : 0;
}

function inputOf(persona: Persona, name: string | undefined): Promise<SchemaType | undefined> {
  return name === undefined ? Promise.resolve(undefined) : readType(persona, name);
}

interface RootRequest {
  /** Such as `query Name($v: Int!)`. */
  readonly head: string;
  readonly field: string;
  readonly variables?: JsonObject;
}

/** Returns the value of one root field, inside the namespace of the source if it has one. @throws Failure */
async function readRoot(
  persona: Persona,
  { namespace }: GraphqlNames,
  { head, field, variables }: RootRequest,
  signal?: AbortSignal,
): Promise<Json | undefined> {
  const root = `root: ${field}`;
  const query = `${head} { ${namespace === undefined ? root : `namespace: ${namespace} { ${root} }`} }`;
  const data = await graphql({ query, ...(variables === undefined ? {} : { variables }) }, persona, signal);
  const parent = namespace === undefined ? data : data['namespace'];
  return isObject(parent) ? parent['root'] : undefined;
}
