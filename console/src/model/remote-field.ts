/** Field of a remote schema that a relationship leads to, written as `country(code: $country_code) { capital }`. */
import { type Token, tokensOf } from './graphql-document.ts';
import { isList, isObject, type Json, type JsonObject, numberOf, printJson } from './json.ts';
import { TokenCursor } from './token-cursor.ts';

export interface RemoteField {
  /** `remote_field` of a definition. */
  readonly field: JsonObject;
  /** Names written as `$name`: columns or fields of the type where the relationship begins. */
  readonly variables: readonly string[];
}

/** @throws SyntaxError if the text is not a field with arguments */
export function parseRemoteField(text: string): RemoteField {
  const tokens = new TokenCursor(
    tokensOf(text),
    (expected, token) => new SyntaxError(`expected ${expected} ${token === undefined ? 'at the end' : `instead of ${token.text}`}`),
  );
  const variables = new Set<string>();
  const field = readField(tokens, variables);
  if (tokens.next !== undefined) tokens.fail('the end');
  return { field, variables: [...variables] };
}

/** @param variables receives the names of variables in arguments */
function readField(tokens: TokenCursor, variables: Set<string>): JsonObject {
  const name = tokens.ofKind('name', 'the name of a field').text;
  const args = tokens.skip('(') ? readPairs(tokens, ')', variables) : {};
  if (!tokens.skip('{')) return { [name]: { arguments: args } };
  const inner = readField(tokens, variables);
  tokens.take('}');
  return { [name]: { arguments: args, field: inner } };
}

function readPairs(tokens: TokenCursor, close: string, variables: Set<string>): JsonObject {
  const entries: [string, Json][] = [];
  while (!tokens.skip(close)) {
    const key = tokens.ofKind('name', 'the name of an argument').text;
    tokens.take(':');
    entries.push([key, readValue(tokens, variables)]);
  }
  return Object.fromEntries(entries);
}

function readValue(tokens: TokenCursor, variables: Set<string>): Json {
  if (tokens.skip('{')) return readPairs(tokens, '}', variables);
  if (tokens.skip('[')) {
    const items: Json[] = [];
    while (!tokens.skip(']')) items.push(readValue(tokens, variables));
    return items;
  }
  const value = tokens.next === undefined ? undefined : scalarOf(tokens.next);
  if (value === undefined) return tokens.fail('a value');
  const { kind, text } = tokens.any('a value');
  if (kind === 'variable') variables.add(text.slice(1));
  return value;
}

/** Returns the value of a token, a variable as its text; undefined for tokens that are no values. */
function scalarOf({ kind, text }: Token): Json | undefined {
  switch (kind) {
    case 'variable':
      return text.length > 1 ? text : undefined;
    case 'string':
      return JSON.parse(text) as string;
    case 'number':
      return numberOf(text);
    case 'name':
      return text === 'null' ? null : /^(?:true|false)$/.test(text) ? text === 'true' : text;
    default:
      return undefined;
  }
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
