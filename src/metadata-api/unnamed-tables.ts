/** Warnings about tracked tables whose names are invalid in GraphQL. */
import type { QualifiedName } from '../catalog/catalog.ts';
import { isSchemaName } from '../model/graphql-name.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { TableConfiguration } from '../metadata/table.ts';
import { printName } from '../metadata/table-name.ts';
import { tableBaseName } from '../schema-cache/naming.ts';
import type { Warning } from '../state/state.ts';

export interface TrackedTable {
  readonly source: string;
  readonly table: QualifiedName;
  readonly configuration: TableConfiguration;
}

/** Returns the warning about a table, if there is one. */
export function unnamedTable({ source, table, configuration }: TrackedTable, defaultSchema: string): readonly Warning[] {
  const name = tableBaseName(table, configuration, defaultSchema);
  if (isSchemaName(name)) return [];
  const printed = printName(table, defaultSchema);
  const message = `the table "${printed}" has no root fields and no types, because "${name}" is not a valid GraphQL name: set "custom_name" in its configuration`;
  return [{ code: 'illegal-table-name', type: 'table', name: `table ${printed} in source ${source}`, message }];
}

/** Returns the warnings about all tables of the metadata. */
export function unnamedTables({ sources }: Metadata, kinds: Kinds): readonly Warning[] {
  return [...sources.values()].flatMap(({ name: source, kind, tables }) => {
    const { defaultSchema = '' } = kinds.get(kind) ?? {};
    return [...tables.values()].flatMap(({ table, configuration }) => unnamedTable({ source, table, configuration }, defaultSchema));
  });
}
