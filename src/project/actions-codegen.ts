/** Generates TypeScript for actions: types of their arguments and results, and handler stubs. */
import { parseType, type TypeNode } from 'graphql';
import { type JsonObject, objectOf, objectsIn } from '../util/json.ts';

export type Framework = 'types' | 'node' | 'fastify' | 'express';

const SCALARS: ReadonlyMap<string, string> = new Map([
  ['Int', 'number'],
  ['Float', 'number'],
  ['String', 'string'],
  ['Boolean', 'boolean'],
  ['ID', 'string'],
]);

/** Words that are not valid names in a module. */
const RESERVED =
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield';
/** Further words that are not valid names of types, and names that the generated types use. */
const RESERVED_TYPES =
  'any asserts bigint boolean infer intrinsic keyof never number object readonly string symbol undefined unique unknown ActionRequest Readonly Record';
/** Names that handlers use. */
const USED_IN_HANDLERS =
  'ActionRequest Error Express FastifyInstance JSON Promise String app createServer error globalThis input json part register reply request response server session_variables text undefined NaN Infinity require module exports';
/** File names that are used otherwise, and device names of Windows. */
const TAKEN_FILES =
  'types con prn aux nul com0 com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt0 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9';

function words(...lists: readonly string[]): Set<string> {
  return new Set(lists.flatMap((list) => list.split(' ')));
}

/** Takes the first free candidate, or the last one with `_` appended. */
function free(taken: Set<string>, ...candidates: readonly string[]): string {
  let name = candidates.find((each) => !taken.has(each)) ?? `${candidates.at(-1)}_`;
  while (taken.has(name)) name += '_';
  taken.add(name);
  return name;
}

interface ActionNames {
  readonly input: string;
  readonly output: string;
  /** Name of the handler's function. */
  readonly handler: string;
  /** Name of its file without extension. */
  readonly file: string;
}

/** Names in TypeScript, those of the document if possible. */
export interface CodeNames {
  /** Names of custom types by their names in the document. */
  readonly types: ReadonlyMap<string, string>;
  /** Names for actions by their names in the document. */
  readonly actions: ReadonlyMap<string, ActionNames>;
}

const SECTIONS = ['scalars', 'enums', 'objects', 'input_objects'] as const;

/** Chooses names, which do not depend on the actions for which code is generated. */
export function codeNames(document: JsonObject): CodeNames {
  const custom = objectOf(document['custom_types']);
  const named = SECTIONS.flatMap((section) => objectsIn(custom[section])).map(({ name }) => String(name));
  const taken = words(RESERVED, RESERVED_TYPES);
  // Types that keep their names come first.
  const isKept = (name: string): boolean => !taken.has(name);
  const types = new Map(named.filter(isKept).map((name) => [name, name]));
  for (const name of types.keys()) taken.add(name);
  for (const name of named) if (!types.has(name)) types.set(name, free(taken, name));
  const actions = new Map<string, ActionNames>();
  const files = words(TAKEN_FILES);
  for (const action of objectsIn(document['actions'])) {
    const name = String(action['name']);
    const capital = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const input = free(taken, `${capital}Arguments`, `${capital}ActionArguments`);
    const output = free(taken, `${capital}Output`, `${capital}ActionOutput`);
    const handler = free(words(RESERVED, USED_IN_HANDLERS, input, output), name);
    let file = name;
    // Some file systems ignore case.
    while (files.has(file.toLowerCase())) file += '_';
    files.add(file.toLowerCase());
    actions.set(name, { input, output, handler, file });
  }
  return { types, actions };
}

function namesOf(action: JsonObject, { actions }: CodeNames): ActionNames {
  const found = actions.get(String(action['name']));
  if (found === undefined) throw new Error(`the action ${String(action['name'])} is not in the document`);
  return found;
}

function typeText(node: TypeNode, known: CodeNames['types']): string {
  if (node.kind === 'NonNullType') return bareText(node.type, known);
  return `${bareText(node, known)} | null`;
}

function bareText(node: TypeNode, known: CodeNames['types']): string {
  if (node.kind === 'NonNullType') return bareText(node.type, known);
  if (node.kind === 'ListType') return `readonly (${typeText(node.type, known)})[]`;
  const name = node.name.value;
  return SCALARS.get(name) ?? known.get(name) ?? 'unknown';
}

function fieldText(field: JsonObject, known: CodeNames['types']): string {
  const node = parseType(String(field['type']));
  const mark = node.kind === 'NonNullType' ? '' : '?';
  const comment = typeof field['description'] === 'string' ? `  /** ${field['description'].replaceAll('*/', '* /')} */\n` : '';
  return `${comment}  readonly ${String(field['name'])}${mark}: ${typeText(node, known)};`;
}

/** Generates the types of all custom types, and of these actions. */
export function actionTypes(document: JsonObject, actions: readonly JsonObject[], names: CodeNames): string {
  const types = objectOf(document['custom_types']);
  const objects = [...objectsIn(types['objects']), ...objectsIn(types['input_objects'])];
  const known = names.types;
  const nameOf = ({ name }: JsonObject): string => known.get(String(name)) ?? String(name);
  const parts = ['// Generated by svc actions codegen; changes are overwritten.'];
  for (const type of objectsIn(types['scalars'])) parts.push(`export type ${nameOf(type)} = unknown;`);
  for (const type of objectsIn(types['enums']))
    parts.push(
      `export type ${nameOf(type)} = ${objectsIn(type['values'])
        .map(({ value }) => `'${String(value)}'`)
        .join(' | ')};`,
    );
  for (const type of objects)
    parts.push(
      `export interface ${nameOf(type)} {\n${objectsIn(type['fields'])
        .map((field) => fieldText(field, known))
        .join('\n')}\n}`,
    );
  for (const action of actions) {
    const { input, output } = namesOf(action, names);
    const definition = objectOf(action['definition']);
    parts.push(
      `export interface ${input} {\n${objectsIn(definition['arguments'])
        .map((field) => fieldText(field, known))
        .join('\n')}\n}`,
    );
    parts.push(`export type ${output} = ${typeText(parseType(String(definition['output_type'])), known)};`);
  }
  parts.push(`/** Body of the request to a handler. */
export interface ActionRequest<Arguments> {
  readonly action: { readonly name: string };
  readonly input: Arguments;
  readonly session_variables: Readonly<Record<string, string>>;
  readonly request_query: string;
}`);
  return `${parts.join('\n\n')}\n`;
}

/** Generates a handler stub; `undefined` for types only. */
export function actionHandler(action: JsonObject, framework: Framework, names: CodeNames): string | undefined {
  const route = String(action['name']);
  const { input, output, handler: name } = namesOf(action, names);
  const body = `import type { ActionRequest, ${input}, ${output} } from './types.ts';

export async function ${name}({ input, session_variables }: ActionRequest<${input}>): Promise<${output}> {
  throw new Error(\`${route} is not written yet: \${JSON.stringify({ input, session_variables })}\`);
}
`;
  switch (framework) {
    case 'types':
      return undefined;
    case 'node':
      return `import { createServer } from 'node:http';\n${body}
export const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += String(part);
  response.setHeader('content-type', 'application/json');
  try {
    response.end(JSON.stringify(await ${name}(JSON.parse(text))));
  } catch (error) {
    response.statusCode = 400;
    response.end(JSON.stringify({ message: error instanceof Error ? error.message : String(error) }));
  }
});
`;
    case 'fastify':
      return `import type { FastifyInstance } from 'fastify';\n${body}
export function register(app: FastifyInstance): void {
  app.post<{ Body: ActionRequest<${input}> }>('/${route}', async (request, reply) => {
    try {
      return await ${name}(request.body);
    } catch (error) {
      return reply.status(400).send({ message: error instanceof Error ? error.message : String(error) });
    }
  });
}
`;
    case 'express':
      return `import { json, type Express } from 'express';\n${body}
export function register(app: Express): void {
  app.post('/${route}', json(), async (request, response) => {
    try {
      response.json(await ${name}(request.body));
    } catch (error) {
      response.status(400).json({ message: error instanceof Error ? error.message : String(error) });
    }
  });
}
`;
  }
}
