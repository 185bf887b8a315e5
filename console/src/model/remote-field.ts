/** Field of a remote schema that a relationship leads to, written as `country(code: $country_code) { capital }`. */
import { tokensOf } from './graphql-document.ts';
import { isList, isObject, type Json, type JsonObject, numberOf, printJson } from './json.ts';

export interface RemoteField {
  /** `remote_field` of a definition. */
  readonly field: JsonObject;
  /** Names written as `$name`: columns or fields of the type where the relationship begins. */
  readonly variables: readonly string[];
}

/** @throws SyntaxError if the text is not a field with arguments */
export function parseRemoteField(text: string): RemoteField {
  const tokens = tokensOf(text).filter(({ kind }) => kind !== 'comment');
  let at = 0;
  const variables = new Set<string>();
  const fail = (expected: string): never => {
    const token = tokens[at];
    throw new SyntaxError(`expected ${expected} ${token === undefined ? 'at the end' : `instead of ${token.text}`}`);
  };
  const has = (text: string): boolean => tokens[at]?.text === text && tokens[at]?.kind === 'punctuator';
  const take = (text: string): void => {
    if (!has(text)) fail(text);
    at++;
  };
  const name = (what: string): string => {
    const token = tokens[at];
    if (token?.kind !== 'name') return fail(what);
    at++;
    return token.text;
  };
  const pairs = (close: string): JsonObject => {
    const entries: [string, Json][] = [];
    while (!has(close)) {
      const key = name('the name of an argument');
      take(':');
      entries.push([key, value()]);
    }
    take(close);
    return Object.fromEntries(entries);
  };
  const value = (): Json => {
    const token = tokens[at];
    if (token === undefined) return fail('a value');
    at++;
    if (token.kind === 'variable' && token.text.length > 1) {
      variables.add(token.text.slice(1));
      return token.text;
    }
    if (token.kind === 'string') return JSON.parse(token.text) as string;
    if (token.kind === 'number') return numberOf(token.text);
    if (token.kind === 'name')
      return token.text === 'null' ? null : /^(?:true|false)$/.test(token.text) ? token.text === 'true' : token.text;
    if (token.text === '{') return pairs('}');
    if (token.text === '[') {
      const items: Json[] = [];
      while (!has(']')) items.push(value());
      take(']');
      return items;
    }
    at--;
    return fail('a value');
  };
  const field = (): JsonObject => {
    const identifier = name('the name of a field');
    let args: JsonObject = {};
    if (has('(')) {
      take('(');
      args = pairs(')');
    }
    if (!has('{')) return { [identifier]: { arguments: args } };
    take('{');
    const inner = field();
    take('}');
    return { [identifier]: { arguments: args, field: inner } };
  };
  const parsed = field();
  if (at < tokens.length) fail('the end');
  return { field: parsed, variables: [...variables] };
}

/** @param field `remote_field` of a definition */
export function printRemoteField(field: Json | undefined): string {
  if (!isObject(field)) return '';
  const [entry] = Object.entries(field);
  if (entry === undefined) return '';
  const [name, call] = entry;
  const { arguments: args, field: inner } = isObject(call) ? call : ({} as JsonObject);
  const printedArgs = isObject(args)
    ? Object.entries(args)
        .map(([key, value]) => `${key}: ${printValue(value)}`)
        .join(', ')
    : '';
  return `${name}${printedArgs === '' ? '' : `(${printedArgs})`}${isObject(inner) ? ` { ${printRemoteField(inner)} }` : ''}`;
}

function printValue(value: Json): string {
  if (typeof value === 'string') return /^\$\w+$/.test(value) ? value : JSON.stringify(value);
  if (isList(value)) return `[${value.map(printValue).join(', ')}]`;
  if (!isObject(value)) return printJson(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}: ${printValue(item)}`)
    .join(', ')}}`;
}
