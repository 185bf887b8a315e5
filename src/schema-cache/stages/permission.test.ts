import { describe, expect, test } from 'vitest';
import { catalog, column, fakeBackend, named, rowType, sqlFunction, table, type } from '../../../test/support/fake-backend.ts';
import { nameKey } from '../../catalog/catalog.ts';
import { decodeDocument } from '../../metadata/document.ts';
import { kindsOf } from '../../metadata/kinds.ts';
import { EMPTY_METADATA } from '../../metadata/metadata.ts';
import type { Json } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { buildSchemaCache } from '../build.ts';
import { recordOf } from '../inconsistency.ts';
import type { RolePermissions } from '../schema-cache.ts';

const row = { name: 'a', type: rowType('author'), hasDefault: false };
const found = catalog(
  [
    table('author', {
      columns: [
        'id int4!',
        'name text',
        'data jsonb',
        'raw json',
        'tags text[]',
        'place geometry',
        { ...column('sum int4'), generated: true },
        { ...column('serial int4!'), identity: 'always' },
      ],
      key: ['id'],
    }),
    table('article', { columns: ['id int4!', 'title text', 'author_id int4!'], key: ['id'], references: ['author_id -> author.id'] }),
    table('report', { columns: ['id int4!'], kind: 'view', writable: false }),
  ],
  [
    sqlFunction('full_name', { arguments: [row, { name: 'who', type: type('json'), hasDefault: false }] }),
    sqlFunction('titled', { arguments: [row, { name: 'title', type: type('text'), hasDefault: false }] }),
    sqlFunction('recent', { arguments: [row], returns: rowType('article'), returnsTable: named('article'), returnsSet: true }),
  ],
);

function permissionsOf(
  tableName: string,
  permissions: Record<string, Json>,
): {
  readonly role: RolePermissions | undefined;
  readonly roles: ReadonlyMap<string, RolePermissions> | undefined;
  readonly reasons: readonly string[];
  readonly records: readonly Json[];
} {
  const authorFields: Record<string, Json> = {
    array_relationships: [{ name: 'articles', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } }],
    computed_fields: [
      { name: 'full', definition: { function: 'full_name', session_argument: 'who' } },
      { name: 'titled', definition: { function: 'titled' } },
      { name: 'recent', definition: { function: 'recent' } },
    ],
  };
  const fields: Record<string, Record<string, Json>> = {
    author: authorFields,
    article: { object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }] },
    report: {},
  };
  const tables = Object.entries(fields).map(([name, more]) => ({ table: name, ...more, ...(name === tableName ? permissions : {}) }));
  const metadata = decodeDocument(
    { version: 3, sources: [{ name: 's', kind: 'fake', configuration: {}, tables }] },
    ROOT,
    kindsOf([fakeBackend]),
    EMPTY_METADATA,
  );
  const { cache } = buildSchemaCache({
    metadata,
    sources: new Map([['s', { kind: 'open', backend: fakeBackend, catalog: found, enumValues: new Map() }]]),
    options: { defaultNamingConvention: 'svc-default' },
  });
  const roles = cache.sources.get('s')?.tables.get(nameKey(named(tableName)))?.permissions;
  return {
    role: roles?.get('r'),
    roles,
    reasons: cache.inconsistencies.map(({ reason }) => reason),
    records: cache.inconsistencies.map(recordOf),
  };
}

const one = (permission: Json): Json => [{ role: 'r', permission }];
const WHERE = 'Inconsistent object: in table "author": in permission for role "r": ';

/** Returns the filter of a select permission on `author`, or the reason for its rejection. */
function filterOf(filter: Json, tableName = 'author'): unknown {
  const { role, reasons } = permissionsOf(tableName, { select_permissions: one({ columns: ['id'], filter }) });
  return reasons[0]?.replace(WHERE, '') ?? role?.select?.filter;
}

const read = (name: string, of = 'text', array = false) => ({ kind: 'column', column: name, type: type(of, array) });
const literal = (json: Json, of = 'text', list = false, array = false) => ({
  kind: 'operand',
  operand: { value: { kind: 'literal', json }, type: type(of, array), list },
});
const session = (name: string, of = 'text', list = false, array = false) => ({
  kind: 'operand',
  operand: { value: { kind: 'session', name }, type: type(of, array), list },
});
const compare = (left: unknown, operator: string, argument: unknown, nullSafe = false) => ({
  kind: 'compare',
  left,
  operator,
  argument,
  nullSafe,
});

describe('boolean expressions', () => {
  const isOne = compare(read('id', 'int4'), '_eq', literal(1, 'int4'));
  const isTwo = compare(read('id', 'int4'), '_eq', literal(2, 'int4'));

  test.each<[string, Json, unknown]>([
    ['nothing', {}, { kind: 'constant', value: true }],
    ['keys are joined by and', { id: { _eq: 1 }, _not: { id: { _eq: 2 } } }, { kind: 'and', items: [isOne, { kind: 'not', item: isTwo }] }],
    ['_or', { _or: [{ id: 1 }, { id: { $eq: 2 } }] }, { kind: 'or', items: [isOne, isTwo] }],
    ['aliases', { $and: [{ $or: [] }] }, { kind: 'constant', value: false }],
    [
      'several operators',
      { id: { _gt: 1, _lte: 2 } },
      {
        kind: 'and',
        items: [compare(read('id', 'int4'), '_gt', literal(1, 'int4')), compare(read('id', 'int4'), '_lte', literal(2, 'int4'))],
      },
    ],
    ['no operators', { id: {} }, { kind: 'constant', value: true }],
  ])('%s', (_, filter, expected) => {
    expect(filterOf(filter)).toEqual(expected);
  });

  test('equality is null-safe on nullable columns only', () => {
    expect(filterOf({ name: { _eq: 'x' } })).toEqual(compare(read('name'), '_eq', literal('x'), true));
    expect(filterOf({ name: { _ne: 'x' } })).toEqual(compare(read('name'), '_neq', literal('x'), true));
    expect(filterOf({ name: { _gt: 'x' } })).toEqual(compare(read('name'), '_gt', literal('x')));
    expect(filterOf({ name: null })).toEqual({ kind: 'is-null', left: read('name'), isNull: true });
    expect(filterOf({ name: { _neq: null } })).toEqual({ kind: 'is-null', left: read('name'), isNull: false });
    expect(filterOf({ name: { _is_null: false } })).toEqual({ kind: 'is-null', left: read('name'), isNull: false });
  });

  test('accept session variables in any case, under the old name, and as a whole list', () => {
    expect(filterOf({ id: 'X-SVC-User-Id' })).toEqual(compare(read('id', 'int4'), '_eq', session('x-svc-user-id', 'int4')));
    expect(filterOf({ id: { _eq: 'REQ_USER_ID' } })).toEqual(compare(read('id', 'int4'), '_eq', session('x-svc-user-id', 'int4')));
    expect(filterOf({ id: { _in: 'x-svc-ids' } })).toEqual(compare(read('id', 'int4'), '_in', session('x-svc-ids', 'int4', true)));
    expect(filterOf({ name: { _in: ['x-svc-no', 'b'] } })).toEqual(compare(read('name'), '_in', literal(['x-svc-no', 'b'], 'text', true)));
  });

  test('support operators of the type, of arrays, with other types, and with fields', () => {
    expect(filterOf({ name: { _like: '%x' } })).toEqual(compare(read('name'), '_like', literal('%x')));
    expect(filterOf({ tags: { _contains: ['a'] } })).toEqual(
      compare(read('tags', 'text', true), '_contains', literal(['a'], 'text', false, true)),
    );
    expect(filterOf({ data: { _has_keys_any: ['a', 'b'] } })).toEqual(
      compare(read('data', 'jsonb'), '_has_keys_any', literal(['a', 'b'], 'text', true)),
    );
    expect(filterOf({ place: { _st_d_within: { distance: 'X-Svc-Distance', from: { type: 'Point' } } } })).toEqual(
      compare(read('place', 'geometry'), '_st_d_within', {
        kind: 'fields',
        fields: {
          distance: session('x-svc-distance', 'float8').operand,
          from: literal({ type: 'Point' }, 'geometry').operand,
          use_spheroid: literal(true, 'bool').operand,
        },
      }),
    );
    const cast = { kind: 'cast', read: read('data', 'jsonb'), type: type('text') };
    expect(filterOf({ data: { _cast: { String: { _like: 'x' } } } })).toEqual(compare(cast, '_like', literal('x')));
  });

  test('support relationships, other tables and computed fields without adding filters of these tables', () => {
    const join = { columns: [{ local: 'id', remote: 'author_id' }], unique: false };
    const title = compare(read('title'), '_eq', literal('x'), true);
    expect(filterOf({ articles: { title: 'x' } })).toEqual({
      kind: 'exists',
      join,
      from: { kind: 'table', name: named('article') },
      where: title,
    });
    expect(filterOf({ _exists: { _table: 'article', _where: { title: 'x' } } })).toEqual({
      kind: 'exists',
      join: null,
      from: { kind: 'table', name: named('article') },
      where: title,
    });
    const call = (name: string, ...more: unknown[]) => ({ volatile: false, function: named(name), arguments: [{ kind: 'row' }, ...more] });
    const who = { kind: 'value', name: 'who', operand: { value: { kind: 'session-variables' }, type: type('json'), list: false } };
    expect(filterOf({ full: { _eq: 'x' } })).toEqual(
      compare({ kind: 'computed-field', call: call('full_name', who), type: type('text') }, '_eq', literal('x'), true),
    );
    expect(filterOf({ recent: { title: 'x' } })).toEqual({
      kind: 'exists',
      join: null,
      from: { kind: 'function', call: call('recent') },
      where: title,
    });
  });

  test('compare columns with the same row or with the row of the permission', () => {
    const columns = (left: string, right: string, more: object) => ({
      kind: 'compare-columns',
      left: read(left, 'int4'),
      operator: '_eq',
      right: read(right, 'int4'),
      nullSafe: false,
      ...more,
    });
    expect(filterOf({ id: { _ceq: 'serial' } })).toEqual(columns('id', 'serial', { rightRow: 'self', levels: 0 }));
    expect(filterOf({ id: { _ceq: ['$', 'serial'] } })).toEqual(columns('id', 'serial', { rightRow: 'self', levels: 0 }));
    const nested = filterOf({ articles: { author: { id: { _ceq: ['$', 'serial'] } }, author_id: { _ceq: ['$', 'id'] } } });
    expect(nested).toMatchObject({
      where: {
        items: [
          { where: columns('id', 'serial', { rightRow: 'root', levels: 2 }) },
          columns('author_id', 'id', { rightRow: 'root', levels: 1 }),
        ],
      },
    });
  });

  test.each<[Json, string]>([
    [{ nope: 1 }, '"nope" does not exist'],
    [{ articles: { nope: 1 } }, '"nope" does not exist'],
    [{ id: { _near: 1 } }, 'unknown operator: _near'],
    [{ id: { _like: 'x' } }, 'unknown operator: _like'],
    [{ id: { _eq: true } }, 'Integer expected for input type: integer'],
    [{ id: { _in: 1 } }, 'parsing a list failed, expected Array, but encountered Number'],
    [{ id: { _gt: null } }, "unexpected null value for type 'Int'"],
    [{ id: { _is_null: 'x' } }, 'parsing Bool failed, expected Bool, but encountered String'],
    [{ raw: { _is_null: true } }, 'JSON column can not be part of boolean expression'],
    [{ titled: { _eq: 'x' } }, 'Computed columns with input arguments can not be part of the where clause'],
    [{ articles: 1 }, 'parsing BoolExp failed, expected Object, but encountered Number'],
    [{ _and: {} }, 'parsing _and failed, expected Array, but encountered Object'],
    [{ _exists: { _where: {} } }, "the key '_table' was not present"],
    [{ _exists: { _table: 'nope', _where: {} } }, 'table "nope" is not tracked'],
    [{ id: { _ceq: 'name' } }, 'incompatible column types: column "id" has type "integer", column "name" has type "text"'],
    [{ id: { _ceq: 'articles' } }, 'Relationship references are not supported in column comparison RHS'],
    [{ id: { _ceq: ['articles', 'id'] } }, 'Relationship references are not supported in column comparison RHS'],
    [{ data: { _cast: { Int: {} } } }, 'cannot cast column of type "jsonb" to type "Int"'],
    [{ place: { _st_d_within: { from: {} } } }, "the key 'distance' was not present"],
    [{ place: { _st_d_within: { distance: 1, from: {}, far: 1 } } }, 'unknown field "far" of _st_d_within'],
  ])('reject %j', (filter, reason) => {
    expect(filterOf(filter)).toBe(reason);
  });
});

describe('select permissions', () => {
  const select = (permission: Record<string, Json>, tableName = 'author') =>
    permissionsOf(tableName, { select_permissions: one({ columns: ['id'], filter: {}, ...permission }) });

  test('include the listed columns or all of them', () => {
    expect([...(select({ columns: '*' }).role?.select?.columns.keys() ?? [])]).toEqual([
      'id',
      'name',
      'data',
      'raw',
      'tags',
      'place',
      'sum',
      'serial',
    ]);
    expect(select({ columns: [] }).role?.select?.columns.size).toBe(0);
    expect(select({ columns: ['nope'] }).reasons).toEqual([`${WHERE}column "nope" does not exist`]);
    expect(select({ columns: ['articles'] }).reasons).toEqual([
      `${WHERE}"articles" is a relationship; permissions for relationships are automatically inferred`,
    ]);
  });

  test('include scalar computed fields only', () => {
    expect([...(select({ computed_fields: ['full'] }).role?.select?.computedFields.keys() ?? [])]).toEqual(['full']);
    expect(select({ computed_fields: ['nope'] }).reasons).toEqual([`${WHERE}computed field "nope" does not exist`]);
    expect(select({ computed_fields: ['recent'] }).reasons).toEqual([
      `${WHERE}select permissions on computed field "recent" are auto-derived from the permissions on its returning table "article" and cannot be specified manually`,
    ]);
  });

  test('root fields require access to their columns', () => {
    expect(select({ query_root_fields: ['select', 'select_by_pk'] }).role?.select?.queryRootFields).toEqual(
      new Set(['select', 'select_by_pk']),
    );
    expect(select({}).role?.select).toMatchObject({
      queryRootFields: null,
      subscriptionRootFields: null,
      limit: null,
      allowAggregations: false,
    });
    expect(select({ columns: ['name'], query_root_fields: ['select_by_pk'] }).reasons).toEqual([
      `${WHERE}The "select_by_pk" field cannot be included in the query_root_fields or subscription_root_fields because the role "r" does not have access to the primary key of the table "author" in the source "s"`,
    ]);
    expect(select({ subscription_root_fields: ['select_aggregate'] }).reasons).toEqual([
      `${WHERE}The "select_aggregate" root field can only be enabled in the query_root_fields or the subscription_root_fields when "allow_aggregations" is set to true`,
    ]);
  });

  test('a permission for admin is recorded as inconsistent', () => {
    const { records } = permissionsOf('author', {
      select_permissions: [{ role: 'admin', permission: { columns: ['id'], filter: {} }, comment: 'c' }],
    });
    expect(records).toEqual([
      {
        definition: {
          source: 's',
          table: { schema: 'public', name: 'author' },
          role: 'admin',
          permission: { columns: ['id'], filter: {} },
          comment: 'c',
        },
        name: 'select_permission admin in table author in source s',
        reason: 'Inconsistent object: in table "author": in permission for role "admin": cannot define permission for admin role',
        type: 'select_permission',
      },
    ]);
  });

  test('roles with the same definition share one object', () => {
    const entries = ['r', 'q'].map((role) => ({ role, permission: { columns: ['id'], filter: { name: 'x' } } }));
    const { roles } = permissionsOf('author', {
      select_permissions: [...entries, { role: 'p', permission: { columns: ['id'], filter: {} } }],
    });
    expect(roles?.get('r')).toBeDefined();
    expect(roles?.get('q')).toBe(roles?.get('r'));
    expect(roles?.get('p')).not.toBe(roles?.get('r'));
  });
});

describe('mutation permissions', () => {
  test('insert permissions exclude presets and generated columns from the columns', () => {
    const { role } = permissionsOf('author', {
      insert_permissions: one({ check: { id: { _gt: 0 } }, set: { name: 'X-Svc-Name', data: { a: 'x-svc-b' }, tags: null } }),
    });
    expect([...(role?.insert?.columns ?? [])]).toEqual(['id', 'raw', 'place']);
    expect([...(role?.insert?.presets ?? [])]).toEqual([
      ['name', session('x-svc-name').operand],
      ['data', literal({ a: 'x-svc-b' }, 'jsonb').operand],
      ['tags', literal(null, 'text', false, true).operand],
    ]);
    expect(role?.insert).toMatchObject({ backendOnly: false, validateInput: null, check: { kind: 'compare' } });
  });

  test('resolve update and delete', () => {
    const { role } = permissionsOf('author', {
      update_permissions: one({ columns: ['name'], filter: { id: 1 }, check: null, backend_only: true }),
      delete_permissions: one({ filter: {} }),
    });
    expect(role?.update).toMatchObject({ columns: new Set(['name']), filter: { kind: 'compare' }, check: null, backendOnly: true });
    expect(role?.delete).toEqual({ filter: { kind: 'constant', value: true }, backendOnly: false, validateInput: null });
  });

  test.each<[string, Record<string, Json>, string]>([
    ['an unknown preset', { insert_permissions: one({ check: {}, set: { nope: 1 } }) }, 'column "nope" not found in table "author"'],
    ['an unknown column', { update_permissions: one({ columns: ['nope'], filter: {} }) }, 'column "nope" does not exist'],
    [
      'a relationship',
      { insert_permissions: one({ check: {}, columns: ['articles'] }) },
      'Only table columns can have insert permissions defined, not relationships or other field types',
    ],
    [
      'a generated column',
      { insert_permissions: one({ check: {}, columns: ['sum'] }) },
      'column "sum" is not insertable and so cannot have insert permissions defined',
    ],
    [
      'an identity preset',
      { update_permissions: one({ columns: [], filter: {}, set: { serial: 1 } }) },
      'column "serial" is not updatable and so cannot have update permissions defined',
    ],
  ])('are rejected: %s', (_, permissions, reason) => {
    expect(permissionsOf('author', permissions).reasons).toEqual([WHERE + reason]);
  });

  test('a view that cannot be written to rejects all kinds', () => {
    expect(permissionsOf('report', { delete_permissions: one({ filter: {} }) }).reasons).toEqual([
      'Inconsistent object: in table "report": in permission for role "r": view "report" is not deletable',
    ]);
  });
});
