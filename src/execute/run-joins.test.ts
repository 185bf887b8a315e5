import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aggregate, by, column, count, field, int, literal, compare, rows, table, text, type } from '../../test/support/ir.ts';
import { testDatabase } from '../../test/support/postgres.ts';
import type { Source } from '../backend/backend.ts';
import { compiler } from '../databases/postgresql/compile/compiler.ts';
import { postgresql as backend } from '../databases/postgresql/index.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { RemoteField, RemoteOutput, RemoteValue } from '../ir/remote.ts';
import type { JoinToRemoteSchema, JoinToSource, RemoteJoin } from '../ir/remote-join.ts';
import type { Field, SelectRoot } from '../ir/select.ts';
import { planOperation } from '../plan/plan.ts';
import { textOfBytes } from '../util/bytes.ts';
import { type Json, parseJson } from '../util/json.ts';
import { at, ROOT } from '../util/path.ts';
import type { RemoteCall } from '../remote-schema/client/remote-caller.ts';
import { runPlan } from './run-plan.ts';

const SCHEMA = `
  create table author (id bigint primary key, name text, town text, boss bigint);
  insert into author values (1, 'Ann', 'a"],["b\\', 9007199254740993), (2, 'Bob', 'a"],["b\\', null), (9007199254740993, 'Ü', null, 1);
  create table article (id int primary key, author_id int, title text);
  insert into article values (1, 1, 'Sky'), (2, 1, 'Sea'), (3, 2, 'Sand'), (4, 7, 'Stray');
  create table town (name text primary key, size int);
  insert into town values ('a"],["b\\', 5), ('elsewhere', 6);
  create table parcel (what text, grams numeric, place circle);
  insert into parcel values ('a', 1.50, '<(1,1),1>'), ('b', 1.5, '<(2,2),1>'), ('c', 2, '<(0,0),3>');
  create table heap (owner int, n int);
  insert into heap select n % 3, n from generate_series(600, 1, -1) n;
`;

let source: Source;
let close: () => Promise<void>;
const statements: string[] = [];

beforeAll(async () => {
  const database = await testDatabase();
  const configuration = backend.configuration.decode({ connection_info: { database_url: database.url } }, ROOT);
  const opened: Source = await backend.connect(configuration, {
    sourceName: 'a',
    environment: {},
    usePreparedStatements: true,
    maxConnections: 4,
  });
  await opened.runSql(SCHEMA, {});
  source = {
    ...opened,
    runJson: (statement, values, how) => {
      statements.push(statement.text);
      return opened.runJson(statement, values, how);
    },
  };
  close = async () => {
    await opened.close();
    await database.drop();
  };
});
afterAll(() => close());

const int8 = type('int8');
const ID = field('id', int8);
const joined = (alias: string, join: number, ...keys: ReturnType<typeof column>[]): Field => ({ kind: 'joined', alias, join, keys });

function toSource(query: JoinToSource['query'], name: string, of = int, more: Partial<JoinToSource> = {}): JoinToSource {
  const withoutKey = query.kind === 'aggregate' ? 'ask' : query.shape === 'list' ? '[]' : 'null';
  return { kind: 'source', source: 'b', query, columns: [{ name, type: of }], unique: false, withoutKey, ...more };
}

interface AnswerOptions {
  readonly callRemote?: (call: RemoteCall) => Json;
  readonly maxKeys?: number;
  readonly maxBytes?: number;
}

async function answer(query: SelectRoot['query'], joins: readonly RemoteJoin[], options: AnswerOptions = {}): Promise<string> {
  statements.length = 0;
  const postgresql = compiler({ stringifyNumericTypes: false });
  const plan = planOperation(
    {
      kind: 'query',
      name: null,
      response: { kind: 'object', entries: [['x', { kind: 'root', index: 0 }]] },
      roots: [{ kind: 'source', source: 'a', path: ROOT, responseKey: 'x', root: { alias: '0', query } }],
      joins: joins.map((target, i) => ({ path: at(ROOT, `join${i}`), target })),
      constraints: [],
      reusable: true,
    },
    () => postgresql,
  );
  const body = await runPlan(plan, {
    connections: new Map([
      ['a', source],
      ['b', source],
    ]),
    session: { role: 'user', variables: new Map(), backendOnly: false },
    variables: {},
    options: {},
    joinBounds: { maxKeys: options.maxKeys ?? 1000, maxBytes: options.maxBytes ?? 1e6 },
    callRemote: async (call) => ({ body: options.callRemote?.(call) ?? null, cookies: [] }),
  });
  return textOfBytes(body);
}

const authors = (...fields: readonly Field[]) => rows(table('author'), fields, { orderBy: [by(column('id', int8))] });
const data = async (...of: Parameters<typeof answer>): Promise<Json> => (parseJson(await answer(...of)) as { data: { x: Json } }).data.x;

describe('a join with a table of another source', () => {
  test('returns rows by key, in order, with one statement', async () => {
    const articles = rows(table('article'), [field('title', text)], { orderBy: [by(column('id'))] });
    expect(await data(authors(ID, joined('articles', 0, column('id', int8))), [toSource(articles, 'author_id', int8)])).toMatchObject([
      { id: 1, articles: [{ title: 'Sky' }, { title: 'Sea' }] },
      { id: 2, articles: [{ title: 'Sand' }] },
      { articles: [] },
    ]);
    expect(statements).toHaveLength(2);
  });

  test('applies the limit per row', async () => {
    const first = rows(table('article'), [field('id')], { orderBy: [by(column('id'), 'desc')], limit: 1 });
    expect(await data(authors(joined('articles', 0, column('id', int8))), [toSource(first, 'author_id', int8)])).toEqual([
      { articles: [{ id: 2 }] },
      { articles: [{ id: 3 }] },
      { articles: [] },
    ]);
  });

  test('accepts any text as a key, and keeps large numbers exact', async () => {
    const town = toSource(rows(table('town'), [field('size')], {}, 'single'), 'name', text, { unique: true });
    const boss = toSource(rows(table('author'), [ID, field('name', text)], {}, 'single'), 'id', int8, { unique: true });
    const fields = [joined('town', 0, column('town', text)), joined('boss', 1, column('boss', int8))];
    expect(await answer(authors(...fields), [town, boss])).toBe(
      '{"data":{"x":[{"town":{"size":5},"boss":{"id":9007199254740993,"name":"Ü"}}, \n {"town":{"size":5},"boss":null}, \n {"town":null,"boss":{"id":1,"name":"Ann"}}]}}',
    );
  });

  test('runs nothing for a null key, except for aggregates', async () => {
    const none = compare(column('id', int8), '_eq', literal(2));
    const people = rows(table('author'), [joined('x', 0, column('boss', int8))], { where: none });
    const target = rows(table('author'), [ID]);
    expect(await data(people, [toSource(target, 'id', int8)])).toEqual([{ x: [] }]);
    expect(statements).toHaveLength(1);
    const counted = aggregate(table('author'), [{ kind: 'aggregate', alias: 'aggregate', fields: [count()] }]);
    expect(await data(people, [toSource(counted, 'id', int8)])).toEqual([{ x: { aggregate: { count: 0 } } }]);
  });

  test('runs nested joins with one statement per level', async () => {
    const articles = rows(table('article'), [field('title', text), joined('author', 1, column('author_id'))], {
      orderBy: [by(column('id'))],
    });
    const back = rows(table('author'), [field('name', text), joined('again', 2, column('id', int8))], {}, 'single');
    const again = rows(table('article'), [field('id')], { orderBy: [by(column('id'))] });
    expect(
      await data(authors(joined('articles', 0, column('id', int8))), [
        toSource(articles, 'author_id', int8),
        toSource(back, 'id', int8),
        toSource(again, 'author_id', int8),
      ]),
    ).toEqual([
      {
        articles: [
          { title: 'Sky', author: { name: 'Ann', again: [{ id: 1 }, { id: 2 }] } },
          { title: 'Sea', author: { name: 'Ann', again: [{ id: 1 }, { id: 2 }] } },
        ],
      },
      { articles: [{ title: 'Sand', author: { name: 'Bob', again: [{ id: 3 }] } }] },
      { articles: [] },
    ]);
    expect(statements).toHaveLength(4);
  });

  test.each([
    ['grams', 'numeric'],
    ['place', 'circle'],
  ])('returns the same rows for equal keys in different notations, even without an order of the type: %s', async (name, of) => {
    const parcels = rows(table('parcel'), [field('what', text), joined('alike', 0, column(name, type(of)))]);
    const alike = rows(table('parcel'), [field('what', text)], { orderBy: [by(column('what', text), 'desc')] });
    expect(await data(parcels, [toSource(alike, name, type(of))])).toEqual([
      { what: 'a', alike: [{ what: 'b' }, { what: 'a' }] },
      { what: 'b', alike: [{ what: 'b' }, { what: 'a' }] },
      { what: 'c', alike: [{ what: 'c' }] },
    ]);
  });

  test('keeps the order in which rows are found if there is no order_by', async () => {
    const heaps = rows(table('author'), [joined('heap', 0, column('id', int8))], { where: compare(column('id', int8), '_eq', literal(2)) });
    const [found] = (await data(heaps, [toSource(rows(table('heap'), [field('n')]), 'owner')])) as { heap: { n: number }[] }[];
    expect(found?.heap.map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, i) => 599 - 3 * i));
  });

  test('keeps the order of rows with nested rows and a filter over related ones', async () => {
    const where = { kind: 'exists', from: table('article'), where: compare(column('id'), '_gt', literal(0)), join: null } as const;
    const related = {
      kind: 'related',
      alias: 'articles',
      join: { columns: [{ local: 'id', remote: 'author_id' }], unique: false },
      query: rows(table('article'), [field('id')], { orderBy: [by(column('id'))] }),
    } as const;
    const people = rows(table('author'), [field('name', text), related], { where, orderBy: [by(column('name', text), 'desc')] });
    expect(await data(authors(joined('near', 0, column('town', text))), [toSource(people, 'town', text)])).toMatchObject([
      {
        near: [
          { name: 'Bob', articles: [{ id: 3 }] },
          { name: 'Ann', articles: [{ id: 1 }, { id: 2 }] },
        ],
      },
      { near: [{ name: 'Bob' }, { name: 'Ann' }] },
      { near: [] },
    ]);
  });

  test('rejects more keys and bytes than the limits', async () => {
    const articles = [toSource(rows(table('article'), [field('title', text)]), 'author_id', int8)];
    const query = authors(joined('articles', 0, column('id', int8)));
    await expect(answer(query, articles, { maxKeys: 2 })).rejects.toThrow(/more than 2 different keys/);
    await expect(answer(query, articles, { maxBytes: 50 })).rejects.toThrow(/exceed 50 bytes/);
  });
});

describe('a join with a remote schema', () => {
  const key: RemoteValue = { kind: 'key', index: 0, read: (written) => Number(written) };
  const plain = (name: string, responseKey = name): RemoteField => ({
    kind: 'field',
    responseKey,
    name,
    args: [],
    shape: 'String',
    selection: null,
  });
  const user = (...fields: readonly RemoteOutput[]): RemoteField => ({
    kind: 'field',
    responseKey: 'user',
    name: 'userById',
    args: [{ name: 'id', value: { kind: 'variable', type: 'Int!', value: key } }],
    shape: '{}',
    selection: { kind: 'object', fields },
  });
  const join = (field: RemoteField, more: Partial<JoinToRemoteSchema> = {}): JoinToRemoteSchema => ({
    kind: 'remote',
    remote: 'users',
    field,
    answer: [],
    withoutKey: 'null',
    ...more,
  });
  const all = authors(field('name', text), joined('user', 0, column('boss', int8)));

  test('sends one request with a field per key', async () => {
    const calls: RemoteCall[] = [];
    const target = user({ kind: 'typename', responseKey: 't', typeName: 'My_User' }, plain('mail', 'm'));
    const answered = await data(all, [join(target)], {
      callRemote: (call) => {
        calls.push(call);
        return { data: { f0: { m: 'a@b' }, f1: null } };
      },
    });
    expect(answered).toEqual([
      { name: 'Ann', user: { t: 'My_User', m: 'a@b' } },
      { name: 'Bob', user: null },
      { name: 'Ü', user: null },
    ]);
    expect(calls.map(({ document, variables }) => [document, variables])).toEqual([
      ['query($v0: Int!, $v1: Int!) {f0: userById(id: $v0) {m: mail} f1: userById(id: $v1) {m: mail}}', { v0: 9007199254740992, v1: 1 }],
    ]);
  });

  test('sends the keys as a list if the field accepts it', async () => {
    const listed: RemoteField = {
      ...user({ kind: 'hidden', key: { name: 'id', shape: 'ID' } }, plain('mail')),
      name: 'users',
      args: [
        { name: 'ids', value: { kind: 'variable', type: '[String!]!', value: { kind: 'key-list', index: 0, read: (written) => written } } },
      ],
    };
    const target = join(listed, { batch: { matchBy: 'id', rows: 'first' } });
    const documents: string[] = [];
    const answered = await data(all, [target], {
      callRemote: ({ document, variables }) => {
        documents.push(document);
        expect(variables).toEqual({ v0: ['9007199254740993', '1'] });
        return { data: { f0: [{ svc__key__id: 1, mail: 'one' }, null, { svc__key__id: 5, mail: 'five' }] } };
      },
    });
    expect(answered).toMatchObject([{ user: null }, { user: null }, { user: { mail: 'one' } }]);
    expect(documents).toEqual(['query($v0: [String!]!) {f0: users(ids: $v0) {mail svc__key__id: id}}']);
  });

  test('returns fields by object type, and joins its results in turn', async () => {
    const target: RemoteField = {
      ...user(),
      selection: {
        kind: 'abstract',
        types: new Map<string, readonly RemoteOutput[]>([
          ['Person', [plain('mail'), { kind: 'joined', responseKey: 'articles', join: 1, keys: [{ name: 'no', shape: 'Int' }] }]],
          ['Bot', [plain('model', 'mail')]],
        ]),
      },
    };
    const articles = toSource(rows(table('article'), [field('title', text)], { orderBy: [by(column('id'))] }), 'author_id');
    const answered = await data(all, [join(target), articles], {
      callRemote: ({ document }) => {
        expect(document).toContain('... on Person {mail svc__key__no: no} ... on Bot {mail: model}');
        return {
          data: { f0: { svc__typename: 'Person', mail: 'a@b', svc__key__no: '1' }, f1: { svc__typename: 'Bot', mail: 'B2' } },
        };
      },
    });
    expect(answered).toMatchObject([
      { user: { mail: 'a@b', articles: [{ title: 'Sky' }, { title: 'Sea' }] } },
      { user: null },
      { user: { mail: 'B2' } },
    ]);
  });

  test.each<[string, Json, string]>([
    ['errors', { errors: [{ message: 'no' }], data: {} }, 'unexpected: Errors from remote server'],
    ['no data', {}, 'remote-schema-error: Missing "data" field with no errors in response from remote'],
    ['a list', [], 'remote-schema-error: Expected an object as the response from remote'],
    ['a missing key', { data: { f0: null } }, 'remote-schema-error: expecting a key for each join in the response from remote'],
    ['a scalar for an object', { data: { f0: 5, f1: null } }, 'remote-schema-error: expecting an object in the response from remote'],
    ['a missing field', { data: { f0: {}, f1: null } }, 'remote-schema-error: expecting key mail'],
  ])('fails the request for %s', async (_, body, message) => {
    const failure = await answer(all, [join(user(plain('mail')))], { callRemote: () => body }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SvcError);
    const { code, message: text } = failure as SvcError;
    expect(`${code}: ${text}`).toBe(message);
  });
});
