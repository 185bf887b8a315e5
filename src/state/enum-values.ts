/** Rows of enum tables, read through the source's own compiler so that any kind can have them. */
import type { Backend } from '../backend/backend.ts';
import type { CatalogTable } from '../catalog/catalog.ts';
import { TRUE } from '../ir/bool-exp.ts';
import type { RowsQuery } from '../ir/select.ts';
import type { EnumValue } from '../schema-cache/schema-cache.ts';
import { enumColumns } from '../schema-cache/stages/enum-table.ts';
import { textOfBytes } from '../util/bytes.ts';
import { isJsonArray, isJsonObject, parseJson } from '../util/json.ts';
import type { Wanted } from './wanted.ts';
import type { Connection } from '../backend/connection.ts';

/** All rows; null when the table's shape is not that of an enum, which the schema cache will say. */
export async function readEnumValues(
  connection: Connection,
  backend: Backend,
  table: CatalogTable,
  wanted: Wanted,
): Promise<readonly EnumValue[] | null> {
  const columns = enumColumns(table);
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
  const [cell] = await connection.runJson(statement, [], wanted);
  const rows = parseJson(textOfBytes(cell ?? []));
  return (isJsonArray(rows) ? rows : []).flatMap((row) => {
    if (!isJsonObject(row) || typeof row['value'] !== 'string') return [];
    return [{ value: row['value'], description: typeof row['description'] === 'string' ? row['description'] : null }];
  });
}
