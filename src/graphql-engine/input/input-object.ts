/** What literals and variables share about input objects. */
import { SvcError } from '../../errors/svc-error.ts';
import { at, type Path } from '../../util/path.ts';
import type { InputField, InputObjectType } from '../types.ts';

const required = new WeakMap<InputObjectType, readonly string[]>();

/** Fields that have to be given: non-null without a default. */
function requiredFields(type: InputObjectType): readonly string[] {
  let names = required.get(type);
  if (names === undefined) {
    names = [...type.fields().values()].filter((field) => field.type.nonNull && field.default === undefined).map((field) => field.name);
    required.set(type, names);
  }
  return names;
}

/** @throws SvcError for a field that the type does not have */
export function fieldOf(type: InputObjectType, name: string, path: Path): InputField {
  const field = type.fields().get(name);
  if (field === undefined) throw fieldNotFound(name, type.name, at(path, name));
  return field;
}

/** Of inputs and outputs alike. */
export function fieldNotFound(name: string, typeName: string, path: Path): SvcError {
  return new SvcError('validation-failed', `field '${name}' not found in type: '${typeName}'`, { path });
}

/** @throws SvcError when a required field is not there */
export function requireFields(type: InputObjectType, given: (name: string) => boolean, path: Path): void {
  for (const name of requiredFields(type)) if (!given(name)) throw missingRequired(name, path);
}

/** Of arguments and input fields alike; `path` is the object's. */
export function missingRequired(name: string, path: Path): SvcError {
  return new SvcError('validation-failed', `missing required field '${name}'`, { path: at(path, name) });
}
