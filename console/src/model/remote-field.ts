/** The field of a remote schema that a relationship leads to, as one writes it: `country(code: $country_code) { capital }`. */
import { tokensOf } from './graphql-document.ts';
import { isList, isObject, type Json, type JsonObject, numberOf, printJson } from './json.ts';

export interface RemoteField {
  /** As `remote_field` of a definition. */
  readonly field: JsonObject;
  /** What is written as `$name`, which are columns or fields of where the relationship begins. */
  readonly variables: readonly string[];
}

/** @throws SyntaxError where the text is no field with arguments */
export function parseRemoteField(text: string): RemoteField {
  const tokens = tokensOf(text).filter(({ kind }) => kind !== 'comment');
  let at = 0;
  const variables = new Set<string>();
  const fail = (wanted: string): never => {
    const token = tokens[at];
    throw new SyntaxError(`${wanted} is expected ${token === undefined ? 'at the end' : `in place of ${token.text}`}`);
  };
  const has = (mark: string): boolean => tokens[at]?.text === mark && tokens[at]?.kind === 'mark';
  const take = (mark: string): void => {
    if (!has(mark)) fail(mark);
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
    const called = name('the name of a field');
    let args: JsonObject = {};
    if (has('(')) {
      take('(');
      args = pairs(')');
    }
    if (!has('{')) return { [called]: { arguments: args } };
    take('{');
    const inner = field();
    take('}');
    return { [called]: { arguments: args, field: inner } };
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
  const written = isObject(args)
    ? Object.entries(args)
        .map(([key, value]) => `${key}: ${printValue(value)}`)
        .join(', ')
    : '';
  return `${name}${written === '' ? '' : `(${written})`}${isObject(inner) ? ` { ${printRemoteField(inner)} }` : ''}`;
}

function printValue(value: Json): string {
  if (typeof value === 'string') return /^\$\w+$/.test(value) ? value : JSON.stringify(value);
  if (isList(value)) return `[${value.map(printValue).join(', ')}]`;
  if (!isObject(value)) return printJson(value);
  return `{${Object.entries(value)
    .map(([key, item]) => `${key}: ${printValue(item)}`)
    .join(', ')}}`;
}
