/** Small readers of inputs with the errors that every builder needs. */
import { SvcError } from '../../errors/svc-error.ts';
import type { Path } from '../../util/path.ts';
import { type Input, printType } from '../../graphql-engine/types.ts';

/** The refusal of an input. */
export function invalid(message: string, path: Path): SvcError {
  return new SvcError('validation-failed', message, { path });
}

/** An argument that is there and not null; for arguments whose null counts as absent. */
export function given(args: ReadonlyMap<string, Input>, name: string): Input | null {
  const input = args.get(name);
  return input === undefined || input.isNull() ? null : input;
}

/** Entries of an input object that must not be null. */
export function entriesOf(input: Input): ReturnType<Input['entries']> {
  if (input.isNull()) throw invalid(`expected an object for type '${typeNameOf(input)}', but found null`, input.path);
  return input.entries();
}

/** Items of a list that must not be null. */
export function itemsOf(input: Input): readonly Input[] {
  if (input.isNull()) throw nullList(input.path);
  return input.items();
}

export function nullList(path: Path): SvcError {
  return invalid('expected a list, but found null', path);
}

/** `author_bool_exp` even where the type is `author_bool_exp!`. */
export function typeNameOf(input: Pick<Input, 'type'>): string {
  return printType({ ...input.type, nonNull: false });
}
