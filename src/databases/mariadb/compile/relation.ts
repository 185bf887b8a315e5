import type { QualifiedName } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Relation } from '../../../ir/relation.ts';
import { identifier, type Sql, sql } from '../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../shared/row.ts';
import type { Context } from './context.ts';

export function relationSql(context: Context, relation: Relation): { readonly item: Sql; readonly alias: Sql; readonly row: Row } {
  if (relation.kind !== 'table') throw new SvcError('not-supported', 'functions of MariaDB cannot be queried');
  const alias = context.alias();
  return { item: sql`${qualified(relation.name)} as ${alias}`, alias, row: aliasRow(alias) };
}

/** Tables of the connected database have no schema. */
export function qualified({ schema, name }: QualifiedName): Sql {
  return schema === '' ? identifier(name) : sql`${identifier(schema)}.${identifier(name)}`;
}
