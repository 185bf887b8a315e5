/** TypeScript of actions: types of what handlers are given and give, and handlers to begin with. */
import { parseType, type TypeNode } from 'graphql';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';

export type Framework = 'types' | 'node' | 'fastify' | 'express';

const SCALARS: Readonly<Record<string, string>> = { Int: 'number', Float: 'number', String: 'string', Boolean: 'boolean', ID: 'string' };

function items(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** Names are those of GraphQL, which TypeScript takes too. */
function typeText(node: TypeNode, known: ReadonlySet<string>): string {
  if (node.kind === 'NonNullType') return bareText(node.type, known);
  return `${bareText(node, known)} | null`;
}

function bareText(node: TypeNode, known: ReadonlySet<string>): string {
  if (node.kind === 'NonNullType') return bareText(node.type, known);
  if (node.kind === 'ListType') return `readonly (${typeText(node.type, known)})[]`;
  const name = node.name.value;
  return SCALARS[name] ?? (known.has(name) ? name : 'unknown');
}

function fieldText(field: JsonObject, known: ReadonlySet<string>): string {
  const node = parseType(String(field['type']));
  const mark = node.kind === 'NonNullType' ? '' : '?';
  const comment = typeof field['description'] === 'string' ? `  /** ${field['description'].replaceAll('*/', '* /')} */\n` : '';
  return `${comment}  readonly ${String(field['name'])}${mark}: ${typeText(node, known)};`;
}

function argumentsName(action: JsonObject): string {
  const name = String(action['name']);
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Arguments`;
}

/** The types of all that the document says of actions. */
export function actionTypes(document: JsonObject, actions: readonly JsonObject[]): string {
  const types = isJsonObject(document['custom_types']) ? document['custom_types'] : {};
  const objects = [...items(types['objects']), ...items(types['input_objects'])];
  const known = new Set([...objects, ...items(types['enums']), ...items(types['scalars'])].map(({ name }) => String(name)));
  const parts = ['// Written by svc actions codegen; changes are overwritten.'];
  for (const type of items(types['scalars'])) parts.push(`export type ${String(type['name'])} = unknown;`);
  for (const type of items(types['enums']))
    parts.push(
      `export type ${String(type['name'])} = ${items(type['values'])
        .map(({ value }) => `'${String(value)}'`)
        .join(' | ')};`,
    );
  for (const type of objects)
    parts.push(
      `export interface ${String(type['name'])} {\n${items(type['fields'])
        .map((field) => fieldText(field, known))
        .join('\n')}\n}`,
    );
  for (const action of actions) {
    const definition = isJsonObject(action['definition']) ? action['definition'] : {};
    parts.push(
      `export interface ${argumentsName(action)} {\n${items(definition['arguments'])
        .map((field) => fieldText(field, known))
        .join('\n')}\n}`,
    );
    const output = typeText(parseType(String(definition['output_type'])), known);
    parts.push(`export type ${argumentsName(action).replace(/Arguments$/, 'Output')} = ${output};`);
  }
  parts.push(`/** What a handler is sent. */
export interface ActionRequest<Arguments> {
  readonly action: { readonly name: string };
  readonly input: Arguments;
  readonly session_variables: Readonly<Record<string, string>>;
  readonly request_query: string;
}`);
  return `${parts.join('\n\n')}\n`;
}

/** A handler to begin with; undefined where only types are wanted. */
export function actionHandler(action: JsonObject, framework: Framework): string | undefined {
  const name = String(action['name']);
  const [input, output] = [argumentsName(action), argumentsName(action).replace(/Arguments$/, 'Output')];
  const body = `import type { ActionRequest, ${input}, ${output} } from './types.ts';

export async function ${name}({ input, session_variables }: ActionRequest<${input}>): Promise<${output}> {
  throw new Error(\`${name} is not written yet: \${JSON.stringify({ input, session_variables })}\`);
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
  app.post<{ Body: ActionRequest<${input}> }>('/${name}', async (request, reply) => {
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
  app.post('/${name}', json(), async (request, response) => {
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
