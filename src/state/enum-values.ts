/** Reads the rows of enum tables with the compiler of the source, so that it works for any kind. */
import type { Backend } from '../backend/backend.ts';
import type { Catalog, CatalogTable } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { SourceMetadata } from '../metadata/metadata.ts';
import { TRUE } from '../ir/bool-exp.ts';
import type { RowsQuery } from '../ir/select.ts';
import type { EnumValue } from '../schema-cache/schema-cache.ts';
import { enumTableColumns } from '../schema-cache/stages/enum-table.ts';
import { textOfBytes } from '../util/bytes.ts';
import { isJsonArray, isJsonObject, parseJson } from '../util/json.ts';
import type { CallOptions } from '../util/deadline.ts';
import type { Connection } from '../backend/connection.ts';

/**
 * Reads the enum tables of a source in a transaction, which sees the rows that it has written. A table that cannot be read is left out, and so
 * are those after it: a failed transaction accepts no more statements.
 * @throws SvcError if the source does not respond
 */
export async function enumValuesWithin(
  connection: Connection,
  backend: Backend,
  { tables }: Pick<SourceMetadata, 'tables'>,
  catalog: Catalog,
  callOptions: CallOptions,
): Promise<ReadonlyMap<string, readonly EnumValue[]>> {
  const found = new Map<string, readonly EnumValue[]>();
  for (const [key, { isEnum }] of tables) {
    const table = isEnum ? catalog.tables.get(key) : undefined;
    if (table === undefined) continue;
    try {
      const values = await readEnumValues(connection, backend, table, callOptions);
      if (values !== null) found.set(key, values);
    } catch (error) {
      if (!isAboutTable(error)) throw error;
      break;
    }
  }
  return found;
}

/** Returns true if a table cannot be read, for example without the privilege, and false if its source does not respond. */
export function isAboutTable(error: unknown): boolean {
  return error instanceof SvcError && !error.isTransient && error.code !== 'timeout';
}

/** Returns all values; `null` if the table does not have the shape of an enum table, which the schema cache reports. */
export async function readEnumValues(
  connection: Connection,
  backend: Backend,
  table: CatalogTable,
  callOptions: CallOptions,
): Promise<readonly EnumValue[] | null> {
  const columns = enumTableColumns(table);
  if (columns === null) return null;
  const fields: RowsQuery['fields'] = [columns.value, columns.description].flatMap((name, i) => {
    const column = table.columns.find((each) => each.name === name);
    if (column === undefined) return [];
    return [
      {
        kind: 'read',
        alias: i === 0 ? 'value' : 'description',
        read: { kind: 'column', column: column.name, type: column.type },
        jsonPath: null,
      },
    ];
  });
  const query: RowsQuery = {
    kind: 'rows',
    shape: 'list',
    from: { kind: 'table', name: table.name },
    rows: { where: TRUE, distinctOn: [], orderBy: [], limit: null, offset: null },
    fields,
  };
  const statement = backend.compiler({ stringifyNumericTypes: false }).select([{ alias: 'rows', query }]);
  const [cell] = await connection.runJson(statement, [], callOptions);
  const rows = parseJson(textOfBytes(cell ?? []));
  return (isJsonArray(rows) ? rows : []).flatMap((row) => {
    if (!isJsonObject(row) || typeof row['value'] !== 'string') return [];
    return [{ value: row['value'], description: typeof row['description'] === 'string' ? row['description'] : null }];
  });
}
