/**
 * Inputs of other servers: their types in our schema, and the coercion of values for the server. Presets of the role's permission are not
 * part of the types, and are added to every value.
 */
import { parseConstValue } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import type { WrittenJson } from '../../ir/input-validation.ts';
import type { RemoteCoercion, RemotePart, RemoteValue } from '../../ir/remote.ts';
import type {
  RemoteEnum,
  RemoteInputObject,
  RemoteInputValue,
  RemoteModel,
  RemotePreset,
  RemoteTypeRef,
} from '../../remote-schema/model.ts';
import { namedRemoteType, printRemoteType } from '../../remote-schema/model.ts';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { describeValue, expected, unexpectedNull } from '../../graphql-engine/input/input-errors.ts';
import { enumValueOfName } from '../../graphql-engine/input/coerce.ts';
import { suggest } from '../../graphql-engine/suggestions.ts';
import { fieldNotFound, missingRequired } from '../../graphql-engine/input/input-object.ts';
import { literalJson } from '../../graphql-engine/input/literal-json.ts';
import { jsonAsLiteral } from '../../graphql-engine/input/json-as-literal.ts';
import type { EnumSchemaType, InputField, InputObjectType, InputTypeRef, ScalarSchemaType } from '../../graphql-engine/types.ts';
import { enumType, lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { customScalar, REMOTE_BUILT_IN, scalarOfText } from './remote-scalar.ts';

type InputType = ScalarSchemaType | EnumSchemaType | InputObjectType;
type SessionValues = ReadonlyMap<string, string>;

const NONE: ReadonlySet<string> = new Set();
/** Maximum input objects that are sent because of presets: types that refer to each other may be combined in very many ways. */
const MAX_PRESET_OBJECTS = 1000;

interface CoercionState {
  readonly session: SessionValues;
  /** Input objects that contain the value. */
  readonly within: ReadonlySet<string>;
  readonly budget: { left: number };
}

/** Parses a constant of the server's schema or of a permission. */
function constantJson(text: string): Json {
  return literalJson(parseConstValue(text, { noLocation: true }));
}

export class RemoteInputs {
  readonly #model: RemoteModel;
  readonly #nameOf: (type: string) => string;
  readonly #types = new Map<string, InputType>();
  readonly #filled = new Map<string, boolean>();
  /** Input objects from which a preset can be reached other than through lists. */
  readonly #leading = new Map<string, boolean>();
  readonly #constants = new Map<string, Json>();

  /** @param nameOf returns our name of a type of the server */
  constructor(model: RemoteModel, nameOf: (type: string) => string) {
    this.#model = model;
    this.#nameOf = nameOf;
  }

  reference(type: RemoteTypeRef): InputTypeRef {
    if (type.kind === 'list') return listTypeRef(this.reference(type.item), type.nonNull);
    return typeRef(this.#nameOf(type.name), () => this.type(type.name), type.nonNull);
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
    if (type?.kind === 'enum') return enumOf(type, this.#nameOf(name));
    return REMOTE_BUILT_IN.get(name) ?? customScalar(this.#nameOf(name), type?.description ?? null);
  }

  /** Returns the arguments or fields that the role may set. */
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

  /** Returns true if no part of the value is left for the client to set. */
  isPreset(value: RemoteInputValue): boolean {
    if (value.preset !== undefined) return true;
    const type = this.#model.types.get(namedRemoteType(value.type));
    return type?.kind === 'input-object' && this.#isFilled(type);
  }

  /** Returns true for an input object whose fields are all preset. */
  #isFilled(type: RemoteInputObject): boolean {
    const known = this.#filled.get(type.name);
    if (known !== undefined) return known;
    // A type that leads back to itself does not count as preset because of that.
    this.#filled.set(type.name, false);
    const filled = type.fields.size > 0 && [...type.fields.values()].every((field) => this.isPreset(field));
    this.#filled.set(type.name, filled);
    return filled;
  }

  /** Returns the coercion of the value of an argument or field. */
  coercion(value: RemoteInputValue): RemoteCoercion {
    return (json, path, session) => this.#coerceField(value, json, path, { session, within: NONE, budget: { left: MAX_PRESET_OBJECTS } });
  }

  /** Returns the value of an argument as one variable. */
  variable(argument: RemoteInputValue, value: RemoteValue | null, path: Path): RemotePart {
    return { kind: 'variable', type: variableType(argument), value: { kind: 'coerced', value, coerce: this.coercion(argument), at: path } };
  }

  /**
   * Returns the document part for a value of the client. Literals stay literals, except that a value that may contain presets, or a custom
   * scalar with a variable inside, becomes one variable.
   * @throws SvcError if a literal does not fit
   */
  part(argument: RemoteInputValue, written: WrittenJson, path: Path): RemotePart {
    const { type } = argument;
    const asVariable = (): RemotePart => this.variable(argument, { kind: 'written', written }, path);
    if (written.kind === 'variable' || this.#leadsToPreset(namedRemoteType(type))) return asVariable();
    if (written.kind === 'json') {
      const json = this.#coerce(type, written.json, path, { session: new Map(), within: NONE, budget: { left: 0 } });
      const text = jsonAsLiteral(json, this.#model.types.get(namedRemoteType(type))?.kind === 'enum');
      return text === null ? asVariable() : { kind: 'printed', text };
    }
    if (written.kind === 'list') {
      if (type.kind !== 'list') return asVariable();
      const { name, description, deprecation } = argument;
      const item = { name, description, deprecation, type: type.item, default: undefined };
      return { kind: 'list', items: written.items.map((each, index) => this.part(item, each, at(path, index))) };
    }
    const object = this.#model.types.get(namedRemoteType(type));
    if (object?.kind !== 'input-object') return asVariable();
    const entries = written.entries.map(([key, value]) => {
      const field = object.fields.get(key);
      if (field === undefined) throw this.#unknownField(key, object, at(path, key));
      return [key, this.part(field, value, at(path, key))] as const;
    });
    return { kind: 'object', entries };
  }

  /** Returns true if a value is sent even if the client sets none. */
  isSentWithoutInput(value: RemoteInputValue): boolean {
    if (value.preset !== undefined) return true;
    return value.type.kind === 'list' ? this.isPreset(value) : this.#leadsToPreset(value.type.name);
  }

  #leadsToPreset(name: string): boolean {
    let known = this.#leading.get(name);
    if (known === undefined) {
      known = this.#findsPreset(name);
      this.#leading.set(name, known);
    }
    return known;
  }

  #findsPreset(name: string): boolean {
    const reached = new Set([name]);
    for (const each of reached) {
      const type = this.#model.types.get(each);
      if (type?.kind !== 'input-object') continue;
      for (const field of type.fields.values()) {
        if (this.isPreset(field)) return true;
        if (field.type.kind === 'named') reached.add(field.type.name);
      }
    }
    return false;
  }

  #coerceField(value: RemoteInputValue, json: Json | undefined, path: Path, state: CoercionState): Json | undefined {
    if (json === undefined || this.isPreset(value)) return this.#sent(value, undefined, path, state);
    return this.#coerce(value.type, json, path, state);
  }

  /**
   * Returns the value to send if the client sets none: the presets, merged into the server's default.
   * @param json part of such a default
   */
  #sent(value: RemoteInputValue, json: Json | undefined, path: Path, state: CoercionState): Json | undefined {
    if (value.preset !== undefined) return this.#presetValue(value.preset, state.session);
    const name = namedRemoteType(value.type);
    // A type that contains itself would recurse without end.
    if (!this.isSentWithoutInput(value) || state.within.has(name)) return json;
    if (--state.budget.left < 0) {
      throw new SvcError('validation-failed', `more than ${MAX_PRESET_OBJECTS} input objects have preset values`, { path });
    }
    const base = json ?? (value.default === undefined ? undefined : this.#constant(value.default));
    const made = new Map(isJsonObject(base) ? Object.entries(base) : []);
    const fields = (this.#model.types.get(name) as RemoteInputObject).fields;
    const inner = { ...state, within: new Set(state.within).add(name) };
    for (const field of fields.values()) {
      const sent = this.#sent(field, made.get(field.name), at(path, field.name), inner);
      if (sent !== undefined) made.set(field.name, sent);
    }
    if (made.size === 0) return json;
    for (const field of fields.values()) if (isRequired(field) && !made.has(field.name)) throw missingRequired(field.name, path);
    return wrapped(value.type, Object.fromEntries(made));
  }

  #constant(text: string): Json {
    let json = this.#constants.get(text);
    if (json === undefined) {
      json = constantJson(text);
      this.#constants.set(text, json);
    }
    return json;
  }

  #presetValue(preset: RemotePreset, session: SessionValues): Json {
    switch (preset.kind) {
      case 'literal':
        return this.#constant(preset.text);
      case 'list':
        return preset.items.map((item) => this.#presetValue(item, session));
      case 'object':
        return Object.fromEntries(preset.entries.map(([key, value]) => [key, this.#presetValue(value, session)]));
      case 'session':
        return this.#sessionValue(preset, session);
    }
  }

  #sessionValue({ name, type }: RemotePreset & { readonly kind: 'session' }, session: SessionValues): Json {
    const text = session.get(name);
    if (text === undefined) throw new SvcError('not-found', `"${name}" session variable expected, but not found`);
    const model = this.#model.types.get(type);
    if (model?.kind === 'enum' && !model.values.has(text)) {
      throw new SvcError('coercion-error', `${JSON.stringify(text)} is not one of the valid enum values`);
    }
    return scalarOfText(type, text);
  }

  #coerce(type: RemoteTypeRef, json: Json, path: Path, state: CoercionState): Json {
    if (json === null) {
      if (type.nonNull) throw unexpectedNull(this.reference(type), path);
      // Null must not circumvent a preset.
      return type.kind === 'named' && this.#leadsToPreset(type.name) ? this.#coerceObject(type.name, {}, path, state) : null;
    }
    if (type.kind === 'list') {
      // A single value counts as a list of one, as on the server.
      if (!isJsonArray(json)) return this.#coerce(type.item, json, path, state);
      return json.map((item, index) => this.#coerce(type.item, item, at(path, index), state));
    }
    const made = this.type(type.name);
    if (made.kind === 'scalar') return made.check(json, path);
    if (made.kind === 'input-object') return this.#coerceObject(type.name, json, path, state);
    if (typeof json !== 'string') throw expected('an enum value', made.name, describeValue(json), path);
    return enumValueOfName(made, json, path).name;
  }

  #unknownField(key: string, type: RemoteInputObject, path: Path): SvcError {
    const visible = (): readonly string[] => [...type.fields].filter(([, field]) => !this.isPreset(field)).map(([name]) => name);
    return fieldNotFound(key, this.#nameOf(type.name), path, suggest(key, visible));
  }

  #coerceObject(name: string, json: Json, path: Path, state: CoercionState): Json {
    const type = this.#model.types.get(name) as RemoteInputObject;
    if (!isJsonObject(json)) throw expected('an object', this.#nameOf(name), describeValue(json), path);
    for (const key of Object.keys(json)) {
      const field = type.fields.get(key);
      if (field === undefined || this.isPreset(field)) throw this.#unknownField(key, type, at(path, key));
    }
    const made: [string, Json][] = [];
    const isKnown = !this.#leadsToPreset(name) || state.within.has(name);
    const inner = isKnown ? state : { ...state, within: new Set(state.within).add(name) };
    for (const field of type.fields.values()) {
      const given = Object.hasOwn(json, field.name) ? json[field.name] : undefined;
      const coerced = this.#coerceField(field, given, at(path, field.name), inner);
      if (coerced !== undefined) made.push([field.name, coerced]);
      else if (isRequired(field)) throw missingRequired(field.name, path);
    }
    return Object.fromEntries(made);
  }
}

/** A variable that may be omitted because the server has a default is nullable, as GraphQL permits. */
function variableType({ type, default: text }: RemoteInputValue): string {
  return printRemoteType(text === undefined ? type : { ...type, nonNull: false });
}

function isRequired({ type, default: text }: RemoteInputValue): boolean {
  return type.nonNull && text === undefined;
}

/** Wraps an object in lists of one item. */
function wrapped(type: RemoteTypeRef, json: Json): Json {
  return type.kind === 'list' ? [wrapped(type.item, json)] : json;
}

function enumOf({ description, values }: RemoteEnum, name: string): EnumSchemaType {
  return enumType(name, description, () =>
    [...values.values()].map(({ name: value, description: of, deprecation }) => ({
      name: value,
      description: of,
      value,
      ...(deprecation === null ? {} : { deprecation }),
    })),
  );
}
