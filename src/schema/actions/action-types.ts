/** Custom types as one role sees them: inputs of actions, and the selection of their answers. Lazy like all types. */
import type { ActionAnswer, ActionOutput } from '../../ir/action.ts';
import type { CustomField } from '../../metadata/custom-types.ts';
import { type GraphqlType, namedTypeIn } from '../../metadata/graphql-type.ts';
import type {
  CustomEnumInfo,
  CustomInputObjectInfo,
  CustomObjectInfo,
  CustomTypesInfo,
  DatabaseScalarInfo,
} from '../../schema-cache/action-info.ts';
import { meaningOf } from '../../graphql-engine/meaning.ts';
import { expectationOf } from './expectation.ts';
import { customScalar, REMOTE_BUILT_IN } from '../remote/remote-scalar.ts';
import type {
  CollectedField,
  EnumSchemaType,
  InputField,
  InputObjectType,
  InputTypeRef,
  ObjectType,
  OutputField,
  OutputTypeRef,
  ScalarSchemaType,
} from '../../graphql-engine/types.ts';
import { enumType, lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';

type CustomType = ScalarSchemaType | EnumSchemaType | InputObjectType | ObjectType;

/** Deprecation reason in introspection, the same for all values. */
const DEPRECATED = 'No longer supported';

export interface ActionTypesOptions {
  readonly types: CustomTypesInfo;
  readonly scalar: (info: DatabaseScalarInfo) => ScalarSchemaType;
  /** Returns the fields that relationships add to an object type. */
  readonly joinedFields: (type: CustomObjectInfo) => readonly OutputField[];
}

export class ActionTypes {
  readonly #options: ActionTypesOptions;
  readonly #types = new Map<string, CustomType>();

  constructor(options: ActionTypesOptions) {
    this.#options = options;
  }

  input(type: GraphqlType): InputTypeRef {
    if (type.kind === 'list') return listTypeRef(this.input(type.item), type.nonNull);
    return typeRef(type.name, () => this.#type(type.name) as Exclude<CustomType, ObjectType>, type.nonNull);
  }

  output(type: GraphqlType): OutputTypeRef {
    if (type.kind === 'list') return listTypeRef(this.output(type.item), type.nonNull);
    return typeRef(type.name, () => this.#type(type.name) as Exclude<CustomType, InputObjectType>, type.nonNull);
  }

  inputField({ name, type, description }: CustomField): InputField {
    return { name, description: description ?? null, type: this.input(type) };
  }

  /** Returns how a handler's answer of the type is read. */
  answer(type: GraphqlType, collected: CollectedField): ActionAnswer {
    const name = namedTypeIn(type);
    const isObject = this.#options.types.get(name)?.kind === 'object';
    return { type, expects: expectationOf(type, this.#options.types), fields: isObject ? this.#selected(name, collected) : null };
  }

  #selected(name: string, collected: CollectedField): readonly ActionOutput[] {
    return collected.select(this.#type(name) as ObjectType).map((inner): ActionOutput => {
      const { field, responseKey, typeName } = inner;
      return field === null ? { kind: 'typename', responseKey, typeName } : meaningOf(field, 'action-field').toOutput(inner);
    });
  }

  #type(name: string): CustomType {
    let type = this.#types.get(name);
    if (type === undefined) {
      type = this.#make(name);
      this.#types.set(name, type);
    }
    return type;
  }

  #make(name: string): CustomType {
    const info = this.#options.types.get(name);
    switch (info?.kind) {
      case 'object':
        return this.#object(info);
      case 'input-object':
        return this.#inputObject(info);
      case 'enum':
        return enumOf(info);
      case 'database-scalar':
        return this.#options.scalar(info);
      default:
        return REMOTE_BUILT_IN.get(name) ?? customScalar(name, info?.description ?? null);
    }
  }

  #inputObject({ name, description, fields }: CustomInputObjectInfo): InputObjectType {
    return {
      kind: 'input-object',
      name,
      description,
      fields: lazy(() => new Map(fields.map((field) => [field.name, this.inputField(field)]))),
    };
  }

  #object(info: CustomObjectInfo): ObjectType {
    const { name, description } = info;
    return {
      kind: 'object',
      name,
      description,
      fields: lazy(() => {
        const fields = new Map<string, OutputField>();
        for (const field of info.fields.values()) fields.set(field.name, this.#field(field));
        for (const field of this.#options.joinedFields(info)) if (!fields.has(field.name)) fields.set(field.name, field);
        return fields;
      }),
    };
  }

  #field({ name, type, description }: CustomField): OutputField {
    const inner = namedTypeIn(type);
    const isObject = this.#options.types.get(inner)?.kind === 'object';
    return {
      name,
      description: description ?? null,
      type: this.output(type),
      args: new Map(),
      meaning: {
        kind: 'action-field',
        toOutput: (collected) => ({
          kind: 'field',
          responseKey: collected.responseKey,
          name,
          fields: isObject ? this.#selected(inner, collected) : null,
        }),
      },
    };
  }
}

function enumOf({ name, description, values }: CustomEnumInfo): EnumSchemaType {
  return enumType(name, description, () =>
    values.map(({ value, description: of = null, isDeprecated }) => ({
      name: value,
      description: of,
      value,
      ...(isDeprecated === true ? { deprecation: DEPRECATED } : {}),
    })),
  );
}
