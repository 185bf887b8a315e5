import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { useDraft } from '../../browser/drafts.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import { type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { tableSteps } from '../../model/table-entry.ts';

/** Edited values; what is undefined or missing stays as it is stored. */
interface Edits {
  readonly columns: Readonly<Record<string, string>>;
  readonly table?: string;
  readonly isEnum?: boolean;
}

interface NamesDraft {
  readonly edits: Edits;
  /** The names as they were stored when the draft began. */
  readonly basis: Json;
}

const NO_EDITS: Edits = { columns: {} };

function configurationOf(entry: JsonObject | null | undefined): JsonObject {
  return isObject(entry?.['configuration']) ? entry['configuration'] : {};
}

function columnConfigOf(entry: JsonObject | null | undefined): JsonObject {
  const config = configurationOf(entry)['column_config'];
  return isObject(config) ? config : {};
}

/** The part of a table's entry that the form edits. */
function editedPart(entry: JsonObject | null | undefined): Json {
  return { configuration: entry?.['configuration'] ?? {}, is_enum: entry?.['is_enum'] === true };
}

/** The entry with the edits; a name without characters removes the custom name. */
function withEdits(entry: JsonObject, { columns, table, isEnum }: Edits): JsonObject {
  const columnConfig: Record<string, JsonObject> = {};
  for (const [column, each] of Object.entries(columnConfigOf(entry))) if (isObject(each)) columnConfig[column] = each;
  for (const [column, name] of Object.entries(columns)) {
    const { custom_name: _, ...rest } = columnConfig[column] ?? {};
    columnConfig[column] = name.trim() === '' ? rest : { ...rest, custom_name: name.trim() };
  }
  const { custom_name: stored, custom_column_names: _, ...others } = configurationOf(entry);
  const custom = table === undefined ? stored : table.trim();
  return {
    ...entry,
    configuration: {
      ...others,
      column_config: columnConfig,
      ...(custom === undefined || custom === null || custom === '' ? {} : { custom_name: custom }),
    },
    ...(isEnum === undefined ? {} : { is_enum: isEnum }),
  };
}

/** Names of a table and its columns in the API, while they are edited. */
export function useTableNames(table: TableOverview, info: TableInfo) {
  const [draft, setDraft] = useDraft<NamesDraft>(`names ${table.source} ${tableId(table)}`);
  const { edits = NO_EDITS, basis } = draft ?? {};
  const [failure, setFailure] = useState<Failure>();
  const customName = configurationOf(info.entry)['custom_name'];
  const storedTable = typeof customName === 'string' ? customName : '';
  const storedColumn = (column: string): string => {
    const each = columnConfigOf(info.entry)[column];
    return isObject(each) && typeof each['custom_name'] === 'string' ? each['custom_name'] : '';
  };
  const isChanged =
    Object.entries(edits.columns).some(([column, name]) => name !== storedColumn(column)) ||
    (edits.table !== undefined && edits.table !== storedTable) ||
    (edits.isEnum !== undefined && edits.isEnum !== table.isEnum);
  const edit = (changes: Partial<Edits>): void => {
    setFailure(undefined);
    setDraft({ edits: { ...edits, ...changes }, basis: basis ?? editedPart(info.entry) });
  };
  const reset = (): void => {
    setFailure(undefined);
    setDraft(undefined);
  };
  const unchanged = isChanged ? undefined : 'No changes';
  return {
    failure,
    unchanged,
    refusal: isReadOnly ? READ_ONLY_REASON : unchanged,
    reset,
    table: edits.table ?? storedTable,
    isEnum: edits.isEnum ?? table.isEnum,
    column: (name: string): string => edits.columns[name] ?? storedColumn(name),
    setTable: (name: string): void => edit({ table: name }),
    setEnum: (isEnum: boolean): void => edit({ isEnum }),
    setColumn: (column: string, name: string): void => edit({ columns: { ...edits.columns, [column]: name } }),
    async save(): Promise<void> {
      setFailure(undefined);
      const address = { source: table.source, kind: table.kind, table: tableJson(table) };
      try {
        const done = await makeChange({
          title: `GraphQL names of ${tableId(table)}`,
          tables: [address],
          draft: {
            before: basis ?? editedPart(info.entry),
            now: ([entry]) => editedPart(entry),
            after: ([entry]) => editedPart(withEdits(entry ?? {}, edits)),
          },
          steps: ([entry]) => {
            if (entry === null || entry === undefined) throw new Error('This table is no longer tracked.');
            return tableSteps(address, entry, withEdits(entry, edits));
          },
        });
        if (done !== null) reset();
      } catch (error) {
        setFailure(failureOf(error));
      }
    },
  };
}

export type TableNames = ReturnType<typeof useTableNames>;
