/** Texts about an action: its handler as code to begin with, a call of the handler, an operation that calls it. */
import { type ActionField, type ActionSignature, coreOf, reachable, typeNamed, typesIn } from './action-document.ts';
import { isList, isObject, type Json, type JsonObject, printJson } from './json.ts';
import { shellQuoted } from './request-code.ts';

const objectsOf = (json: Json | undefined): readonly JsonObject[] => (isList(json) ? json.filter(isObject) : []);

function isEnum(types: Json | undefined, name: string): boolean {
  return typesIn(types).some((each) => each.list === 'enums' && each.name === name);
}

const SAMPLES: Readonly<Record<string, Json>> = { Int: 1, Float: 1.5, Boolean: true, String: 'text', ID: '1' };

/** Objects within objects that samples and selections have: those of types with many fields grow with each level. */
const DEEPEST = 3;

/** Some value of a type, as deep as its fields go. */
export function sampleOf(type: string, types: Json | undefined, within: readonly string[] = []): Json {
  const core = coreOf(type);
  if (type.replace(/!$/, '').startsWith('[')) {
    return within.includes(core) ? [] : [sampleOf(type.replace(/!$/, '').slice(1, -1), types, within)];
  }
  const found = typeNamed(types, core);
  if (found === undefined) return SAMPLES[core] ?? 'text';
  const values = objectsOf(found['values']);
  if (values.length > 0) return String(values[0]?.['value']);
  const fields = objectsOf(found['fields']);
  if (fields.length === 0) return 'text';
  if (within.includes(core) || within.length === DEEPEST) return null;
  return Object.fromEntries(fields.map((field) => [String(field['name']), sampleOf(String(field['type']), types, [...within, core])]));
}

/** The body that a handler gets. */
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

/** A `curl` command that calls the handler as the service does. */
export function curlOfHandler(url: string, payload: JsonObject): string {
  return [`curl -s ${shellQuoted(url)}`, `-H 'Content-Type: application/json'`, `-d ${shellQuoted(printJson(payload))}`].join(' \\\n  ');
}

/** The fields to ask of an answer: all that hold values, and those of objects, as far as none is within itself and `DEEPEST`. */
function selectionOf(type: string, types: Json | undefined, within: readonly string[] = []): string {
  const core = coreOf(type);
  const found = typeNamed(types, core);
  const fields = objectsOf(found?.['fields']);
  if (fields.length === 0) return '';
  const asked = fields.flatMap((field) => {
    const of = String(field['type']);
    if ([...within, core].includes(coreOf(of))) return [];
    if (within.length === DEEPEST && objectsOf(typeNamed(types, coreOf(of))?.['fields']).length > 0) return [];
    return [`${String(field['name'])}${selectionOf(of, types, [...within, core])}`];
  });
  return asked.length === 0 ? ' { __typename }' : ` { ${asked.join(' ')} }`;
}

/**
 * An operation that calls the action.
 * @param given names of the arguments that it has variables for
 */
export function callOf(
  { name, type, arguments: args, outputType }: ActionSignature,
  types: Json | undefined,
  given: readonly string[],
  isAsynchronous = false,
): string {
  const chosen = args.filter((each) => given.includes(each.name));
  const variables = chosen.length === 0 ? '' : `(${chosen.map((each) => `$${each.name}: ${each.type}`).join(', ')})`;
  const values = chosen.length === 0 ? '' : `(${chosen.map((each) => `${each.name}: $${each.name}`).join(', ')})`;
  return `${type} Call${variables} {\n  ${name}${values}${isAsynchronous ? '' : selectionOf(outputType, types)}\n}`;
}

/** A query for what came of a call of an asynchronous action. */
export function answerQueryOf({ name, outputType }: ActionSignature, types: Json | undefined): string {
  return `query Answer($id: uuid!) {\n  ${name}(id: $id) { id created_at errors output${selectionOf(outputType, types)} }\n}`;
}

/** A handler in TypeScript, with nothing but Node. */
export function handlerStub(signature: ActionSignature, types: Json | undefined): string {
  const { name, arguments: args, outputType } = signature;
  const own = `${name.replace(/(?:^|_)+([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase())}Input`;
  const used = reachable(types, [...args.map(({ type }) => type), outputType]);
  const isTaken = used.has(own);
  const input = isTaken ? `${own}Arguments` : own;
  const declared = typesIn(types)
    .filter((each) => used.has(each.name))
    .map(({ list, type, name: called }) =>
      list === 'scalars'
        ? `type ${called} = unknown;`
        : list === 'enums'
          ? `type ${called} = ${objectsOf(type['values'])
              .map(({ value }) => `'${String(value)}'`)
              .join(' | ')};`
          : interfaceOf(called, objectsOf(type['fields']), types),
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
  throw new Error('${name} is not written yet');
}

createServer(async (request, response) => {
  const answer = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  try {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    const { input, session_variables } = JSON.parse(body);
    answer(200, await ${name}(input, session_variables));
  } catch (error) {
    // A status of 400 to 499 with a message is the error that the client gets.
    answer(400, { message: error instanceof Error ? error.message : String(error) });
  }
}).listen(3000);
`;
}

function interfaceOf(name: string, fields: readonly JsonObject[], types: Json | undefined): string {
  const lines = fields.map((field) => {
    const { name: called, type, description } = field as unknown as ActionField;
    const comment = description === undefined ? '' : `  /** ${description.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`;
    return `${comment}  ${called}${type.endsWith('!') ? '' : '?'}: ${typescriptOf(type, types)};`;
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

/** How the value of an argument is written in a form. */
export type ArgumentForm = 'number' | 'boolean' | 'text' | 'json' | readonly string[];

export function formOf(type: string, types: Json | undefined): ArgumentForm {
  const bare = type.replace(/!$/, '');
  if (bare.startsWith('[')) return 'json';
  if (isEnum(types, bare)) return objectsOf(typeNamed(types, bare)?.['values']).map(({ value }) => String(value));
  if (objectsOf(typeNamed(types, bare)?.['fields']).length > 0) return 'json';
  if (bare === 'Int' || bare === 'Float') return 'number';
  return bare === 'Boolean' ? 'boolean' : 'text';
}
