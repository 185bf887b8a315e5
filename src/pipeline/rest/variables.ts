/** Decodes the variables of an endpoint's operation from the parts of a request. */
import { shortened } from '../../errors/shortened.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { DeclaredType, VariableDeclaration } from '../../graphql-engine/variables.ts';
import { isJsonNumber, type Json, type JsonObject, parseJson } from '../../util/json.ts';

export interface RestValues {
  readonly path: ReadonlyMap<string, string>;
  readonly query: Iterable<readonly [name: string, text: string]>;
  readonly body: JsonObject;
}

/** Values of the path take precedence over the body, and those over the query string. @throws SvcError bad-request */
export function restVariables(declared: ReadonlyMap<string, VariableDeclaration>, { path, query, body }: RestValues): JsonObject {
  const texts = new Map(query);
  for (const name of Object.keys(body)) texts.delete(name);
  for (const [name, text] of path) texts.set(name, text);
  const variables: [string, Json][] = [];
  for (const [name, text] of texts) variables.push([name, valueOfText(declarationOf(declared, name), text)]);
  for (const [name, json] of Object.entries(body)) {
    declarationOf(declared, name);
    if (!texts.has(name)) variables.push([name, json]);
  }
  // Entries, not assignment: `__proto__` is a legal name.
  return Object.fromEntries(variables);
}

function declarationOf(declared: ReadonlyMap<string, VariableDeclaration>, name: string): VariableDeclaration {
  const declaration = declared.get(name);
  if (declaration === undefined) throw new SvcError('bad-request', `Unexpected variable ${shortened(name)}`);
  return declaration;
}

const BOOLEANS: ReadonlySet<string> = new Set(['Boolean', 'Bool']);
const NUMBERS: ReadonlySet<string> = new Set(['Int', 'Float', 'Number', 'Double', 'float8', 'numeric']);

function valueOfText({ name, type }: VariableDeclaration, text: string): Json {
  if (type.kind === 'list') {
    throw new SvcError(
      'bad-request',
      `List variables are not currently supported in URL or Query parameters. (Variable ${name}, with value ${JSON.stringify(shortened(text))})`,
    );
  }
  if (BOOLEANS.has(type.name)) return booleanOf(name, text);
  if (!NUMBERS.has(type.name)) return text;
  return numberOf(name, type, text);
}

/** A parameter without a value is true. */
function booleanOf(name: string, text: string): boolean {
  if (text === '' || text === 'true') return true;
  if (text === 'false') return false;
  throw new SvcError('bad-request', `Expected true or false for variable ${name}, but found ${JSON.stringify(shortened(text))}`);
}

function numberOf(name: string, type: DeclaredType, text: string): Json {
  if (text === '' && !type.nonNull) return null;
  try {
    const json = parseJson(text);
    if (isJsonNumber(json)) return json;
  } catch {
    // Reported below.
  }
  throw new SvcError('bad-request', `Expected a number for variable ${name}, but found ${JSON.stringify(shortened(text))}`);
}
