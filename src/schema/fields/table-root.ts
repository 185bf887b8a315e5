/** The read root fields of a table: `T`, `T_by_pk`, `T_aggregate`, and `T_stream` for subscriptions. */
import type { QueryRootField, SubscriptionRootField, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { OutputField, RootMeaning } from '../../graphql-engine/types.ts';
import { listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { describeRoot } from './descriptions.ts';
import { hasKey, primaryKeyColumns, keyFields } from './primary-key.ts';
import type { RoleSource } from './role-context.ts';
import { type RoleTable, roleTypeName } from './role-table.ts';
import { aggregateQuery, listQuery, rowByKey } from './select.ts';
import { cursorColumns, streamArguments, streamRoot } from './stream.ts';

export type ReadRoot = 'query' | 'subscription';
export const READ_KEYS: readonly QueryRootField[] = ['select', 'select_by_pk', 'select_aggregate'];

/** Returns true if the role has the root field, according to its permissions. */
export function tableRootIsVisible(source: RoleSource, table: TableInfo, key: SubscriptionRootField, root: ReadRoot): boolean {
  const access = source.access(table);
  if (access === null || (key !== 'select_aggregate' && !source.selectsRows(table))) return false;
  if (key === 'select_stream') {
    if (root === 'query' || !source.context.info.backend.capabilities.streaming) return false;
    if (access.subscriptionRootFields?.has(key) === false) return false;
    return access.columns === null ? table.columns.size > 0 : [...access.columns.keys()].some((column) => table.columns.has(column));
  }
  const listed = root === 'query' ? access.queryRootFields : access.subscriptionRootFields;
  if (listed !== null && !listed.has(key)) return false;
  if (key === 'select_aggregate') return access.allowAggregations;
  return key === 'select' || hasKey(table, access);
}

/** Returns the root field under one of its names; it must be visible. */
export function tableRootField(source: RoleSource, info: TableInfo, key: SubscriptionRootField, name: string): OutputField | undefined {
  const table = source.table(info.name);
  if (table === null) return undefined;
  const description = describeRoot(source.context.info, info, key);
  const meaning = (translate: Extract<RootMeaning, { kind: 'select' }>['translate']): RootMeaning => ({
    kind: 'select',
    source: source.context.info.name,
    translate,
  });
  switch (key) {
    case 'select':
      return {
        name,
        description,
        type: listTypeRef(
          typeRef(table.name, () => table.rows().type, true),
          true,
        ),
        args: table.selectArguments().args,
        meaning: meaning((field, alias) => ({ alias, query: listQuery(table, field, table.relation) })),
      };
    case 'select_aggregate':
      return {
        name,
        description,
        type: typeRef(roleTypeName(table, 'aggregate'), () => table.aggregate().type, true),
        args: table.selectArguments().args,
        meaning: meaning((field, alias) => ({ alias, query: aggregateQuery(table, field, table.relation) })),
      };
    case 'select_stream':
      // Streams need a column with a name that can be sorted.
      if (cursorColumns(table).length === 0) return undefined;
      return {
        name,
        description,
        type: listTypeRef(
          typeRef(table.name, () => table.rows().type, true),
          true,
        ),
        args: streamArguments(table),
        meaning: meaning((field, alias) => streamRoot(table, field, alias)),
      };
    case 'select_by_pk':
      return byKeyField(table, name, description, meaning);
  }
}

function byKeyField(
  table: RoleTable,
  name: string,
  description: string | null,
  meaning: (translate: Extract<RootMeaning, { kind: 'select' }>['translate']) => RootMeaning,
): OutputField | undefined {
  const key = primaryKeyColumns(table);
  if (key === null) return undefined;
  return {
    name,
    description,
    type: typeRef(table.name, () => table.rows().type),
    args: keyFields(key),
    meaning: meaning((field, alias) => ({ alias, query: rowByKey(table, field, key) })),
  };
}
