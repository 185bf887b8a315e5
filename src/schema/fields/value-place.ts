/** How a database type appears in GraphQL: as a scalar, a list of one, or an enum. */
import { type CatalogType, type QualifiedName, supports } from '../../catalog/catalog.ts';
import { type InputTypeRef, named, type OutputTypeRef } from '../../graphql-engine/types.ts';
import { comparisonType, type ComparisonType } from './comparison.ts';
import type { SourceContext } from './source-context.ts';
import type { ScalarType } from '../../backend/type-system.ts';

/** Null when the type's name cannot be said in GraphQL. */
export function valuePlace(source: SourceContext, type: CatalogType, enumTable: QualifiedName | null): ValuePlace | null {
  const { shared } = source;
  const values = enumTable === null || type.array ? null : source.enumTable(enumTable);
  const scalar = shared.types.scalar(type);
  const sortable = supports(type, 'order_by');
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
      sortable,
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
    comparable: sortable && (type.array ? scalar.arraysComparable : scalar.comparable),
    sortable,
    json: scalar.json && !type.array,
    upperCase: false,
  };
}

/** A place of a database type in GraphQL: a column, or the result of a scalar computed field. */
export interface ValuePlace {
  readonly type: CatalogType;
  readonly scalar: ScalarType;
  output(nonNull: boolean): OutputTypeRef;
  input(nonNull: boolean): InputTypeRef;
  comparison(): ComparisonType;
  /** sum, avg and so on take it. */
  readonly numeric: boolean;
  /** min and max take it. */
  readonly comparable: boolean;
  /** Rows can be sorted by it. */
  readonly sortable: boolean;
  /** A `path` argument selects inside the value. */
  readonly json: boolean;
  /** Printed in capitals: a value of an enum table under `graphql-default`. */
  readonly upperCase: boolean;
}
