/** An input that is the value of a variable or a part of it. Looking in records what was seen. */
import { invariant, SvcError } from '../../errors/svc-error.ts';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { at, type Path, ROOT } from '../../util/path.ts';
import type { Constraint } from '../constraint.ts';
import type { Input } from '../translation.ts';
import type { InputTypeRef } from '../types.ts';
import { enumValueOfJson, listCoercion, valueCoercion } from './coerce.ts';
import type { InputContext } from './context.ts';
import { describeJson, expected, expectedList, unexpectedNull } from './found.ts';
import { fieldOf, requireFields } from './input-object.ts';

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

export interface VariablePart {
  readonly name: string;
  /** Keys and indexes inside the variable's value. */
  readonly inner: readonly (string | number)[];
  readonly json: Json;
  /** The declaration rules null out, so asking for it reveals nothing. */
  readonly neverNull: boolean;
}

export function createVariableInput(context: InputContext, part: VariablePart, type: InputTypeRef, path: Path): Input {
  const { name, inner, json } = part;
  const record = (fact: Constraint['fact']): void => context.constraints.record({ variable: name, path: inner, fact });
  const child = (key: string | number, value: Json, childType: InputTypeRef): Input =>
    createVariableInput(context, { name, inner: [...inner, key], json: value, neverNull: false }, childType, at(path, key));

  const input: Input = {
    type,
    path,
    as: (other) => createVariableInput(context, part, other, path),
    isNull() {
      if (!part.neverNull) record({ kind: 'null', isNull: json === null });
      return json === null;
    },
    entries() {
      invariant(type.kind === 'named', 'an input object position');
      const object = type.type();
      invariant(object.kind === 'input-object', `${type.name} is an input object`);
      if (!isJsonObject(json)) throw expected('an object', type.name, describeJson(json), path);
      const keys = Object.keys(json);
      record({ kind: 'keys', keys });
      const entries = keys.map((key) => {
        if (!NAME.test(key)) {
          throw new SvcError(
            'validation-failed',
            `variable value contains object with key ${JSON.stringify(key)}, which is not a legal GraphQL name`,
            { path: ROOT },
          );
        }
        const field = fieldOf(object, key, path);
        const value = json[key] as Json;
        if (value === null && field.type.nonNull) throw unexpectedNull(field.type, at(path, key));
        return { field, input: child(key, value, field.type) };
      });
      requireFields(object, (field) => Object.hasOwn(json, field), path);
      return entries;
    },
    items() {
      invariant(type.kind === 'list', 'a list position');
      const { item } = type;
      if (json === null) throw expectedList('null', path);
      if (!isJsonArray(json)) {
        record({ kind: 'length', length: null });
        if (!part.neverNull) record({ kind: 'null', isNull: false });
        return [createVariableInput(context, part, item, at(path, 0))];
      }
      record({ kind: 'length', length: json.length });
      return json.map((value, index) => {
        if (value === null && item.nonNull) throw unexpectedNull(item, at(path, index));
        return child(index, value, item);
      });
    },
    enumValue() {
      invariant(type.kind === 'named', 'an enum position');
      const named = type.type();
      invariant(named.kind === 'enum', `${type.name} is an enum`);
      record({ kind: 'equals', json });
      return enumValueOfJson(named, json, path);
    },
    value: () => ({ kind: 'variable', name, path: inner, at: path, check: valueCoercion(type) }),
    listValue: () => ({ kind: 'variable', name, path: inner, at: path, check: listCoercion(type) }),
    json() {
      record({ kind: 'equals', json });
      return valueCoercion(type)(json, path);
    },
  };
  return input;
}
