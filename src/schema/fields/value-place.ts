/** Representation of a database type in GraphQL: a scalar, a list of scalars, or an enum. */
import { type CatalogType, type QualifiedName, supports } from '../../catalog/catalog.ts';
import { type InputTypeRef, typeRef, type OutputTypeRef } from '../../graphql-engine/types.ts';
import { comparisonType, type ComparisonType } from './comparison.ts';
import type { SourceContext } from './source-context.ts';
import type { ScalarType } from '../../backend/type-system.ts';

/** Returns null if the name of the type is not a GraphQL name. */
export function valuePlace(source: SourceContext, type: CatalogType, enumTable: QualifiedName | null): ValuePlace | null {
  const { shared } = source;
  const values = enumTable === null || type.array ? null : source.enumTable(enumTable);
  const scalar = shared.types.scalar(type);
  const sortable = supports(type, 'order_by');
  if (values !== null) {
    const reference = (nonNull: boolean) => typeRef(values.type.name, () => values.type, nonNull);
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

/** Representation of the type of a column or of the result of a scalar computed field. */
export interface ValuePlace {
  readonly type: CatalogType;
  readonly scalar: ScalarType;
  output(nonNull: boolean): OutputTypeRef;
  input(nonNull: boolean): InputTypeRef;
  comparison(): ComparisonType;
  /** True if sum, avg and so on accept it. */
  readonly numeric: boolean;
  /** True if min and max accept it. */
  readonly comparable: boolean;
  /** True if rows can be sorted by it. */
  readonly sortable: boolean;
  /** True if a `path` argument can select inside the value. */
  readonly json: boolean;
  /** True for values of an enum table under `graphql-default`, which are printed in capitals. */
  readonly upperCase: boolean;
}
