/** Calls during mutations are the same on PostgreSQL and MariaDB: validation hooks, and joins in `returning`. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { type Kind, SOURCES, startTwins, type Twins } from '../support/twins.ts';

const KINDS = ['pg', 'dbb'] as const;

const TABLES = `
create table team (id int primary key, name varchar(20) not null, constraint team_name unique (name));
create table player (id int primary key, team_id int references team (id), name varchar(20) not null, note varchar(20));
create table badge (player_id int not null, label varchar(20) not null, primary key (player_id, label));
insert into team values (1, 'red'), (2, 'blue');
insert into player values (1, 1, 'Ann', null), (2, 1, 'Bob', null), (3, null, 'Cid', null);
insert into badge values (1, 'gold'), (1, 'iron'), (2, 'gold');`;

const ROWS = '{ _team(order_by: {id: asc}) { id name } _player(order_by: {id: asc}) { id team_id name note } }';

describe.skipIf(!hasMariadb())('PostgreSQL and MariaDB', () => {
  let twins: Twins;
  let hook: FakeServer;
  let ranks: GraphqlServer;

  const hooked = (path: string): JsonObject => ({ type: 'http', definition: { url: `${hook.url}${path}` } });
  const permit = (kind: string, table: string, permission: JsonObject): Promise<void> =>
    twins.both(`create_${kind}_permission`, { table, role: 'user', permission });

  beforeAll(async () => {
    hook = await startFakeServer();
    ranks = await startGraphqlServer(
      'type Query { rank(name: String!): Int holders: [Holder!]! } type Holder { player: Int! label: String }',
      {
        rank: ({ name }: { name: string }) => name.length,
        holders: [
          { player: 2, label: 'gold' },
          { player: 77, label: null },
          { player: 1, label: 'iron' },
        ],
      },
    );
    twins = await startTwins(['team', 'player', 'badge'], { pg: TABLES, dbb: TABLES });
    await twins.relate('array', 'team', 'players', { table: 'player', column: 'team_id' });
    await twins.relate('object', 'player', 'team', 'team_id');
    await permit('select', 'team', { columns: '*', filter: {} });
    await permit('select', 'player', { columns: '*', filter: {} });
    await permit('insert', 'team', { columns: ['id', 'name'], check: {}, validate_input: hooked('/team/insert') });
    await permit('update', 'team', { columns: ['name'], filter: {}, validate_input: hooked('/team/update') });
    await permit('insert', 'player', {
      columns: ['id', 'name', 'team_id'],
      check: { name: { _neq: 'bad' } },
      set: { note: 'preset' },
      validate_input: hooked('/player/insert'),
    });
    await permit('update', 'player', { columns: ['name'], filter: {}, validate_input: hooked('/player/update') });
    await permit('delete', 'player', { filter: {}, validate_input: hooked('/player/delete') });
    // The badges of a player are in the other database.
    await twins.service.metadata('add_remote_schema', { name: 'ranks', definition: { url: ranks.url } });
    for (const kind of KINDS) {
      const source = SOURCES[kind];
      const other = SOURCES[kind === 'pg' ? 'dbb' : 'pg'];
      const relate = (name: string, definition: JsonObject): Promise<Json> =>
        twins.service.metadata(`${kind}_create_remote_relationship`, { source, table: 'player', name, definition });
      await relate('badges', {
        to_source: { source: other, table: 'badge', relationship_type: 'array', field_mapping: { id: 'player_id' } },
      });
      await relate('other_team', {
        to_source: { source: other, table: 'team', relationship_type: 'object', field_mapping: { team_id: 'id' } },
      });
      await relate('rank', {
        to_remote_schema: { remote_schema: 'ranks', lhs_fields: ['name'], remote_field: { rank: { arguments: { name: '$name' } } } },
      });
    }
  });
  afterAll(async () => {
    await twins?.stop();
    await hook?.close();
    await ranks?.close();
  });
  beforeEach(() => {
    hook.answer = () => ({});
    hook.requests.length = 0;
  });

  interface Exchange {
    readonly answer: string;
    /** Requests to hooks. */
    readonly calls: readonly string[];
    readonly rows: string;
  }

  async function exchange(kind: Kind, request: string, role: string | null, variables?: JsonObject): Promise<Exchange> {
    hook.requests.length = 0;
    const options = { ...(role === null ? {} : { role }), ...(variables === undefined ? {} : { variables }) };
    const answer = await twins.answer(kind, request, options);
    const calls = hook.requests.map(({ path, body }) => `${path} ${body}`);
    return { answer, calls, rows: await twins.answer(kind, ROWS) };
  }

  const HOOKED: readonly (readonly [title: string, request: string, variables?: JsonObject])[] = [
    ['an insert', 'mutation { _insert_player(objects: [{id: 10, name: "x"}, {id: 11, name: "y", team_id: 2}]) { affected_rows } }'],
    [
      'a nested insert',
      'mutation { _insert_team(objects: [{id: 10, name: "n", players: {data: [{id: 12, name: "z"}]}}]) { returning { name players { name note } } } }',
    ],
    [
      'rows of a variable',
      'mutation($rows: [_player_insert_input!]!) { _insert_player(objects: $rows) { returning { id note } } }',
      { rows: [{ id: 13, name: 'v' }] },
    ],
    [
      'an upsert',
      'mutation { _insert_team_one(object: {id: 10, name: "up"}, on_conflict: {constraint: CONSTRAINT, update_columns: [name]}) { id name } }',
    ],
    ['an update', 'mutation { _update_player(where: {id: {_gt: 9}}, _set: {name: "w"}) { affected_rows } }'],
    ['by key', 'mutation($id: Int!) { _update_player_by_pk(pk_columns: {id: $id}, _set: {name: "k"}) { name } }', { id: 10 }],
    ['many', 'mutation { _update_player_many(updates: [{where: {id: {_eq: 11}}, _set: {name: "m"}}]) { affected_rows } }'],
    ['a delete', 'mutation { _delete_player(where: {id: {_eq: 12}}) { returning { id } } _delete_player_by_pk(id: 13) { id } }'],
  ];

  const named = (request: string, kind: Kind): string => request.replace('CONSTRAINT', kind === 'pg' ? 'team_pkey' : 'PRIMARY');

  it.each(HOOKED.map(([title, request, variables]) => ({ title, request, variables })))(
    'call hooks before $title and write nothing that they reject',
    async ({ request, variables }) => {
      hook.answer = ({ path }) => (/insert|update|delete/.test(path) ? { status: 400, body: { message: 'not this one' } } : {});
      const refused = await Promise.all([exchange('pg', named(request, 'pg'), 'user', variables)]);
      const other = await exchange('dbb', named(request, 'dbb'), 'user', variables);
      expect(other).toEqual(refused[0]);
      expect(other.answer).toContain('not this one');
      expect(other.calls).toHaveLength(1);
      hook.answer = () => ({});
      const theirs = await exchange('pg', named(request, 'pg'), 'user', variables);
      const ours = await exchange('dbb', named(request, 'dbb'), 'user', variables);
      expect(ours).toEqual(theirs);
      expect(ours.answer).toContain('"data"');
      expect(ours.calls.length).toBeGreaterThan(0);
      expect(ours.rows).not.toBe(other.rows);
    },
  );

  it.each([
    [
      'an insert',
      'mutation { _insert_player(objects: [{id: 1001, name: "jo", team_id: 2}, {id: 1002, name: "kim"}]) { affected_rows returning { name badges { label } other_team { name } rank } } }',
    ],
    [
      'one row',
      'mutation { _insert_player_one(object: {id: 1003, name: "li", team_id: 1}) { id team { name players(order_by: {id: asc}, limit: 1) { rank badges(order_by: {label: asc}) { label } } } other_team { name } } }',
    ],
    [
      'an upsert',
      'mutation { _insert_team(objects: [{id: 1, name: "rot"}], on_conflict: {constraint: CONSTRAINT, update_columns: [name]}) { returning { name players(order_by: {id: asc}) { badges_aggregate { aggregate { count } } rank } } } }',
    ],
    [
      'an update',
      'mutation { _update_player(where: {id: {_eq: 1}}, _set: {name: "Anna"}) { returning { name rank badges(order_by: {label: desc}, limit: 1) { label } } } }',
    ],
    [
      'many',
      'mutation { _update_player_many(updates: [{where: {id: {_eq: 1}}, _set: {name: "A"}}, {where: {id: {_eq: 2}}, _set: {name: "Bo"}}]) { returning { rank badges(order_by: {label: asc}) { label } } } }',
    ],
    [
      'by key',
      'mutation { a: _update_player_by_pk(pk_columns: {id: 2}, _set: {name: "Bob"}) { rank badges { label } } b: _update_player_by_pk(pk_columns: {id: 77}, _set: {name: "Bob"}) { rank badges { label } } }',
    ],
    [
      'a delete',
      'mutation { _delete_player(where: {id: {_gt: 1001}}) { affected_rows returning { name rank badges { label } other_team { id } } } _delete_player_by_pk(id: 1001) { rank other_team { name } } }',
    ],
  ])('join other sources in the answer of %s', async (title, request) => {
    const theirs = await exchange('pg', named(request, 'pg'), null);
    const ours = await exchange('dbb', named(request, 'dbb'), null);
    expect(sortedReturning(ours.answer)).toEqual(sortedReturning(theirs.answer));
    expect(ours.answer).toContain('"data"');
    expect(ours.answer, title).toMatch(/"rank":\d|"badges|"other_team":\{/);
    expect(ours.rows).toBe(theirs.rows);
  });

  it('join answers of remote schemas and actions', async () => {
    const { service } = twins;
    const object = (kind: Kind): JsonObject => ({ name: `${kind}_player`, type: 'object', remote_table: 'player', source: SOURCES[kind] });
    for (const kind of KINDS) {
      const relate = (name: string, to: JsonObject): Promise<Json> =>
        service.metadata('create_remote_schema_remote_relationship', {
          remote_schema: 'ranks',
          type_name: 'Holder',
          name: `${kind}_${name}`,
          definition: { to_source: { source: SOURCES[kind], ...to } },
        });
      await relate('player', { table: 'player', relationship_type: 'object', field_mapping: { player: 'id' } });
      await relate('badges', { table: 'badge', relationship_type: 'array', field_mapping: { player: 'player_id', label: 'label' } });
    }
    await service.metadata('set_custom_types', {
      objects: KINDS.map((kind) => ({
        name: `${kind}_pick`,
        fields: [{ name: 'player_id', type: 'Int!' }],
        relationships: [{ ...object(kind), field_mapping: { player_id: 'id' } }],
      })),
    });
    for (const kind of KINDS) {
      const definition = { handler: hook.url, type: 'query', output_type: `[${kind}_pick!]!` };
      await service.metadata('create_action', { name: `${kind}_picks`, definition });
    }
    hook.answer = () => ({ body: [{ player_id: 3 }, { player_id: 77 }, { player_id: 2 }] });
    const [theirs, ours] = await Promise.all(
      KINDS.map(async (kind) => {
        const player = `${kind}_player { name team { name } rank }`;
        return JSON.stringify(
          await service.graphql(`{ holders { ${player} ${kind}_badges(order_by: {label: asc}) { label } } ${kind}_picks { ${player} } }`),
        ).replaceAll(`${kind}_`, '');
      }),
    );
    expect(ours).toBe(theirs);
    expect(ours).toContain('{"player":null,"badges":[]}');
    expect(ours).toMatch(/"badges":\[\{"label":"gold"\}\].*"picks":\[\{"player":\{"name":"Cid"/);
  });

  it('keep the written rows when a join in the answer fails', async () => {
    const request = 'mutation { _update_player(where: {id: {_eq: 3}}, _set: {note: "kept"}) { returning { id rank } } }';
    ranks.answer = () => ({ status: 500, body: 'away' });
    const [theirs, ours] = [await exchange('pg', request, null), await exchange('dbb', request, null)];
    ranks.answer = () => undefined;
    expect(ours).toEqual(theirs);
    expect(ours.answer).toContain('"errors"');
    for (const kind of KINDS) expect(await twins.answer(kind, '{ _player(where: {note: {_eq: "kept"}}) { id } }')).toContain('"id":3');
  });
});

/** Sorts deleted rows, which have no order. */
function sortedReturning(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) =>
    key === 'returning' && Array.isArray(value) ? [...value].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : value,
  );
}
