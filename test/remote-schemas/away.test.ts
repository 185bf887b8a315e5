/** Remote schemas whose servers are down, and how instances share their introspection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSchema } from 'graphql';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Disables polling, so that a change can only arrive by notification. */
const NEVER_POLL = { SCHEMA_SYNC_POLL_INTERVAL: '600000' };

let one: TestService;
let server: GraphqlServer;
const others: TestService[] = [];

beforeAll(async () => {
  one = await startTestService(NEVER_POLL);
});
afterAll(() => one.stop());
beforeEach(async () => {
  server = await startGraphqlServer('type Query { hello: String }', { hello: 'hi' });
  await one.metadata('add_remote_schema', { name: 'r', definition: { url: server.url } });
});
afterEach(async () => {
  await Promise.all(others.splice(0).map((other) => other.stop()));
  await one.metadata('clear_metadata', {});
  await server.close();
});

/** Another instance on the same metadata. */
async function start(): Promise<TestService> {
  const other = await startTestService({ ...NEVER_POLL, DATABASE_URL: one.databaseUrl });
  others.push(other);
  return other;
}
const introspections = (): number => server.requests.length - server.asked().length;
const roots = async (service: TestService): Promise<string> =>
  JSON.stringify(await service.graphql('{ __schema { queryType { fields { name } } } }'));
const inconsistent = async (service: TestService): Promise<JsonObject> =>
  (await service.metadata('get_inconsistent_metadata', {})) as JsonObject;

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await holds()); await sleep(20)) if (Date.now() > end) throw new Error('it never came to be');
}

test.runIf(DEEP)('starts while a server is down with its last known schema, and recovers automatically', async () => {
  await server.close();
  const other = await start();
  expect(await roots(other)).toContain('hello');
  expect(await inconsistent(other)).toMatchObject({
    is_consistent: false,
    inconsistent_objects: [{ type: 'remote_schema', name: 'remote_schema r', message: { type: 'http_exception' } }],
  });
  expect(await other.graphql('{ hello }')).toMatchObject({ errors: [{ extensions: { code: 'remote-schema-error' } }] });
  expect(other.observations).toContainEqual(expect.objectContaining({ kind: 'remote-schema', remoteSchema: 'r', event: 'unavailable' }));

  server.schema = buildSchema('type Query { hello: String later: Int }');
  await server.open();
  await until(async () => (await inconsistent(other))['is_consistent'] === true);
  expect(await roots(other)).toContain('later');
  expect(await other.graphql('{ hello }')).toEqual({ data: { hello: 'hi' } });
  // The result is shared with the other instances, which do not introspect again.
  const asked = introspections();
  await until(async () => (await roots(one)).includes('later'));
  expect(introspections()).toBe(asked);
});

test.runIf(DEEP)('delays the start by some seconds only for a silent server', async () => {
  server.answer = () => 'hang';
  const started = performance.now();
  const other = await start();
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(await roots(other)).toContain('hello');
  expect((await inconsistent(other))['is_consistent']).toBe(false);
});

test('shares added, reloaded and removed remote schemas between instances without introspection', async () => {
  const other = await start();
  const asked = introspections();
  const far = await startGraphqlServer('type Query { far: Int }', { far: 7 });
  await one.metadata('add_remote_schema', { name: 'q', definition: { url: far.url } });
  await until(async () => (await roots(other)).includes('far'));
  expect(await other.graphql('{ far }')).toEqual({ data: { far: 7 } });
  expect(far.requests.length - far.asked().length).toBe(1);
  server.schema = buildSchema('type Query { hello: String later: Int }');
  await one.metadata('reload_remote_schema', { name: 'r' });
  await until(async () => (await roots(other)).includes('later'));
  expect(introspections()).toBe(asked + 1);
  await one.metadata('remove_remote_schema', { name: 'q' });
  await until(async () => !(await roots(other)).includes('far'));
  await far.close();
});

test.runIf(DEEP)('does not use the cached schema of one server for another', async () => {
  await server.close();
  await one.metadata('replace_metadata', {
    allow_inconsistent_metadata: true,
    metadata: { version: 3, sources: [], remote_schemas: [{ name: 'r', definition: { url: 'http://127.0.0.1:1/' } }] },
  });
  expect(await roots(one)).not.toContain('hello');
  expect(await roots(await start())).not.toContain('hello');
});
