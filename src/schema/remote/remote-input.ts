/**
 * Inputs of other servers: their types in our schema, and what becomes of a value on its way to the server. What the
 * role's permission presets is not in the types, and is put into the value whatever the client sent.
 */
import { parseConstValue } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import type { RemoteCoercion } from '../../ir/remote.ts';
import type {
  RemoteEnum,
  RemoteInputObject,
  RemoteInputValue,
  RemoteModel,
  RemotePreset,
  RemoteTypeRef,
} from '../../remote-schema/model.ts';
import { namedRemoteType } from '../../remote-schema/model.ts';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { describeJson, expected, unexpectedNull } from '../input/found.ts';
import { fieldNotFound, missingRequired } from '../input/input-object.ts';
import { literalJson } from '../input/literal-json.ts';
import type { EnumSchemaType, EnumSchemaValue, InputField, InputObjectType, InputTypeRef, ScalarSchemaType } from '../types.ts';
import { lazy, listOf, named } from '../types.ts';
import { customScalar, REMOTE_BUILT_IN, scalarOfText } from './remote-scalar.ts';

type InputType = ScalarSchemaType | EnumSchemaType | InputObjectType;
type SessionValues = ReadonlyMap<string, string>;

/** A constant of the server's schema or of a permission. */
export function constantJson(text: string): Json {
  return literalJson(parseConstValue(text, { noLocation: true }));
}

export class RemoteInputs {
  readonly #model: RemoteModel;
  readonly #nameOf: (type: string) => string;
  readonly #types = new Map<string, InputType>();
  readonly #filled = new Map<string, boolean>();

  /** @param nameOf our name of a type of the server */
  constructor(model: RemoteModel, nameOf: (type: string) => string) {
    this.#model = model;
    this.#nameOf = nameOf;
  }

  reference(type: RemoteTypeRef): InputTypeRef {
    if (type.kind === 'list') return listOf(this.reference(type.item), type.nonNull);
    return named(this.#nameOf(type.name), () => this.type(type.name), type.nonNull);
  }

  /** Scalars and enums are output types too. */
  type(name: string): InputType {
    let made = this.#types.get(name);
    if (made === undefined) {
      made = this.#make(name);
      this.#types.set(name, made);
    }
    return made;
  }

  #make(name: string): InputType {
    const type = this.#model.types.get(name);
    if (type?.kind === 'input-object') {
      return {
        kind: 'input-object',
        name: this.#nameOf(name),
        description: type.description,
        fields: lazy(() => this.visible(type.fields)),
      };
    }
    if (type?.kind === 'enum') return enumType(type, this.#nameOf(name));
    return REMOTE_BUILT_IN.get(name) ?? customScalar(this.#nameOf(name), type?.description ?? null);
  }

  /** Those arguments or fields that the role may give. */
  visible(values: ReadonlyMap<string, RemoteInputValue>): ReadonlyMap<string, InputField> {
    const fields = new Map<string, InputField>();
    for (const value of values.values()) if (!this.isPreset(value)) fields.set(value.name, this.field(value));
    return fields;
  }

  field({ name, description, type, default: text, deprecation }: RemoteInputValue): InputField {
    return {
      name,
      description,
      type: this.reference(type),
      ...(text === undefined ? {} : { default: constantJson(text) }),
      ...(deprecation === null ? {} : { deprecation }),
    };
  }

  /** Whether nothing of it is left for the client to give. */
  isPreset(value: RemoteInputValue): boolean {
    if (value.preset !== undefined) return true;
    const type = this.#model.types.get(namedRemoteType(value.type));
    return type?.kind === 'input-object' && this.#isFilled(type);
  }

  /** An input object whose fields are all preset. */
  #isFilled(type: RemoteInputObject): boolean {
    const known = this.#filled.get(type.name);
    if (known !== undefined) return known;
    // A type that leads back to itself is not filled by that.
    this.#filled.set(type.name, false);
    const filled = type.fields.size > 0 && [...type.fields.values()].every((field) => this.isPreset(field));
    this.#filled.set(type.name, filled);
    return filled;
  }

  /** What becomes of the value of an argument or field; null where it is left out unless the client gives it. */
  coercion(value: RemoteInputValue): RemoteCoercion {
    return (json, path, session) => this.#coerceField(value, json, path, session, new Set());
  }

  /** Whether something is sent though the client gives nothing. */
  isSentAnyway(value: RemoteInputValue, within: ReadonlySet<string> = new Set()): boolean {
    if (value.preset !== undefined) return true;
    if (value.type.kind === 'list') return false;
    const type = this.#model.types.get(value.type.name);
    if (type?.kind !== 'input-object' || within.has(type.name)) return false;
    const inner = new Set(within).add(type.name);
    return [...type.fields.values()].some((field) => this.isSentAnyway(field, inner));
  }

  /** @param within input objects that are being made of nothing but presets */
  #coerceField(
    value: RemoteInputValue,
    json: Json | undefined,
    path: Path,
    session: SessionValues,
    within: ReadonlySet<string>,
  ): Json | undefined {
    if (value.preset !== undefined) return this.#presetValue(value.preset, namedRemoteType(value.type), session);
    if (json !== undefined) return this.#coerce(value.type, json, path, session);
    if (!this.isSentAnyway(value, within)) return undefined;
    const name = namedRemoteType(value.type);
    return this.#coerceObject(name, {}, path, session, new Set(within).add(name));
  }

  #presetValue(preset: RemotePreset, type: string, session: SessionValues): Json {
    if (preset.kind === 'literal') return constantJson(preset.text);
    const text = session.get(preset.name);
    if (text === undefined) throw new SvcError('not-found', `"${preset.name}" session variable expected, but not found`);
    const model = this.#model.types.get(type);
    if (model?.kind === 'enum' && !model.values.has(text)) {
      throw new SvcError('coercion-error', `${JSON.stringify(text)} is not one of the valid enum values`);
    }
    return scalarOfText(type, text);
  }

  #coerce(type: RemoteTypeRef, json: Json, path: Path, session: SessionValues): Json {
    if (json === null) {
      if (type.nonNull) throw unexpectedNull(this.reference(type), path);
      return null;
    }
    if (type.kind === 'list') {
      // A single value counts as a list of one; the server says so too.
      if (!isJsonArray(json)) return this.#coerce(type.item, json, path, session);
      return json.map((item, index) => this.#coerce(type.item, item, at(path, index), session));
    }
    const made = this.type(type.name);
    if (made.kind === 'scalar') return made.check(json, path);
    if (made.kind === 'input-object') return this.#coerceObject(type.name, json, path, session, new Set());
    if (typeof json !== 'string') throw expected('an enum value', made.name, describeJson(json), path);
    if (made.values().has(json)) return json;
    const names = [...made.values().keys()].sort().map((name) => `'${name}'`);
    throw expected(`one of the values [${names.join(', ')}]`, made.name, `'${json}'`, path);
  }

  #coerceObject(name: string, json: Json, path: Path, session: SessionValues, within: ReadonlySet<string>): Json {
    const type = this.#model.types.get(name) as RemoteInputObject;
    if (!isJsonObject(json)) throw expected('an object', this.#nameOf(name), describeJson(json), path);
    for (const key of Object.keys(json)) {
      const field = type.fields.get(key);
      if (field === undefined || this.isPreset(field)) throw fieldNotFound(key, this.#nameOf(name), at(path, key));
    }
    const made: [string, Json][] = [];
    for (const field of type.fields.values()) {
      const given = Object.hasOwn(json, field.name) ? json[field.name] : undefined;
      const coerced = this.#coerceField(field, given, at(path, field.name), session, within);
      if (coerced !== undefined) made.push([field.name, coerced]);
      else if (field.type.nonNull && field.default === undefined) throw missingRequired(field.name, path);
    }
    return Object.fromEntries(made);
  }
}

function enumType({ description, values }: RemoteEnum, name: string): EnumSchemaType {
  return {
    kind: 'enum',
    name,
    description,
    values: lazy(
      () =>
        new Map(
          [...values.values()].map((value): [string, EnumSchemaValue] => [
            value.name,
            {
              name: value.name,
              description: value.description,
              value: value.name,
              ...(value.deprecation === null ? {} : { deprecation: value.deprecation }),
            },
          ]),
        ),
    ),
  };
}
