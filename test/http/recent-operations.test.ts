/** `get_recent_operations`: the last requests of the instance, without their values. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({});
  await service.sql(`create table item (id int primary key, name text); insert into item values (1, 'one')`);
  await service.metadata('pg_track_table', { table: 'item' });
  await service.metadata('pg_create_select_permission', { table: 'item', role: 'reader', permission: { columns: ['id'], filter: {} } });
});
afterAll(() => service.stop());

describe('the record of operations', () => {
  it('has type, name, role, duration and error of each operation, and no values', async () => {
    const query = 'query Items($name: String!) { item(where: {name: {_in: [$name, "hidden-literal"]}}, limit: 7) { id } }';
    await service.graphql(query, { variables: { name: 'hidden-variable' } });
    await service.graphql('mutation { insert_item_one(object: {id: 2, name: "hidden-name"}) { id } }');
    await service.graphql('{ item { name } }', { role: 'reader' });
    await service.graphql('hidden-document');
    await service.graphql('{ __schema { queryType { name } } }');
    const socket = await new TestSocket(service.url, { protocol: MODERN }).init();
    socket.start('1', 'subscription { item { id } }');
    await socket.take(1);
    socket.close();
    const found = await service.metadata('get_recent_operations', {});
    expect(JSON.stringify(found)).not.toContain('hidden');
    expect(found).toMatchObject({
      operations: [
        { type: 'unknown', name: null, role: 'admin', error: 'validation-failed', document: null },
        { name: null, role: 'reader', error: 'validation-failed' },
        {
          type: 'mutation',
          name: null,
          role: 'admin',
          error: null,
          document: 'mutation { insert_item_one(object: {id: 0, name: "…"}) { id } }',
        },
        {
          type: 'query',
          name: 'Items',
          role: 'admin',
          error: null,
          duration: expect.any(Number),
          request_id: expect.stringMatching(/^.{8,}$/),
          document: 'query Items($name: String!) { item(where: {name: {_in: [$name, "…"]}}, limit: 0) { id } }',
        },
      ],
    });
  });

  it('has what is sent together with a query of the schema', async () => {
    const query = 'query A { __schema { queryType { name } } } mutation B { delete_item(where: {id: {_eq: 9}}) { affected_rows } }';
    await service.graphql(query, { operationName: 'B' });
    await service.graphql('{ __type(name: "item") { name } item { id } }');
    const { operations } = (await service.metadata('get_recent_operations', {})) as { operations: readonly object[] };
    expect(operations.slice(0, 2)).toMatchObject([
      { type: 'query', name: null },
      { type: 'mutation', name: 'B' },
    ]);
  });

  it('is for administrators only', async () => {
    const answer = await service.send('/v1/metadata', {
      method: 'POST',
      headers: { 'x-svc-role': 'reader' },
      body: JSON.stringify({ type: 'get_recent_operations', args: {} }),
    });
    expect([answer.status, answer.json]).toMatchObject([400, { code: 'access-denied' }]);
  });
});
