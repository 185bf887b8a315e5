import { buildSchema, introspectionFromSchema } from 'graphql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GraphqlServer, type RawGraphqlAnswer, startGraphqlServer } from '../../../test/support/graphql-server.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { createOutboundClient, type OutboundClient } from '../../http-client/client.ts';
import { modelFromIntrospection } from '../from-introspection.ts';
import { atOnce } from '../../util/sliced.ts';
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
  it('asks once for everything, as an administrator, with the configured headers', async () => {
    const answer = await introspectRemote(outbound, connection({ headers: { 'x-key': 'k' } }));
    expect(server.requests).toMatchObject([
      { operationName: 'IntrospectionQuery', headers: { 'content-type': 'application/json', 'x-svc-role': 'admin', 'x-key': 'k' } },
    ]);
    const model = atOnce(modelFromIntrospection(answer));
    expect(model.types.get('Day')).toMatchObject({ kind: 'scalar', specifiedByUrl: 'https://days.example' });
    expect(server.requests[0]?.query).not.toContain('isOneOf');
  });

  it.each([
    ['specifiedByURL', 'inputFields(includeDeprecated: true)', 'specifiedByURL'],
    ['inputFields(includeDeprecated', 'specifiedByURL', 'inputFields(includeDeprecated'],
    ['isRepeatable', 'inputFields(includeDeprecated: true)', 'isRepeatable'],
  ])('does without %s where the server does not know it', async (unknown, kept, without) => {
    server.answer = ({ query }) =>
      query.includes(unknown) ? { status: 400, body: { errors: [{ message: `Cannot query field ${unknown}` }] } } : undefined;
    atOnce(modelFromIntrospection(await introspectRemote(outbound, connection())));
    const last = server.requests.at(-1)?.query;
    expect(last).toContain(kept);
    expect(last).not.toContain(without);
  });

  it('takes a schema without what came later to GraphQL', async () => {
    server.answer = ({ query }) =>
      /specifiedByURL|isRepeatable|inputFields\(/.test(query) ? { status: 400, body: { errors: [{ message: 'no' }] } } : undefined;
    expect(atOnce(modelFromIntrospection(await introspectRemote(outbound, connection()))).query).toBe('Query');
    expect(server.requests).toHaveLength(4);
  });

  it.each<[string, RawGraphqlAnswer, string]>([
    ['HTML', { headers: { 'content-type': 'text/html' }, body: '<html>no</html>' }, 'the answer of "{{URL}}" is not valid JSON'],
    ['nothing', { status: 502 }, 'the answer of "{{URL}}" is not valid JSON'],
    ['a text', { body: '"schema"' }, 'the introspection of "{{URL}}" was answered with no schema, with status 200'],
    ['no schema', { status: 404, body: {} }, 'the introspection of "{{URL}}" was answered with no schema, with status 404'],
    ['depth', { body: '['.repeat(100_000) }, 'the answer of "{{URL}}" is nested deeper than 512 levels'],
    ['errors', { body: { errors: [{ message: 'off' }] } }, 'the introspection of "{{URL}}" was answered with errors'],
  ])('says so when %s is the answer', async (_what, answer, message) => {
    server.answer = () => answer;
    expect(await failure(introspectRemote(outbound, connection()))).toMatchObject({ code: 'remote-schema-error', message });
  });

  it('refuses an answer with more than 16 MiB and takes one of that size', async () => {
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
      message: 'the answers of remote schemas have more than 16777216 bytes',
    });
  });

  it('says so when the server is away, breaks off or says nothing, and tells no secret of the URL', async () => {
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

  it('has the address that the environment gives, and shows the one that the metadata have', () => {
    expect(of('http://{{HOST}}/g', { HOST: 'h' })).toMatchObject({ address: 'http://{{HOST}}/g', url: 'http://h/g', timeout: 3000 });
    expect(of({ name: 'U' }, { U: 'https://h/g' })).toMatchObject({ address: '{{U}}', url: 'https://h/g' });
  });

  it('has the headers, from the environment too', () => {
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
  ])('refuses %j in %j', (address, environment, message, code) => {
    expect(() => of(address, environment)).toThrow(expect.objectContaining({ message, code }));
  });
});
