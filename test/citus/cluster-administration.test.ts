/** DDL, refusals, concurrent writes and errors of shards on a real Citus cluster. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';
import { addCitus, citusEnvironment, describeCitus, onCoordinator, withCoordinator } from './citus.ts';

const SCHEMA = 'svc_administration';
const TABLES = [
  `drop schema if exists ${SCHEMA} cascade`,
  `create schema ${SCHEMA}`,
  `set search_path to ${SCHEMA}, public`,
  'create table thing (id int primary key, name text unique, size int not null check (size < 100))',
  "select create_reference_table('thing')",
  'create table account (id int primary key, balance int not null check (balance < 1000), thing_id int references thing (id))',
  "select create_distributed_table('account', 'id')",
  'create table lone (id int primary key, size int not null check (size < 100))',
  "select create_distributed_table('lone', null)",
  'create table entry (id int primary key, foreign key (id) references account deferrable initially deferred)',
  "select create_distributed_table('entry', 'id')",
  "insert into thing select i, 'n' || i, i from generate_series(1, 9) i",
  'insert into account select i, 0, 1 from generate_series(1, 40) i',
  'insert into lone values (1, 1)',
];

describeCitus('a cluster of Citus', () => {
  let service: TestService;
  const sql = (text: string, args: JsonObject = {}): Promise<{ readonly status: number; readonly json: Json }> =>
    service.send('/v2/query', {
      method: 'POST',
      body: JSON.stringify({ type: 'dbc_run_sql', args: { source: 'spread', sql: text, ...args } }),
    });
  beforeAll(async () => {
    await onCoordinator(...TABLES);
    service = await startTestService({}, citusEnvironment);
    await addCitus(service, 'spread');
    for (const name of ['thing', 'account', 'lone', 'entry'])
      await service.metadata('dbc_track_table', {
        source: 'spread',
        table: { schema: SCHEMA, name },
        configuration: { custom_name: name },
      });
  });
  afterAll(async () => {
    await service?.stop();
    await onCoordinator(`drop schema if exists ${SCHEMA} cascade`);
  });

  it('runs several DDL statements on distributed tables in one transaction', async () => {
    const text = `set local citus.multi_shard_modify_mode to 'sequential';
      alter table ${SCHEMA}.account add column a int; alter table ${SCHEMA}.account add column b int default 7;
      create index on ${SCHEMA}.account (a); select count(b) from ${SCHEMA}.account;`;
    expect(await sql(text)).toMatchObject({ status: 200, json: { result: [['count'], ['40']] } });
    const { data } = await service.graphql('{ account_by_pk(id: 3) { a b } }');
    expect(data).toEqual({ account_by_pk: { a: null, b: 7 } });
  });

  it('rolls back all DDL of a text whose last statement fails, and reports its position', async () => {
    const text = `alter table ${SCHEMA}.account add column c int; comment on table ${SCHEMA}.account is 'ä𝄞'; alter table ${SCHEMA}.account add column id int;`;
    const { status, json } = await sql(text, { locate_errors: true });
    expect(status).toBe(400);
    const { internal } = json as JsonObject;
    expect(internal).toMatchObject({ error: { status_code: '42701' }, position: [...text.slice(0, text.lastIndexOf('alter'))].length + 1 });
    const columns = await sql(`select count(*) from information_schema.columns where table_schema = '${SCHEMA}' and column_name = 'c'`);
    expect(columns.json).toMatchObject({ result: [['count'], ['0']] });
  });

  it('keeps a statement timeout that the text sets', async () => {
    const text = `set local statement_timeout = '50ms'; alter table ${SCHEMA}.lone add column late int; select pg_sleep(20)`;
    expect((await sql(text)).json).toMatchObject({ internal: { error: { status_code: '57014' } } });
  });

  it.each([
    ['Uniqueness', 'thing_pkey', 'insert_thing_one(object: {id: 1, size: 1}) { id }'],
    ['Uniqueness', 'thing_name_key', 'insert_thing_one(object: {id: 90, name: "n1", size: 1}) { id }'],
    ['Not-NULL', 'thing', 'insert_thing_one(object: {id: 91}) { id }'],
    ['Check', 'thing', 'insert_thing_one(object: {id: 92, size: 100}) { id }'],
    ['Check', 'thing', 'update_thing(where: {id: {_eq: 2}}, _set: {size: 100}) { affected_rows }'],
    ['Foreign key', 'thing', 'delete_thing(where: {id: {_eq: 1}}) { affected_rows }'],
    ['Uniqueness', 'account_pkey', 'insert_account_one(object: {id: 1, balance: 1}) { id }'],
    ['Not-NULL', 'account', 'insert_account_one(object: {id: 91}) { id }'],
    ['Check', 'account', 'insert_account_one(object: {id: 92, balance: 1000}) { id }'],
    ['Check', 'account', 'update_account(where: {id: {_eq: 2}}, _inc: {balance: 1000}) { affected_rows }'],
    ['Check', 'account', 'update_account(where: {}, _inc: {balance: 1000}) { affected_rows }'],
    ['Foreign key', 'account', 'insert_account_one(object: {id: 93, balance: 1, thing_id: 77}) { id }'],
    ['Foreign key', 'account', 'update_account(where: {}, _set: {thing_id: 77}) { affected_rows }'],
    ['Uniqueness', 'lone_pkey', 'insert_lone_one(object: {id: 1, size: 1}) { id }'],
    ['Not-NULL', 'lone', 'insert_lone_one(object: {id: 91}) { id }'],
    ['Check', 'lone', 'insert_lone_one(object: {id: 92, size: 100}) { id }'],
  ])('names no shard in an error: %s of %s', async (violation, name, request) => {
    const { errors } = (await service.graphql(`mutation { ${request} }`)) as unknown as { errors: readonly { message: string }[] };
    const { message } = errors[0] as { message: string };
    expect(message).toContain(violation);
    expect(message).toContain(`"${name}"`);
    expect(JSON.stringify(errors)).not.toMatch(/_\d{6}/);
  });

  it('reports a commit that the server of a shard refuses as uncertain, not as not-supported', async () => {
    const { errors } = await service.graphql('mutation { insert_entry_one(object: {id: 500}) { id } }');
    expect(errors).toEqual([
      {
        message: expect.stringContaining('deferred constraint'),
        extensions: { code: 'postgres-error', path: '$', internal: expect.objectContaining({ error: expect.anything() }) },
      },
    ]);
    expect((await sql(`select count(*) from ${SCHEMA}.entry`)).json).toMatchObject({ result: [['count'], ['0']] });
  });

  it('names no shard in errors of SQL for administrators', async () => {
    const { json } = await sql(`alter table ${SCHEMA}.thing add column missing int not null`);
    expect(json).toMatchObject({ internal: { error: { message: 'column "missing" of relation "thing" contains null values' } } });
  });

  it('repeats a mutation after a distributed deadlock', async () => {
    await withCoordinator(async (other) => {
      const set = (id: number): string => `update ${SCHEMA}.account set balance = balance + 100 where id = ${id}`;
      const add = (id: number): string => `update_account_by_pk(pk_columns: {id: ${id}}, _inc: {balance: 1}) { balance }`;
      await other.query('begin');
      await other.query(set(12));
      const answer = service.graphql(`mutation { a: ${add(11)} b: ${add(12)} }`);
      await vi.waitFor(
        async () => expect((await sql('select count(*) from citus_lock_waits')).json).toMatchObject({ result: [['count'], ['1']] }),
        WAIT,
      );
      // Citus aborts the younger transaction.
      await other.query(set(11));
      await other.query('commit');
      expect(await answer).toEqual({ data: { a: { balance: 101 }, b: { balance: 101 } } });
    });
  });

  it('applies and reverts a migration with several DDL statements', async () => {
    const project = projectFolder(service);
    project.write({
      'config.yaml': 'version: 3\n',
      'metadata/databases/databases.yaml':
        '- name: spread\n  kind: dbc\n  configuration: {connection_info: {database_url: {from_env: CITUS}}}\n  tables: []\n',
      'migrations/spread/1_more/up.sql': `
        create table ${SCHEMA}.item (id int primary key, name text);
        select create_distributed_table('${SCHEMA}.item', 'id');
        alter table ${SCHEMA}.item add column size int; alter table ${SCHEMA}.item add column color text default 'red';
        create index on ${SCHEMA}.item (size); insert into ${SCHEMA}.item select i, 'n;' || i from generate_series(1, 9) i;`,
      'migrations/spread/1_more/down.sql': `alter table ${SCHEMA}.item drop column size; alter table ${SCHEMA}.item drop column color; drop table ${SCHEMA}.item;`,
    });
    try {
      const applied = await project.svc('migrate', 'apply', '--database-name', 'spread', '--json');
      expect(applied.json, JSON.stringify(applied.json)).toMatchObject({ ok: true });
      const counted = await sql(`select count(*), min(color) from ${SCHEMA}.item`);
      expect(counted.json).toMatchObject({
        result: [
          ['count', 'min'],
          ['9', 'red'],
        ],
      });
      const back = await project.svc('migrate', 'apply', '--down', '1', '--database-name', 'spread', '--json');
      expect(back.json, JSON.stringify(back.json)).toMatchObject({ ok: true });
    } finally {
      project.remove();
      await onCoordinator('drop schema if exists svc_catalog cascade');
    }
  });
});
