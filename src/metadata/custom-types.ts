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
  /** Fields have none; what says otherwise is found to be wrong when the types are checked. */
  readonly arguments?: Json;
}

export interface CustomObject {
  readonly name: string;
  readonly description?: string;
  readonly fields: readonly CustomObjectField[];
  readonly relationships: readonly CustomRelationship[];
}

/** From an object type to a table or, by a `definition`, to whatever a relationship of a type can lead to. */
export interface CustomRelationship {
  readonly name: string;
  readonly definition: RemoteRelationshipDefinition;
  /** Written without `definition`: all such of a type lead to the same source. */
  readonly plain: boolean;
}

export const NO_CUSTOM_TYPES: CustomTypes = { inputObjects: [], objects: [], scalars: [], enums: [] };

export function isEmptyCustomTypes({ inputObjects, objects, scalars, enums }: CustomTypes): boolean {
  return inputObjects.length + objects.length + scalars.length + enums.length === 0;
}

/** A list with something in it. */
function some<T>(item: Codec<T>): Codec<readonly T[]> {
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

/** An argument of an action has the same form. */
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
    says: 'To a table: `name`, `type` (`object` or `array`), `source`, `remote_table` and `field_mapping`; or `name` and `definition`.',
    of: [plainRelationship, definedRelationship],
  },
);

const objectCodec = object('ObjectTypeDefinition', {
  name: required(graphqlName),
  description: optional(text),
  fields: required(some(objectField)),
  relationships: listOrNone(list(relationship)),
});

const inputObjectCodec = object('InputObjectTypeDefinition', {
  name: required(graphqlName),
  description: optional(text),
  fields: required(some(field)),
});

const scalarCodec = object('ScalarTypeDefinition', { name: required(graphqlName), description: optional(text) });

const NO_ENUM_VALUE: ReadonlySet<string> = new Set(['true', 'false', 'null']);

const enumValueName: Codec<string> = leaf(
  'EnumValue',
  (json, path: Path) => {
    const value = graphqlName.decode(json, path);
    if (NO_ENUM_VALUE.has(value)) throw parseFailed(`"${value}" cannot be a value of an enum`, path);
    return value;
  },
  (value) => value,
  { says: 'A name of GraphQL, but `true`, `false` and `null`.' },
);

const enumCodec = object('EnumTypeDefinition', {
  name: required(graphqlName),
  description: optional(text),
  values: required(
    some(object('EnumValueDefinition', { value: required(enumValueName), description: optional(text), isDeprecated: optional(bool) })),
  ),
});

export const customTypesCodec: Codec<CustomTypes> = object('CustomTypes', {
  inputObjects: listOrNone(list(inputObjectCodec)),
  objects: listOrNone(list(objectCodec)),
  scalars: listOrNone(list(scalarCodec)),
  enums: listOrNone(list(enumCodec)),
});
