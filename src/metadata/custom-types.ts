/** Types of arguments and answers of actions: the section `custom_types`, replaced as a whole. */
import { isJsonObject, type Json } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import {
  anyJson,
  bool,
  type Codec,
  defaulted,
  leaf,
  like,
  list,
  listOrNone,
  literal,
  mapOf,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  text,
} from './codec.ts';
import { graphqlName } from './graphql-name.ts';
import { type GraphqlType, graphqlType } from './graphql-type.ts';
import { type RemoteRelationshipDefinition, remoteRelationshipDefinitionCodec } from './remote-relationship.ts';
import { DEFAULT_SOURCE } from './source.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export interface CustomTypes extends WithUnknownKeys {
  readonly inputObjects: readonly CustomInputObject[];
  readonly objects: readonly CustomObject[];
  readonly scalars: readonly CustomScalar[];
  readonly enums: readonly CustomEnum[];
}

export interface CustomScalar {
  readonly name: string;
  readonly description?: string;
}

export interface CustomEnum {
  readonly name: string;
  readonly description?: string;
  readonly values: readonly CustomEnumValue[];
}

export interface CustomEnumValue {
  readonly value: string;
  readonly description?: string;
  readonly isDeprecated?: boolean;
}

/** A field, or an argument of an action. */
export interface CustomField {
  readonly name: string;
  readonly type: GraphqlType;
  readonly description?: string;
}

export interface CustomInputObject {
  readonly name: string;
  readonly description?: string;
  readonly fields: readonly CustomField[];
}

export interface CustomObjectField extends CustomField {
  /** Preserved; fields have no arguments, so the check of the types reports any. */
  readonly arguments?: Json;
}

export interface CustomObject {
  readonly name: string;
  readonly description?: string;
  readonly fields: readonly CustomObjectField[];
  readonly relationships: readonly CustomRelationship[];
}

/** From an object type to a table or, with a `definition`, to any target of a type's relationship. */
export interface CustomRelationship {
  readonly name: string;
  readonly definition: RemoteRelationshipDefinition;
  /** True if written without `definition`. All plain relationships of a type lead to the same source. */
  readonly plain: boolean;
}

export const NO_CUSTOM_TYPES: CustomTypes = { inputObjects: [], objects: [], scalars: [], enums: [] };

export function isEmptyCustomTypes({ inputObjects, objects, scalars, enums }: CustomTypes): boolean {
  return inputObjects.length + objects.length + scalars.length + enums.length === 0;
}

/** A list with at least one item. */
function nonEmptyList<T>(item: Codec<T>): Codec<readonly T[]> {
  const all = list(item);
  return leaf(
    all.name,
    (json, path) => {
      const items = all.decode(json, path);
      if (items.length === 0) throw parseFailed('parsing NonEmpty failed, unexpected empty list', path);
      return items;
    },
    (items) => all.encode(items),
    like(all, 'It is not empty.'),
  );
}

const field = object('InputObjectFieldDefinition', {
  name: required(graphqlName),
  type: required(graphqlType),
  description: optional(text),
});

/** Arguments of actions have this form, too. */
export const customFieldCodec: Codec<CustomField> = field;

const objectField = object('ObjectFieldDefinition', {
  name: required(graphqlName),
  type: required(graphqlType),
  description: optional(text),
  arguments: optional(anyJson),
});

const plainRelationship = object('TypeRelationship', {
  name: required(graphqlName),
  type: required(literal('RelType', ['object', 'array'] as const)),
  source: defaulted(nonEmptyText, () => DEFAULT_SOURCE),
  remoteTable: required(anyJson),
  fieldMapping: required(mapOf(nonEmptyText)),
});

const definedRelationship = object('TypeRelationship', {
  name: required(graphqlName),
  definition: required(remoteRelationshipDefinitionCodec),
});

const relationship: Codec<CustomRelationship> = leaf(
  'TypeRelationship',
  (json, path) => {
    if (isJsonObject(json) && json['definition'] !== undefined) return { ...definedRelationship.decode(json, path), plain: false };
    const { name, type, source, remoteTable, fieldMapping } = plainRelationship.decode(json, path);
    return { name, definition: { kind: 'source', relationshipType: type, source, table: remoteTable, fieldMapping }, plain: true };
  },
  ({ name, definition, plain }) => {
    if (!plain || definition.kind !== 'source') return definedRelationship.encode({ name, definition });
    const { relationshipType, source, table, fieldMapping } = definition;
    return plainRelationship.encode({ name, type: relationshipType, source, remoteTable: table, fieldMapping });
  },
  {
    description:
      'For a table: `name`, `type` (`object` or `array`), `source`, `remote_table` and `field_mapping`; or `name` and `definition`.',
    of: [plainRelationship, definedRelationship],
  },
);

const objectCodec = object('ObjectTypeDefinition', {
  name: required(graphqlName),
  description: optional(text),
  fields: required(nonEmptyList(objectField)),
  relationships: listOrNone(list(relationship)),
});

const inputObjectCodec = object('InputObjectTypeDefinition', {
  name: required(graphqlName),
  description: optional(text),
  fields: required(nonEmptyList(field)),
});

const scalarCodec = object('ScalarTypeDefinition', { name: required(graphqlName), description: optional(text) });

const RESERVED_ENUM_VALUES: ReadonlySet<string> = new Set(['true', 'false', 'null']);

const enumValueName: Codec<string> = leaf(
  'EnumValue',
  (json, path: Path) => {
    const value = graphqlName.decode(json, path);
    if (RESERVED_ENUM_VALUES.has(value)) throw parseFailed(`"${value}" cannot be a value of an enum`, path);
    return value;
  },
  (value) => value,
  { description: 'A GraphQL name other than `true`, `false` and `null`.' },
);

const enumCodec = object('EnumTypeDefinition', {
  name: required(graphqlName),
  description: optional(text),
  values: required(
    nonEmptyList(
      object('EnumValueDefinition', { value: required(enumValueName), description: optional(text), isDeprecated: optional(bool) }),
    ),
  ),
});

export const customTypesCodec: Codec<CustomTypes> = object('CustomTypes', {
  inputObjects: listOrNone(list(inputObjectCodec)),
  objects: listOrNone(list(objectCodec)),
  scalars: listOrNone(list(scalarCodec)),
  enums: listOrNone(list(enumCodec)),
});
