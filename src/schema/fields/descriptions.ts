/** Descriptions of generated types and root fields. */
import type { QualifiedName } from '../../catalog/catalog.ts';
import { printName } from '../../metadata/table-name.ts';
import type { RootFieldKey } from '../../metadata/table.ts';
import type { SourceInfo, TableInfo } from '../../schema-cache/schema-cache.ts';

/** Returns `"author"` or `"other.author"`. */
export function quoted(source: SourceInfo, name: QualifiedName): string {
  return `"${printName(name, source.backend.defaultSchema)}"`;
}

/** An explicit comment takes precedence; an empty one removes the description. */
export function commentOr(comment: string | null | undefined, automatic: string | null): string | null {
  if (comment === undefined) return automatic;
  return comment === null || comment === '' ? null : comment;
}

const ROOT_DESCRIPTIONS: Readonly<Record<RootFieldKey, (table: string) => string>> = {
  select: (t) => `fetch data from the table: ${t}`,
  select_by_pk: (t) => `fetch data from the table: ${t} using primary key columns`,
  select_aggregate: (t) => `fetch aggregated fields from the table: ${t}`,
  select_stream: (t) => `fetch data from the table in a streaming manner: ${t}`,
  insert: (t) => `insert data into the table: ${t}`,
  insert_one: (t) => `insert a single row into the table: ${t}`,
  update: (t) => `update data of the table: ${t}`,
  update_by_pk: (t) => `update single row of the table: ${t}`,
  update_many: (t) => `update multiples rows of table: ${t}`,
  delete: (t) => `delete data from the table: ${t}`,
  delete_by_pk: (t) => `delete single row from the table: ${t}`,
};

/** Returns the description of a root field; a comment of the metadata takes precedence. */
export function describeRoot(source: SourceInfo, table: TableInfo, key: RootFieldKey): string | null {
  const comment = table.configuration.customRootFields.get(key)?.comment;
  return commentOr(comment, ROOT_DESCRIPTIONS[key](quoted(source, table.name)));
}

export function tableDescription(source: SourceInfo, table: TableInfo): string | null {
  return commentOr(table.configuration.comment, table.catalog.comment ?? `columns and relationships of ${quoted(source, table.name)}`);
}

export const ARGUMENT_DESCRIPTIONS = {
  distinct_on: 'distinct select on columns',
  limit: 'limit the number of rows returned',
  offset: 'skip the first n rows. Use only with order_by',
  order_by: 'sort the rows by one or more columns',
  where: 'filter the rows returned',
  batch_size: 'maximum number of rows returned in a single batch',
  cursor: 'cursor to stream the results returned by the query',
} as const;

export const NO_QUERIES =
  'There are no queries available to the current role. Either there are no sources or remote schemas configured, ' +
  "or the current role doesn't have the required permissions.";
