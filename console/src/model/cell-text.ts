import { type Json, numberOf, parseJson, printJson } from './json.ts';

/** A value as text; null stays null. */
export function cellText(json: Json | undefined): string | null {
  if (json === null || json === undefined) return null;
  return typeof json === 'string' ? json : printJson(json);
}

/** What a text means as a value of a GraphQL type. @throws SyntaxError for what is no value of it */
export function jsonOfText(text: string, type: string): Json {
  const core = type.replaceAll('!', '');
  if (/^jsonb?$|^json$/.test(core) || core.startsWith('[')) return parseJson(text);
  if (core === 'Boolean') {
    if (!/^(?:true|false)$/.test(text)) throw new SyntaxError('true or false');
    return text === 'true';
  }
  if (core === 'Int' || core === 'Float') {
    if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) throw new SyntaxError('a number');
    return numberOf(text);
  }
  // As text, other numbers reach the database digit by digit.
  return text;
}
