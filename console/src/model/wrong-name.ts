/** Finds the name that an error of the service rejects, so that it can be replaced by a suggested one. */
import type { Span } from './document-place.ts';
import { tokensOf } from './graphql-document.ts';
import { unknownName } from './suggestions.ts';

export interface ErrorPlace {
  readonly message: string;
  readonly path: string;
  /** Start of the name, or of the field or key whose argument, value or directive is wrong. */
  readonly line: number;
  readonly column: number;
}

/** Returns undefined if the document does not contain the name, for example because it is the value of a variable. */
export function wrongName(text: string, { message, path, line, column }: ErrorPlace): Span | undefined {
  const name = unknownName(message);
  if (name === undefined) return undefined;
  const lines = text.split('\n').slice(0, line - 1);
  const start = lines.reduce((sum, { length }) => sum + length + 1, column - 1);
  // Not the alias of the field: `nam: nam`.
  const isField = path.endsWith(`.selectionSet.${name}`);
  const tokens = tokensOf(text);
  const token = tokens.find(
    ({ kind, text: found, from }, index) =>
      from >= start &&
      (kind === 'directive' ? found === `@${name}` : kind === 'name' && found === name) &&
      !(isField && tokens[index + 1]?.text === ':'),
  );
  return token === undefined ? undefined : { from: token.to - name.length, to: token.to };
}
