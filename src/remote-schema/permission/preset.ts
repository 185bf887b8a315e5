/** `@preset(value: …, static: …)`: a fixed value for an argument or input field, which the role cannot set. */
import { type ConstDirectiveNode, type ConstValueNode, Kind, print, type TypeDefinitionNode } from 'graphql';
import { BUILT_IN_SCALARS, type RemotePreset, type RemoteTypeRef } from '../model.ts';
import { typeRefOf } from './type-ref.ts';
import type { Reasons } from './reasons.ts';

const SESSION_VARIABLE = /^x-svc-/i;

/** Types of the role's SDL; the value of a preset is checked against them. */
type Types = ReadonlyMap<string, TypeDefinitionNode>;

interface Reading {
  readonly types: Types;
  readonly isStatic: boolean;
  readonly reasons: Reasons;
}

/** Returns `undefined` and adds a reason if the preset is invalid. @param name of the argument or field, which is of this type */
export function readPreset(
  { arguments: args = [] }: ConstDirectiveNode,
  name: string,
  type: RemoteTypeRef,
  types: Types,
  reasons: Reasons,
): RemotePreset | undefined {
  if (args.length === 0) {
    reasons.add('no arguments found in the preset directive');
    return undefined;
  }
  const unknown = args.find((argument) => argument.name.value !== 'value' && argument.name.value !== 'static');
  if (unknown !== undefined) {
    reasons.add(`unknown argument "${unknown.name.value}" of the preset directive at "${name}"`);
    return undefined;
  }
  const value = args.find((argument) => argument.name.value === 'value')?.value;
  if (value === undefined) {
    reasons.add(`preset argument "value" not found at "${name}"`);
    return undefined;
  }
  const fixed = args.find((argument) => argument.name.value === 'static')?.value;
  if (fixed !== undefined && fixed.kind !== Kind.BOOLEAN) {
    reasons.add('expected preset static value to be a Boolean value');
    return undefined;
  }
  return presetOf(value, name, type, { types, isStatic: fixed?.value === true, reasons });
}

function presetOf(value: ConstValueNode, name: string, type: RemoteTypeRef, reading: Reading): RemotePreset | undefined {
  if (value.kind === Kind.NULL && !type.nonNull) return literal(value);
  if (type.kind === 'list') return listPreset(value, name, type.item, reading);
  const definition = reading.types.get(type.name);
  const variable = sessionVariable(value, reading);
  switch (definition?.kind) {
    case Kind.INPUT_OBJECT_TYPE_DEFINITION: {
      if (variable !== null) return noSession(name, reading);
      if (value.kind !== Kind.OBJECT) return unfit(value, type.name, 'an input object value', reading);
      const fields = new Map((definition.fields ?? []).map((field) => [field.name.value, typeRefOf(field.type)]));
      const entries = value.fields.map((field): readonly [string, RemotePreset] | undefined => {
        const key = field.name.value;
        const of = fields.get(key);
        if (of === undefined) {
          reading.reasons.add(`"${key}" does not exist in the input object "${type.name}"`);
          return undefined;
        }
        const preset = presetOf(field.value, key, of, reading);
        return preset === undefined ? undefined : [key, preset];
      });
      return combine(
        value,
        entries,
        ([, preset]) => preset,
        (whole) => ({ kind: 'object', entries: whole }),
      );
    }
    case Kind.ENUM_TYPE_DEFINITION: {
      if (variable !== null) return { kind: 'session', name: variable, type: type.name };
      if (value.kind !== Kind.ENUM) return unfit(value, type.name, 'an enum value', reading);
      if ((definition.values ?? []).some((each) => each.name.value === value.value)) return literal(value);
      reading.reasons.add(`"${value.value}" not found in the enum: "${type.name}"`);
      return undefined;
    }
    case Kind.SCALAR_TYPE_DEFINITION:
    case undefined: {
      // A type that is not declared at all is reported where the types of the role are checked.
      if (definition === undefined && !BUILT_IN_SCALARS.has(type.name)) return literal(value);
      if (variable !== null) return { kind: 'session', name: variable, type: type.name };
      const isScalar = value.kind === Kind.INT || value.kind === Kind.FLOAT || value.kind === Kind.STRING || value.kind === Kind.BOOLEAN;
      return isScalar ? literal(value) : unfit(value, type.name, 'a scalar value', reading);
    }
    default:
      reading.reasons.add(`expected "${type.name}" to be an input type, but it's an output type`);
      return undefined;
  }
}

function listPreset(value: ConstValueNode, name: string, item: RemoteTypeRef, reading: Reading): RemotePreset | undefined {
  // A value that is not a list counts as a list of one, but the text of a session variable would not be valid for a list.
  if (sessionVariable(value, reading) !== null) return noSession(name, reading);
  if (value.kind !== Kind.LIST) return presetOf(value, name, item, reading);
  const items = value.values.map((each) => presetOf(each, name, item, reading));
  return combine(
    value,
    items,
    (preset) => preset,
    (whole) => ({ kind: 'list', items: whole }),
  );
}

/** Returns one literal if no part depends on the session. */
function combine<T extends {}>(
  value: ConstValueNode,
  parts: readonly (T | undefined)[],
  presetOfPart: (part: T) => RemotePreset,
  make: (parts: readonly T[]) => RemotePreset,
): RemotePreset | undefined {
  const whole = parts.filter((part) => part !== undefined);
  if (whole.length < parts.length) return undefined;
  return whole.every((part) => presetOfPart(part).kind === 'literal') ? literal(value) : make(whole);
}

function literal(value: ConstValueNode): RemotePreset {
  return { kind: 'literal', text: print(value) };
}

/** Returns the lower-case name of the session variable that a string stands for, `null` if it is a plain string. */
function sessionVariable(value: ConstValueNode, { isStatic }: Reading): string | null {
  return !isStatic && value.kind === Kind.STRING && SESSION_VARIABLE.test(value.value) ? value.value.toLowerCase() : null;
}

function noSession(name: string, { reasons }: Reading): undefined {
  reasons.add(`illegal preset value at "${name}". Session arguments can only be set for singleton values`);
}

function unfit(value: ConstValueNode, type: string, expected: string, { reasons }: Reading): undefined {
  const text = value.kind === Kind.STRING ? value.value : print(value);
  reasons.add(`expected preset value "${text}" of type "${type}" to be ${expected}`);
}
