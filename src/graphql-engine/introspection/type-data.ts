/** Types as the data of an introspection answer, for code in the same process: without a query, text, or its limits. */
import type { IntrospectionField, IntrospectionInputValue, IntrospectionType, IntrospectionTypeRef } from 'graphql';
import type { SchemaHead, SchemaTypes } from '../schema-cut/schema-types.ts';
import { DIRECTIVES } from '../directives.ts';
import { type InputField, lazy, type NamedType, type OutputField, type RootTypes, type TypeRef } from '../types.ts';
import { printDefault } from './default-value.ts';
import { TYPE_KIND_NAMES, SCHEMA } from './meta-types.ts';
import { createTypeWalk, sortByName } from './type-walk.ts';
import { startYieldTimer } from './yield-timer.ts';

/** A type is found at once if an earlier one refers to it. */
export interface TypeData extends SchemaTypes {
  /** Returns all types, sorted by name. */
  all(): Promise<readonly IntrospectionType[]>;
}

export function createTypeData(roots: RootTypes): TypeData {
  const walk = createTypeWalk(roots, [SCHEMA]);
  const data = (type: NamedType | undefined) => (type === undefined ? undefined : typeData(type, walk.refer));
  const root = (type: NamedType) => ({ kind: 'OBJECT' as const, name: type.name });
  return {
    head: {
      queryType: root(roots.query),
      mutationType: roots.mutation === null ? null : root(roots.mutation),
      subscriptionType: roots.subscription === null ? null : root(roots.subscription),
      directives: sortByName(DIRECTIVES.values()).map(({ name, description, locations, args }) => ({
        ...{ name, description, isRepeatable: false },
        locations: locations as readonly string[] as SchemaHead['directives'][number]['locations'],
        args: inputs(args, walk.refer),
      })),
    },
    find: async (name) => data(await walk.find(name, startYieldTimer())),
    known: (name) => data(walk.known(name)),
    field(typeName, name) {
      const type = walk.known(typeName);
      if (type?.kind !== 'object' && type?.kind !== 'interface') return undefined;
      const field = type.kind === 'object' && type.field !== undefined ? type.field(name) : type.fields().get(name);
      return field === undefined ? undefined : fieldData(field, walk.refer);
    },
    async all() {
      return (await walk.all(startYieldTimer())).map((type) => typeData(type, walk.refer));
    },
  };
}

type OnReference = (name: string, type: () => NamedType) => void;

function typeData(type: NamedType, onReference: OnReference): IntrospectionType {
  const { name, description } = type;
  const members = (types: readonly NamedType[]) =>
    sortByName(types).map((member) => {
      onReference(member.name, () => member);
      return { kind: TYPE_KIND_NAMES[member.kind], name: member.name };
    });
  // The kinds of interfaces and members follow from their position.
  const head = { kind: TYPE_KIND_NAMES[type.kind], name, description };
  switch (type.kind) {
    case 'scalar':
      return { ...head, specifiedByURL: null } as IntrospectionType;
    case 'enum':
      return {
        ...head,
        enumValues: sortByName(type.values().values()).map((value) => ({
          ...{ name: value.name, description: value.description, isDeprecated: false, deprecationReason: null },
        })),
      } as IntrospectionType;
    case 'input-object':
      return { ...head, isOneOf: false, inputFields: inputs(type.fields(), onReference) } as IntrospectionType;
    case 'union':
      return { ...head, possibleTypes: members(type.members()) } as IntrospectionType;
    case 'object':
    case 'interface': {
      const fields = lazy(() => sortByName(type.fields().values()).map((field) => fieldData(field, onReference)));
      return {
        ...head,
        // A cut schema needs few of the fields, and reads those one by one.
        get fields() {
          return fields();
        },
        interfaces: members(type.interfaces?.() ?? []),
        ...(type.kind === 'interface' ? { possibleTypes: members(type.members()) } : {}),
      } as IntrospectionType;
    }
  }
}

function fieldData({ name, description, type, args }: OutputField, onReference: OnReference): IntrospectionField {
  return {
    ...{ name, description, isDeprecated: false, deprecationReason: null },
    args: inputs(args, onReference),
    type: refData(type, onReference) as IntrospectionField['type'],
  };
}

function inputs(fields: ReadonlyMap<string, InputField>, onReference: OnReference): readonly IntrospectionInputValue[] {
  return sortByName(fields.values()).map((field) => ({
    ...{ name: field.name, description: field.description, isDeprecated: false, deprecationReason: null },
    type: refData(field.type, onReference) as IntrospectionInputValue['type'],
    defaultValue: field.default === undefined ? null : printDefault(field.default, field.type),
  }));
}

function refData(ref: TypeRef, onReference: OnReference): IntrospectionTypeRef {
  const inner = ref.kind === 'list' ? { kind: 'LIST' as const, ofType: refData(ref.item, onReference) } : namedData(ref, onReference);
  return (ref.nonNull ? { kind: 'NON_NULL', ofType: inner } : inner) as IntrospectionTypeRef;
}

function namedData(ref: Extract<TypeRef, { kind: 'named' }>, onReference: OnReference): IntrospectionTypeRef {
  onReference(ref.name, ref.type);
  return { kind: TYPE_KIND_NAMES[ref.type().kind], name: ref.name } as IntrospectionTypeRef;
}
