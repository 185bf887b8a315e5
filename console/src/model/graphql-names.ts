/** Names of a table's types and fields in the GraphQL schema. */
import { isObject, type Json } from './json.ts';

export interface GraphqlNames {
  /** Field that contains the root fields of the source. */
  readonly namespace: string | undefined;
  readonly type: string;
  readonly aggregateType: string;
  /** Undefined if sources of the kind are read-only. */
  readonly mutationResponse: string | undefined;
  readonly boolExp: string;
  readonly insertInput: string | undefined;
  readonly setInput: string | undefined;
  readonly select: string;
  readonly selectAggregate: string;
  readonly insert: string;
  readonly insertOne: string;
  readonly update: string;
  readonly delete: string;
  /** Names that depend on the naming convention of the source. */
  readonly words: { readonly orderBy: string; readonly affectedRows: string; readonly asc: string; readonly desc: string };
}

const SNAKE = { orderBy: 'order_by', affectedRows: 'affected_rows', asc: 'asc', desc: 'desc' };
const CAMEL = { orderBy: 'orderBy', affectedRows: 'affectedRows', asc: 'ASC', desc: 'DESC' };

/** Reads the key `graphql` of `get_table_info`; undefined for a table that is not in the GraphQL schema. */
export function readNames(json: Json | undefined): GraphqlNames | undefined {
  if (!isObject(json)) return undefined;
  const roots = isObject(json['root_fields']) ? json['root_fields'] : {};
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const optional = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    namespace: optional(json['namespace']),
    type: text(json['type']),
    aggregateType: text(json['aggregate_type']),
    mutationResponse: optional(json['mutation_response_type']),
    boolExp: text(json['where_type']),
    insertInput: optional(json['insert_type']),
    setInput: optional(json['set_type']),
    select: text(roots['select']),
    selectAggregate: text(roots['select_aggregate']),
    insert: text(roots['insert']),
    insertOne: text(roots['insert_one']),
    update: text(roots['update']),
    delete: text(roots['delete']),
    words: json['naming_convention'] === 'graphql-default' ? CAMEL : SNAKE,
  };
}
