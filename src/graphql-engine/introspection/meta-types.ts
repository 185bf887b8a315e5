/**
 * The introspection types of the GraphQL specification (September 2025) as ordinary object types, including the deprecation of directives
 * that newer clients request. The meaning of a field reads its value from the described object.
 */
import { BOOLEAN_SCALAR, STRING_SCALAR } from '../input/built-in-scalars.ts';
import { type DirectiveDefinition, type DirectiveLocation, DIRECTIVES } from '../directives.ts';
import {
  type EnumSchemaType,
  type EnumSchemaValue,
  type InputField,
  enumType,
  lazy,
  listTypeRef,
  typeRef,
  type NamedType,
  nonNull,
  type ObjectType,
  type OutputField,
  type OutputTypeRef,
  type RootTypes,
  type TypeRef,
} from '../types.ts';
import { printDefault } from './default-value.ts';
import { sortByName } from './type-walk.ts';
import type { MetaRead } from './meta-read.ts';

export interface SchemaSource {
  readonly roots: RootTypes;
  readonly types: readonly NamedType[];
}

const TYPE_KINDS = ['SCALAR', 'OBJECT', 'INTERFACE', 'UNION', 'ENUM', 'INPUT_OBJECT', 'LIST', 'NON_NULL'] as const;
type TypeKind = (typeof TYPE_KINDS)[number];

export const TYPE_KIND_NAMES: Readonly<Record<NamedType['kind'], TypeKind>> = {
  scalar: 'SCALAR',
  object: 'OBJECT',
  interface: 'INTERFACE',
  union: 'UNION',
  enum: 'ENUM',
  'input-object': 'INPUT_OBJECT',
};

const EXECUTABLE_AND_SCHEMA_LOCATIONS: readonly (
  | DirectiveLocation
  | 'SCHEMA'
  | 'OBJECT'
  | 'INTERFACE'
  | 'UNION'
  | 'ENUM'
  | 'INPUT_OBJECT'
  | 'DIRECTIVE_DEFINITION'
)[] = [
  'QUERY',
  'MUTATION',
  'SUBSCRIPTION',
  'FIELD',
  'FRAGMENT_DEFINITION',
  'FRAGMENT_SPREAD',
  'INLINE_FRAGMENT',
  'VARIABLE_DEFINITION',
  'SCHEMA',
  'SCALAR',
  'OBJECT',
  'FIELD_DEFINITION',
  'ARGUMENT_DEFINITION',
  'INTERFACE',
  'UNION',
  'ENUM',
  'ENUM_VALUE',
  'INPUT_OBJECT',
  'INPUT_FIELD_DEFINITION',
  'DIRECTIVE_DEFINITION',
];

const string: OutputTypeRef = typeRef('String', () => STRING_SCALAR);
const boolean: OutputTypeRef = typeRef('Boolean', () => BOOLEAN_SCALAR);

const INCLUDE_DEPRECATED: ReadonlyMap<string, InputField> = new Map([
  ['includeDeprecated', { name: 'includeDeprecated', description: null, type: typeRef('Boolean', () => BOOLEAN_SCALAR), default: false }],
]);

function metaEnum(name: string, names: readonly string[]): EnumSchemaType {
  return enumType(name, null, () => names.map((value) => ({ name: value, description: null, value })));
}

function metaObject(name: string, fields: () => readonly OutputField[]): ObjectType {
  return { kind: 'object', name, description: null, fields: lazy(() => new Map(fields().map((field) => [field.name, field]))) };
}

function metaField(name: string, type: OutputTypeRef, meaning: MetaRead, args: ReadonlyMap<string, InputField> = new Map()): OutputField {
  return { name, description: null, type, args, meaning };
}

/** A field with the text of a string; `metaField` allows other JSON. */
function text<S>(name: string, type: OutputTypeRef, read: (source: S) => string | null): OutputField {
  return metaField(name, type, { kind: 'text', read: (source) => JSON.stringify(read(source as S)) });
}

function flag<S>(name: string, type: OutputTypeRef, read: (source: S) => boolean): OutputField {
  return metaField(name, type, { kind: 'text', read: (source) => (read(source as S) ? 'true' : 'false') });
}

function one<S>(name: string, type: OutputTypeRef, read: (source: S) => unknown): OutputField {
  return metaField(name, type, { kind: 'object', read: (source) => read(source as S) });
}

function many<S>(
  name: string,
  type: OutputTypeRef,
  read: (source: S) => readonly unknown[] | null,
  args?: ReadonlyMap<string, InputField>,
): OutputField {
  return metaField(name, type, { kind: 'list', read: (source) => read(source as S) }, args);
}

// No element of a role schema is deprecated.
const notDeprecated = (): readonly OutputField[] => [
  flag('isDeprecated', nonNull(boolean), () => false),
  text('deprecationReason', string, () => null),
];

/** Returns the plain reference to a type. */
export function refTo(type: NamedType): TypeRef {
  return typeRef(type.name, () => type);
}

const orNull = (type: NamedType | null): TypeRef | null => (type === null ? null : refTo(type));
const list = (type: () => ObjectType | EnumSchemaType, name: string): OutputTypeRef => listTypeRef(typeRef(name, type, true));

/** Returns the named type of a reference, or null for a wrapper. */
function bare(ref: TypeRef): NamedType | null {
  return ref.nonNull || ref.kind === 'list' ? null : ref.type();
}

function kindOf(ref: TypeRef): TypeKind {
  if (ref.nonNull) return 'NON_NULL';
  return ref.kind === 'list' ? 'LIST' : TYPE_KIND_NAMES[ref.type().kind];
}

function ofType(ref: TypeRef): TypeRef | null {
  if (ref.nonNull) return { ...ref, nonNull: false };
  return ref.kind === 'list' ? ref.item : null;
}

const TYPE_KIND: EnumSchemaType = metaEnum('__TypeKind', TYPE_KINDS);
const DIRECTIVE_LOCATION: EnumSchemaType = metaEnum('__DirectiveLocation', EXECUTABLE_AND_SCHEMA_LOCATIONS);

export const SCHEMA: ObjectType = metaObject('__Schema', () => [
  text('description', string, () => null),
  many('types', nonNull(list(() => TYPE, '__Type')), (schema: SchemaSource) => schema.types.map(refTo)),
  one(
    'queryType',
    typeRef('__Type', () => TYPE, true),
    (schema: SchemaSource) => refTo(schema.roots.query),
  ),
  one(
    'mutationType',
    typeRef('__Type', () => TYPE),
    (schema: SchemaSource) => orNull(schema.roots.mutation),
  ),
  one(
    'subscriptionType',
    typeRef('__Type', () => TYPE),
    (schema: SchemaSource) => orNull(schema.roots.subscription),
  ),
  many('directives', nonNull(list(() => DIRECTIVE, '__Directive')), () => sortByName(DIRECTIVES.values()), INCLUDE_DEPRECATED),
]);

export const TYPE: ObjectType = metaObject('__Type', () => [
  text(
    'kind',
    typeRef('__TypeKind', () => TYPE_KIND, true),
    kindOf,
  ),
  text('name', string, (ref: TypeRef) => bare(ref)?.name ?? null),
  text('description', string, (ref: TypeRef) => bare(ref)?.description ?? null),
  text('specifiedByURL', string, () => null),
  // No input object of a role schema is a OneOf input object.
  metaField('isOneOf', boolean, {
    kind: 'text',
    read: (ref) => (bare(ref as TypeRef)?.kind === 'input-object' ? 'false' : 'null'),
  }),
  many(
    'fields',
    list(() => FIELD, '__Field'),
    (ref: TypeRef) => {
      const type = bare(ref);
      return type?.kind === 'object' || type?.kind === 'interface' ? sortByName(type.fields().values()) : null;
    },
    INCLUDE_DEPRECATED,
  ),
  many(
    'interfaces',
    list(() => TYPE, '__Type'),
    (ref: TypeRef) => {
      const type = bare(ref);
      return type?.kind === 'object' || type?.kind === 'interface' ? sortByName(type.interfaces?.() ?? []).map(refTo) : null;
    },
  ),
  many(
    'possibleTypes',
    list(() => TYPE, '__Type'),
    (ref: TypeRef) => {
      const type = bare(ref);
      return type?.kind === 'union' || type?.kind === 'interface' ? sortByName(type.members()).map(refTo) : null;
    },
  ),
  many(
    'enumValues',
    list(() => ENUM_VALUE, '__EnumValue'),
    (ref: TypeRef) => {
      const type = bare(ref);
      return type?.kind === 'enum' ? sortByName(type.values().values()) : null;
    },
    INCLUDE_DEPRECATED,
  ),
  many(
    'inputFields',
    list(() => INPUT_VALUE, '__InputValue'),
    (ref: TypeRef) => {
      const type = bare(ref);
      return type?.kind === 'input-object' ? sortByName(type.fields().values()) : null;
    },
    INCLUDE_DEPRECATED,
  ),
  one(
    'ofType',
    typeRef('__Type', () => TYPE),
    ofType,
  ),
]);

const FIELD: ObjectType = metaObject('__Field', () => [
  text('name', nonNull(string), (field: OutputField) => field.name),
  text('description', string, (field: OutputField) => field.description),
  many(
    'args',
    nonNull(list(() => INPUT_VALUE, '__InputValue')),
    (field: OutputField) => sortByName(field.args.values()),
    INCLUDE_DEPRECATED,
  ),
  one(
    'type',
    typeRef('__Type', () => TYPE, true),
    (field: OutputField) => field.type,
  ),
  ...notDeprecated(),
]);

const INPUT_VALUE: ObjectType = metaObject('__InputValue', () => [
  text('name', nonNull(string), (field: InputField) => field.name),
  text('description', string, (field: InputField) => field.description),
  one(
    'type',
    typeRef('__Type', () => TYPE, true),
    (field: InputField) => field.type,
  ),
  text('defaultValue', string, (field: InputField) => (field.default === undefined ? null : printDefault(field.default, field.type))),
  ...notDeprecated(),
]);

const ENUM_VALUE: ObjectType = metaObject('__EnumValue', () => [
  text('name', nonNull(string), (value: EnumSchemaValue) => value.name),
  text('description', string, (value: EnumSchemaValue) => value.description),
  ...notDeprecated(),
]);

const DIRECTIVE: ObjectType = metaObject('__Directive', () => [
  text('name', nonNull(string), (directive: DirectiveDefinition) => directive.name),
  text('description', string, (directive: DirectiveDefinition) => directive.description),
  flag('isRepeatable', nonNull(boolean), () => false),
  metaField('locations', nonNull(list(() => DIRECTIVE_LOCATION, '__DirectiveLocation')), {
    kind: 'text',
    read: (directive) => JSON.stringify((directive as DirectiveDefinition).locations),
  }),
  many(
    'args',
    nonNull(list(() => INPUT_VALUE, '__InputValue')),
    (directive: DirectiveDefinition) => sortByName(directive.args.values()),
    INCLUDE_DEPRECATED,
  ),
  ...notDeprecated(),
]);
