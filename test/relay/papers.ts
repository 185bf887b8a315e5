/** A service with papers and their writers, for tests of the endpoint for clients of Relay. */
import { afterAll, beforeAll } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { Json } from '../../src/util/json.ts';
import { type Ask, askRelay } from './ask.ts';

const SELECT = { columns: ['title', 'writer_id'], filter: { writer_id: { _eq: 'X-Svc-User-Id' } } };

const SET_UP: readonly (readonly [string, Json])[] = [
  ...['writer', 'paper', 'secret', 'log'].map((table) => ['pg_track_table', { table }] as const),
  ['pg_create_object_relationship', { table: 'paper', name: 'writer', using: { foreign_key_constraint_on: 'writer_id' } }],
  [
    'pg_create_array_relationship',
    { table: 'writer', name: 'papers', using: { foreign_key_constraint_on: { table: 'paper', column: 'writer_id' } } },
  ],
  ['pg_create_select_permission', { table: 'paper', role: 'reader', permission: { ...SELECT, limit: 2, allow_aggregations: true } }],
  [
    'pg_create_insert_permission',
    { table: 'paper', role: 'reader', permission: { columns: ['id', 'title', 'writer_id'], check: {}, backend_only: false } },
  ],
  ['pg_create_select_permission', { table: 'writer', role: 'reader', permission: { columns: [], filter: {}, allow_aggregations: false } }],
  ['pg_create_select_permission', { table: 'writer', role: 'named', permission: { columns: ['name'], filter: { id: { _gt: 1 } } } }],
  [
    'pg_create_select_permission',
    { table: 'paper', role: 'rootless', permission: { columns: ['id'], filter: {}, query_root_fields: [], subscription_root_fields: [] } },
  ],
];

const TABLES = `
    create table writer (id int primary key, name text not null);
    create table paper (id int primary key, title text, writer_id int not null references writer);
    create table secret (id int primary key, word text);
    create table log (line text);
    create table "two keys" (a text, "b-c" bigint, v text, primary key (a, "b-c"));
    insert into writer values (1, 'Ada'), (2, 'Bob');
    insert into paper select i, 'Paper ' || i, 1 + i % 2 from generate_series(1, 7) as i;
    insert into secret values (1, 'x');
    insert into "two keys" values ('x', 9007199254740993, 'found');
  `;

export interface Papers {
  readonly service: TestService;
  /** Sends a request to the endpoint. */
  readonly ask: Ask;
  /** An empty database, for another source. */
  readonly other: TestDatabase;
}

/** Starts the service before the tests of a file, and stops it after them. Returns a function for use in tests. */
export function usePapers(): () => Papers {
  let papers: Papers | undefined;
  beforeAll(async () => {
    const service = await startTestService({ PG_CONNECTIONS: '4' });
    papers = { service, ask: askRelay(service), other: await testDatabase() };
    await service.sql(TABLES);
    for (const [type, args] of SET_UP) await service.metadata(type, args);
    await service.metadata('pg_track_table', {
      table: 'two keys',
      configuration: { custom_name: 'pair', column_config: { 'b-c': { custom_name: 'b' } } },
    });
  });
  afterAll(async () => {
    await papers?.service.stop();
    await papers?.other.drop();
  });
  return () => {
    if (papers === undefined) throw new Error('the service has not started');
    return papers;
  };
}
