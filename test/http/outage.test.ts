import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runSql, type TestDatabase, testDatabase, testServerUrl } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let other: TestDatabase;

beforeAll(async () => {
  service = await startTestService();
  other = await testDatabase();
  await runSql(other.url, 'create table far (id int primary key); insert into far values (1)');
  await service.metadata('pg_add_source', { name: 'far', configuration: { connection_info: { database_url: other.url } } });
  await service.metadata('pg_track_table', { source: 'far', table: 'far' });
  await service.sql('create table near (id int primary key); insert into near values (1)');
  await service.metadata('pg_track_table', { table: 'near' });
});
afterAll(async () => {
  await service.stop();
  await other.drop();
});

const name = (): string => new URL(other.url).pathname.slice(1);
const connections = async (allowed: boolean): Promise<void> => {
  await runSql(testServerUrl(), `alter database ${name()} allow_connections ${allowed}`);
  if (!allowed) await runSql(testServerUrl(), `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name()}'`);
};

it('answers from one source while another is away, and from both again later', async () => {
  expect(await service.graphql('{ far { id } near { id } }')).toEqual({ data: { far: [{ id: 1 }], near: [{ id: 1 }] } });
  await connections(false);
  expect(await service.graphql('{ far { id } }')).toMatchObject({
    errors: [{ message: 'connection error', extensions: { code: 'postgres-error' } }],
  });
  expect(await service.graphql('{ near { id } }')).toEqual({ data: { near: [{ id: 1 }] } });
  await connections(true);
  let answer: unknown;
  for (let i = 0; i < 100; i++) {
    answer = await service.graphql('{ far { id } }');
    if (JSON.stringify(answer).includes('data')) break;
    await sleep(50);
  }
  expect(answer).toEqual({ data: { far: [{ id: 1 }] } });
});

it('adds no source that cannot be reached, and keeps everything as it was', async () => {
  const before = await service.metadata('export_metadata', {}, { version: 2 });
  await expect(
    service.metadata('pg_add_source', {
      name: 'nowhere',
      configuration: { connection_info: { database_url: 'postgres://u:hidden@127.0.0.1:1/x' } },
    }),
  ).rejects.toThrow(/400.*invalid-configuration/s);
  expect(await service.metadata('export_metadata', {}, { version: 2 })).toEqual(before);
  expect(JSON.stringify(service.observations)).not.toContain('hidden');
});
