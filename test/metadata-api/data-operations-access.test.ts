import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { type Caller, type DataOperationsService, startDataOperationsService, USER } from './data-operations-service.ts';
import { startTestService } from '../support/service.ts';

let dataApi: DataOperationsService;
beforeAll(async () => {
  dataApi = await startDataOperationsService();
});
afterAll(() => dataApi.service.stop());

const run: DataOperationsService['run'] = (...operation) => dataApi.run(...operation);
const refused: DataOperationsService['refused'] = (...operation) => dataApi.refused(...operation);

describe('a bulk of data operations', () => {
  it('is permitted to roles if it contains nothing else', async () => {
    const count = { type: 'count', args: { table: 'article' } };
    expect(await run('bulk', [count, { type: 'bulk', args: [count] }], USER)).toEqual([{ count: 3 }, [{ count: 3 }]]);
    expect(await run('concurrent_bulk', [count, count], { ...USER, path: '/v2/query' })).toEqual([{ count: 3 }, { count: 3 }]);
    expect(await refused('bulk', [count, { type: 'count', args: { table: 'audit' } }], USER)).toMatch(
      /^permission-denied @ \$\.args\[1\]\.args: select on "audit"/,
    );
    for (const other of [
      { type: 'run_sql', args: { sql: 'select 1' } },
      { type: 'bulk', args: [{ type: 'export_metadata', args: {} }] },
    ]) {
      expect(await refused('bulk', [count, other], USER)).toBe('access-denied @ $.args: restricted access : admin only');
    }
  });

  it('rejects writes among concurrent operations', async () => {
    const { status, json } = await dataApi.send(
      { type: 'concurrent_bulk', args: [{ type: 'delete', args: { table: 'audit', where: {} } }] },
      { path: '/v2/query' },
    );
    expect({ status, ...(json as JsonObject) }).toMatchObject({
      status: 400,
      code: 'not-supported',
      error: 'Only read-only queries are allowed in a concurrent_bulk',
    });
  });
});

it('prints numbers as configured', async () => {
  const strings = await startTestService({ STRINGIFY_NUMERIC_TYPES: 'true' });
  try {
    await strings.sql('create table big (id bigint primary key, price numeric)');
    await strings.metadata('pg_track_table', 'big');
    const body = JSON.stringify({
      type: 'insert',
      args: { table: 'big', objects: [{ id: '9007199254740993', price: 1.5 }], returning: ['*'] },
    });
    expect((await strings.send('/v1/query', { method: 'POST', body })).json).toEqual({
      affected_rows: 1,
      returning: [{ id: '9007199254740993', price: '1.5' }],
    });
  } finally {
    await strings.stop();
  }
});

describe('data operations of other roles than admin', () => {
  const closed = 'access-denied @ $.args: restricted access : admin only';
  const operations: readonly (readonly [type: string, args: JsonObject])[] = [
    ['select', { table: 'article', columns: ['id'] }],
    ['count', { table: 'article' }],
    ['insert', { table: 'article', objects: [{ title: 'x' }] }],
    ['update', { table: 'article', where: {}, $set: { title: 'x' } }],
    ['delete', { table: 'article', where: {} }],
  ];

  it.each<[when: string, options: Readonly<Record<string, string>>]>([
    ['unless the service is set so', {}],
    ['while there is an allow-list', { LEGACY_ROWS_FOR_ALL_ROLES: 'true', ENABLE_ALLOWLIST: 'true' }],
  ])('have no operations on rows %s', async (_when, options) => {
    const other = await startDataOperationsService(options);
    try {
      for (const path of ['/v1/query', '/v2/query']) {
        for (const [type, args] of operations) {
          expect(await other.refused(type, args, { ...USER, path })).toBe(closed);
          expect(await other.refused('bulk', [{ type, args }], { ...USER, path })).toBe(closed);
        }
      }
      expect(await other.run('count', { table: 'article' })).toEqual({ count: 4 });
    } finally {
      await other.service.stop();
    }
  });

  it('require root fields to select and count rows', async () => {
    const rooms = {
      type: 'pg_create_select_permission',
      args: { table: 'audit', role: 'hermit', permission: { columns: '*', filter: {}, query_root_fields: [] } },
    };
    await dataApi.service.metadata('bulk', [rooms]);
    const hermit: Caller = { role: 'hermit' };
    expect(await refused('select', { table: 'audit', columns: ['id'] }, hermit)).toBe(
      'permission-denied @ $.args: select on "audit" for role "hermit" is not allowed. ',
    );
    expect(await refused('count', { table: 'audit' }, hermit)).toMatch(/^permission-denied @ \$\.args: select on "audit"/);
  });

  // Each request names something hidden where `%` is, and then something that does not exist.
  it.each<[type: string, args: JsonObject, hidden: string]>([
    ['select', { table: '%', columns: ['id'] }, 'audit'],
    ['count', { table: '%' }, 'audit'],
    ['insert', { table: '%', objects: [{}] }, 'titles'],
    ['update', { table: '%', where: {}, $set: { title: 'x' } }, 'titles'],
    ['delete', { table: '%', where: {} }, 'titles'],
    ['select', { table: 'author', columns: ['%'] }, 'secret'],
    ['select', { table: 'author', columns: ['%'] }, 'loud'],
    ['select', { table: 'author', columns: [{ name: '%', columns: ['id'] }] }, 'secret'],
    ['select', { table: 'author', columns: ['id'], where: { '%': 1 } }, 'secret'],
    ['select', { table: 'author', columns: ['id'], where: { id: { $ceq: '%' } } }, 'secret'],
    ['select', { table: 'author', columns: ['id'], where: { _exists: { _table: '%', _where: {} } } }, 'audit'],
    ['select', { table: 'author', columns: ['id'], order_by: '%' }, 'secret'],
    ['select', { table: 'article', columns: ['id'], order_by: 'author.%' }, 'secret'],
    ['select', { table: 'article', columns: ['id'], order_by: '%.id' }, 'raw'],
    ['count', { table: 'author', distinct: ['%'] }, 'secret'],
    ['insert', { table: 'article', objects: [{ '%': 1 }] }, 'raw'],
    ['insert', { table: 'article', objects: [{ title: 'x' }], on_conflict: { action: 'ignore', constraint_on: ['%'] } }, 'raw'],
    [
      'insert',
      { table: 'article', objects: [{ title: 'x' }], on_conflict: { action: 'ignore', constraint: '%' } },
      'article_author_id_fkey',
    ],
    ['insert', { table: 'article', objects: [{ title: 'x' }], returning: ['%'] }, 'raw'],
    ['update', { table: 'article', where: {}, $set: { '%': 1 } }, 'raw'],
    ['update', { table: 'article', where: {}, $default: ['%'] }, 'raw'],
    ['delete', { table: 'article', where: { '%': 1 } }, 'raw'],
    ['delete', { table: 'audit', where: { '%': 1 } }, 'entry'],
  ])('cannot tell hidden names from absent ones: %s %j', async (type, args, hidden) => {
    const answer = async (name: string): Promise<string> => {
      const named = JSON.parse(JSON.stringify(args).replaceAll('%', name)) as JsonObject;
      return (await refused(type, named, USER)).replaceAll(name, '%');
    };
    expect(await answer(hidden)).toBe(await answer('nowhere'));
  });

  it('do not reveal whether a source exists', async () => {
    expect(await refused('select', { table: 'audit', columns: ['id'], source: 'elsewhere' }, USER)).toBe(
      'permission-denied @ $.args: select on "audit" for role "user" is not allowed. ',
    );
  });
});

describe('limits for data operations', () => {
  const limited = (limits: JsonObject) => dataApi.service.metadata('set_api_limits', { disabled: false, ...limits });
  afterEach(() => dataApi.service.metadata('remove_api_limits', {}));

  const nested = { table: 'author', columns: ['id', { name: 'articles', columns: ['id', { name: 'author', columns: ['id'] }] }] };

  it('apply to depth and nodes, as in GraphQL', async () => {
    await limited({ depth_limit: { global: 3 } });
    expect(await refused('select', nested, USER)).toBe(
      'validation-failed @ $.args: the operation is 4 levels deep, but no more than 3 are allowed',
    );
    expect(await refused('select', { table: 'author', columns: ['*.*.*'] }, USER)).toMatch(/is 4 levels deep/);
    await run('select', { table: 'author', columns: ['*.*'] }, USER);
    await limited({ node_limit: { global: 2 } });
    expect(await refused('select', nested, USER)).toBe(
      'validation-failed @ $.args: the operation has 3 fields with a selection, but no more than 2 are allowed',
    );
    await run('select', nested);
  });

  it('apply to the rate, with each operation of a bulk counted', async () => {
    await limited({ rate_limit: { global: { max_reqs_per_min: 3 } } });
    const count = { type: 'count', args: { table: 'article' } };
    await run('bulk', [count, count], USER);
    await run('count', { table: 'article' }, USER);
    const { status, json } = await dataApi.send(count, USER);
    expect([status, (json as JsonObject)['code']]).toEqual([429, 'busy']);
  });

  it('apply to the number of operations of a bulk, nested bulks included', async () => {
    await limited({ batch_limit: { global: 3 } });
    const count = { type: 'count', args: { table: 'article' } };
    await run('bulk', [count, count], USER);
    expect(await refused('bulk', [count, { type: 'bulk', args: [count, count] }], USER)).toBe(
      'bad-request @ $.args: batch of 5 operations exceeds the limit of 3',
    );
  });

  it('apply to all operations of a bulk together', async () => {
    const where = { id: { $in: Array.from({ length: 3000 }, (_, i) => i) } };
    const count = { type: 'count', args: { table: 'article', where } };
    await run('bulk', [count], USER);
    expect(await refused('bulk', [count, count], USER)).toMatch(
      /^validation-failed @ \$\.args\[1\]\.args: the operations of the batch have more/,
    );
  });

  it.each([USER, {}])('apply to conditions, for %j', async (caller) => {
    const deep = Array.from({ length: 200 }).reduce<JsonObject>((inner) => ({ _not: inner }), { id: 1 });
    expect(await refused('count', { table: 'article', where: deep }, caller)).toBe(
      'validation-failed @ $.args: the operation is nested deeper than 100 levels',
    );
    expect(await refused('count', { table: 'article', where: { id: { $in: Array<number>(6000).fill(1) } } }, caller)).toBe(
      'validation-failed @ $.args: the operation has more than 5000 fields and values',
    );
    const path = 'author.'.repeat(20_000);
    expect(await refused('select', { table: 'author', columns: ['id'], order_by: `articles.${path}` }, caller)).toMatch(
      /array relationship/,
    );
  });

  const sleeping: readonly string[] = [
    'create function slow(author_row author) returns boolean language sql stable as $$ select pg_sleep(60) is not null $$',
  ];

  it('apply to the time', async () => {
    for (const sql of sleeping) await dataApi.service.sql(sql);
    await dataApi.service.metadata('pg_add_computed_field', { table: 'author', name: 'slow', definition: { function: 'slow' } });
    await dataApi.service.metadata('bulk', [
      {
        type: 'pg_create_select_permission',
        args: { table: 'author', role: 'patient', permission: { columns: '*', computed_fields: ['slow'], filter: {} } },
      },
    ]);
    await limited({ time_limit: { global: 1 } });
    const start = Date.now();
    const { json } = await dataApi.send({ type: 'count', args: { table: 'author', where: { slow: true } } }, { role: 'patient' });
    expect(json).toMatchObject({ code: 'timeout' });
    expect(Date.now() - start).toBeLessThan(30_000);
  });
});

it('ends data operations at the timeout of the request', async () => {
  const hurried = await startDataOperationsService({ REQUEST_TIMEOUT: '1' });
  try {
    await hurried.service.sql(
      'create function slow(author_row author) returns boolean language sql stable as $$ select pg_sleep(60) is not null $$',
    );
    await hurried.service.metadata('pg_add_computed_field', { table: 'author', name: 'slow', definition: { function: 'slow' } });
    const start = Date.now();
    const { json } = await hurried.send({ type: 'count', args: { table: 'author', where: { slow: true } } }, {});
    expect(json).toMatchObject({ code: 'timeout' });
    expect(Date.now() - start).toBeLessThan(30_000);
  } finally {
    await hurried.service.stop();
  }
});

it('evaluates no condition of a role on rows that it does not see', async () => {
  await dataApi.service.sql(
    `create function halves(author_row author) returns int language sql stable as $$ select 10 / (author_row.id - 3) $$`,
  );
  await dataApi.service.metadata('bulk', [
    { type: 'pg_add_computed_field', args: { table: 'author', name: 'halves', definition: { function: 'halves' } } },
    {
      type: 'pg_create_select_permission',
      args: {
        table: 'author',
        role: 'careful',
        permission: { columns: ['id'], computed_fields: ['halves'], filter: { articles: { published: true } } },
      },
    },
  ]);
  const careful: Caller = { role: 'careful' };
  // With Cid's row, which a join hides, 10 would be divided by zero.
  expect(await run('select', { table: 'author', columns: ['id'], where: { halves: { $lt: -5 } } }, careful)).toEqual([{ id: 2 }]);
  expect(await run('count', { table: 'author', where: { $not: { halves: { $lt: -5 } } } }, careful)).toEqual({ count: 1 });
});
