/** Rules of input objects for literals and variables. */
import { SvcError } from '../../errors/svc-error.ts';
import { at, type Path } from '../../util/path.ts';
import { suggest, type Suggestions } from '../suggestions.ts';
import type { InputField, InputObjectType } from '../types.ts';

const required = new WeakMap<InputObjectType, readonly string[]>();

/** Required fields: non-null without a default. */
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
  if (field === undefined)
    throw fieldNotFound(
      name,
      type.name,
      at(path, name),
      suggest(name, () => type.fields().keys()),
    );
  return field;
}

/** For inputs and outputs. @param suggestions option of `suggest` */
export function fieldNotFound(name: string, typeName: string, path: Path, suggestions: Suggestions): SvcError {
  return new SvcError('validation-failed', `field '${name}' not found in type: '${typeName}'`, { path, ...suggestions });
}

/** @throws SvcError if a required field is missing */
export function requireFields(type: InputObjectType, isPresent: (name: string) => boolean, path: Path): void {
  for (const name of requiredFields(type)) if (!isPresent(name)) throw missingRequired(name, path);
}

/** For arguments and input fields; `path` is the object's. */
export function missingRequired(name: string, path: Path): SvcError {
  return new SvcError('validation-failed', `missing required field '${name}'`, { path: at(path, name) });
}
