import { describe, expect, test } from 'vitest';
import { decode, buildOf, infoOf, reasons } from '../../../test/support/schema-cache-build.ts';
import type { Json } from '../../util/json.ts';
import { recordOf } from '../inconsistency.ts';

describe('inheritance', () => {
  const select = (role: string, columns: Json, filter: Json, more: object = {}): Json => ({
    role,
    permission: { columns, filter, ...more },
  });
  const roles = (...entries: readonly (readonly [string, ...string[]])[]): Json =>
    entries.map(([role_name, ...role_set]) => ({ role_name, role_set }));
  const inheriting = (permissions: Record<string, Json>, inherited: Json) =>
    buildOf(decode([{ table: 'author', ...permissions }], { inherited_roles: inherited })).cache;
  const one = { kind: 'compare', operator: '_eq', argument: { operand: { value: { json: 1 } } } };

  test('select permissions are combined, and columns of only some parents are masked by their filters', () => {
    const cache = inheriting(
      {
        select_permissions: [
          select('a', ['id', 'name'], { id: { _eq: 1 } }, { limit: 5 }),
          select('b', ['id'], { name: { _eq: 'x' } }, { allow_aggregations: true, limit: 7 }),
        ],
      },
      roles(['both', 'a', 'b'], ['nested', 'both', 'b']),
    );
    expect(reasons(cache)).toEqual([]);
    expect([...cache.roles]).toEqual(['a', 'b', 'both', 'nested']);
    const both = infoOf(cache, 'author')?.permissions.get('both')?.select;
    expect(both).toMatchObject({
      limit: 7,
      allowAggregations: true,
      queryRootFields: null,
      filter: { kind: 'or', items: [one, { operator: '_eq' }] },
    });
    expect(both?.columns.get('id')).toBeNull();
    expect(both?.columns.get('name')).toMatchObject(one);
    const nested = infoOf(cache, 'author')?.permissions.get('nested')?.select?.columns.get('name');
    expect(nested).toMatchObject({ kind: 'and', items: [{ kind: 'or' }, one] });
  });

  test('an explicit permission takes precedence, and parents without a permission are ignored', () => {
    const cache = inheriting(
      {
        select_permissions: [select('a', ['id'], {}), select('both', ['name'], {})],
        delete_permissions: [{ role: 'b', permission: { filter: {} } }],
      },
      roles(['both', 'a', 'b']),
    );
    const both = infoOf(cache, 'author')?.permissions.get('both');
    expect([...(both?.select?.columns.keys() ?? [])]).toEqual(['name']);
    expect(both?.delete).toBeDefined();
  });

  test('mutation permissions must be equal up to order; a conflict is informational', () => {
    const insert = (role: string, columns: Json, check: Json): Json => ({ role, permission: { columns, check } });
    const operands: readonly Json[] = [{ id: { _eq: 1 } }, { name: { _eq: 'x' } }];
    const same = inheriting(
      {
        insert_permissions: [
          insert('a', ['id', 'name'], { _and: operands }),
          insert('b', ['name', 'id'], { _and: [...operands].reverse() }),
        ],
      },
      roles(['both', 'a', 'b']),
    );
    expect(reasons(same)).toEqual([]);
    expect(infoOf(same, 'author')?.permissions.get('both')?.insert).toBeDefined();
    const other = inheriting({ insert_permissions: [insert('a', ['id'], {}), insert('b', ['name'], {})] }, roles(['both', 'a', 'b']));
    expect(other.inconsistencies.map((each) => each.informational)).toEqual([true]);
    expect(other.inconsistencies.map(recordOf)).toEqual([
      {
        reason: "Could not inherit permission for the role 'both' for the entity: 'insert permission, table: author, source: 's''",
        name: 'both',
        type: 'inherited role permission inconsistency',
        entity: { permission_type: 'insert', source: 's', table: { schema: 'public', name: 'author' } },
      },
    ]);
    expect(infoOf(other, 'author')?.permissions.has('both')).toBe(false);
  });

  test('unknown parents and cycles are inconsistent', () => {
    const cache = inheriting(
      { select_permissions: [select('a', ['id'], {})] },
      roles(['r', 'a', 'nobody'], ['x', 'y', 'a'], ['y', 'x', 'a']),
    );
    expect(reasons(cache)).toEqual([
      'in inherited role r: the following parent role(s) are not found: nobody which are required to construct the inherited role: "r"',
      'found cycle(s) in roles: ["x","y","x"]',
      'found cycle(s) in roles: ["x","y","x"]',
    ]);
    expect([...cache.roles]).toEqual(['a']);
  });

  test('a cycle begins at its first role in alphabetical order, independent of the order of the document', () => {
    const [m, n, d, outside] = [
      ['m', 'a', 'd'],
      ['n', 'm', 'a'],
      ['d', 'n', 'a'],
      ['c', 'm', 'a'],
    ] as const;
    const found = (...sets: (readonly [string, ...string[]])[]): readonly string[] => [
      ...new Set(reasons(inheriting({ select_permissions: [select('a', ['id'], {})] }, roles(...sets)))),
    ];
    const expected = 'found cycle(s) in roles: ["d","n","m","d"]';
    expect(found(m, n, d)).toEqual([expected]);
    expect(found(d, n, m)).toEqual([expected]);
    expect(found(n, m, d, outside)).toEqual([expected, 'parent role "m" does not exist']);
  });
});
