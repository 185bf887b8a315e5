/** An input that is the value of a variable or a part of it. Examining it records facts. */
import { invariant, SvcError } from '../../errors/svc-error.ts';
import { isGraphqlName } from '../../model/graphql-name.ts';
import type { WrittenJson } from '../../ir/input-validation.ts';
import type { Value, VariableValue } from '../../ir/value.ts';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { at, type Path, ROOT } from '../../util/path.ts';
import type { Constraint } from '../constraint.ts';
import type { EnumSchemaValue, InputValue, InputObjects, InputTypeRef, OpaqueInput } from '../types.ts';
import { createOpaqueDecoder, opaqueShape } from '../opaque-text.ts';
import { enumValueOfJson, listCoercion, valueCoercion } from './coerce.ts';
import type { InputContext } from './context.ts';
import { describeValue, expected, expectedList, unexpectedNull } from './input-errors.ts';
import { fieldOf, requireFields } from './input-object.ts';

export interface VariablePart {
  readonly name: string;
  /** Keys and indexes inside the variable's value. */
  readonly inner: readonly (string | number)[];
  readonly json: Json;
  /** True if the declaration excludes null, so that checking for it records nothing. */
  readonly neverNull: boolean;
}

export function createVariableInput(context: InputContext, part: VariablePart, type: InputTypeRef, path: Path): InputValue {
  return new VariableInput(context, part, type, path);
}

/** A class, because variables have thousands of parts: methods of a prototype need no allocation. */
class VariableInput implements InputValue {
  readonly type: InputTypeRef;
  readonly path: Path;
  readonly #context: InputContext;
  readonly #part: VariablePart;

  constructor(context: InputContext, part: VariablePart, type: InputTypeRef, path: Path) {
    this.type = type;
    this.path = path;
    this.#context = context;
    this.#part = part;
  }

  as(other: InputTypeRef): InputValue {
    return new VariableInput(this.#context, this.#part, other, this.path);
  }

  get isData(): boolean {
    return this.#context.itemByItem === true;
  }

  isNull(): boolean {
    const { json, neverNull } = this.#part;
    if (!neverNull) this.#record({ kind: 'null', isNull: json === null });
    return json === null;
  }

  entries(): ReturnType<InputValue['entries']> {
    const { type, path } = this;
    const { json } = this.#part;
    invariant(type.kind === 'named', 'an input object position');
    const object = type.type();
    invariant(object.kind === 'input-object', `${type.name} is an input object`);
    if (!isJsonObject(json)) throw expected('an object', type.name, describeValue(json), path);
    const keys = Object.keys(json);
    this.#context.constraints.enter(keys.length);
    this.#record({ kind: 'keys', keys });
    const entries = keys.map((key) => {
      if (!isGraphqlName(key)) {
        throw new SvcError(
          'validation-failed',
          `variable value contains object with key ${JSON.stringify(key)}, which is not a legal GraphQL name`,
          { path: ROOT },
        );
      }
      const field = fieldOf(object, key, path);
      const value = json[key] as Json;
      if (value === null && field.type.nonNull) throw unexpectedNull(field.type, at(path, key));
      return { field, input: this.#child(key, value, field.type) };
    });
    requireFields(object, (field) => Object.hasOwn(json, field), path);
    return entries;
  }

  items(): readonly InputValue[] {
    const { type, path } = this;
    const { json, neverNull } = this.#part;
    invariant(type.kind === 'list', 'a list position');
    const { item } = type;
    if (json === null) throw expectedList('null', path);
    if (!isJsonArray(json)) {
      this.#record({ kind: 'length', length: null });
      if (!neverNull) this.#record({ kind: 'null', isNull: false });
      return [new VariableInput(this.#context, this.#part, item, at(path, 0))];
    }
    this.#record({ kind: 'length', length: json.length });
    this.#context.constraints.enter(json.length);
    return json.map((value, index) => {
      if (value === null && item.nonNull) throw unexpectedNull(item, at(path, index));
      return this.#child(index, value, item);
    });
  }

  objects(least: number, keys: ReadonlyMap<string, 'required' | 'optional'>): InputObjects | null {
    const { json, name, inner } = this.#part;
    if (!isJsonArray(json) || json.length < least || this.#context.itemByItem === true) return null;
    const counts = new Map<string, number>();
    for (const item of json) {
      if (!isJsonObject(item)) return null;
      for (const key in item) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const required = new Set<string>();
    const optional = new Set<string>();
    for (const [key, count] of counts) {
      const kind = keys.get(key);
      if (kind === undefined || (kind === 'required' && count < json.length)) return null;
      (kind === 'required' ? required : optional).add(key);
    }
    this.#record({ kind: 'objects', least, required, optional });
    return {
      keys: [...counts.keys()],
      values: (key, type) => ({ kind: 'members', name, path: inner, key, at: this.path, check: valueCoercion(type) }),
      written: () => ({ kind: 'items', name, path: inner }),
    };
  }

  enumValue(): EnumSchemaValue {
    const { type } = this;
    invariant(type.kind === 'named', 'an enum position');
    const named = type.type();
    invariant(named.kind === 'enum', `${type.name} is an enum`);
    this.#record({ kind: 'equals', json: this.#part.json });
    return enumValueOfJson(named, this.#part.json, this.path);
  }

  value(): Value {
    // Values that are read item by item are also checked in that order: the first error is that of the first item.
    if (this.#context.itemByItem === true) return { kind: 'literal', json: valueCoercion(this.type)(this.#part.json, this.path) };
    return { kind: 'variable', name: this.#part.name, path: this.#part.inner, at: this.path, check: valueCoercion(this.type) };
  }

  listValue(): Value {
    return { kind: 'variable', name: this.#part.name, path: this.#part.inner, at: this.path, check: listCoercion(this.type) };
  }

  json(): Json {
    this.#record({ kind: 'equals', json: this.#part.json });
    return valueCoercion(this.type)(this.#part.json, this.path);
  }

  opaque(): OpaqueInput {
    const { name, inner, json } = this.#part;
    const text = valueCoercion(this.type)(json, this.path);
    const decode = createOpaqueDecoder();
    const decoded = decode(json, this.#context.variables);
    this.#record({ kind: 'opaque', shape: opaqueShape(json, decoded), decode });
    return {
      text,
      json: decoded,
      part: (part, read) => {
        const check: VariableValue['check'] = (value, path, request) => read(decode(value, request) ?? null, path);
        return { kind: 'variable', name, path: inner, at: this.path, part, check };
      },
    };
  }

  charge(values: number): void {
    this.#context.constraints.charge(values);
  }

  asData(few: number, keys: ReadonlySet<string> | null): InputValue {
    const { json } = this.#part;
    if (this.#context.itemByItem === true || !isJsonArray(json)) return this;
    if (json.length <= few && this.#context.constraints.isComplete()) return this;
    if (keys !== null && !json.some((item) => hasOneOf(item, keys))) return this;
    const constraints = this.#context.constraints.unrecorded();
    return new VariableInput({ ...this.#context, constraints, itemByItem: true }, this.#part, this.type, this.path);
  }

  /** The declaration was checked at the position of the variable. */
  checkedAsWritten(): WrittenJson {
    return this.written();
  }

  written(): WrittenJson {
    return { kind: 'variable', name: this.#part.name, path: this.#part.inner };
  }

  #record(fact: Constraint['fact']): void {
    if (!this.#context.constraints.isComplete()) return;
    this.#context.constraints.record({ variable: this.#part.name, path: this.#part.inner, fact });
  }

  #child(key: string | number, json: Json, type: InputTypeRef): InputValue {
    const { name, inner } = this.#part;
    return new VariableInput(this.#context, { name, inner: [...inner, key], json, neverNull: false }, type, at(this.path, key));
  }
}

function hasOneOf(json: Json, keys: ReadonlySet<string>): boolean {
  if (!isJsonObject(json)) return false;
  for (const key in json) if (keys.has(key)) return true;
  return false;
}
