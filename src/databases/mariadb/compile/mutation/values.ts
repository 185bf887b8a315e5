/** Values that are written, and values of rows as texts that later statements write or look for. */
import type { CatalogType } from '../../../../catalog/catalog.ts';
import type { KeptValue, Operand } from '../../../../ir/value.ts';
import { integer, parameter, type Sql, sql } from '../../../../sql/fragment.ts';
import { familyOf } from '../../families.ts';
import { TEXT } from '../../type-of.ts';
import { castSql, placeholderSql } from '../operand.ts';

/** A value as it is stored in a column of its type. */
export function writtenSql(operand: Operand): Sql {
  if (operand.value.kind === 'literal' && operand.value.json === null) return sql`null`;
  return storedSql(operand.type, placeholderSql(operand));
}

/** What a cell of an earlier row has, in a column that gets its value from one of the type. */
export function filledSql(value: KeptValue, type: CatalogType): Sql {
  return storedSql(type, keptSql(value));
}

/** The same to compare a column with. */
export function comparedSql(type: CatalogType, text: Sql): Sql {
  return castSql(type, text);
}

/** A value as a column of the type has it when it is written: decimals are rounded, fractions of seconds are cut. */
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

export function keptSql(value: KeptValue): Sql {
  return parameter({ operand: { value, type: TEXT, list: false }, key: '', encode: () => null });
}

/** The text of a column for `filledSql`; that of a truth value is a number. */
export function keptTextSql(column: Sql, type: CatalogType): Sql {
  switch (familyOf(type).kind) {
    case 'boolean':
    case 'bits':
      return sql`cast(${column} + 0 as char)`;
    case 'bytes':
      // It breaks lines.
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

/** What the server makes of a text is what is meant, or an error: texts have been read before. */
function storedSql(type: CatalogType, text: Sql): Sql {
  switch (familyOf(type).kind) {
    case 'boolean':
      return sql`cast(${text} as signed)`;
    // The bytes of a text would be its bits.
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
