import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { runSql, type TestDatabase, testDatabase, testServerUrl } from '../support/postgres.ts';
import { type RefusingDatabase, refusingDatabase } from '../support/refusing-database.ts';
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

it('answers from one source while another is unavailable, and from both again later', async () => {
  expect(await service.graphql('{ far { id } near { id } }')).toEqual({ data: { far: [{ id: 1 }], near: [{ id: 1 }] } });
  await connections(false);
  expect(await service.graphql('{ far { id } }')).toMatchObject({
    errors: [{ message: 'connection error', extensions: { code: 'postgres-error' } }],
  });
  expect(await service.graphql('{ near { id } }')).toEqual({ data: { near: [{ id: 1 }] } });
  await connections(true);
  let answer: unknown;
  for (let i = 0; i < 1000; i++) {
    answer = await service.graphql('{ far { id } }');
    if (JSON.stringify(answer).includes('data')) break;
    await sleep(50);
  }
  expect(answer).toEqual({ data: { far: [{ id: 1 }] } });
});

it('rejects a new source that cannot be reached, and keeps the metadata unchanged', async () => {
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

describe.runIf(DEEP)('a source that cannot be opened', () => {
  let away: TestService;
  let refusing: RefusingDatabase;
  const missing = `svc_test_missing_${process.pid}`;
  const urlOf = (database: string): string => Object.assign(new URL(testServerUrl()), { pathname: `/${database}` }).href;

  beforeAll(async () => {
    away = await startTestService({ ADMIN_INTERNAL_ERRORS: 'true' });
    refusing = await refusingDatabase();
    const permission = { role: 'reader', permission: { columns: ['id'], filter: {} } };
    const source = (name: string, database_url: string, more: JsonObject): JsonObject => ({
      name,
      kind: 'pg',
      configuration: { connection_info: { database_url } },
      ...more,
    });
    const sources = [
      source('lost', urlOf(missing), {
        tables: [{ table: 'far', select_permissions: [permission] }, { table: { schema: 's', name: 'hidden' } }],
        functions: [{ function: 'search_far', permissions: [{ role: 'caller' }] }],
      }),
      source('refused', 'postgres://u:hidden@127.0.0.1:1/x', {
        tables: [{ table: 'deep', select_permissions: [permission] }],
        customization: { root_fields: { namespace: 'space' } },
      }),
      source('locked', `postgres://u:hidden@127.0.0.1:${refusing.port}/x`, { tables: [{ table: 'safe' }] }),
    ];
    const elsewhere = {
      name: 'elsewhere',
      kind: 'dbb',
      configuration: { connection_info: { connection_string: 'mariadb://u:hidden@127.0.0.1:1/x' } },
      tables: [{ table: 'moved' }],
    };
    const inherited_roles = [{ role_name: 'both', role_set: ['reader', 'other'] }];
    const near = source('near', away.databaseUrl, {
      tables: [{ table: 'near', select_permissions: [{ role: 'other', permission: { columns: ['id'], filter: {} } }] }],
    });
    await away.sql('create table near (id int primary key)', { source: 'default' });
    const metadata = { version: 3, sources: [...sources, elsewhere, near], inherited_roles };
    await away.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata }, { version: 2 });
  });
  afterAll(async () => {
    await away.stop();
    await refusing.stop();
    await runSql(testServerUrl(), `drop database if exists ${missing} with (force)`);
  });

  const said = (source: string): string[] =>
    away.observations.flatMap((o) => (o.kind === 'source' && o.source === source && o.event === 'unavailable' ? [o.message] : []));
  const reasons: Readonly<Record<string, string>> = {
    lost: `database "${missing}" does not exist`,
    refused: 'connect ECONNREFUSED 127.0.0.1:1',
    locked: 'password authentication failed for user "u"',
  };

  it.each(Object.keys(reasons))('is reported with the reason as an inconsistency and, at each retry, in the log: %s', async (source) => {
    const { inconsistent_objects } = (await away.metadata('get_inconsistent_metadata', {})) as { inconsistent_objects: JsonObject[] };
    expect(inconsistent_objects).toContainEqual({
      definition: source,
      name: `source ${source}`,
      type: 'source',
      reason: 'Inconsistent object: connection error',
      message: reasons[source],
    });
    for (let i = 0; i < 1000 && said(source).length < 2; i++) await sleep(50);
    expect(said(source).length).toBeGreaterThan(1);
    expect(new Set(said(source))).toEqual(new Set([`connection error: ${reasons[source]}`]));
    expect(JSON.stringify([away.observations, inconsistent_objects])).not.toContain('hidden@');
  });

  const unavailable = (source: string, path: string) => ({
    errors: [{ message: `the source "${source}" is not available`, extensions: { code: 'postgres-error', path } }],
  });

  it.each([
    ['admin', '{ far { id } }', 'far', 'lost'],
    ['admin', '{ s_hidden_by_pk(id: 1) { id } }', 's_hidden_by_pk', 'lost'],
    ['admin', '{ space { deep { id } } }', 'space', 'refused'],
    ['admin', 'mutation { insert_safe_one(object: {}) { id } }', 'insert_safe_one', 'locked'],
    ['reader', '{ far { id } }', 'far', 'lost'],
    ['reader', '{ near: far_aggregate { aggregate { count } } }', 'far_aggregate', 'lost'],
    ['reader', 'subscription { far { id } }', 'far', 'lost'],
    ['reader', '{ space { deep { id } } }', 'space', 'refused'],
    ['both', '{ far { id } near { id } }', 'far', 'lost'],
    ['caller', '{ search_far { id } }', 'search_far', 'lost'],
  ])('is reported to %s: %s', async (role, query, field, source) => {
    expect(await away.graphql(query, { role })).toMatchObject(unavailable(source, `$.selectionSet.${field}`));
  });

  it('is reported in the words of its kind', async () => {
    expect(await away.graphql('{ moved { id } }')).toMatchObject({
      errors: [{ message: 'the source "elsewhere" is not available', extensions: { code: 'database-error' } }],
    });
  });

  it('shows the reason to administrators only', async () => {
    const internal = reasons['lost'];
    expect(await away.graphql('{ far { id } }')).toMatchObject({ errors: [{ extensions: { internal } }] });
    expect(JSON.stringify(await away.graphql('{ far { id } }', { role: 'reader' }))).not.toContain(missing);
  });

  it.each([
    ['other', '{ far { id } }', "field 'far' not found in type: 'query_root'"],
    ['other', '{ space { deep { id } } }', "field 'space' not found in type: 'query_root'"],
    ['reader', '{ s_hidden { id } }', "field 's_hidden' not found in type: 'query_root'"],
    ['reader', '{ safe { id } }', "field 'safe' not found in type: 'query_root'"],
    ['reader', 'mutation { insert_safe_one(object: {}) { id } }', 'no mutations exist'],
    ['reader', '{ search_far { id } }', "field 'search_far' not found in type: 'query_root'"],
    ['admin', '{ nothing { id } }', "field 'nothing' not found in type: 'query_root'"],
  ])('is hidden from roles without permission on the table, %s: %s', async (role, query, message) => {
    expect(await away.graphql(query, { role })).toMatchObject({ errors: [{ message, extensions: { code: 'validation-failed' } }] });
  });

  it('answers again when its database is available', async () => {
    await runSql(testServerUrl(), `create database ${missing}`);
    await runSql(urlOf(missing), 'create table far (id int primary key); insert into far values (7)');
    let answer: JsonObject = {};
    for (let i = 0; i < 500 && answer['data'] === undefined; i++) {
      await sleep(50);
      answer = await away.graphql('{ far { id } }', { role: 'reader' });
    }
    expect(answer).toEqual({ data: { far: [{ id: 7 }] } });
  });
});
