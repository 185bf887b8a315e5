import { dialect } from './dialect.ts';

/** Strings, quoted names and parameter markers; the dialect doubles quotes inside of strings and names. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g;

/** Returns a statement with its values, to be run by hand. */
export function inlined(text: string, values: readonly (string | null)[]): string {
  return text.replace(TOKEN, (token: string, index: string | undefined) => {
    if (index === undefined) return token;
    const value = values[Number(index) - 1];
    return value === null || value === undefined ? 'null' : dialect.string(value);
  });
}
