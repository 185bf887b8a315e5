/** Reads the rows of enum tables with the compiler of the source, so that it works for any kind. */
import type { Backend } from '../backend/backend.ts';
import type { CatalogTable } from '../catalog/catalog.ts';
import { TRUE } from '../ir/bool-exp.ts';
import type { RowsQuery } from '../ir/select.ts';
import type { EnumValue } from '../schema-cache/schema-cache.ts';
import { enumTableColumns } from '../schema-cache/stages/enum-table.ts';
import { textOfBytes } from '../util/bytes.ts';
import { isJsonArray, isJsonObject, parseJson } from '../util/json.ts';
import type { CallOptions } from '../util/deadline.ts';
import type { Connection } from '../backend/connection.ts';

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
