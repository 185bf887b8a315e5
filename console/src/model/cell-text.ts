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
  if (core === 'Int' || core === 'Float') return numberOfText(text);
  // Other numbers are sent as text, so that no digit is lost.
  return text;
}

/** Reads a number, which may begin with `+`, zeros or a point. @throws SyntaxError if it is none, or too large for a double */
function numberOfText(text: string): Json {
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text.trim()) ?? [];
  if (whole === '' && fraction === '') throw new SyntaxError('expected a number');
  // JSON has no leading zeros and no empty parts.
  const digits = `${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}`;
  const json = `${sign === '-' ? '-' : ''}${digits}${exponent === '' ? '' : `e${exponent}`}`;
  if (!Number.isFinite(Number(json))) throw new SyntaxError('the number is too large');
  return numberOf(json);
}
