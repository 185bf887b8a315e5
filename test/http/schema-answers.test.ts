/** Responses that depend only on the schema of a role are kept in bytes, and end with the schema. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { getIntrospectionQuery } from 'graphql';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, parseJson, printJson } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql('create table author (id int primary key, name text); create table article (id int primary key, title text)');
  for (const table of ['author', 'article']) await service.metadata('pg_track_table', { table });
  const permit = (role: string, columns: readonly string[]) =>
    service.metadata('pg_create_select_permission', { table: 'author', role, permission: { columns, filter: {} } });
  await permit('reader', ['id']);
  await permit('writer', ['id', 'name']);
});
afterAll(() => service.stop());

interface Received {
  readonly encoding: string | undefined;
  readonly bytes: Buffer;
  readonly text: string;
}

/** Sends a request without decompressing its response. */
function receive(body: JsonObject, role: string, encoding?: string): Promise<Received> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'x-svc-role': role,
      ...(encoding === undefined ? {} : { 'accept-encoding': encoding }),
    };
    const sent = httpRequest(`${service.url}/v1/graphql`, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const used = response.headers['content-encoding'];
        const plain = used === 'br' ? brotliDecompressSync(bytes) : used === 'gzip' ? gunzipSync(bytes) : bytes;
        resolve({ encoding: used, bytes, text: plain.toString() });
      });
    });
    sent.on('error', reject);
    sent.end(printJson(body));
  });
}

const INTROSPECTION = { query: getIntrospectionQuery() };
const TYPE = { query: 'query ($name: String!) { __typename __type(name: $name) { name fields { name } } }' };
const typeNamed = (name: string): JsonObject => ({ ...TYPE, variables: { name } });

describe('an introspection query', () => {
  it('has the same response each time, in every encoding', async () => {
    const first = await receive(INTROSPECTION, 'reader');
    expect(parseJson(first.text)).toHaveProperty('data.__schema.types');
    for (const encoding of ['gzip', 'br', 'gzip', 'br', undefined, undefined]) {
      const again = await receive(INTROSPECTION, 'reader', encoding);
      expect(again.encoding).toBe(encoding);
      expect(again.text).toBe(first.text);
    }
    const [one, two] = [await receive(INTROSPECTION, 'reader', 'gzip'), await receive(INTROSPECTION, 'reader', 'gzip')];
    expect(one.bytes.equals(two.bytes)).toBe(true);
  });

  it('has another response for another role', async () => {
    const [reader, writer] = [await receive(INTROSPECTION, 'reader', 'gzip'), await receive(INTROSPECTION, 'writer', 'gzip')];
    expect(writer.text).not.toBe(reader.text);
    expect(await receive(typeNamed('author'), 'reader')).toMatchObject({
      text: '{"data":{"__typename":"query_root","__type":{"name":"author","fields":[{"name":"id"}]}}}',
    });
    expect(await receive(typeNamed('author'), 'writer')).toMatchObject({
      text: '{"data":{"__typename":"query_root","__type":{"name":"author","fields":[{"name":"id"},{"name":"name"}]}}}',
    });
  });

  it('has the response for its variables', async () => {
    for (let round = 0; round < 2; round++) {
      expect((await receive(typeNamed('query_root'), 'reader')).text).toContain('"name":"query_root"');
      expect((await receive(typeNamed('nothing'), 'reader')).text).toContain('"__type":null');
      expect((await receive(typeNamed('author'), 'reader')).text).toContain('"name":"author"');
    }
  });

  it('shows a change of the metadata at once', async () => {
    const before = await receive(INTROSPECTION, 'reader', 'gzip');
    const permission = { columns: ['id', 'title'], filter: {} };
    await service.metadata('pg_create_select_permission', { table: 'article', role: 'reader', permission });
    const after = await receive(INTROSPECTION, 'reader', 'gzip');
    expect(before.text).not.toContain('article');
    expect(after.text).toContain('article');
    await service.metadata('pg_drop_select_permission', { table: 'article', role: 'reader' });
    expect((await receive(INTROSPECTION, 'reader', 'gzip')).text).toBe(before.text);
  });

  it('is refused for a role as soon as its introspection is disabled', async () => {
    await receive(INTROSPECTION, 'reader');
    await service.metadata('set_graphql_schema_introspection_options', { disabled_for_roles: ['reader'] });
    expect((await receive(INTROSPECTION, 'reader')).text).toContain('"errors"');
    expect((await receive(INTROSPECTION, 'writer')).text).toContain('"__schema"');
    await service.metadata('set_graphql_schema_introspection_options', { disabled_for_roles: [] });
    expect((await receive(INTROSPECTION, 'reader')).text).toContain('"__schema"');
  });

  it('counts against the rate limit of a role', async () => {
    await receive(INTROSPECTION, 'writer');
    await service.metadata('set_api_limits', { disabled: false, rate_limit: { global: { max_reqs_per_min: 1 } } });
    const [allowed, refused] = [await receive(INTROSPECTION, 'writer'), await receive(INTROSPECTION, 'writer')];
    await service.metadata('remove_api_limits', {});
    expect(allowed.text).toContain('"__schema"');
    expect(refused.text).toContain('"errors"');
  });
});
