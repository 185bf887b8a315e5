/**
 * Types that depend on a kind of database and a naming convention only: scalars, `order_by`.
 * One instance serves every role and every source of that kind and convention.
 */
import type { ScalarType, TypeSystem } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import type { NamingConvention } from '../../metadata/source.ts';
import { enumValueName, sharedTypeName } from '../../schema-cache/naming.ts';
import { isGraphqlName } from '../../metadata/graphql-name.ts';
import type { EnumSchemaType, ScalarSchemaType } from '../types.ts';
import { valueCoercion } from '../input/coerce.ts';
import { enumType, lazy, listOf, named, type TypeRef } from '../types.ts';

export class SharedTypes {
  readonly types: TypeSystem;
  readonly convention: NamingConvention;
  private readonly scalars = new Map<string, ScalarSchemaType>();
  private readonly arrays = new Map<string, ScalarSchemaType>();
  /** Comparison types by name; filled by `comparison.ts`. */
  readonly comparisons = new Map<string, unknown>();
  /** Results of aggregates and so on that have nothing to do with a table. */
  readonly orderBy: () => EnumSchemaType;
  readonly cursorOrdering: () => EnumSchemaType;

  constructor(types: TypeSystem, convention: NamingConvention) {
    this.types = types;
    this.convention = convention;
    this.orderBy = lazy(() => orderByEnum(convention));
    this.cursorOrdering = lazy(() => cursorOrderingEnum(convention));
  }

  /** The scalar of the type, its element's for an array; null when it has no name that GraphQL allows. */
  scalar(type: CatalogType): ScalarSchemaType | null {
    const scalar = this.types.scalar(type);
    return isGraphqlName(scalar.graphql) ? this.scalarOf(scalar) : null;
  }

  private scalarOf(scalar: ScalarType): ScalarSchemaType {
    let made = this.scalars.get(scalar.graphql);
    if (made === undefined) {
      made = {
        kind: 'scalar',
        name: sharedTypeName(this.convention, scalar.graphql),
        description: null,
        check: (json, at) => scalar.check(json, at),
        ...(scalar.json ? { anyLiteral: true } : {}),
      };
      this.scalars.set(scalar.graphql, made);
    }
    return made;
  }

  /** A whole array as a scalar: it takes what a list takes, and the text of the database. */
  arrayScalar(type: CatalogType): ScalarSchemaType {
    const name = sharedTypeName(this.convention, this.types.scalar(type).graphqlArray);
    let made = this.arrays.get(name);
    if (made === undefined) {
      const list = this.reference(type);
      const check = lazy(() => valueCoercion(list));
      made = { kind: 'scalar', name, description: null, check: (json, at) => check()(json, at), standsFor: list };
      this.arrays.set(name, made);
    }
    return made;
  }

  /** `X`, or `[X!]` for an array. The type must have a scalar. */
  reference(type: CatalogType, nonNull = false): TypeRef<ScalarSchemaType> {
    const scalar = this.scalarOf(this.types.scalar(type));
    const element = named(scalar.name, () => scalar, type.array || nonNull);
    return type.array ? listOf(element, nonNull) : element;
  }
}

const DIRECTIONS: readonly (readonly [value: string, description: string])[] = [
  ['asc', 'in ascending order, nulls last'],
  ['asc_nulls_first', 'in ascending order, nulls first'],
  ['asc_nulls_last', 'in ascending order, nulls last'],
  ['desc', 'in descending order, nulls first'],
  ['desc_nulls_first', 'in descending order, nulls first'],
  ['desc_nulls_last', 'in descending order, nulls last'],
];

function orderByEnum(convention: NamingConvention): EnumSchemaType {
  return enumType(sharedTypeName(convention, 'order_by'), 'column ordering options', () =>
    DIRECTIONS.map(([value, description]) => ({ name: enumValueName(convention, value), description, value })),
  );
}

function cursorOrderingEnum(convention: NamingConvention): EnumSchemaType {
  return enumType(sharedTypeName(convention, 'cursor_ordering'), 'ordering argument of a cursor', () => [
    { name: 'ASC', description: 'ascending ordering of the cursor', value: 'asc' },
    { name: 'DESC', description: 'descending ordering of the cursor', value: 'desc' },
  ]);
}
