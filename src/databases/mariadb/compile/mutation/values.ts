/** Values that are written, and values of rows as texts that later statements write or look up. */
import type { CatalogType } from '../../../../catalog/catalog.ts';
import type { TransactionLocalValue, Operand } from '../../../../ir/value.ts';
import { integer, parameter, type Sql, sql } from '../../../../sql/fragment.ts';
import { familyOf } from '../../families.ts';
import { TEXT } from '../../base-type.ts';
import { parameterSql } from '../operand.ts';

/** Compiles a value for storage in a column of its type. */
export function writtenSql(operand: Operand): Sql {
  if (operand.value.kind === 'literal' && operand.value.json === null) return sql`null`;
  return storedSql(operand.type, parameterSql(operand));
}

/** Compiles the cell of an earlier row for storage. */
export function filledSql(value: TransactionLocalValue, type: CatalogType): Sql {
  return storedSql(type, transactionLocalSql(value));
}

/** Compiles a value as the column will store it: decimals are rounded, fractions of seconds are truncated. */
export function roundedSql(type: CatalogType, value: Sql): Sql {
  const { fraction } = type;
  if (fraction === undefined) return value;
  const digits = integer(fraction);
  switch (familyOf(type).kind) {
    case 'decimal':
      return sql`cast(${value} as decimal(65,${digits}))`;
    case 'time':
      return sql`cast(${value} as time(${digits}))`;
    default:
      return sql`cast(${value} as datetime(${digits}))`;
  }
}

export function transactionLocalSql(value: TransactionLocalValue): Sql {
  return parameter({ operand: { value, type: TEXT, list: false }, key: '', encode: () => null });
}

/** Compiles a column to a text for `transactionLocalSql`; booleans become numbers. */
export function columnTextSql(column: Sql, type: CatalogType): Sql {
  switch (familyOf(type).kind) {
    case 'boolean':
    case 'bits':
      return sql`cast(${column} + 0 as char)`;
    case 'bytes':
      // Removes the line breaks of `to_base64`.
      return sql`replace(to_base64(${column}), '\\n', '')`;
    case 'text':
    case 'json':
      return sql`convert(${column} using utf8mb4)`;
    case 'geometry':
      return sql`st_asgeojson(${column})`;
    default:
      return sql`cast(${column} as char)`;
  }
}

/** The server converts the text or fails: texts have been validated before. */
function storedSql(type: CatalogType, text: Sql): Sql {
  switch (familyOf(type).kind) {
    case 'boolean':
      return sql`cast(${text} as signed)`;
    // A text would be stored as its bytes.
    case 'bits':
      return sql`cast(${text} as unsigned)`;
    case 'bytes':
      return sql`from_base64(${text})`;
    case 'geometry':
      return sql`st_geomfromgeojson(${text})`;
    default:
      return text;
  }
}
