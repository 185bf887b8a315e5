/** Administration of a Citus source: SQL that the metadata follows, health, and unsupported features. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

const TABLES =
  'create table team (id int primary key, name text); create table player (id int primary key, team_id int references team (id), score int);';

describe('administration of a Citus source', () => {
  let service: TestService;
  const configuration = (): JsonObject => ({ connection_info: { database_url: service.databaseUrl } });
  const run = (type: string, args: JsonObject): Promise<Json> => service.metadata(`dbc_${type}`, { source: 'spread', ...args });
  const answer = (text: string, args: JsonObject): Promise<Answer> =>
    service.send('/v2/query', {
      method: 'POST',
      body: JSON.stringify({ type: 'dbc_run_sql', args: { source: 'spread', sql: text, ...args } }),
    });
  const sql = async (text: string, args: JsonObject = {}): Promise<Json> => {
    const { status, text: body, json } = await answer(text, args);
    expect(status, body).toBe(200);
    return json;
  };
  const refusal = async (text: string, args: JsonObject = {}): Promise<Json> => {
    const { status, json } = await answer(text, args);
    expect(status).toBe(400);
    return json;
  };
  const fieldsOf = async (type: string): Promise<readonly string[]> => {
    const { data } = await service.graphql(`{ __type(name: "${type}") { fields { name } } }`);
    const found = (data as JsonObject)['__type'] as JsonObject | null;
    return ((found?.['fields'] ?? []) as readonly JsonObject[]).map(({ name }) => name as string);
  };

  beforeAll(async () => {
    service = await startTestService();
    await service.sql(TABLES);
    await service.metadata('dbc_add_source', {
      name: 'spread',
      configuration: configuration(),
      health_check: { test: { sql: 'select count(*) from team' }, interval: 1 },
    });
    for (const table of ['team', 'player']) await run('track_table', { table });
    await run('create_object_relationship', { table: 'player', name: 'team', using: { foreign_key_constraint_on: 'team_id' } });
    await run('create_select_permission', {
      table: 'player',
      role: 'user',
      permission: { columns: ['id', 'score'], filter: { score: { _gt: 0 } } },
    });
  });
  afterAll(() => service?.stop());

  it('follows added, renamed and dropped columns', async () => {
    await sql('alter table player add column note text');
    expect(await fieldsOf('player')).toContain('note');
    await sql('alter table player rename column score to points');
    expect(await fieldsOf('player')).toEqual(['id', 'note', 'points', 'team', 'team_id']);
    const exported = JSON.stringify(await service.metadata('export_metadata', {}));
    expect(exported).toContain('"points":{"_gt":0}');
    await sql('alter table player drop column note');
    expect(await fieldsOf('player')).not.toContain('note');
  });

  it('refuses to drop what the metadata depends on without cascade', async () => {
    expect(await refusal('alter table player drop column points')).toMatchObject({ code: 'dependency-error' });
    expect(await refusal('drop table team cascade')).toMatchObject({ code: 'dependency-error' });
    expect(await fieldsOf('player')).toContain('team');
    expect(await refusal('alter table player alter column points type text using points::text')).toMatchObject({
      code: 'dependency-error',
    });
    await sql('create table gone (id int primary key)');
    await run('track_table', { table: 'gone' });
    expect(await sql('drop table gone', { cascade: true })).toMatchObject({ affected: [{ change: 'dropped' }] });
    expect(await fieldsOf('gone')).toEqual([]);
  });

  it('skips the metadata check for SQL that is not DDL, and when it is disabled', async () => {
    expect(await sql("insert into team values (1, 'a') returning id")).toMatchObject({ result: [['id'], ['1']] });
    await sql('alter table team add column late int', { check_metadata_consistency: false });
    expect(await fieldsOf('team')).not.toContain('late');
    await service.metadata('reload_metadata', { reload_sources: ['spread'] });
    expect(await fieldsOf('team')).toContain('late');
  });

  it('keeps read-only SQL read-only, and rolls back failed SQL', async () => {
    expect(await refusal('delete from team', { read_only: true })).toMatchObject({ code: 'postgres-error' });
    expect(await refusal("insert into team values (2, 'b'); select nothing")).toMatchObject({ code: 'postgres-error' });
    expect(await sql('select count(*) from team', { read_only: true })).toMatchObject({ result: [['count'], ['1']] });
  });

  it('runs the configured health check', async () => {
    let checked: JsonObject | undefined;
    while (checked === undefined || checked['status'] === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const { json } = await service.send('/healthz/sources');
      checked = Object.values(json as JsonObject).find((each) => JSON.stringify(each).includes('status')) as JsonObject | undefined;
    }
    expect(JSON.stringify(checked)).toContain('"OK"');
  });

  it.each(['create_event_trigger', 'delete_event_trigger', 'redeliver_event', 'invoke_event_trigger'])(
    'does not support %s',
    async (type) => {
      await expect(run(type, { name: 'each', table: 'team' })).rejects.toThrow(/not-supported/);
    },
  );

  it('does not support computed fields', async () => {
    await expect(run('add_computed_field', { table: 'team', name: 'x', definition: { function: 'f' } })).rejects.toThrow(/not-supported/);
  });
});
