/** Names in the GraphQL schema of what a table has. */
import { isObject, type Json, type JsonObject } from './json.ts';

export interface GraphqlNames {
  readonly type: string;
  readonly select: string;
  readonly selectAggregate: string;
  readonly selectByPk: string;
  readonly insert: string;
  readonly insertOne: string;
  readonly update: string;
  readonly updateByPk: string;
  readonly delete: string;
  readonly deleteByPk: string;
  readonly boolExp: string;
  readonly insertInput: string;
  readonly setInput: string;
  readonly orderByArgument: string;
}

/** As the service tells them in a table's description; undefined where the table has none. */
export function namesOfInfo(json: Json | undefined): Partial<GraphqlNames> {
  if (!isObject(json)) return {};
  return json as Partial<GraphqlNames>;
}

/** The names that a table has where nothing renames it, with those that its configuration gives. */
export function defaultNames({ schema, name, defaultSchema }: { readonly schema: string; readonly name: string; readonly defaultSchema: string }, entry: JsonObject | null): GraphqlNames {
  const configuration = isObject(entry?.['configuration']) ? entry['configuration'] : {};
  const custom = typeof configuration['custom_name'] === 'string' && configuration['custom_name'] !== '' ? configuration['custom_name'] : undefined;
  const type = custom ?? (schema === defaultSchema || schema === '' ? name : `${schema}_${name}`);
  const roots = isObject(configuration['custom_root_fields']) ? configuration['custom_root_fields'] : {};
  const root = (key: string, otherwise: string): string => {
    const given = roots[key];
    if (typeof given === 'string' && given !== '') return given;
    if (isObject(given) && typeof given['name'] === 'string' && given['name'] !== '') return given['name'];
    return otherwise;
  };
  return {
    type,
    select: root('select', type),
    selectAggregate: root('select_aggregate', `${type}_aggregate`),
    selectByPk: root('select_by_pk', `${type}_by_pk`),
    insert: root('insert', `insert_${type}`),
    insertOne: root('insert_one', `insert_${type}_one`),
    update: root('update', `update_${type}`),
    updateByPk: root('update_by_pk', `update_${type}_by_pk`),
    delete: root('delete', `delete_${type}`),
    deleteByPk: root('delete_by_pk', `delete_${type}_by_pk`),
    boolExp: `${type}_bool_exp`,
    insertInput: `${type}_insert_input`,
    setInput: `${type}_set_input`,
    orderByArgument: 'order_by',
  };
}
