/** How a database type appears in GraphQL: as a scalar, a list of one, or an enum. */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { QualifiedName } from '../../catalog/catalog.ts';
import { named } from '../types.ts';
import { comparisonType } from './comparison.ts';
import type { ValuePlace } from './role-table.ts';
import type { SourceContext } from './source-context.ts';

/** Null when the type's name cannot be said in GraphQL. */
export function valuePlace(source: SourceContext, type: CatalogType, enumTable: QualifiedName | null): ValuePlace | null {
  const { shared } = source;
  const values = enumTable === null || type.array ? null : source.enumTable(enumTable);
  const scalar = shared.types.scalar(type);
  if (values !== null) {
    const reference = (nonNull: boolean) => named(values.type.name, () => values.type, nonNull);
    return {
      type,
      scalar,
      output: reference,
      input: reference,
      comparison: values.comparison,
      numeric: false,
      comparable: false,
      json: false,
      upperCase: source.info.namingConvention === 'graphql-default',
    };
  }
  if (source.names === 'graphql' && shared.scalar(type) === null) return null;
  return {
    type,
    scalar,
    output: (nonNull) => shared.reference(type, nonNull),
    input: (nonNull) => shared.reference(type, nonNull),
    comparison: () => comparisonType(shared, type),
    numeric: scalar.numeric && !type.array,
    comparable: type.array ? scalar.arraysComparable : scalar.comparable,
    json: scalar.json && !type.array,
    upperCase: false,
  };
}
