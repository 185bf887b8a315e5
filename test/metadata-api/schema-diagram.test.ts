/** `get_schema_diagram`: tables of a source with their columns, keys and relationships, for administrators and for a role. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(`
    create schema crm;
    create table artist (id int primary key, name text not null, tags text[]);
    create table crm.lead (id int primary key, artist_id int not null references artist, untracked_id int);
    create table hidden (id int primary key);
    alter table crm.lead add foreign key (untracked_id) references hidden`);
  await service.metadata('bulk', [
    { type: 'pg_track_tables', args: { tables: ['artist', { schema: 'crm', name: 'lead' }] } },
    {
      type: 'pg_create_array_relationship',
      args: {
        table: 'artist',
        name: 'leads',
        using: { foreign_key_constraint_on: { table: { schema: 'crm', name: 'lead' }, column: 'artist_id' } },
      },
    },
    {
      type: 'pg_create_select_permission',
      args: { table: { schema: 'crm', name: 'lead' }, role: 'caller', permission: { columns: ['id'], filter: {} } },
    },
    { type: 'pg_create_select_permission', args: { table: 'artist', role: 'caller', permission: { columns: ['name'], filter: {} } } },
    { type: 'pg_create_select_permission', args: { table: 'artist', role: 'reader', permission: { columns: ['name'], filter: {} } } },
    { type: 'add_inherited_role', args: { role_name: 'both', role_set: ['caller', 'reader'] } },
  ]);
});
afterAll(() => service.stop());

const diagram = async (args: JsonObject = {}): Promise<Json> =>
  ((await service.metadata('get_schema_diagram', args)) as { tables: Json }).tables;

const ALL = [
  [
    'public',
    'artist',
    [
      ['id', 'int4', 1],
      ['name', 'text', 0],
      ['tags', 'text[]', 2],
    ],
    [],
    [['leads', 'array', 1, [['id', 'artist_id']]]],
  ],
  [
    'crm',
    'lead',
    [
      ['id', 'int4', 1],
      ['artist_id', 'int4', 0],
      ['untracked_id', 'int4', 2],
    ],
    [['lead_artist_id_fkey', 0, [['artist_id', 'id']]]],
    [],
  ],
];

it('returns all tracked tables to administrators, without keys to untracked tables', async () => {
  expect(await diagram()).toEqual(ALL);
  expect(await diagram({ role: 'admin' })).toEqual(ALL);
});

it('returns what a role can select, also by inheritance', async () => {
  const seen = [
    ['public', 'artist', [['name', 'text', 0]], [], [['leads', 'array', 1, [['id', 'artist_id']]]]],
    ['crm', 'lead', [['id', 'int4', 1]], [], []],
  ];
  expect(await diagram({ role: 'caller' })).toEqual(seen);
  expect(await diagram({ role: 'both' })).toEqual(seen);
  expect(await diagram({ role: 'reader' })).toEqual([['public', 'artist', [['name', 'text', 0]], [], []]]);
  expect(await diagram({ role: 'unknown' })).toEqual([]);
});
