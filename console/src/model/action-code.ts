/** Code for an action: a handler to start with, a call of the handler, and an operation that calls the action. */
import { type ActionField, type ActionSignature, coreOf, reachable, typeNamed, typesIn } from './action-document.ts';
import { type Json, type JsonObject, objectsIn, printJson } from './json.ts';
import { shellQuoted } from './request-code.ts';

function isEnum(types: Json | undefined, name: string): boolean {
  return typesIn(types).some((each) => each.list === 'enums' && each.name === name);
}

const SAMPLES: Readonly<Record<string, Json>> = { Int: 1, Float: 1.5, Boolean: true, String: 'text', ID: '1' };

/** Maximum nesting of samples and selections: with wide types they grow with each level. */
const MAX_DEPTH = 3;

/** Returns a sample value of a type with all of its fields, down to `MAX_DEPTH`. */
export function sampleOf(type: string, types: Json | undefined, within: readonly string[] = []): Json {
  const core = coreOf(type);
  if (type.replace(/!$/, '').startsWith('[')) {
    return within.includes(core) ? [] : [sampleOf(type.replace(/!$/, '').slice(1, -1), types, within)];
  }
  const found = typeNamed(types, core);
  if (found === undefined) return SAMPLES[core] ?? 'text';
  const values = objectsIn(found['values']);
  if (values.length > 0) return String(values[0]?.['value']);
  const fields = objectsIn(found['fields']);
  if (fields.length === 0) return 'text';
  if (within.includes(core) || within.length === MAX_DEPTH) return null;
  return Object.fromEntries(fields.map((field) => [String(field['name']), sampleOf(String(field['type']), types, [...within, core])]));
}

/** Returns a sample of the body that a handler receives. */
export function samplePayload({ name, type, arguments: args, outputType }: ActionSignature, types: Json | undefined): JsonObject {
  const input = Object.fromEntries(args.map((each) => [each.name, sampleOf(each.type, types)]));
  const signature = { name, type, arguments: args, outputType };
  return {
    action: { name },
    input,
    session_variables: { 'x-svc-role': 'user', 'x-svc-user-id': '1' },
    request_query: callOf(
      signature,
      types,
      args.map((each) => each.name),
    ),
  };
}

/** Returns a `curl` command that calls the handler as the service does. */
export function curlOfHandler(url: string, payload: JsonObject): string {
  return [`curl -s ${shellQuoted(url)}`, `-H 'Content-Type: application/json'`, `-d ${shellQuoted(printJson(payload))}`].join(' \\\n  ');
}

/** Selects all fields of a type, down to `MAX_DEPTH` and without recursion. */
function selectionOf(type: string, types: Json | undefined, within: readonly string[] = []): string {
  const core = coreOf(type);
  const found = typeNamed(types, core);
  const fields = objectsIn(found?.['fields']);
  if (fields.length === 0) return '';
  const selections = fields.flatMap((field) => {
    const of = String(field['type']);
    if ([...within, core].includes(coreOf(of))) return [];
    if (within.length === MAX_DEPTH && objectsIn(typeNamed(types, coreOf(of))?.['fields']).length > 0) return [];
    return [`${String(field['name'])}${selectionOf(of, types, [...within, core])}`];
  });
  return selections.length === 0 ? ' { __typename }' : ` { ${selections.join(' ')} }`;
}

/**
 * Returns an operation that calls the action.
 * @param passed names of the arguments to declare variables for
 */
export function callOf(
  { name, type, arguments: args, outputType }: ActionSignature,
  types: Json | undefined,
  passed: readonly string[],
  isAsynchronous = false,
): string {
  const chosen = args.filter((each) => passed.includes(each.name));
  const variables = chosen.length === 0 ? '' : `(${chosen.map((each) => `$${each.name}: ${each.type}`).join(', ')})`;
  const values = chosen.length === 0 ? '' : `(${chosen.map((each) => `${each.name}: $${each.name}`).join(', ')})`;
  return `${type} Call${variables} {\n  ${name}${values}${isAsynchronous ? '' : selectionOf(outputType, types)}\n}`;
}

/** Returns a query for the result of a call of an asynchronous action. */
export function resultQueryOf({ name, outputType }: ActionSignature, types: Json | undefined): string {
  return `query Result($id: uuid!) {\n  ${name}(id: $id) { id created_at errors output${selectionOf(outputType, types)} }\n}`;
}

/** Returns a handler in TypeScript that needs only Node.js. */
export function handlerStub(signature: ActionSignature, types: Json | undefined): string {
  const { name, arguments: args, outputType } = signature;
  const own = `${name.replace(/(?:^|_)+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase())}Input`;
  const used = reachable(types, [...args.map(({ type }) => type), outputType]);
  const isTaken = used.has(own);
  const input = isTaken ? `${own}Arguments` : own;
  const declared = typesIn(types)
    .filter((each) => used.has(each.name))
    .map(({ list, type, name: identifier }) =>
      list === 'scalars'
        ? `type ${identifier} = unknown;`
        : list === 'enums'
          ? `type ${identifier} = ${objectsIn(type['values'])
              .map(({ value }) => `'${String(value)}'`)
              .join(' | ')};`
          : interfaceOf(identifier, objectsIn(type['fields']), types),
    );
  return `import { createServer } from 'node:http';

${[
  ...declared,
  interfaceOf(
    input,
    args.map((each): JsonObject => ({ ...each })),
    types,
  ),
].join('\n\n')}

async function ${name}(input: ${input}, session: Record<string, string>): Promise<${typescriptOf(outputType, types)}> {
  throw new Error('${name} is not implemented');
}

createServer(async (request, response) => {
  const respond = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  try {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { input, session_variables } = JSON.parse(body);
    respond(200, await ${name}(input, session_variables));
  } catch (error) {
    // A status from 400 to 499 with a message becomes the error of the client.
    respond(400, { message: error instanceof Error ? error.message : String(error) });
  }
}).listen(3000);
`;
}

function interfaceOf(name: string, fields: readonly JsonObject[], types: Json | undefined): string {
  const lines = fields.map((field) => {
    const { name: identifier, type, description } = field as unknown as ActionField;
    const comment = description === undefined ? '' : `  /** ${description.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`;
    return `${comment}  ${identifier}${type.endsWith('!') ? '' : '?'}: ${typescriptOf(type, types)};`;
  });
  return `interface ${name} {${lines.length === 0 ? '' : `\n${lines.join('\n')}\n`}}`;
}

const TYPESCRIPT: Readonly<Record<string, string>> = { Int: 'number', Float: 'number', Boolean: 'boolean', String: 'string', ID: 'string' };

function typescriptOf(type: string, types: Json | undefined): string {
  const isRequired = type.endsWith('!');
  const bare = isRequired ? type.slice(0, -1) : type;
  const orNull = isRequired ? '' : ' | null';
  if (bare.startsWith('[')) {
    const item = typescriptOf(bare.slice(1, -1), types);
    return `${item.includes(' ') ? `(${item})` : item}[]${orNull}`;
  }
  if (typeNamed(types, bare) !== undefined) return `${bare}${orNull}`;
  return TYPESCRIPT[bare] === undefined ? 'unknown' : `${TYPESCRIPT[bare]}${orNull}`;
}

/** Form control for an argument; a list has the values of an enum. */
export type ArgumentForm = 'number' | 'boolean' | 'text' | 'json' | readonly string[];

export function formOf(type: string, types: Json | undefined): ArgumentForm {
  const bare = type.replace(/!$/, '');
  if (bare.startsWith('[')) return 'json';
  if (isEnum(types, bare)) return objectsIn(typeNamed(types, bare)?.['values']).map(({ value }) => String(value));
  if (objectsIn(typeNamed(types, bare)?.['fields']).length > 0) return 'json';
  if (bare === 'Int' || bare === 'Float') return 'number';
  return bare === 'Boolean' ? 'boolean' : 'text';
}
