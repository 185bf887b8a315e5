import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Caller, type DataOperationsService, startDataOperationsService, USER } from './data-operations-service.ts';

let dataApi: DataOperationsService;
beforeAll(async () => {
  dataApi = await startDataOperationsService();
});
afterAll(() => dataApi.service.stop());

const run: DataOperationsService['run'] = (...operation) => dataApi.run(...operation);
const refused: DataOperationsService['refused'] = (...operation) => dataApi.refused(...operation);

describe('select of the data operations', () => {
  const titles = async (where: Json, caller: Caller = {}): Promise<Json> => {
    const rows = (await run('select', { table: 'article', columns: ['title'], where, order_by: 'id' }, caller)) as JsonObject[];
    return rows.map((row) => row['title'] ?? null).join('');
  };

  it('returns columns under their database names, and rows of relationships', async () => {
    expect(
      await run('select', {
        table: { schema: 'public', name: 'author' },
        source: 'default',
        columns: [
          'name',
          'loud',
          { name: 'articles', alias: 'papers', columns: ['title'], where: { published: false }, order_by: '-title', limit: 1 },
        ],
        order_by: [{ column: 'id', type: 'asc' }],
      }),
    ).toEqual([
      { name: 'Ann', loud: 'ANN', papers: [{ title: 'B' }] },
      { name: 'Bob', loud: 'BOB', papers: [] },
      { name: 'Cid', loud: 'CID', papers: [{ title: 'D' }] },
    ]);
    expect(await run('select', { table: 'article', columns: ['*', { name: 'author', columns: ['name'] }], where: { id: 1 } })).toEqual([
      { id: 1, title: 'A', author_id: 1, published: true, tags: ['x', 'y'], data: { k: 1 }, raw: null, author: { name: 'Ann' } },
    ]);
    expect(await run('select', { table: 'article', columns: ['*.*'], where: { id: 3 } })).toMatchObject([
      { title: 'C', author: { name: 'Bob', secret: 's2' } },
    ]);
    expect(await run('select', { table: 'author', columns: ['*.*'], where: { id: 2 } }, { role: 'user', user: '2' })).toEqual([
      { id: 2, name: 'Bob', age: null, articles: [expect.objectContaining({ title: 'C' })] },
    ]);
  });

  it('reads tables and columns without GraphQL names', async () => {
    await run('insert', { table: 'odd table', objects: [{ id: 1, 'some column': 'x', 'dotted.name': 5 }] });
    expect(await run('select', { table: 'odd table', columns: ['*'], where: { 'some column': 'x' }, order_by: '-dotted.name' })).toEqual([
      { id: 1, 'some column': 'x', 'dotted.name': 5 },
    ]);
    await run('delete', { table: 'odd table', where: {} });
  });

  it.each<[where: Json, found: string]>([
    [{ title: 'B' }, 'B'],
    [{ title: { $ne: 'B' }, published: { _eq: true } }, 'AC'],
    [{ $or: [{ id: { $in: [1, 2] } }, { title: { $like: 'D%' } }] }, 'ABD'],
    [{ $not: { $and: [{ id: { $gt: 1 } }, { id: { $lte: 3 } }] } }, 'AD'],
    [{ _or: [] }, ''],
    [{ _and: [] }, 'ABCD'],
    [{ tags: null }, 'C'],
    [{ tags: { $contains: ['y'] } }, 'AD'],
    [{ tags: ['x', 'y'] }, 'A'],
    [{ tags: { $is_null: false } }, 'ABD'],
    [{ data: { $has_key: 'k' } }, 'AC'],
    [{ data: { $contains: { k: 2 } } }, 'C'],
    [{ data: { $cast: { String: { $like: '%1%' } } } }, 'A'],
    [{ id: { $ceq: 'author_id' } }, 'A'],
    [{ author: { age: { $gte: 18 } } }, 'AB'],
    // Equality is that of SQL: Bob's age is null.
    [{ author: { age: { $ne: 30 } } }, 'D'],
    [{ author: { age: null } }, 'C'],
    [{ author: { loud: 'CID' } }, 'D'],
    [{ author: { articles: { id: { $cgt: ['$', 'id'] } } } }, 'A'],
    [{ _exists: { _table: 'author', _where: { name: 'nobody' } } }, ''],
    [{ $exists: { $table: 'author', $where: { id: { $ceq: ['$', 'id'] }, name: 'Cid' } } }, 'C'],
    // A text stays a text, whatever it looks like.
    [{ title: 'X-Svc-User-Id' }, ''],
  ])('filters by %j', async (where, found) => {
    expect(await titles(where)).toBe(found);
  });

  it('shows a role its rows and columns only, also through conditions', async () => {
    expect(await titles({}, { ...USER, user: '3' })).toBe('AC');
    expect(await run('select', { table: 'article', columns: ['title'], order_by: 'id', limit: 1, offset: 1 }, USER)).toEqual([
      { title: 'B' },
    ]);
    expect(
      await run('select', { table: 'article', columns: ['title', { name: 'author', columns: ['name'] }], where: { id: 3 } }, USER),
    ).toEqual([{ title: 'C', author: null }]);
    // Bob exists, but is not visible to this role.
    expect(await titles({ author: { name: 'Bob' } }, USER)).toBe('');
    expect(await titles({ _not: { author: {} } }, USER)).toBe('C');
    expect(await titles({ author: { articles: { id: { $cgt: ['$', 'id'] } } } }, USER)).toBe('A');
    expect(await titles({ _exists: { _table: 'author', _where: { name: 'Bob' } } }, USER)).toBe('');
    const ordered = (order: Json) => run('select', { table: 'article', columns: ['id'], order_by: order }, USER);
    expect(await ordered(['author.age', '-id'])).toEqual([{ id: 2 }, { id: 1 }]);
    expect(await ordered([{ column: 'author.age', type: 'asc', nulls: 'first' }, '-id'])).toEqual([{ id: 3 }, { id: 2 }]);
    expect(
      await run('select', { table: 'author', columns: [{ name: 'articles', columns: ['title'], order_by: 'id' }], where: { id: 1 } }, USER),
    ).toEqual([{ articles: [{ title: 'A' }, { title: 'B' }] }]);
  });

  it.each([USER, {}])('expands stars up to a limit of fields, for %j', async (caller) => {
    // A cycle: without a limit this would never end, and exhaust the memory with a second relationship.
    expect(await refused('select', { table: 'author', columns: [`*${'.*'.repeat(2000)}`] }, caller)).toBe(
      'validation-failed @ $.args: the operation is nested deeper than 100 levels',
    );
    expect(await refused('select', { table: 'author', columns: Array<string>(10).fill(`*${'.*'.repeat(90)}`) }, caller)).toBe(
      'validation-failed @ $.args: the operation has more than 500 fields with a selection',
    );
    expect(await refused('select', { table: 'author', columns: Array<string>(7000).fill('*') }, caller)).toBe(
      'validation-failed @ $.args: the operation has more than 5000 fields and values',
    );
  });

  it.each<[args: JsonObject, refusal: string, caller?: Caller]>([
    [{ table: 'nothing', columns: ['id'] }, 'not-exists @ $.args.table: table "nothing" does not exist'],
    [{ table: 'author', columns: ['id', 'user'] }, 'not-exists @ $.args.columns[1]: no such column exists: "user"'],
    [{ table: 'author', columns: ['prefixed'] }, 'not-exists @ $.args.columns[0]: no such column exists: "prefixed"'],
    [{ table: 'author', columns: [{ name: 'books', columns: [] }] }, 'not-exists @ $.args.columns[0]: "books" does not exist'],
    [{ table: 'author', columns: ['*'], where: { user: 1 } }, 'not-exists @ $.args.where.user: "user" does not exist'],
    [
      { table: 'author', columns: ['*'], where: { age: { $near: 1 } } },
      'unexpected-payload @ $.args.where.age["$near"]: unknown operator: $near',
    ],
    [
      { table: 'author', columns: ['*'], where: { prefixed: 'x' } },
      'unexpected-payload @ $.args.where.prefixed: Computed columns with input arguments can not be part of the where clause',
    ],
    [
      { table: 'article', columns: ['*'], where: { raw: { $eq: {} } } },
      'unexpected-payload @ $.args.where.raw: JSON column can not be part of boolean expression',
    ],
    [
      { table: 'article', columns: ['*'], where: { _or: [{ id: { _in: [1, 'x', null] } }] } },
      "parse-failed @ $.args.where._or[0].id._in[2]: unexpected null value for type 'Int'",
    ],
    [
      { table: 'article', columns: ['*'], where: { id: { $gt: {} } } },
      'parse-failed @ $.args.where.id["$gt"]: Integer expected for input type: integer',
    ],
    [
      { table: 'article', columns: ['*'], where: { id: { $gt: 'x' } } },
      'data-exception @ $.args: invalid input syntax for type integer: "x"',
    ],
    [{ table: 'article', columns: ['*'], order_by: 'author' }, 'not-exists @ $.args.order_by: no such column exists: "author"'],
    [
      { table: 'author', columns: ['*'], order_by: 'articles.id' },
      'unexpected-payload @ $.args.order_by: array relationship "articles" cannot be used in order_by',
    ],
    [
      { table: 'article', columns: [{ name: 'author', columns: ['id'], limit: 1 }] },
      "unexpected-payload @ $.args.columns[0]: when selecting an object relationship 'where', 'order_by', 'limit' and 'offset' can't be used",
    ],
    [
      { table: 'author', columns: [{ name: 'articles', columns: ['id'], limit: -1 }] },
      'not-supported @ $.args.columns[0].limit: unexpected negative value',
    ],
    [{ table: 'author' }, 'parse-failed @ $: key "columns" not found'],
    [
      { table: 'author', columns: ['id'], where: [] },
      'parse-failed @ $.where: parsing BoolExp failed, expected Object, but encountered Array',
    ],
    [{ table: 'author', columns: [1] }, 'parse-failed @ $.columns[0]: parsing SelCol failed, expected Object, but encountered Number'],
    [{ table: 'author', columns: ['id'], source: 'x' }, 'not-exists @ $.args: source with name "x" does not exist'],
    [
      { table: 'author', columns: ['id', 'secret'] },
      'permission-denied @ $.args.columns[1]: role "user" does not have permission to select column "secret"',
      USER,
    ],
    [
      { table: 'author', columns: ['loud'] },
      'permission-denied @ $.args.columns[0]: role "user" does not have permission to select column "loud"',
      USER,
    ],
    [
      { table: 'author', columns: ['id'], where: { secret: { $is_null: true } } },
      'permission-denied @ $.args.where.secret: role "user" does not have permission to select column "secret"',
      USER,
    ],
    [
      { table: 'author', columns: ['id'], where: { age: { $clt: 'twice' } } },
      'permission-denied @ $.args.where.age["$clt"]: role "user" does not have permission to select column "twice"',
      USER,
    ],
    [
      { table: 'article', columns: ['id'], order_by: 'author.secret' },
      'permission-denied @ $.args.order_by: role "user" does not have permission to select column "secret"',
      USER,
    ],
    [{ table: 'audit', columns: ['id'] }, 'permission-denied @ $.args: select on "audit" for role "user" is not allowed. ', USER],
    [
      { table: 'article', columns: [{ name: 'author', columns: ['id'] }] },
      'permission-denied @ $.args.columns[0]: role "reader" does not have permission to select column "author"',
      { role: 'reader' },
    ],
    [
      { table: 'article', columns: ['id'], where: { author: { id: 1 } } },
      'permission-denied @ $.args.where.author: role "reader" does not have permission to select column "author"',
      { role: 'reader' },
    ],
    [
      { table: 'article', columns: ['id'], where: { _exists: { _table: 'audit', _where: {} } } },
      'permission-denied @ $.args.where._exists._table: select on "audit" for role "reader" is not allowed. ',
      { role: 'reader' },
    ],
    [{ table: 'article', columns: ['id'] }, 'not-found @ $.args: "x-svc-user-id" header is expected but not found', { role: 'user' }],
  ])('refuses %j', async (args, refusal, caller) => {
    expect(await refused('select', args, caller)).toBe(refusal);
  });

  it('reports the path on the schema endpoint too', async () => {
    const caller: Caller = { path: '/v2/query' };
    expect(await run('select', { table: 'author', columns: ['id'], limit: 1 }, caller)).toEqual([{ id: 1 }]);
    expect(await refused('select', { table: 'author', columns: ['id'], limit: 'x' }, caller)).toBe(
      'parse-failed @ $.args.limit: parsing Int failed, expected Number, but encountered String',
    );
  });
});

describe('count of the data operations', () => {
  it('counts rows or distinct combinations of columns that the role may select', async () => {
    expect(await run('count', { table: 'article' })).toEqual({ count: 4 });
    expect(await run('count', { table: 'article', where: { author: { name: 'Ann' } }, distinct: ['author_id'] })).toEqual({ count: 1 });
    // NULL is one of them.
    expect(await run('count', { table: 'author', distinct: ['age'] })).toEqual({ count: 3 });
    expect(await run('count', { table: 'article' }, USER)).toEqual({ count: 3 });
  });

  it('rejects columns that the role may not select', async () => {
    expect(await refused('count', { table: 'audit' }, USER)).toBe(
      'permission-denied @ $.args: select on "audit" for role "user" is not allowed. ; "count" is only allowed if the role has "select" permissions on the table',
    );
    expect(await refused('count', { table: 'author', distinct: ['secret'] }, USER)).toBe(
      'permission-denied @ $.args.distinct[0]: role "user" does not have permission to select column "secret"',
    );
    expect(await refused('count', { table: 'author', distinct: ['id', 'x'] })).toBe(
      'permission-denied @ $.args.distinct[1]: no such column exists: "x"',
    );
  });
});
