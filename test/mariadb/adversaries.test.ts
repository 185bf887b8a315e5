/** Hand-written attacks on permissions, on both kinds of database: hidden rows are not found, linked to or revealed. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { ADMIN_SECRET, type Kind, SOURCES, startTwins, type Twins } from '../support/twins.ts';

const KINDS = ['pg', 'dbb'] as const satisfies readonly Kind[];
const OWN: JsonObject = { owner: { _eq: 'X-Svc-User-Id' } };

const tables = (kind: Kind): string => {
  const text = kind === 'pg' ? 'text' : 'varchar(60)';
  return `
create table writer (id int primary key, name ${text} not null unique, owner int not null, serial int not null unique, pin ${text}, realm ${text} not null,
  constraint writer_realm unique (realm, serial));
create table story (id int primary key, title ${text} not null, writer_id int references writer (id), owner int not null, parent_id int references story (id));
`;
};
const ROWS = `
insert into writer values (1, 'mine', 1, 101, 'p1', 'r'), (2, 'hidden', 2, 4242, 'topsecret', 'r');
insert into story values (10, 'own', 1, 1, null), (20, 'hidden story', 2, 2, null);`;

describe.skipIf(!hasMariadb())('attacks on permissions', () => {
  let twins: Twins;
  const as = (role: string) => ({ role, session: { 'user-id': '1' } });
  const grant = (kind: string, table: string, role: string, permission: JsonObject) =>
    twins.both(`create_${kind}_permission`, { table, role, permission });

  beforeAll(async () => {
    twins = await startTwins(['writer', 'story'], { pg: tables('pg'), dbb: tables('dbb') });
    await twins.relate('object', 'story', 'writer', 'writer_id');
    await twins.relate('object', 'story', 'parent', 'parent_id');
    await twins.relate('array', 'writer', 'stories', { table: 'story', column: 'writer_id' });
    await grant('select', 'writer', 'user', { columns: ['id', 'name'], filter: OWN, allow_aggregations: true });
    await grant('insert', 'writer', 'user', {
      columns: ['id', 'name', 'serial'],
      check: {},
      set: { owner: 'X-Svc-User-Id', realm: 'planted-realm' },
    });
    await grant('update', 'writer', 'user', { columns: ['name', 'serial'], filter: OWN, set: { pin: 'planted-pin' } });
    await grant('select', 'story', 'user', { columns: ['id', 'title', 'writer_id', 'parent_id'], filter: OWN, allow_aggregations: true });
    await grant('insert', 'story', 'user', {
      columns: ['id', 'title', 'writer_id', 'parent_id'],
      check: OWN,
      set: { owner: 'X-Svc-User-Id' },
    });
    await grant('update', 'story', 'user', { columns: ['title'], filter: OWN });
    await grant('delete', 'story', 'user', { filter: OWN });
    // One parent role sees names of all rows, the other one keys of its own.
    await grant('select', 'writer', 'names', { columns: ['id', 'name'], filter: {} });
    await grant('select', 'writer', 'serials', { columns: ['id', 'serial'], filter: OWN });
    await grant('select', 'story', 'names', { columns: ['id', 'writer_id'], filter: {} });
    await twins.service.metadata('add_inherited_role', { role_name: 'both', role_set: ['names', 'serials'] });
  });
  afterAll(() => twins?.stop());
  /** Runs SQL of an administrator. */
  async function write(sql: string, ...kinds: readonly Kind[]): Promise<void> {
    for (const kind of kinds) {
      const body = JSON.stringify({ type: kind === 'pg' ? 'run_sql' : 'dbb_run_sql', args: { source: SOURCES[kind], sql } });
      const answer = await twins.service.send('/v2/query', { method: 'POST', body, headers: { 'x-svc-admin-secret': ADMIN_SECRET } });
      if (answer.status !== 200) throw new Error(answer.text);
    }
  }
  beforeEach(() => write(`update story set parent_id = null; delete from story; delete from writer; ${ROWS}`, ...KINDS));

  const all = (kind: Kind): Promise<string> =>
    twins.answer(
      kind,
      '{ _writer(order_by: {id: asc}) { id name owner serial pin realm stories(order_by: {id: asc}) { id title owner parent_id } } }',
    );

  describe.each(KINDS)('on %s', (kind) => {
    it.each([
      ['with an update', 'update_columns: [name]'],
      ['without an update', 'update_columns: []'],
    ])('does not link a nested upsert to a hidden row: %s', async (_, columns) => {
      const before = await all(kind);
      const constraint = kind === 'pg' ? 'writer_name_key' : 'name';
      const object = `{id: 30, title: "t", writer: {data: {id: 99, name: "hidden", serial: 7}, on_conflict: {constraint: ${constraint}, ${columns}}}}`;
      const answer = await twins.answer(kind, `mutation { _insert_story_one(object: ${object}) { writer_id } }`, as('user'));
      expect(answer).toContain('affects zero rows');
      expect(answer).not.toContain('"writer_id"');
      expect(await all(kind)).toBe(before);
    });

    it('neither changes nor reveals a hidden row by an upsert', async () => {
      const before = await all(kind);
      const primary = kind === 'pg' ? ['writer_pkey', 'story_pkey'] : ['PRIMARY', 'PRIMARY'];
      const root = `mutation { _insert_writer(objects: [{id: 2, name: "x", serial: 8}], on_conflict: {constraint: ${primary[0]}, update_columns: [name, serial]}) { affected_rows returning { id name } } }`;
      expect(await twins.answer(kind, root, as('user'))).toBe('{"data":{"_insert_writer":{"affected_rows":0,"returning":[]}}}');
      const nested = `mutation { _insert_writer_one(object: {id: 5, name: "new", serial: 9, stories: {data: [{id: 20, title: "taken"}], on_conflict: {constraint: ${primary[1]}, update_columns: [title]}}}) { id stories { id title } } }`;
      expect(await twins.answer(kind, nested, as('user'))).toBe('{"data":{"_insert_writer_one":{"id":5,"stories":[]}}}');
      expect(await all(kind)).toBe(
        before.replace(/\]\}\}$/, `,{"id":5,"name":"new","owner":1,"serial":9,"pin":null,"realm":"planted-realm","stories":[]}]}}`),
      );
    });

    it('reveals neither hidden nor preset values in errors', async () => {
      const attempts = [
        // To a hidden row, and from one.
        'mutation { _update_writer(where: {id: {_eq: 1}}, _inc: {serial: 4141}) { affected_rows } }',
        'mutation { _update_writer(where: {id: {_eq: 1}}, _set: {name: "hidden"}) { affected_rows } }',
        'mutation { _insert_writer_one(object: {id: 6, name: "z", serial: 1}) { id } a: _insert_writer_one(object: {id: 7, name: "y", serial: 1}) { id } }',
        'mutation { _insert_writer_one(object: {id: 2, name: "z", serial: 1}) { id } }',
        'mutation { _insert_story_one(object: {id: 31, title: "t", writer_id: 77}) { id } }',
        'mutation { _delete_story(where: {}) { affected_rows } }',
        'mutation { _update_writer(where: {}, _inc: {serial: 2147483647}) { affected_rows } }',
      ];
      await write('update story set parent_id = 10 where id = 20', kind);
      for (const attempt of attempts) {
        const answer = await twins.answer(kind, attempt, as('user'));
        expect(answer).toContain('"errors"');
        expect(answer).not.toMatch(/4242|4141|planted|topsecret|twin|unexpected/);
      }
    });

    it('does not reach related rows through a column that one parent role masks', async () => {
      const queries = [
        '{ _writer(where: {serial: {_eq: 4242}}) { id } }',
        '{ _writer(where: {_not: {serial: {_neq: 4242}}}, order_by: {id: asc}) { id serial } }',
        '{ _writer(order_by: [{serial: desc_nulls_last}, {id: asc}]) { id serial } }',
        '{ _story(where: {writer: {serial: {_gt: 4000}}}) { id } }',
        '{ _story(order_by: [{writer: {serial: desc_nulls_last}}, {id: asc}]) { id writer { serial } } }',
        '{ _writer(distinct_on: serial, order_by: [{serial: asc}, {id: asc}]) { id serial } }',
      ];
      const ask = () => Promise.all(queries.map((query) => twins.answer(kind, query, as('both'))));
      const before = await ask();
      await write('update writer set serial = 5555 where id = 2', kind);
      expect(await ask()).toEqual(before);
      expect(before.join()).not.toContain('4242');
    });

    it('stops a live query from showing rows after a permission changed', async () => {
      const source = SOURCES[kind];
      const permit = (filter: JsonObject): JsonObject[] => [
        { type: `${kind}_drop_select_permission`, args: { source, table: 'story', role: 'watcher' } },
        {
          type: `${kind}_create_select_permission`,
          args: { source, table: 'story', role: 'watcher', permission: { columns: ['id', 'title'], filter } },
        },
      ];
      await twins.service.metadata('bulk', permit({}).slice(1));
      const socket = await new TestSocket(twins.service.url, { protocol: MODERN }).opened();
      const headers = { 'x-svc-admin-secret': ADMIN_SECRET, 'x-svc-role': 'watcher', 'x-svc-user-id': '1' };
      socket.send({ type: 'connection_init', payload: { headers } });
      await socket.next();
      socket.send({ id: '1', type: 'subscribe', payload: { query: `subscription { ${kind}_story(order_by: {id: asc}) { id title } }` } });
      const rows = async (): Promise<Json> => {
        const { payload } = (await socket.next()) as { payload: { data: JsonObject } };
        return payload.data[`${kind}_story`] ?? null;
      };
      expect(await rows()).toEqual([
        { id: 10, title: 'own' },
        { id: 20, title: 'hidden story' },
      ]);
      await twins.service.metadata('bulk', permit(OWN));
      expect(await rows()).toEqual([{ id: 10, title: 'own' }]);
      await write("insert into story values (40, 'another', 1, 2, null), (41, 'mine too', 1, 1, null)", kind);
      expect(await rows()).toEqual([
        { id: 10, title: 'own' },
        { id: 41, title: 'mine too' },
      ]);
      socket.websocket.close();
      await twins.service.metadata(`${kind}_drop_select_permission`, { source, table: 'story', role: 'watcher' });
    });
  });
});
