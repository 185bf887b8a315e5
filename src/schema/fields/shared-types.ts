/**
 * Types that depend on a kind of database and a naming convention only: scalars, `order_by`. One instance serves every role and every
 * source of that kind and convention.
 */
import { PLAIN_SCALARS } from '../../schema-cache/action-info.ts';
import type { ScalarType, TypeSystem } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import type { NamingConvention } from '../../metadata/source.ts';
import type { SchemaCache } from '../../schema-cache/schema-cache.ts';
import { enumValueName, sharedTypeName } from '../../schema-cache/naming.ts';
import { isGraphqlName } from '../../model/graphql-name.ts';
import type { EnumSchemaType, ScalarSchemaType } from '../../graphql-engine/types.ts';
import { valueCoercion } from '../../graphql-engine/input/coerce.ts';
import { TIME_PARTS, TIME_UNITS } from '../../ir/select.ts';
import { enumType, lazy, listTypeRef, typeRef, type TypeRef } from '../../graphql-engine/types.ts';

export class SharedTypes {
  readonly types: TypeSystem;
  readonly convention: NamingConvention;
  /** See `SchemaCache`. */
  unsupportedOperators: SchemaCache['unsupportedOperators'];
  readonly #scalars = new Map<string, ScalarSchemaType>();
  readonly #arrays = new Map<string, ScalarSchemaType>();
  /** Comparison types by name and unsupported operators; filled by `comparison.ts`. */
  readonly comparisons = new Map<string, unknown>();
  /** Order of aggregates and other results that do not depend on a table. */
  readonly orderBy: () => EnumSchemaType;
  readonly cursorOrdering: () => EnumSchemaType;
  /** Periods of time, and parts of moments, in keys of groups. */
  readonly timeUnit: () => EnumSchemaType;
  readonly timePart: () => EnumSchemaType;

  constructor(types: TypeSystem, convention: NamingConvention, lacking: SchemaCache['unsupportedOperators']) {
    this.types = types;
    this.convention = convention;
    this.unsupportedOperators = lacking;
    this.orderBy = lazy(() => orderByEnum(convention));
    this.cursorOrdering = lazy(() => cursorOrderingEnum(convention));
    this.timeUnit = lazy(() => timeEnum(convention, 'aggregate_time_unit', 'periods of time; weeks begin on Monday', TIME_UNITS));
    this.timePart = lazy(() =>
      timeEnum(convention, 'aggregate_time_part', 'parts of a time: day_of_week is 1 on Monday, week is that of ISO 8601', TIME_PARTS),
    );
  }

  /** Returns the scalar of the type, for an array that of its element; null if its name is not a GraphQL name. */
  scalar(type: CatalogType): ScalarSchemaType | null {
    const scalar = this.types.scalar(type);
    return isGraphqlName(scalar.graphql) ? this.#scalarOf(scalar) : null;
  }

  #scalarOf(scalar: ScalarType): ScalarSchemaType {
    let made = this.#scalars.get(scalar.graphql);
    if (made === undefined) {
      made = {
        kind: 'scalar',
        name: sharedTypeName(this.convention, scalar.graphql),
        description: null,
        check: (json, at) => scalar.check(json, at),
        ...(PLAIN_SCALARS.has(scalar.graphql) ? {} : { enumLiterals: true }),
      };
      this.#scalars.set(scalar.graphql, made);
    }
    return made;
  }

  /** Returns a whole array as a scalar: it accepts the values of a list, and the text of the database. */
  arrayScalar(type: CatalogType): ScalarSchemaType {
    const name = sharedTypeName(this.convention, this.types.scalar(type).graphqlArray);
    let made = this.#arrays.get(name);
    if (made === undefined) {
      const list = this.reference(type);
      const check = lazy(() => valueCoercion(list));
      made = { kind: 'scalar', name, description: null, check: (json, at) => check()(json, at), standsFor: list };
      this.#arrays.set(name, made);
    }
    return made;
  }

  /** Returns `X`, or `[X!]` for an array. The type must have a scalar. */
  reference(type: CatalogType, nonNull = false): TypeRef<ScalarSchemaType> {
    const scalar = this.#scalarOf(this.types.scalar(type));
    const element = typeRef(scalar.name, () => scalar, type.array || nonNull);
    return type.array ? listTypeRef(element, nonNull) : element;
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

function timeEnum(convention: NamingConvention, name: string, description: string, values: readonly string[]): EnumSchemaType {
  return enumType(sharedTypeName(convention, name), description, () =>
    values.map((value) => ({ name: enumValueName(convention, value), description: null, value })),
  );
}

function cursorOrderingEnum(convention: NamingConvention): EnumSchemaType {
  return enumType(sharedTypeName(convention, 'cursor_ordering'), 'ordering argument of a cursor', () => [
    { name: 'ASC', description: 'ascending ordering of the cursor', value: 'asc' },
    { name: 'DESC', description: 'descending ordering of the cursor', value: 'desc' },
  ]);
}

/** Returns true if the comparison types that both have are equal, so that types built for one serve the other. */
export function sameUnsupportedOperators(one: SchemaCache['unsupportedOperators'], other: SchemaCache['unsupportedOperators']): boolean {
  return [...one].every(([name, operators]) => (other.get(name) ?? operators).join() === operators.join());
}
