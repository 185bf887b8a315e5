/** Captured events, and their fate when tables and metadata change: over HTTP, on a real database. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { DEEP, sample } from '../support/deep.ts';
import { testDatabase } from '../support/postgres.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

const HOOK = 'http://127.0.0.1:9/';
let service: TestService;
let database: pg.Client;

beforeAll(async () => {
  service = await startTestService({}, { HOOKS: 'http://127.0.0.1:9', FILES: 'file:///planted' });
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await service.stop();
});

beforeEach(async () => {
  await service.metadata('replace_metadata', {
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
        tables: [],
      },
    ],
  });
  await database.query(`
    drop schema public cascade; create schema public;
    create table author (id int primary key, name text, doc json, score numeric, big bigint);
    create table article (id int primary key, title text);
    do $$ begin if to_regclass('svc_catalog.event_log') is not null then truncate svc_catalog.event_log; end if; end $$`);
  await service.metadata('reload_metadata', {});
  for (const table of ['author', 'article']) await service.metadata('pg_track_table', { table });
});

const create = (args: JsonObject): Promise<Json> =>
  service.metadata('pg_create_event_trigger', { name: 'trg', table: 'author', webhook: HOOK, ...args });

const request = (type: string, args: Json, path = '/v1/metadata'): Promise<Answer> =>
  service.send(path, { method: 'POST', body: JSON.stringify({ type, args }) });

interface Payload {
  readonly op: string;
  readonly data: { readonly old: JsonObject | null; readonly new: JsonObject | null };
  readonly session_variables: JsonObject | null;
  readonly trace_context: JsonObject | null;
}

/** In the order of creation. */
async function payloads(): Promise<readonly Payload[]> {
  return (await database.query('select payload from svc_catalog.event_log order by place')).rows.map(({ payload }) => payload as Payload);
}

async function changes(): Promise<readonly [string, JsonObject | null, JsonObject | null][]> {
  return (await payloads()).map(({ op, data }) => [op, data.old, data.new]);
}

async function functions(): Promise<readonly string[]> {
  const { rows } = await database.query(`select proname from pg_proc where proname like 'notify\\_svc\\_%' order by 1`);
  return rows.map(({ proname }) => proname as string);
}

async function single(sql: string): Promise<unknown> {
  return Object.values((await database.query(sql)).rows[0] ?? {})[0];
}

describe('captured events', () => {
  it('have the old and the new row of each operation, and the payload of a manual event', async () => {
    const all = { columns: '*', payload: ['id', 'name'] };
    await create({ insert: all, update: all, delete: all, enable_manual: true });
    await database.query(`insert into author values (1, 'a'); update author set name = 'b'; delete from author`);
    const answer = await service.metadata('pg_invoke_event_trigger', { name: 'trg', payload: { any: [1] } });
    expect(await changes()).toEqual([
      ['INSERT', null, { id: 1, name: 'a' }],
      ['UPDATE', { id: 1, name: 'a' }, { id: 1, name: 'b' }],
      ['DELETE', { id: 1, name: 'b' }, null],
      ['MANUAL', null, { any: [1] }],
    ]);
    expect(answer).toEqual({ event_id: await single(`select id from svc_catalog.event_log order by place desc limit 1`) });
    expect((await payloads()).at(-1)?.session_variables).toEqual({ 'x-svc-role': 'admin' });
  });

  it('exist for an update only if a listened column changed, with null equal to null', async () => {
    await create({ name: 'names', update: { columns: ['name', 'score'], payload: ['id'] } });
    await create({ name: 'docs', update: { columns: ['doc'], payload: ['doc'] } });
    await create({ name: 'all', update: { columns: '*', payload: ['big'] } });
    const told = async (sql: string): Promise<unknown[]> => {
      await database.query('truncate svc_catalog.event_log');
      await database.query(sql);
      return (await database.query('select trigger_name from svc_catalog.event_log order by place')).rows.map((row) => row.trigger_name);
    };
    await database.query(`insert into author values (1, null, '{"a": 1}', 1.0)`);
    expect(await told(`update author set name = null, score = 1.0, doc = '{"a": 1}'`)).toEqual([]);
    // Equal numbers are no change, but the whole row has a column without equality and is compared by its bytes.
    expect(await told('update author set score = 1.00')).toEqual(['all']);
    expect(await told(`update author set name = 'x'`)).toEqual(['all', 'names']);
    expect(await told(`update author set name = null`)).toEqual(['all', 'names']);
    expect(await told(`update author set big = 9`)).toEqual(['all']);
    expect(await told(`update author set doc = '{"a":1}'`)).toEqual(['all', 'docs']);
  });

  it.runIf(DEEP).each(['run_sql', 'another program'])(
    'are written in open sessions after %s has changed the type of a listed column',
    async (by) => {
      const listed = { columns: ['score', 'doc'], payload: ['id', 'name', 'score', 'big'] };
      await create({ insert: listed, update: listed, delete: listed, ordering: ['name', 'score'] });
      const session = new pg.Client({ connectionString: service.databaseUrl });
      await session.connect();
      const write = async (id: number): Promise<void> => {
        await session.query('begin');
        await session.query('insert into author (id, name, score, big) values ($1, $2, $3, $4)', [id, 'a', id, id]);
        await session.query('update author set score = $2 where id = $1', [id, id + 1]);
        await session.query('delete from author where id = $1', [id - 1]);
        await session.query('commit');
      };
      try {
        for (let id = 1; id <= 12; id++) await write(id);
        const alter = 'alter table author alter column score type text, alter column big type int, alter column name type varchar(9)';
        if (by === 'run_sql') await service.sql(alter);
        else await database.query(alter);
        await database.query('truncate svc_catalog.event_log');
        await write(13);
        expect(await changes()).toEqual([
          ['INSERT', null, { id: 13, name: 'a', score: '13', big: 13 }],
          ['UPDATE', { id: 13, name: 'a', score: '13', big: 13 }, { id: 13, name: 'a', score: '14', big: 13 }],
          ['DELETE', { id: 12, name: 'a', score: '13', big: 12 }, null],
        ]);
      } finally {
        await session.end();
      }
    },
  );

  it('of a transaction that is rolled back do not exist', async () => {
    await create({ insert: { columns: '*' } });
    await database.query(`begin; insert into author values (1); rollback`);
    expect(await payloads()).toEqual([]);
  });

  it('preserve large numbers, as text if configured', async () => {
    await create({ insert: { columns: '*', payload: ['score', 'big'] } });
    await database.query(`insert into author values (1, null, null, 12345678901234567890.50, 9007199254740993)`);
    expect(await single(`select payload #>> '{data,new}' from svc_catalog.event_log`)).toBe(
      '{"big": 9007199254740993, "score": 12345678901234567890.50}',
    );
  });

  it('contain the session and the trace, for GraphQL and SQL through the service only', async () => {
    await create({ insert: { columns: '*' } });
    await service.metadata('pg_create_insert_permission', { table: 'author', role: 'user', permission: { check: {}, columns: '*' } });
    const trace = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331', sampling_state: '1' };
    await service.send('/v1/graphql', {
      method: 'POST',
      headers: { 'x-svc-role': 'user', 'x-svc-user-id': '7', traceparent: `00-${trace.trace_id}-${trace.span_id}-01` },
      body: JSON.stringify({ query: 'mutation { insert_author(objects: [{id: 1}]) { affected_rows } }' }),
    });
    await service.sql('insert into author values (2)');
    await service.sql('insert into author values (3)', { no_transaction: true });
    await database.query('insert into author values (4)');
    expect((await payloads()).map(({ session_variables, trace_context }) => [session_variables, trace_context])).toEqual([
      [{ 'x-svc-role': 'user', 'x-svc-user-id': '7' }, trace],
      [{ 'x-svc-role': 'admin' }, null],
      [{ 'x-svc-role': 'admin' }, null],
      [null, null],
    ]);
  });

  it.runIf(DEEP)('require no rights of the user who writes the table, and ignore its search path', async () => {
    await create({ update: { columns: '*' } });
    const role = `writer_${Math.random().toString(36).slice(2)}`;
    await database.query(`insert into author values (1, 'a');
      create role ${role}; grant all on author to ${role}; create schema evil; grant all on schema evil, public to ${role};
      create function evil.jsonb_build_object(variadic "any") returns jsonb language internal as 'jsonb_build_object';
      create function evil.record_eq(record, record) returns bool language internal as 'booleq'`);
    try {
      await database.query(
        `begin; set local role ${role}; set local search_path = evil, public, pg_catalog; update author set name = 'b'; commit`,
      );
    } finally {
      await database.query(`reset role; reset search_path; drop owned by ${role}; drop role ${role}`);
    }
    expect(await changes()).toMatchObject([['UPDATE', { name: 'a' }, { name: 'b' }]]);
  });

  it.runIf(DEEP)('have the named table, for partitions and inheriting tables', async () => {
    await database.query(`create table part (id int primary key, name text) partition by range (id);
      create table part_1 partition of part for values from (0) to (10);
      create table parent (id int); create table child () inherits (parent)`);
    for (const table of ['part', 'parent']) await service.metadata('pg_track_table', { table });
    const written = { insert: { columns: '*' }, update: { columns: '*' } };
    await create({ name: 'parts', table: 'part', ...written });
    await create({ name: 'parents', table: 'parent', ...written });
    await database.query(`insert into part values (1, 'a'); insert into part_1 values (2, 'b'); insert into parent values (3)`);
    const { rows } = await database.query('select table_name, payload from svc_catalog.event_log order by place');
    expect(rows.map(({ table_name, payload }) => [table_name, payload.data.new.id])).toEqual([
      ['part', 1],
      ['part', 2],
      ['parent', 3],
    ]);
    // No set-up may be repeated.
    const before = await single(`select sum(xmin::text::bigint) from pg_trigger where not tgisinternal`);
    await service.metadata('reload_metadata', {});
    expect(await single(`select sum(xmin::text::bigint) from pg_trigger where not tgisinternal`)).toBe(before);
  });

  it.runIf(DEEP)('include rows of replication only if configured', async () => {
    await create({ insert: { columns: '*' } });
    await create({ name: 'always', insert: { columns: '*' }, trigger_on_replication: true });
    await database.query(`set session_replication_role = replica; insert into author values (1); reset session_replication_role`);
    expect((await database.query('select trigger_name from svc_catalog.event_log')).rows).toEqual([{ trigger_name: 'always' }]);
    await create({ name: 'always', insert: { columns: '*' }, trigger_on_replication: false, replace: true });
    await database.query(`set session_replication_role = replica; insert into author values (2); reset session_replication_role`);
    expect(await payloads()).toHaveLength(1);
  });
});

describe('an event trigger follows', () => {
  const listened = { insert: { columns: '*' }, update: { columns: ['name'], payload: ['id', 'name'] } };

  it('new names of tables and columns, in the transaction that renames them', async () => {
    await create({ ...listened, ordering: ['name'] });
    await service.sql(`alter table author rename to writer; alter table writer rename column name to called`);
    await database.query(`insert into writer (id, called) values (1, 'a'); update writer set called = 'b'`);
    const { rows } = await database.query('select table_name, payload from svc_catalog.event_log order by place');
    expect(rows.at(-1)).toMatchObject({
      table_name: 'writer',
      payload: { data: { old: { id: 1, called: 'a' }, new: { id: 1, called: 'b' } } },
    });
    const { sources } = (await service.metadata('export_metadata', {})) as { sources: [{ tables: JsonObject[] }] };
    expect(sources[0].tables.find(({ event_triggers }) => event_triggers !== undefined)).toMatchObject({
      table: { name: 'writer' },
      event_triggers: [{ definition: { update: { columns: ['called'], payload: ['id', 'called'] } }, ordering: ['called'] }],
    });
  });

  it.runIf(DEEP)('new columns, external ones included, and types without equality', async () => {
    await create({ insert: { columns: '*' }, update: { columns: '*' } });
    await database.query(`alter table author drop column score, add column extra json; insert into author (id, extra) values (1, '[1]');
      update author set extra = '[2]'`);
    expect(await changes()).toMatchObject([
      ['INSERT', null, { id: 1, extra: [1] }],
      ['UPDATE', { extra: [1] }, { extra: [2] }],
    ]);
  });

  it('a dropped listed column, which is rejected or removed', async () => {
    await create(listened);
    const refused = await request('run_sql', { sql: 'alter table author drop column name' }, '/v2/query');
    expect(refused.json).toMatchObject({
      code: 'dependency-error',
      error: 'cannot drop due to the following dependent objects: event-trigger author.trg in source "default"',
    });
    expect(await functions()).toHaveLength(2);
    const cascaded = await service.sql('alter table author drop column name', { cascade: true });
    expect(cascaded).toMatchObject({ affected: [{ object: 'event-trigger author.trg in source "default"', change: 'dropped' }] });
    expect(await functions()).toEqual([]);
  });

  it('a table that is dropped or untracked', async () => {
    await create(listened);
    await create({ name: 'other', table: 'article', insert: { columns: '*' } });
    await database.query(`insert into article values (1)`);
    await service.sql('drop table author');
    expect(await functions()).toEqual(['notify_svc_other_INSERT']);
    await service.metadata('pg_untrack_table', { table: 'article' });
    expect(await functions()).toEqual([]);
    expect(await single('select archived from svc_catalog.event_log')).toBe(true);
  });
});

describe('a trigger definition', () => {
  it.runIf(DEEP)('removes old listeners when it is replaced', async () => {
    await create({ insert: { columns: '*' }, delete: { columns: '*' } });
    await create({ update: { columns: '*' }, replace: true });
    expect(await functions()).toEqual(['notify_svc_trg_UPDATE']);
  });

  it.runIf(DEEP)('can move to another table in a document', async () => {
    await create({ insert: { columns: '*' } });
    const document = (await service.metadata('export_metadata', {})) as { sources: [{ tables: JsonObject[] }] };
    const [source] = document.sources;
    const triggers = source.tables.find(({ event_triggers }) => event_triggers !== undefined)?.['event_triggers'] as Json;
    const tables = source.tables.map(({ event_triggers: _, ...each }) =>
      (each['table'] as JsonObject)['name'] === 'article' ? { ...each, event_triggers: triggers } : each,
    );
    await service.metadata('replace_metadata', { ...document, sources: [{ ...source, tables }] } as Json);
    await database.query(`insert into author values (1); insert into article values (2)`);
    expect(await changes()).toEqual([['INSERT', null, { id: 2, title: null }]]);
    const twice = source.tables.map((each) => ({ ...each, event_triggers: triggers }));
    expect((await request('replace_metadata', { ...document, sources: [{ ...source, tables: twice }] } as Json)).json).toMatchObject({
      code: 'not-supported',
      error: 'Event trigger with duplicate names not allowed: "trg"',
    });
  });

  it.runIf(DEEP)('in a document with a name that no operation accepts causes a warning', async () => {
    await create({ insert: { columns: '*' } });
    const before = (await service.metadata('export_metadata', {})) as { sources: [{ tables: JsonObject[] }] };
    const text = JSON.stringify(before).replace('"name":"trg"', '"name":"a b"');
    const metadata = JSON.parse(text) as Json;
    const warnings = [
      {
        code: 'illegal-event-trigger-name',
        type: 'event_trigger',
        name: 'event_trigger a b in source default',
        message: expect.stringContaining('only alphanumeric') as string,
      },
    ];
    const refused = await request('replace_metadata', { metadata, allow_warnings: false } as Json);
    expect([refused.status, refused.json]).toEqual([
      400,
      { code: 'metadata-warnings', path: '$.args', error: 'failed due to metadata warnings', internal: warnings },
    ]);
    expect(await service.metadata('export_metadata', {})).toEqual(before);
    expect(await service.metadata('replace_metadata', metadata)).toEqual({ message: 'success', warnings });
    await database.query('insert into author values (1)');
    expect(await changes()).toHaveLength(1);
    expect(await service.metadata('replace_metadata', { metadata: before } as unknown as Json)).toEqual({
      is_consistent: true,
      inconsistent_objects: [],
    });
  });

  it.runIf(DEEP)('leaves nothing behind when a later element of its bulk fails', async () => {
    await create({ name: 'kept', insert: { columns: '*' } });
    const answer = await request('bulk', [
      { type: 'pg_create_event_trigger', args: { name: 'trg', table: 'author', webhook: HOOK, insert: { columns: '*' } } },
      { type: 'pg_delete_event_trigger', args: { name: 'kept' } },
      { type: 'pg_track_table', args: { table: 'nothing' } },
    ]);
    expect(answer.status).toBe(400);
    expect(await functions()).toEqual(['notify_svc_kept_INSERT']);
    await database.query('insert into author values (1)');
    expect(await single('select archived from svc_catalog.event_log')).toBe(false);
  });

  it.runIf(DEEP)('captures within the bulk that creates it', async () => {
    await service.metadata('bulk', [
      { type: 'pg_create_event_trigger', args: { name: 'trg', table: 'author', webhook: HOOK, insert: { columns: '*' } } },
      { type: 'reload_metadata', args: {} },
    ]);
    await database.query('insert into author values (1)');
    expect(await payloads()).toHaveLength(1);
  });

  it('is restored by a reload after external removal, and recreated on request', async () => {
    await create({ insert: { columns: '*' } });
    await database.query('drop trigger "notify_svc_trg_INSERT" on author');
    await service.metadata('reload_metadata', {});
    await database.query('insert into author values (1)');
    expect(await payloads()).toHaveLength(1);
    const made = (): Promise<unknown> => single(`select oid from pg_proc where proname = 'notify_svc_trg_INSERT'`);
    const before = await made();
    await service.metadata('reload_metadata', { recreate_event_triggers: true });
    expect(await made()).not.toBe(before);
    await database.query('insert into author values (2)');
    expect(await payloads()).toHaveLength(2);
  });

  it.runIf(DEEP)('gets its tables back by a reload, whichever of them were dropped externally', async () => {
    await create({ insert: { columns: '*' } });
    for (const part of ['table event_log', 'sequence event_waiting', 'table svc_source_catalog_version', 'table event_invocation_logs']) {
      await database.query(`drop ${part.replace(' ', ' svc_catalog.')}`);
      await service.metadata('reload_metadata', {});
    }
    await database.query('insert into author values (1)');
    expect(await payloads()).toHaveLength(1);
  });

  it('is inconsistent while its environment variable is unset, without affecting others', async () => {
    const trigger = (name: string, webhook: JsonObject): JsonObject => ({ name, definition: { insert: { columns: '*' } }, ...webhook });
    const document = (await service.metadata('export_metadata', {})) as { sources: [JsonObject] };
    const tables = [
      {
        table: 'author',
        event_triggers: [
          trigger('good', { webhook: '{{HOOKS}}/a' }),
          trigger('env', { webhook_from_env: 'NOT_SET' }),
          trigger('template', { webhook: '{{NOT_SET}}/{{NEITHER}}' }),
          trigger('transform', { webhook: HOOK, request_transform: { version: 2, url: '{{' } }),
          trigger('scheme', { webhook: '{{FILES}}/passwd' }),
          trigger('whole', { webhook_from_env: 'FILES' }),
          trigger('shaped', { webhook: 'nothing', request_transform: { version: 2, url: 'http://127.0.0.1:9/' } }),
          trigger('column', { webhook: HOOK, definition: { update: { columns: ['nothing'] } } }),
        ],
      },
    ];
    const metadata = { ...document, sources: [{ ...document.sources[0], tables }] };
    await service.metadata('replace_metadata', { metadata, allow_inconsistent_metadata: true }, { version: 2 });
    const { inconsistent_objects: found } = (await service.metadata('get_inconsistent_metadata', {})) as {
      inconsistent_objects: { type: string; name: string; reason: string }[];
    };
    expect(found.map(({ type, name, reason }) => [type, name, reason])).toEqual([
      [
        'event_trigger',
        'event_trigger env in table author in source default',
        "Inconsistent object: environment variable 'NOT_SET' not set",
      ],
      [
        'event_trigger',
        'event_trigger template in table author in source default',
        'Inconsistent object: Value for environment variables not found: NOT_SET, NEITHER',
      ],
      [
        'event_trigger',
        'event_trigger transform in table author in source default',
        expect.stringMatching(/^Inconsistent object: request transform validation failed: ./),
      ],
      [
        'event_trigger',
        'event_trigger scheme in table author in source default',
        'Inconsistent object: the webhook "{{FILES}}/passwd" is no http or https URL',
      ],
      [
        'event_trigger',
        'event_trigger whole in table author in source default',
        'Inconsistent object: the webhook in the environment variable "FILES" is no http or https URL',
      ],
      ['event_trigger', 'event_trigger column in table author in source default', 'Inconsistent object: column "nothing" does not exist'],
    ]);
    expect(await functions()).toEqual(['notify_svc_good_INSERT', 'notify_svc_shaped_INSERT']);
    await service.metadata('drop_inconsistent_metadata', {});
    expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
  });

  it('is rejected with the database’s message', async () => {
    await database.query(`create function public.no() returns event_trigger language plpgsql as 'begin raise exception ''not here''; end';
      create event trigger no_triggers on ddl_command_start when tag in ('CREATE TRIGGER') execute function public.no()`);
    try {
      const answer = await request('pg_create_event_trigger', { name: 'trg', table: 'author', webhook: HOOK, insert: { columns: '*' } });
      expect(answer.json).toMatchObject({
        code: 'postgres-error',
        error: 'the event trigger cannot be installed: not here',
        path: '$.args',
      });
      expect(await functions()).toEqual([]);
    } finally {
      await database.query('drop event trigger no_triggers');
    }
  });

  const insert = { columns: '*' };
  const REFUSED: readonly (readonly [args: JsonObject, code: string, path: string, message: string])[] = [
    [{ name: '1', insert }, 'parse-failed', '$.args.name', 'only alphanumeric and underscore and hyphens allowed for name'],
    [{ name: 'a'.repeat(43), insert }, 'parse-failed', '$.args.name', 'event trigger name can be at most 42 characters'],
    [{}, 'parse-failed', '$.args', 'atleast one amongst insert/update/delete/enable_manual spec must be provided'],
    [{ insert, webhook_from_env: 'HOOKS' }, 'parse-failed', '$.args', 'only one of webhook or webhook_from_env should be given'],
    [{ insert, webhook: null }, 'parse-failed', '$.args', 'must provide webhook or webhook_from_env'],
    [{ insert: { columns: [] } }, 'parse-failed', '$.args', 'found empty column specification'],
    [{ insert: { columns: '*', payload: [] } }, 'parse-failed', '$.args', 'found empty payload specification'],
    [{ insert: { columns: 'all' } }, 'parse-failed', '$.args.insert.columns', 'only * or [] allowed'],
    [{ insert, headers: [{ name: 'a', value_from_env: 'NOT_SET' }] }, 'not-found', '$.args', "environment variable 'NOT_SET' not set"],
    [
      { insert, headers: [{ name: 'a', value_from_env: 'SVC_GRAPHQL_ADMIN_SECRET' }] },
      'parse-failed',
      '$.args.headers[0]',
      'env variables starting with "SVC_GRAPHQL_" are not allowed in value_from_env: SVC_GRAPHQL_ADMIN_SECRET',
    ],
    [
      { insert, headers: [{ name: 'a', value: 'x\r\nb: y' }] },
      'invalid-configuration',
      '$.args',
      'Inconsistent object: the value of the header "a" has characters that no header can have',
    ],
    [{ insert, headers: [{ name: 'a' }] }, 'parse-failed', '$.args.headers[0]', 'expecting value or value_from_env keys'],
    [
      { insert, headers: [{ name: 'a', value: 'b', value_from_env: 'HOOKS' }] },
      'parse-failed',
      '$.args.headers[0]',
      'expecting only one of value or value_from_env keys',
    ],
    [{ insert, webhook: '{{A}}{{B}}' }, 'not-found', '$.args', 'Value for environment variables not found: A, B'],
    ...['gopher://a.b/x', 'a.b/x', ''].map((webhook): (typeof REFUSED)[number] => [
      { insert, webhook },
      'invalid-configuration',
      '$.args',
      `Inconsistent object: the webhook ${JSON.stringify(webhook)} is no http or https URL`,
    ]),
    [{ insert, request_transform: { version: 2, url: '{{' } }, 'validation-failed', '$.args', 'request transform validation failed'],
    [
      { insert, response_transform: { version: 2, body: { action: 'transform', template: '{{' } } },
      'validation-failed',
      '$.args',
      'response transform validation failed',
    ],
    [{ insert: { columns: ['nothing'] } }, 'not-exists', '$.args', 'column "nothing" does not exist'],
    [{ insert, replace: true }, 'not-exists', '$.args', 'event trigger "trg" does not exist'],
    [{ insert, name: 'there' }, 'already-exists', '$.args', 'Event trigger with name "there" already exists'],
    [{ insert, name: 'there', replace: true }, 'not-supported', '$.args', 'cannot replace table or schema for trigger'],
    [{ insert, ordering: [] }, 'parse-failed', '$.args.ordering', 'expecting "row" or a list of columns'],
    [{ insert, retry_conf: { num_retries: 1 } }, 'parse-failed', '$.args.retry_conf', "the key 'interval_sec' was not present"],
    [
      { insert, retry_conf: { num_retries: 1, interval_sec: 3_000_000_000 } },
      'parse-failed',
      '$.args.retry_conf.interval_sec',
      'interval_sec must be at most 31622400, but it is 3000000000',
    ],
    [
      { insert, cleanup_config: { schedule: '* *', clear_older_than: 1 } },
      'parse-failed',
      '$.args.cleanup_config.schedule',
      'the cron expression "* *" is not valid: a cron expression has 5 fields, this one has 2',
    ],
  ];
  it.each(sample(REFUSED, 4))('is rejected: %j', async (args, code, path, message) => {
    await create({ name: 'there', table: 'article', insert });
    const answer = await request('pg_create_event_trigger', { name: 'trg', table: 'author', webhook: HOOK, ...args });
    const { error, ...rest } = answer.json as { error: string };
    expect({ ...rest, error: error.split('Internal error message: ').at(-1) }).toMatchObject({ code, path, error: message });
  });

  it('must belong to a table, with a primary key if rows are ordered', async () => {
    await database.query('create view authors as select * from author; create table keyless (a int)');
    for (const table of ['authors', 'keyless']) await service.metadata('pg_track_table', { table });
    const refused = async (args: JsonObject): Promise<Json> =>
      (await request('pg_create_event_trigger', { name: 'trg', webhook: HOOK, ...args })).json;
    expect(await refused({ table: 'authors', insert })).toMatchObject({ code: 'not-supported' });
    expect(await refused({ table: 'keyless', insert, ordering: 'row' })).toMatchObject({ code: 'not-supported' });
    expect(await refused({ table: 'authors', enable_manual: true })).toEqual({ message: 'success' });
  });
});

describe('installed triggers', () => {
  it('are independent of another service on the same database', async () => {
    await create({ insert: { columns: '*' } });
    await database.query(
      `comment on function svc_catalog."notify_svc_trg_INSERT"() is '{"owner": "another", "trigger": "trg", "made": 1}'`,
    );
    await service.metadata('pg_delete_event_trigger', { name: 'trg' });
    expect(await functions()).toEqual(['notify_svc_trg_INSERT']);
    const answer = await request('pg_create_event_trigger', { name: 'trg', table: 'author', webhook: HOOK, insert: { columns: '*' } });
    expect(answer.json).toMatchObject({ code: 'already-exists', error: 'Event trigger with name "trg" already exists' });
    await service.metadata('clear_metadata', {});
    expect(await single(`select to_regclass('svc_catalog.event_log')`)).not.toBeNull();
    await database.query('drop function svc_catalog."notify_svc_trg_INSERT" cascade');
  });

  it('are removed with the metadata', async () => {
    await create({ insert: { columns: '*' } });
    await service.metadata('clear_metadata', {});
    expect(await functions()).toEqual([]);
    expect(await single(`select to_regclass('svc_catalog.event_log')`)).toBeNull();
    expect(await single(`select to_regclass('svc_catalog.metadata_piece')`)).not.toBeNull();
  });

  it('stay in an unreachable database, with a warning', async () => {
    const other = await testDatabase();
    const configuration = { connection_info: { database_url: other.url, pool_settings: { pool_timeout: 5 } } };
    await service.metadata('pg_add_source', { name: 'other', configuration });
    await service.sql('create table note (id int)', { source: 'other' });
    await service.metadata('pg_track_table', { table: 'note', source: 'other' });
    await create({ source: 'other', table: 'note', insert: { columns: '*' } });
    await service.metadata('rename_source', { name: 'other', new_name: 'remote' });
    await service.sql('insert into note values (1)', { source: 'remote' });
    expect(await service.metadata('pg_get_event_logs', { name: 'trg', source: 'remote' })).toMatchObject([
      { table_name: 'note', archived: false },
    ]);
    await other.drop();
    expect(await service.metadata('pg_drop_source', { name: 'remote' })).toMatchObject({
      message: 'success',
      warnings: [{ code: 'source-cleanup-failed', name: 'source remote' }],
    });
  });
});
