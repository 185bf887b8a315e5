/** Features of a Citus source besides queries and mutations, on a server without the extension. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { citus } from '../../src/databases/citus/index.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { problemsIn } from './shape.ts';

const WIDE = Array.from({ length: 120 }, (_, i) => `c${i}`);
const TABLES = `
create table team (id int primary key, name text not null);
create table player (id serial primary key, team_id int, name text not null, score int not null default 0);
create table wide (id int primary key, ${WIDE.map((name) => `${name} int default 1`).join(', ')});
insert into team values (1, 'a'), (2, 'b');
insert into player (team_id, name, score) values (1, 'x', 1), (1, 'y', 2), (2, 'z', 3), (null, 'w', 4);
insert into wide (id) values (1);
create table other (id int primary key, player_id int, note text);
insert into other values (1, 2, 'n'), (2, 9, 'none');
create function player_label(player player) returns text language sql stable as 'select player.name';`;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ENABLED_LOG_TYPES: 'query-log', LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '100' });
  await service.sql(TABLES);
  await service.metadata('dbc_add_source', { name: 'spread', configuration: { connection_info: { database_url: service.databaseUrl } } });
  for (const table of ['team', 'player', 'wide']) await service.metadata('dbc_track_table', { source: 'spread', table });
  await service.metadata('pg_track_table', { table: 'other' });
  const manual = (remote_table: string, column_mapping: JsonObject): JsonObject => ({
    manual_configuration: { remote_table, column_mapping },
  });
  await service.metadata('dbc_create_array_relationship', {
    source: 'spread',
    table: 'team',
    name: 'players',
    using: manual('player', { id: 'team_id' }),
  });
  await service.metadata('dbc_create_object_relationship', {
    source: 'spread',
    table: 'player',
    name: 'team',
    using: manual('team', { team_id: 'id' }),
  });
  const toSource = (relationship_type: string, source: string, table: string, field_mapping: JsonObject): JsonObject => ({
    to_source: { relationship_type, source, table, field_mapping },
  });
  await service.metadata('pg_create_remote_relationship', {
    table: 'other',
    name: 'player',
    definition: toSource('object', 'spread', 'player', { player_id: 'id' }),
  });
  await service.metadata('pg_create_remote_relationship', {
    table: 'other',
    name: 'mates',
    definition: toSource('array', 'spread', 'player', { player_id: 'team_id' }),
  });
  await service.metadata('dbc_create_remote_relationship', {
    source: 'spread',
    table: 'player',
    name: 'others',
    definition: toSource('array', 'default', 'other', { id: 'player_id' }),
  });
});
afterAll(() => service?.stop());

const data = async (query: string): Promise<Json> => {
  const answer = await service.graphql(query);
  expect(answer).toHaveProperty('data');
  return answer['data'] ?? null;
};

describe('Citus source', () => {
  it('joins other sources in both directions', async () => {
    expect(
      await data(
        '{ other(order_by: {id: asc}) { note player { name team { name } } mates(order_by: {id: desc}) { name } mates_aggregate { aggregate { count } } } }',
      ),
    ).toEqual({
      other: [
        { note: 'n', player: { name: 'y', team: { name: 'a' } }, mates: [{ name: 'z' }], mates_aggregate: { aggregate: { count: 1 } } },
        { note: 'none', player: null, mates: [], mates_aggregate: { aggregate: { count: 0 } } },
      ],
    });
    expect(await data('{ player(order_by: {id: asc}, limit: 2) { name others { note } } }')).toEqual({
      player: [
        { name: 'x', others: [] },
        { name: 'y', others: [{ note: 'n' }] },
      ],
    });
    const last = service.observations.findLast((each) => each.kind === 'query');
    const [first, ...more] = [...(last?.statements?.values() ?? [])];
    expect(problemsIn(first?.text ?? 'lateral')).toEqual([]);
    expect(more.length).toBeLessThan(2);
  });

  it('returns objects of any width', async () => {
    const answer = (await data(
      `{ wide { ${WIDE.join(' ')} id } wide_aggregate { aggregate { sum { ${WIDE.join(' ')} } } } }`,
    )) as JsonObject;
    expect(answer['wide']).toEqual([{ ...Object.fromEntries(WIDE.map((name) => [name, 1])), id: 1 }]);
    expect(Object.keys(((answer['wide_aggregate'] as JsonObject)['aggregate'] as JsonObject)['sum'] as JsonObject)).toEqual(WIDE);
  });

  it('returns any number of relationships of a row, also in orders and `returning`', async () => {
    const many = Array.from({ length: 60 }, (_, i) => i);
    const fields = many.map((i) => `f${i}: players(where: {score: {_gt: ${i}}}, order_by: {id: asc}) { name team { id } }`).join(' ');
    const orders = many
      .slice(0, 20)
      .map((i) => `{players_aggregate: {${i % 2 === 0 ? 'max' : 'min'}: {score: asc}}}`)
      .join(', ');
    const expected = many.map((i) => [
      `f${i}`,
      i === 0 ? ['x', 'y'].map((name) => ({ name, team: { id: 1 } })) : i === 1 ? [{ name: 'y', team: { id: 1 } }] : [],
    ]);
    const [first] = ((await data(`{ team(order_by: [${orders}, {id: asc}], where: {id: {_eq: 1}}) { id ${fields} } }`)) as JsonObject)[
      'team'
    ] as readonly Json[];
    expect(first).toEqual({ id: 1, ...Object.fromEntries(expected) });
    const written = (await data(
      `mutation { update_team(where: {id: {_eq: 1}}, _set: {name: "a"}) { returning { id ${fields} } } }`,
    )) as JsonObject;
    expect(written['update_team']).toEqual({ returning: [first] });
  });

  it('updates subscribers with their own values, and streams', async () => {
    const socket = await new TestSocket(service.url, { protocol: MODERN }).opened();
    socket.send({ type: 'connection_init' });
    await socket.next();
    const answers = new Map<Json, Json[]>();
    const until = async (id: string, expected: Json): Promise<void> => {
      while (JSON.stringify(answers.get(id)?.at(-1)) !== JSON.stringify(expected)) {
        const message = await socket.next();
        expect(message['type']).toBe('next');
        const list = answers.get(message['id'] ?? null) ?? [];
        answers.set(message['id'] ?? null, [...list, (message['payload'] as JsonObject)['data'] ?? null]);
      }
    };
    const query =
      'subscription($team: Int!) { team(where: {id: {_eq: $team}}) { name players(order_by: {id: asc}, where: {score: {_gt: 1}}) { name } } }';
    for (const team of [1, 2]) socket.send({ id: `live ${team}`, type: 'subscribe', payload: { query, variables: { team } } });
    socket.send({
      id: 'stream',
      type: 'subscribe',
      payload: { query: 'subscription { player_stream(batch_size: 3, cursor: {initial_value: {id: 0}}) { name team { name } } }' },
    });
    await until('live 1', { team: [{ name: 'a', players: [{ name: 'y' }] }] });
    await until('live 2', { team: [{ name: 'b', players: [{ name: 'z' }] }] });
    await until('stream', { player_stream: [{ name: 'w', team: null }] });
    expect(answers.get('stream')?.[0]).toEqual({
      player_stream: ['x', 'y', 'z'].map((name) => ({ name, team: { name: name === 'z' ? 'b' : 'a' } })),
    });
    expect(await data('mutation { insert_player_one(object: {name: "new", team_id: 2, score: 9}) { name } }')).toEqual({
      insert_player_one: { name: 'new' },
    });
    await until('live 2', { team: [{ name: 'b', players: [{ name: 'z' }, { name: 'new' }] }] });
    await until('stream', { player_stream: [{ name: 'new', team: { name: 'b' } }] });
    expect(answers.get('live 1')).toHaveLength(1);
    socket.websocket.close();
  });

  it('explains, runs SQL and describes its tables', async () => {
    const explained = await service.send('/v1/graphql/explain', {
      method: 'POST',
      body: JSON.stringify({ query: { query: '{ team { name players { name } } }' } }),
    });
    expect(explained.text).toContain('materialized');
    expect(explained.json).toMatchObject([{ field: 'team', plan: expect.arrayContaining([expect.stringContaining('CTE')]) }]);
    const ran = await service.send('/v2/query', {
      method: 'POST',
      body: JSON.stringify({ type: 'dbc_run_sql', args: { source: 'spread', sql: 'select count(*) from team' } }),
    });
    expect(ran.json).toMatchObject({ result_type: 'TuplesOk', result: [['count'], ['2']] });
    expect(await service.metadata('dbc_get_source_tables', { source: 'spread' })).toContainEqual({ schema: 'public', name: 'player' });
    expect(await service.metadata('dbc_get_table_info', { source: 'spread', table: 'team' })).toMatchObject({ primary_key: ['id'] });
  });

  it('refuses unsupported features', async () => {
    for (const type of ['dbc_add_computed_field', 'dbc_create_event_trigger']) {
      await expect(service.metadata(type, { source: 'spread', table: 'player', name: 'x' })).rejects.toThrow(/not-supported/);
    }
    expect(citus.capabilities).toMatchObject({ computedFields: false, eventTriggers: false, enumTables: true, namingConventions: false });
  });

  it('refuses nested inserts that would take too many statements', async () => {
    const objects = Array.from({ length: 2_100 }, (_, id) => ({ id: id + 100, name: 'n', players: { data: [{ name: 'p' }] } }));
    const answer = await service.graphql('mutation($objects: [team_insert_input!]!) { insert_team(objects: $objects) { affected_rows } }', {
      variables: { objects },
    });
    expect(answer).toMatchObject({
      errors: [{ message: expect.stringContaining('one by one'), extensions: { code: 'validation-failed' } }],
    });
  });
});
