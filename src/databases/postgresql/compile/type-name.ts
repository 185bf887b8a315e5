import type { CatalogType, QualifiedName } from '../../../catalog/catalog.ts';
import { identifier, type Sql, sql } from '../../../sql/fragment.ts';

export function qualified(name: QualifiedName): Sql {
  return sql`${identifier(name.schema)}.${identifier(name.name)}`;
}

const known = new WeakMap<CatalogType, { one?: Sql; array?: Sql }>();

/** The name of a type in a cast. Built-in names are quoted as well: unquoted `char` and `bit` are types of length one. */
export function typeNameSql(type: CatalogType, array: boolean = type.array): Sql {
  let names = known.get(type);
  if (names === undefined) {
    names = {};
    known.set(type, names);
  }
  names.one ??= elementName(type);
  if (!array) return names.one;
  names.array ??= sql`${names.one}[]`;
  return names.array;
}

function elementName(type: CatalogType): Sql {
  return type.schema === 'pg_catalog' ? identifier(type.name) : qualified(type);
}
