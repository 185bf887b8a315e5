import { type Json, numberOf, parseJsonText, printJson } from './json.ts';

/** Prints a value as text; `null` stays `null`. */
export function cellText(json: Json | undefined): string | null {
  if (json === null || json === undefined) return null;
  return typeof json === 'string' ? json : printJson(json);
}

/** Reads text as a value of a GraphQL type. @throws SyntaxError if it is not one */
export function jsonOfText(text: string, type: string): Json {
  const core = type.replaceAll('!', '');
  if (/^jsonb?$|^json$/.test(core) || core.startsWith('[')) return parseJsonText(text);
  if (core === 'Boolean') {
    if (!/^(?:true|false)$/.test(text)) throw new SyntaxError('expected true or false');
    return text === 'true';
  }
  if (core === 'Int' || core === 'Float') {
    if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) throw new SyntaxError('expected a number');
    return numberOf(text);
  }
  // Other numbers are sent as text, so that no digit is lost.
  return text;
}
