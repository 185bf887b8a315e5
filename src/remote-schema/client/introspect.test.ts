import { buildSchema, introspectionFromSchema } from 'graphql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GraphqlServer, type RawGraphqlAnswer, startGraphqlServer } from '../../../test/support/graphql-server.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { createOutboundClient, type OutboundClient } from '../../http-client/client.ts';
import { modelFromIntrospection } from '../from-introspection.ts';
import { runSync } from '../../util/cooperative.ts';
import { type RemoteConnection, remoteConnection } from './connection.ts';
import { introspectRemote } from './introspect.ts';

const SDL = 'scalar Day @specifiedBy(url: "https://days.example") type Query { at(day: Day, old: Int @deprecated): String }';

let server: GraphqlServer;
let outbound: OutboundClient;

beforeEach(async () => {
  server = await startGraphqlServer(SDL);
  outbound = createOutboundClient();
});
afterEach(async () => {
  await outbound.close();
  await server.close();
});

function connection(more: Partial<RemoteConnection> = {}): RemoteConnection {
  return { name: 'r', address: '{{URL}}', url: server.url, headers: {}, timeout: 5000, forwardClientHeaders: false, ...more };
}

async function failure(asked: Promise<unknown>): Promise<SvcError> {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SvcError);
  return error as SvcError;
}

describe('introspection', () => {
  it('sends one request as administrator, with the configured headers', async () => {
    const answer = await introspectRemote(outbound, connection({ headers: { 'x-key': 'k' } }));
    expect(server.requests).toMatchObject([
      { operationName: 'IntrospectionQuery', headers: { 'content-type': 'application/json', 'x-svc-role': 'admin', 'x-key': 'k' } },
    ]);
    const model = runSync(modelFromIntrospection(answer));
    expect(model.types.get('Day')).toMatchObject({ kind: 'scalar', specifiedByUrl: 'https://days.example' });
    expect(server.requests[0]?.query).not.toContain('isOneOf');
  });

  it.each([
    ['specifiedByURL', 'inputFields(includeDeprecated: true)', 'specifiedByURL'],
    ['inputFields(includeDeprecated', 'specifiedByURL', 'inputFields(includeDeprecated'],
    ['isRepeatable', 'inputFields(includeDeprecated: true)', 'isRepeatable'],
  ])('omits %s if the server does not support it', async (unknown, kept, without) => {
    server.answer = ({ query }) =>
      query.includes(unknown) ? { status: 400, body: { errors: [{ message: `Cannot query field ${unknown}` }] } } : undefined;
    runSync(modelFromIntrospection(await introspectRemote(outbound, connection())));
    const last = server.requests.at(-1)?.query;
    expect(last).toContain(kept);
    expect(last).not.toContain(without);
  });

  it('accepts a schema of an older version of GraphQL', async () => {
    server.answer = ({ query }) =>
      /specifiedByURL|isRepeatable|inputFields\(/.test(query) ? { status: 400, body: { errors: [{ message: 'no' }] } } : undefined;
    expect(runSync(modelFromIntrospection(await introspectRemote(outbound, connection()))).query).toBe('Query');
    expect(server.requests).toHaveLength(4);
  });

  it.each<[string, RawGraphqlAnswer, string]>([
    ['HTML', { headers: { 'content-type': 'text/html' }, body: '<html>no</html>' }, 'the response of "{{URL}}" is not valid JSON'],
    ['nothing', { status: 502 }, 'the response of "{{URL}}" is not valid JSON'],
    ['a text', { body: '"schema"' }, 'the introspection of "{{URL}}" returned no schema, with status 200'],
    ['no schema', { status: 404, body: {} }, 'the introspection of "{{URL}}" returned no schema, with status 404'],
    ['depth', { body: '['.repeat(100_000) }, 'the response of "{{URL}}" is nested deeper than 512 levels'],
    ['errors', { body: { errors: [{ message: 'off' }] } }, 'the introspection of "{{URL}}" returned errors'],
  ])('reports %s as the response', async (_what, answer, message) => {
    server.answer = () => answer;
    expect(await failure(introspectRemote(outbound, connection()))).toMatchObject({ code: 'remote-schema-error', message });
  });

  it('rejects a response of more than 16 MiB and accepts one of that size', async () => {
    const schema = introspectionFromSchema(buildSchema(SDL));
    const padded = (bytes: number): string => {
      const text = JSON.stringify({ data: schema });
      return text + ' '.repeat(bytes - text.length);
    };
    server.answer = () => ({ body: padded(16 * 1024 * 1024) });
    expect(await introspectRemote(outbound, connection())).toHaveProperty(['data', '__schema', 'types']);
    server.answer = () => ({ body: padded(16 * 1024 * 1024 + 1) });
    expect(await failure(introspectRemote(outbound, connection()))).toMatchObject({
      code: 'remote-schema-error',
      message: 'the responses of remote schemas exceed 16777216 bytes',
    });
  });

  it('reports a missing or incomplete response without secrets of the URL', async () => {
    const message = 'HTTP exception occurred while sending the request to "{{URL}}"';
    server.answer = () => 'reset';
    expect(await failure(introspectRemote(outbound, connection()))).toMatchObject({ code: 'remote-schema-error', message });
    server.answer = () => 'hang';
    expect(await failure(introspectRemote(outbound, connection({ timeout: 50 })))).toMatchObject({
      message,
      internal: { type: 'http_exception', message: 'Response timeout' },
    });
    await server.close();
    const url = `${server.url.replace('//', '//us:planted@')}?key=planted`;
    const error = await failure(introspectRemote(outbound, connection({ url })));
    expect(error).toMatchObject({
      message,
      internal: { request: { host: '127.0.0.1', secure: false, path: '/***', queryString: '?***' } },
    });
    expect(JSON.stringify([error.message, error.internal])).not.toContain('planted');
    await server.open();
    server.answer = () => undefined;
    expect(await introspectRemote(outbound, connection())).toHaveProperty(['data', '__schema', 'types']);
  });
});

describe('a connection', () => {
  const definition = { timeout: 3, headers: [], forwardClientHeaders: true, customization: undefined };
  const of = (address: string | { name: string }, environment = {}) =>
    remoteConnection(
      'r',
      { ...definition, address: typeof address === 'string' ? { kind: 'template', text: address } : { kind: 'environment', ...address } },
      environment,
    );

  it('uses the address from the environment and shows that of the metadata', () => {
    expect(of('http://{{HOST}}/g', { HOST: 'h' })).toMatchObject({ address: 'http://{{HOST}}/g', url: 'http://h/g', timeout: 3000 });
    expect(of({ name: 'U' }, { U: 'https://h/g' })).toMatchObject({ address: '{{U}}', url: 'https://h/g' });
  });

  it('has the configured headers, including those from the environment', () => {
    const headers = [
      { name: 'X-One', value: 'a{{K}}' },
      { name: 'X-Two', valueFromEnv: 'K' },
    ];
    const address = { kind: 'template', text: 'http://h' } as const;
    expect(remoteConnection('r', { ...definition, address, headers }, { K: 'k' }).headers).toEqual({ 'x-one': 'ak', 'x-two': 'k' });
    expect(() => remoteConnection('r', { ...definition, address, headers }, {})).toThrow("environment variable 'K' not set");
  });

  it.each([
    ['http://{{HOST}}/g', {}, "environment variable 'HOST' not set", 'not-found'],
    ['{{HOST}}', { HOST: 'planted' }, 'not a valid URI generated from the template: {{HOST}}', 'invalid-params'],
    ['file:///etc/passwd', {}, 'not a valid URI generated from the template: file:///etc/passwd', 'invalid-params'],
    [{ name: 'U' }, {}, "environment variable 'U' not set", 'not-found'],
    [{ name: 'U' }, { U: 'planted' }, 'not a valid URI in environment variable: U', 'invalid-params'],
  ])('rejects %j with the environment %j', (address, environment, message, code) => {
    expect(() => of(address, environment)).toThrow(expect.objectContaining({ message, code }));
  });
});
