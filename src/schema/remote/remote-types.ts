/**
 * Types of a remote schema as one role sees them, under our names, and the requests for selections of their fields. Lazy like all types.
 */
import type { RemoteArgument, RemoteField, RemoteKey, RemoteOutput, RemoteSelection } from '../../ir/remote.ts';
import type { RemoteNames } from '../../remote-schema/customization.ts';
import {
  namedRemoteType,
  type RemoteInterface,
  type RemoteModel,
  type RemoteModelField,
  type RemoteObject,
  type RemoteTypeRef,
  type RemoteUnion,
} from '../../remote-schema/model.ts';
import { at } from '../../util/path.ts';
import { meaningOf } from '../../graphql-engine/meaning.ts';
import type {
  AbstractType,
  CollectedField,
  EnumSchemaType,
  InterfaceType,
  ObjectType,
  OutputField,
  OutputTypeRef,
  ScalarSchemaType,
  UnionType,
} from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { RemoteInputs } from './remote-input.ts';
import { withVariants } from './response-variants.ts';

type OutputType = ScalarSchemaType | EnumSchemaType | ObjectType | AbstractType;

export interface RemoteTypesOptions {
  /** Name of the remote schema. */
  readonly name: string;
  readonly model: RemoteModel;
  readonly names: RemoteNames;
  /** Returns the fields that relationships add to a type, by the server's type name. */
  readonly joinedFields: (type: string) => readonly OutputField[];
}

export class RemoteTypes {
  readonly name: string;
  readonly model: RemoteModel;
  readonly names: RemoteNames;
  readonly inputs: RemoteInputs;
  readonly #joinedFields: (type: string) => readonly OutputField[];
  readonly #types = new Map<string, OutputType>();

  constructor({ name, model, names, joinedFields }: RemoteTypesOptions) {
    this.name = name;
    this.model = model;
    this.names = names;
    this.inputs = new RemoteInputs(model, names.type);
    this.#joinedFields = joinedFields;
  }

  reference(type: RemoteTypeRef): OutputTypeRef {
    if (type.kind === 'list') return listTypeRef(this.reference(type.item), type.nonNull);
    return typeRef(this.names.type(type.name), () => this.type(type.name), type.nonNull);
  }

  /** @param name the server's name */
  type(name: string): OutputType {
    let made = this.#types.get(name);
    if (made === undefined) {
      made = this.#make(name);
      this.#types.set(name, made);
    }
    return made;
  }

  objectType(name: string): ObjectType {
    return this.type(name) as ObjectType;
  }

  /** Returns true if the role sees a field of an object type that is a scalar or an enum and has no required arguments. */
  isLeaf(type: string, field: string): boolean {
    const object = this.model.types.get(type);
    const found = object?.kind === 'object' ? object.fields.get(field) : undefined;
    if (found === undefined || found.type.kind === 'list') return false;
    const kind = this.model.types.get(found.type.name)?.kind ?? 'scalar';
    const isPlain = [...found.args.values()].every(({ type: of, default: text }) => !of.nonNull || text !== undefined);
    return isPlain && (kind === 'scalar' || kind === 'enum');
  }

  #make(name: string): OutputType {
    const type = this.model.types.get(name);
    switch (type?.kind) {
      case 'object':
        return this.#object(type);
      case 'interface':
        return this.#interface(type);
      case 'union':
        return this.#union(type);
      default:
        return this.inputs.type(name) as ScalarSchemaType | EnumSchemaType;
    }
  }

  #object(type: RemoteObject): ObjectType {
    return {
      kind: 'object',
      name: this.names.type(type.name),
      description: type.description,
      fields: lazy(() => {
        const fields = this.#fields(type);
        for (const field of this.#joinedFields(type.name)) if (!fields.has(field.name)) fields.set(field.name, field);
        return fields;
      }),
      interfaces: lazy(() => this.#interfaces(type.interfaces)),
    };
  }

  #interface(type: RemoteInterface): InterfaceType {
    return {
      kind: 'interface',
      name: this.names.type(type.name),
      description: type.description,
      fields: lazy(() => this.#fields(type)),
      interfaces: lazy(() => this.#interfaces(type.interfaces)),
      members: lazy(() => type.members.map((member) => this.objectType(member))),
    };
  }

  #interfaces(names: readonly string[]): readonly InterfaceType[] {
    return names.flatMap((name) => {
      const type = this.type(name);
      return type.kind === 'interface' ? [type] : [];
    });
  }

  #union(type: RemoteUnion): UnionType {
    return {
      kind: 'union',
      name: this.names.type(type.name),
      description: type.description,
      members: lazy(() => type.members.map((member) => this.objectType(member))),
    };
  }

  #fields(type: RemoteObject | RemoteInterface): Map<string, OutputField> {
    const fields = new Map<string, OutputField>();
    for (const field of type.fields.values()) {
      const made = this.field(field, this.names.field(type.name, field.name));
      fields.set(made.name, made);
    }
    return fields;
  }

  /** Returns a field under our name. */
  field(field: RemoteModelField, name: string): OutputField {
    const { inputs } = this;
    return {
      name,
      description: field.description,
      type: this.reference(field.type),
      get args() {
        return inputs.visible(field.args);
      },
      ...(field.deprecation === null ? {} : { deprecation: field.deprecation }),
      meaning: { kind: 'remote-field', toOutput: (collected) => this.output(field, collected) },
    };
  }

  /** Returns the request for a selection of the field. */
  output(field: RemoteModelField, collected: CollectedField): RemoteField {
    return {
      kind: 'field',
      responseKey: collected.responseKey,
      name: field.name,
      args: this.arguments(field, collected),
      shape: this.shape(field.type),
      selection: this.selection(field.type, collected),
    };
  }

  shape(type: RemoteTypeRef): string {
    const of = this.model.types.get(namedRemoteType(type))?.kind;
    return shapeOfType(type, of === 'object' || of === 'interface' || of === 'union');
  }

  /** Returns a field that is part of a key. @param type the server's name of an object type with the field */
  key(type: string, name: string): RemoteKey {
    const object = this.model.types.get(type);
    const field = object?.kind === 'object' ? object.fields.get(name) : undefined;
    return { name, shape: field === undefined ? '' : this.shape(field.type) };
  }

  arguments(field: RemoteModelField, collected: CollectedField): readonly RemoteArgument[] {
    const path = at(collected.path, 'args');
    return [...field.args.values()].flatMap((argument): readonly RemoteArgument[] => {
      const input = collected.args.get(argument.name);
      if (input === undefined && !this.inputs.isSentWithoutInput(argument)) return [];
      const place = at(path, argument.name);
      const value =
        input === undefined ? this.inputs.variable(argument, null, place) : this.inputs.part(argument, input.checkedAsWritten(), place);
      return [{ name: argument.name, value }];
    });
  }

  /** Returns null for a scalar or an enum. */
  selection(type: RemoteTypeRef, collected: CollectedField): RemoteSelection | null {
    const name = namedRemoteType(type);
    const model = this.model.types.get(name);
    if (model?.kind === 'object') return { kind: 'object', fields: collected.select(this.objectType(name)).map(remoteOutput) };
    if (model?.kind !== 'interface' && model?.kind !== 'union') return null;
    const types = model.members.map((member) => [member, collected.select(this.objectType(member)).map(remoteOutput)] as const);
    return { kind: 'abstract', types: withVariants(new Map(types)) };
  }
}

function shapeOfType(type: RemoteTypeRef, isObject: boolean): string {
  const inner = type.kind === 'list' ? `[${shapeOfType(type.item, isObject)}]` : isObject ? '{}' : type.name;
  return type.nonNull ? `${inner}!` : inner;
}

/** Returns the request for a field of a type of a remote schema. */
export function remoteOutput(collected: CollectedField): RemoteOutput {
  const { field, responseKey, typeName } = collected;
  return field === null ? { kind: 'typename', responseKey, typeName } : meaningOf(field, 'remote-field').toOutput(collected);
}
