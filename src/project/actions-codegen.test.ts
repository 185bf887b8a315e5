import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { actionHandler, actionTypes, codeNames, type Framework } from './actions-codegen.ts';

/** Names of the language, of the library and of the generated code. */
const NAMES =
  'login Login delete import new await arguments eval enum interface static let yield async of type as is get set module require namespace declare intrinsic asserts infer unique keyof readonly undefined any unknown never string number boolean object symbol bigint null void constructor toString Record Readonly Promise Error String JSON ActionRequest LoginArguments LoginOutput LoginActionOutput createServer server request response reply register app json input session_variables text part error types con Express FastifyInstance NaN';
const all = NAMES.split(' ');
const field = { name: 'delete', type: 'String', description: 'ends */ here' };
const document = {
  actions: all.map((name, i) => ({
    name,
    definition: { arguments: [{ name: 'class', type: `[${all[i]}!]` }], output_type: i % 2 === 0 ? `${name}!` : 'LoginOutput' },
  })),
  custom_types: {
    enums: [{ name: 'enum', values: [{ value: 'default' }] }],
    scalars: [{ name: 'string' }, { name: 'constructor' }],
    objects: all
      .filter((name) => !['enum', 'string', 'constructor'].includes(name))
      .map((name) => ({ name, fields: [field, { name: 'of', type: `${name}` }] })),
  },
};
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-codegen-'));
  writeFileSync(
    join(folder, 'stand-ins.d.ts'),
    `declare module 'node:http' {
      interface Incoming { setEncoding(name: string): AsyncIterable<object> }
      interface Answer { statusCode: number; setHeader(name: string, value: string): void; end(text: string): void }
      export function createServer(run: (request: Incoming, response: Answer) => Promise<void>): object;
    }
    declare module 'fastify' {
      interface Reply { status(code: number): { send(json: object): object } }
      export interface FastifyInstance { post<T extends { Body: object }>(path: string, run: (request: { body: T['Body'] }, reply: Reply) => object): void }
    }
    declare module 'express' {
      interface Answer { status(code: number): Answer; json(body: unknown): void }
      export function json(): object;
      export interface Express { post(path: string, parser: object, run: (request: { body: any }, response: Answer) => void): void }
    }`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

it('generates code that compiles, whatever the names', () => {
  const names = codeNames(document);
  const written: string[] = [];
  for (const framework of ['node', 'fastify', 'express'] satisfies Framework[]) {
    const here = mkdtempSync(join(folder, framework));
    writeFileSync(join(here, 'types.ts'), actionTypes(document, document.actions, names));
    for (const action of document.actions) {
      const file = `${names.actions.get(action.name)?.file}.ts`;
      written.push(`${framework}/${file.toLowerCase()}`);
      writeFileSync(join(here, file), actionHandler(action, framework, names) ?? '');
    }
  }
  expect(new Set(written).size).toBe(3 * all.length);
  const options = {
    strict: true,
    noEmit: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2022',
    lib: ['es2022'],
    types: [],
  };
  const compilerOptions = { ...options, allowImportingTsExtensions: true, verbatimModuleSyntax: true };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
  let said = '';
  try {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder], { encoding: 'utf8' });
  } catch (error) {
    said = String((error as { stdout: string }).stdout);
  }
  expect(said).toBe('');
});

it('keeps valid names of the document, whichever actions are selected', () => {
  const names = codeNames(document);
  expect(names.actions.get('login')).toEqual({
    input: 'LoginActionArguments',
    output: 'LoginActionOutput_',
    handler: 'login',
    file: 'login',
  });
  expect(names.actions.get('delete')).toEqual({ input: 'DeleteArguments', output: 'DeleteOutput', handler: 'delete_', file: 'delete' });
  const plain = { name: 'sign_in', definition: { arguments: [], output_type: 'Sign_inOutput!' } };
  const custom = { objects: [{ name: 'Sign_inOutput', fields: [field] }] };
  const only = codeNames({ actions: [plain], custom_types: custom });
  expect(actionTypes({ actions: [plain], custom_types: custom }, [plain], only)).toContain(
    'export type Sign_inActionOutput = Sign_inOutput;',
  );
});

/** Sends a POST whose body has these parts, with pauses between them. @returns the body of the response */
function post(port: number, parts: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => (answer += part));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)));
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`);
    const send = (i: number): void => {
      const part = parts[i];
      if (part !== undefined) socket.write(part, () => setTimeout(send, 20, i + 1));
    };
    send(0);
  });
}

it('generates a node handler that decodes characters split across two parts of a body', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-codegen-'));
  try {
    const file = join(folder, 'greet.ts');
    const greet = { name: 'greet' };
    writeFileSync(file, actionHandler(greet, 'node', codeNames({ actions: [greet] })) ?? '');
    const { server } = (await import(/* @vite-ignore */ file)) as { readonly server: Server };
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const body = Buffer.from(JSON.stringify({ input: { name: 'Zoë' }, session_variables: {} }));
    const middle = body.indexOf('ë') + 1;
    const answer = await post((server.address() as AddressInfo).port, [body.subarray(0, middle), body.subarray(middle)]);
    server.close();
    expect(JSON.parse(answer)).toEqual({
      message: 'greet is not written yet: {"input":{"name":"Zoë"},"session_variables":{}}',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
