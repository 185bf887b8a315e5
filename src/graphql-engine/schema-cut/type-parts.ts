/** Lookups in the types of an introspection answer. */
import type {
  IntrospectionEnumType,
  IntrospectionField,
  IntrospectionInputObjectType,
  IntrospectionInputValue,
  IntrospectionInterfaceType,
  IntrospectionObjectType,
  IntrospectionType,
  IntrospectionTypeRef,
  IntrospectionUnionType,
} from 'graphql';

export type FieldsType = IntrospectionObjectType | IntrospectionInterfaceType;
export type AbstractIntrospection = IntrospectionInterfaceType | IntrospectionUnionType;

/** The named type of a reference. */
export interface NamedRef {
  readonly kind: IntrospectionType['kind'];
  readonly name: string;
}

export function namedRef(ref: IntrospectionTypeRef): NamedRef {
  return ref.kind === 'LIST' || ref.kind === 'NON_NULL' ? namedRef(ref.ofType) : ref;
}

export function hasFields(type: IntrospectionType): type is FieldsType {
  return type.kind === 'OBJECT' || type.kind === 'INTERFACE';
}

export function isAbstract(type: IntrospectionType): type is AbstractIntrospection {
  return type.kind === 'INTERFACE' || type.kind === 'UNION';
}

/** Returns whether a document must provide a value. */
export function isRequired({ type, defaultValue }: IntrospectionInputValue): boolean {
  return type.kind === 'NON_NULL' && (defaultValue ?? null) === null;
}

/** Returns true for scalars and enums. */
export function isLeaf({ kind }: NamedRef): boolean {
  return kind === 'SCALAR' || kind === 'ENUM';
}

/** Members by name; a root may have thousands. */
const byName = new WeakMap<readonly object[], ReadonlyMap<string, object>>();

function memberOf<T extends { readonly name: string }>(list: readonly T[], name: string): T | undefined {
  const known = byName.get(list) ?? new Map(list.map((each) => [each.name, each]));
  byName.set(list, known);
  return known.get(name) as T | undefined;
}

export function outputFieldOf({ fields }: FieldsType, name: string): IntrospectionField | undefined {
  return memberOf(fields, name);
}

export function inputFieldOf({ inputFields }: IntrospectionInputObjectType, name: string): IntrospectionInputValue | undefined {
  return memberOf(inputFields, name);
}

export function hasValue({ enumValues }: IntrospectionEnumType, name: string): boolean {
  return enumValues.some((value) => value.name === name);
}

/** Sorts by code units. */
export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
