/** Readers of inputs with the errors that all builders share. */
import { SvcError } from '../../errors/svc-error.ts';
import type { Path } from '../../util/path.ts';
import { type InputValue, printType } from '../../graphql-engine/types.ts';

/** Returns the error for an invalid input. */
export function invalid(message: string, path: Path): SvcError {
  return new SvcError('validation-failed', message, { path });
}

/** Returns an argument that is present and not null, for arguments whose null counts as absent. */
export function nonNullArgument(args: ReadonlyMap<string, InputValue>, name: string): InputValue | null {
  const input = args.get(name);
  return input === undefined || input.isNull() ? null : input;
}

/** Returns the entries of an input object that must not be null. */
export function entriesOf(input: InputValue): ReturnType<InputValue['entries']> {
  if (input.isNull()) throw invalid(`expected an object for type '${typeNameOf(input)}', but found null`, input.path);
  return input.entries();
}

/** Returns the items of a list that must not be null. */
export function itemsOf(input: InputValue): readonly InputValue[] {
  if (input.isNull()) throw nullList(input.path);
  return input.items();
}

export function nullList(path: Path): SvcError {
  return invalid('expected a list, but found null', path);
}

/** Returns `author_bool_exp` even if the type is `author_bool_exp!`. */
export function typeNameOf(input: Pick<InputValue, 'type'>): string {
  return printType({ ...input.type, nonNull: false });
}
