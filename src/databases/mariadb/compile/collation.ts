import type { CatalogType } from '../../../catalog/catalog.ts';
import { identifier, type Sql, sql } from '../../../sql/fragment.ts';

/** Converts a Unicode text to the character set and collation of a column, so that the column's index can be used. */
export function collatedSql(text: Sql, { collation }: CatalogType): Sql {
  const name = collation?.name;
  if (name === undefined) return text;
  // Names of collations start with their character set.
  const [charset = 'utf8mb4'] = name.split('_');
  return sql`convert(${text} using ${identifier(charset)}) collate ${identifier(name)}`;
}
