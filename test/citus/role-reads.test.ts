/** Roles read the same on PostgreSQL and Citus, in queries, live queries, streams and joins, with statements that Citus accepts. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../src/util/json.ts';
import { sample } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { addTwin, trackTwin, TWIN_TABLES, twinAnswer, type TwinKind } from './twin.ts';
import { type Shapes, watchShapes } from './watch-shapes.ts';
import { comparable } from '../support/twins.ts';

const NOTES = `insert into note (writer_id, body) values (1, '{}'), (2, '[]'), (5, '1'), (null, '2');`;

interface Permission {
  readonly table: string;
  readonly role: string;
  readonly permission: JsonObject;
}

const PERMISSIONS: readonly Permission[] = [
  {
    table: 'book',
    role: 'keeper',
    permission: {
      columns: ['id', 'title', 'price', 'writer_id'],
      filter: {
        _exists: { _table: 'mark', _where: { label: { _eq: 'x' }, book: { sold: { _eq: true } } } },
        writer_id: { _in: 'X-Svc-Ids' },
      },
      limit: 2,
      allow_aggregations: true,
    },
  },
  {
    table: 'writer',
    role: 'keeper',
    permission: { columns: ['id', 'name'], filter: { books: { marks: { label: { _in: ['x', 'z'] } } } }, allow_aggregations: true },
  },
  {
    table: 'mark',
    role: 'keeper',
    permission: { columns: '*', filter: { book: { writer: { _or: [{ boss: {} }, { boss_id: { _is_null: true } }] } } } },
  },
  {
    table: 'book',
    role: 'seller',
    permission: {
      columns: ['id', 'sold', 'price', 'day', 'writer_id'],
      filter: { sold: { _eq: true }, writer: { books: { id: { _cgte: ['$', 'id'] } } } },
      limit: 4,
      allow_aggregations: true,
    },
  },
  {
    table: 'writer',
    role: 'seller',
    permission: { columns: ['id', 'age', 'boss_id'], filter: { _not: { staff: { age: { _lt: 'X-Svc-Age' } } } }, allow_aggregations: true },
  },
  { table: 'mark', role: 'seller', permission: { columns: ['label', 'book_id'], filter: { label: { _eq: 'X-Svc-Label' } } } },
  ...['keeper', 'seller'].map((role) => ({ table: 'note', role, permission: { columns: ['id', 'writer_id'], filter: {} } })),
];

/** Columns of books that each role can select. */
const COLUMNS: Readonly<Record<string, string>> = { keeper: 'id title price', seller: 'id sold day', both: 'id title price sold day' };
const SESSIONS: readonly Readonly<Record<string, string>>[] = [
  { ids: '{1,2,3}', age: '40', label: 'x' },
  { ids: '{2}', age: '1', label: 'y' },
];

/** @param columns of a book */
const reads = (columns: string): readonly string[] => [
  `{ _book(order_by: {id: asc}) { ${columns} writer { id books_aggregate { aggregate { count sum { price } } } } marks(order_by: {label: asc}) { label } } }`,
  `{ _book(where: {writer: {id: {_lt: 9}}, price: {_neq: "2"}}, order_by: [{writer: {id: desc_nulls_last}}, {price: desc}, {id: asc}], offset: 1) { ${columns} } }`,
  `{ _book_aggregate(order_by: {id: asc}) { aggregate { count max { price } } nodes { ${columns} } } _writer_aggregate { aggregate { count max { id } } } }`,
  `{ _writer(order_by: {id: asc}) { id books(order_by: {id: desc}, offset: 1) { ${columns} marks { label } } books_aggregate(where: {marks: {label: {_eq: "x"}}}) { aggregate { count } } } }`,
  `{ _writer(where: {books_aggregate: {count: {predicate: {_gt: 1}, filter: {price: {_gt: "1"}}}}}, order_by: [{books_aggregate: {max: {price: desc}}}, {id: asc}]) { id } }`,
  `{ _book_by_pk(id: 1) { ${columns} } _mark(order_by: [{book_id: asc}, {label: asc}], where: {_not: {book: {price: {_gt: "3"}}}}) { label book { ${columns} } } }`,
  `{ _cheap_books(args: {below: 9}, order_by: {id: asc}) { ${columns} writer { id } } _cheap_books_aggregate(args: {below: 9}, order_by: {id: asc}) { aggregate { count } nodes { id } } }`,
  `{ _book(distinct_on: price, order_by: [{price: asc}, {id: desc}]) { ${columns} } }`,
];

const ASKED = Object.entries(COLUMNS).flatMap(([role, columns]) => reads(columns).map((request) => ({ role, request })));

describe('roles of PostgreSQL and Citus', () => {
  let service: TestService;
  let shapes: Shapes;
  beforeAll(async () => {
    shapes = watchShapes();
    service = await startTestService({ LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '100' });
    await service.sql(TWIN_TABLES + NOTES);
    await addTwin(service, service.databaseUrl);
    for (const [kind, source] of [
      ['pg', 'default'],
      ['dbc', 'twin'],
    ] as const) {
      await trackTwin(service, kind, source);
      for (const args of PERMISSIONS) await service.metadata(`${kind}_create_select_permission`, { source, ...args });
    }
    await service.metadata('add_inherited_role', { role_name: 'both', role_set: ['keeper', 'seller'] });
    const definition = {
      to_source: { relationship_type: 'array', source: 'twin', table: 'book', field_mapping: { writer_id: 'writer_id' } },
    };
    await service.metadata('pg_create_remote_relationship', { table: 'note', name: 'books_there', definition });
  });
  afterAll(async () => {
    await service?.stop();
    vi.restoreAllMocks();
  });

  it.each(sample(ASKED, 8))('show $role the same: $request', async ({ role, request }) => {
    for (const session of SESSIONS) {
      const theirs = await twinAnswer(service, 'pg', request, { role, session });
      expect(theirs).toContain('"data"');
      expect(await twinAnswer(service, 'dbc', request, { role, session })).toBe(theirs);
    }
  });

  const opened = async (role: string, session: Readonly<Record<string, string>>): Promise<TestSocket> => {
    const socket = await new TestSocket(service.url, { protocol: MODERN }).opened();
    const names = Object.entries(session).map(([name, value]): [string, string] => [`x-svc-${name}`, value]);
    socket.send({ type: 'connection_init', payload: { headers: { 'x-svc-role': role, ...Object.fromEntries(names) } } });
    expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
    return socket;
  };
  const prefixed = (kind: TwinKind, request: string): string => request.replaceAll(/(?<!\w)_(?=writer|book)/g, `${kind}_`);

  it.each(Object.keys(COLUMNS))('send %s the same live updates for its own session', async (role) => {
    const query = `subscription ${reads(COLUMNS[role] ?? '')[0]}`;
    const stream =
      'subscription { _book_stream(batch_size: 9, cursor: {initial_value: {id: 0}}) { id marks(order_by: {label: asc}) { label } } }';
    for (const request of [query, stream]) {
      const sockets = await Promise.all(SESSIONS.map((session) => opened(role, session)));
      for (const socket of sockets) {
        for (const kind of ['pg', 'dbc'] as const)
          socket.send({ id: kind, type: 'subscribe', payload: { query: prefixed(kind, request) } });
      }
      for (const [i, socket] of sockets.entries()) {
        const answers = new Map<Json, string>();
        const isThere = (): boolean => answers.size === 2;
        // A stream without rows sends nothing.
        const expected = request === stream && role !== 'seller' && i === 1 ? 0 : 2;
        while (expected > 0 && !isThere()) {
          const { id = null, type, payload } = await socket.next();
          expect(type).toBe('next');
          answers.set(id, comparable(JSON.stringify(isJsonObject(payload ?? null) ? payload : null)));
        }
        expect(answers.get('dbc')).toBe(answers.get('pg'));
        if (expected > 0) expect(answers.get('pg')).toContain('"data"');
        socket.websocket.close();
      }
    }
  });

  it.each(Object.keys(COLUMNS))('join what %s sees of books to other sources', async (role) => {
    const columns = COLUMNS[role] ?? '';
    for (const session of SESSIONS) {
      const fields = `{ ${columns} writer { id } }`;
      const { data } = await service.graphql(`{ pg_note(order_by: {id: asc}) { writer_id books_there(order_by: {id: asc}) ${fields} } }`, {
        role,
        session,
      });
      const notes = (data as JsonObject)['pg_note'] as readonly JsonObject[];
      expect(notes).toHaveLength(4);
      for (const { writer_id, books_there } of notes) {
        const of = JSON.stringify(writer_id) === 'null' ? { _in: [] } : { _eq: writer_id };
        const where = JSON.stringify(of).replaceAll('"', '');
        const expected = await service.graphql(`{ pg_book(where: {writer_id: ${where}}, order_by: {id: asc}) ${fields} }`, {
          role,
          session,
        });
        const found = JSON.stringify((expected['data'] as JsonObject)['pg_book']);
        expect(JSON.stringify(books_there).replaceAll('dbc_', 'pg_')).toBe(found);
      }
    }
  });

  it('use only statements that Citus accepts', () => {
    expect(shapes.problems).toEqual([]);
    expect(shapes.comparing).toBeGreaterThan(0);
    for (const kind of ['select', 'join', 'live'] as const) expect(shapes.seen[kind]).toBeGreaterThan(0);
  });
});
