import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

describe('the catalog state of tools', () => {
  it('is stored per tool beside the metadata', async () => {
    const before = (await service.metadata('get_catalog_state', {})) as JsonObject;
    expect(before).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string, cli_state: {}, console_state: {} });
    const version = async () => ((await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject)['resource_version'];
    const versionBefore = await version();
    expect(await service.metadata('set_catalog_state', { type: 'console', state: { seen: ['a', 1.5] } })).toEqual({ message: 'success' });
    expect(await service.metadata('set_catalog_state', { type: 'cli', state: null })).toEqual({ message: 'success' });
    expect(await service.metadata('get_catalog_state', {})).toEqual({
      ...before,
      cli_state: null,
      console_state: { seen: ['a', expect.anything()] },
    });
    expect(await version()).toBe(versionBefore);
  });

  it('accepts only two types of state', async () => {
    await expect(service.metadata('set_catalog_state', { type: 'other', state: {} })).rejects.toThrow('parse-failed');
    await expect(service.metadata('set_catalog_state', { type: 'cli' })).rejects.toThrow("the key 'state' was not present");
  });
});

describe('the internal state', () => {
  it('reports the status of the metadata', async () => {
    await service.sql(
      'create table author (id int primary key); create table article (id int primary key, author_id int references author)',
    );
    await service.metadata('pg_track_tables', { tables: ['author', 'article'].map((table) => ({ table })) });
    await service.metadata('pg_create_object_relationship', {
      table: 'article',
      name: 'author',
      using: { foreign_key_constraint_on: 'author_id' },
    });
    await service.metadata('pg_create_select_permission', { table: 'author', role: 'user', permission: { columns: '*', filter: {} } });
    const dump = (await service.metadata('dump_internal_state', {})) as JsonObject;
    expect(dump).toMatchObject({
      roles: ['user'],
      inconsistent_objects: [],
      sources: {
        default: {
          kind: 'pg',
          tables: expect.arrayContaining([
            expect.objectContaining({
              table: { schema: 'public', name: 'article' },
              columns: ['id', 'author_id'],
              primary_key: ['id'],
              relationships: [{ name: 'author', type: 'object', remote_table: { schema: 'public', name: 'author' } }],
            }),
          ]) as JsonObject,
        },
      },
    });
  });

  it('is restricted to administrators', async () => {
    const answer = await service.send('/v1/metadata', {
      method: 'POST',
      headers: { 'x-svc-role': 'user' },
      body: '{"type":"dump_internal_state","args":{}}',
    });
    expect([answer.status, answer.json]).toMatchObject([400, { code: 'access-denied' }]);
  });
});
