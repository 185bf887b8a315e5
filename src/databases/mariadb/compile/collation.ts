import type { CatalogType } from '../../../catalog/catalog.ts';
import { identifier, type Sql, sql } from '../../../sql/fragment.ts';

/** A text of Unicode as one of the character set and the collation of a column; the column's index serves it. */
export function collatedSql(text: Sql, { collation }: CatalogType): Sql {
  const name = collation?.name;
  if (name === undefined) return text;
  // The name of a collation begins with that of its character set.
  const [charset = 'utf8mb4'] = name.split('_');
  return sql`convert(${text} using ${identifier(charset)}) collate ${identifier(name)}`;
}
