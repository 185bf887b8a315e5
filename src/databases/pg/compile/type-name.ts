import type { CatalogType, QualifiedName } from '../../../catalog/catalog.ts';
import { identifier, type Sql, sql } from '../../../sql/fragment.ts';

export function qualified(name: QualifiedName): Sql {
  return sql`${identifier(name.schema)}.${identifier(name.name)}`;
}

/**
 * A type in a cast. Built-in ones are quoted as well: unquoted `char` and `bit` are types of
 * length one.
 */
export function typeName(type: CatalogType, array: boolean = type.array): Sql {
  const element = type.schema === 'pg_catalog' ? identifier(type.name) : qualified(type);
  return array ? sql`${element}[]` : element;
}
