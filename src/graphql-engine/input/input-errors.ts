/** Descriptions of invalid values in messages, and errors of all input positions. */
import { Kind, type ValueNode } from 'graphql';
import { SvcError } from '../../errors/svc-error.ts';
import { isJsonArray, isJsonNumber, type Json } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';
import type { TypeRef } from '../types.ts';

/** Returns the kind of a JSON value: `a number`, `a string`, … */
export function describeValue(json: Json): string {
  if (json === null) return 'null';
  if (typeof json === 'boolean') return 'a boolean';
  if (typeof json === 'string') return 'a string';
  if (isJsonNumber(json)) return 'a number';
  return isJsonArray(json) ? 'a list' : 'an object';
}

/** Returns the kind of a literal: `an integer`, `an enum value`, …; a variable is described by its value. */
export function describeLiteral(node: ValueNode): string {
  switch (node.kind) {
    case Kind.NULL:
      return 'null';
    case Kind.BOOLEAN:
      return 'a boolean';
    case Kind.INT:
      return 'an integer';
    case Kind.FLOAT:
      return 'a float';
    case Kind.STRING:
      return 'a string';
    case Kind.ENUM:
      return 'an enum value';
    case Kind.LIST:
      return 'a list';
    case Kind.OBJECT:
      return 'an object';
    case Kind.VARIABLE:
      return 'a variable';
  }
}

/** For example `expected a boolean for type 'Boolean', but found a string`. */
export function expected(what: string, typeName: string, found: string, path: Path): SvcError {
  return new SvcError('validation-failed', `expected ${what} for type '${typeName}', but found ${found}`, { path });
}

/** Lists have no type name in messages. */
export function expectedList(found: string, path: Path): SvcError {
  return new SvcError('validation-failed', `expected a list, but found ${found}`, { path });
}

/** Returns the error for null at a non-null position. */
export function unexpectedNull(type: TypeRef, path: Path): SvcError {
  if (type.kind === 'list') return expectedList('null', path);
  const { kind } = type.type();
  if (kind === 'input-object') return expected('an object', type.name, 'null', path);
  return new SvcError('validation-failed', `unexpected null value for type '${type.name}'`, { path });
}
