import { dialect } from './dialect.ts';

/** Strings and quoted names, in which nothing is a placeholder; the dialect doubles quotes inside them. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g;

/** A statement with its values in it, as it could be run by hand. */
export function inlined(text: string, values: readonly (string | null)[]): string {
  return text.replace(TOKEN, (token: string, index: string | undefined) => {
    if (index === undefined) return token;
    const value = values[Number(index) - 1];
    return value === null || value === undefined ? 'null' : dialect.string(value);
  });
}
