import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reachOf } from './filter-reach.ts';
import type { Json, JsonObject } from './json.ts';
import { isWiderRows, permissionChanges } from './permission-change.ts';

const OWN = { owner: { _eq: 'X-Svc-User-Id' } };

describe('reachOf', () => {
  it.each<[string, Json | undefined, Json | undefined]>([
    ['no condition any more', OWN, {}],
    ['null in place of a check', OWN, null],
    ['a conjunct is removed', { ...OWN, is_open: { _eq: true } }, OWN],
    ['a conjunct of _and is removed', { _and: [OWN, { is_open: { _eq: true } }] }, { is_open: { _eq: true } }],
    ['an alternative is added', { _or: [OWN] }, { _or: [OWN, { is_public: { _eq: true } }] }],
    ['an alternative beside a plain condition', OWN, { _or: [{ is_public: { _eq: true } }, OWN] }],
    ['a longer list', { state: { _in: ['a'] } }, { state: { _in: ['b', 'a'] } }],
    ['a list in place of a value', { state: 'a' }, { state: { $in: ['b', 'a'] } }],
    ['a condition of a relationship is removed', { team: { name: { _eq: 'x' }, ...OWN } }, { team: OWN }],
    ['a condition in _exists is removed', { _exists: { _table: 't', _where: OWN } }, { _exists: { _table: 't', _where: {} } }],
    ['a test of a column is removed', { n: { _gt: 1, _lt: 9 } }, { n: { _gt: 1 } }],
  ])('is wider and, the other way, narrower: %s', (_, before, after) => {
    expect([reachOf(before, after), reachOf(after, before)]).toEqual(['wider', 'narrower']);
  });

  it.each<[string, Json, Json]>([
    ['another value', OWN, { owner: { _eq: 1 } }],
    ['a weaker comparison, which the form does not show', { n: { _gt: 5 } }, { n: { _gt: 1 } }],
    ['less in a negation', { _not: { ...OWN, a: { _eq: 1 } } }, { _not: OWN }],
    ['two relationships in place of one', { team: { a: { _eq: 1 }, b: { _eq: 2 } } }, { crew: { a: { _eq: 1 } } }],
    ['an operator that is not known', { _odd: 1 }, { _odd: 2 }],
  ])('says no more than that it changed: %s', (_, before, after) => {
    expect(reachOf(before, after)).toBe('changed');
  });

  it('never calls a condition wider if a row that passed is now excluded', () => {
    const names = ['a', 'b', 'c'] as const;
    type Row = Readonly<Record<string, boolean | null>>;
    const { filter } = fc.letrec<{ filter: JsonObject }>((tie) => ({
      filter: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constant({}),
        fc
          .record({ name: fc.constantFrom(...names), value: fc.boolean() })
          .map(({ name, value }): JsonObject => ({ [name]: { _eq: value } })),
        fc
          .record({ name: fc.constantFrom(...names), list: fc.array(fc.boolean(), { maxLength: 2 }) })
          .map(({ name, list }): JsonObject => ({ [name]: { _in: list } })),
        fc.record({ _and: fc.array(tie('filter'), { maxLength: 3 }) }),
        fc.record({ _or: fc.array(tie('filter'), { maxLength: 3 }) }),
        fc.record({ _not: tie('filter') }),
      ),
    }));
    const holds = (json: Json, row: Row): boolean | null => {
      const parts = Object.entries(json as JsonObject).map(([key, value]): boolean | null => {
        const list = (value as readonly Json[]) ?? [];
        if (key === '_and') return all(list.map((each) => holds(each, row)));
        if (key === '_or') {
          const none = all(list.map((each) => not(holds(each, row))));
          return not(none);
        }
        if (key === '_not') return not(holds(value, row));
        const own = row[key] ?? null;
        const test = value as { _eq?: boolean; _in?: readonly boolean[] };
        const values = test._in ?? [test._eq ?? null];
        return own === null ? (values.length === 0 ? false : null) : values.includes(own);
      });
      return all(parts);
    };
    const not = (value: boolean | null): boolean | null => (value === null ? null : !value);
    const all = (values: readonly (boolean | null)[]): boolean | null =>
      values.includes(false) ? false : values.includes(null) ? null : true;
    const cells = [true, false, null];
    const rows = cells.flatMap((a) => cells.flatMap((b) => cells.map((c): Row => ({ a, b, c }))));
    let wider = 0;
    fc.assert(
      fc.property(filter, filter, (before, after) => {
        const reach = reachOf(before, after);
        if (reach === 'wider' || reach === 'same') {
          wider++;
          for (const row of rows) if (holds(before, row) === true) expect(holds(after, row)).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
    expect(wider).toBeGreaterThan(100);
  });
});

describe('permissionChanges', () => {
  const album = { source: 'default', kind: 'pg', table: { schema: 'public', name: 'album' } };
  const entry: JsonObject = {
    table: album.table,
    select_permissions: [{ role: 'fan', permission: { columns: ['id'], filter: OWN, limit: 5 } }],
    update_permissions: [{ role: 'fan', permission: { columns: ['id'], filter: {}, check: null } }],
  };
  const step = (verb: string, operation: string, permission?: JsonObject) => ({
    type: `pg_${verb}_${operation}_permission`,
    args: { source: 'default', table: album.table, role: 'fan', ...(permission === undefined ? {} : { permission }) },
  });

  it('lists old and new values, wider row filters first', () => {
    const changes = permissionChanges(
      [
        step('drop', 'update'),
        step('create', 'update', { columns: ['id', 'title'], filter: {}, check: OWN, set: { id: 1 } }),
        step('drop', 'select'),
        step('create', 'select', { columns: '*', filter: {}, limit: 5 }),
      ],
      [album],
      [entry],
    );
    expect(changes).toEqual([
      {
        title: 'select permission of fan on public.album',
        kind: 'changed',
        lines: [
          { key: 'filter', before: OWN, after: {}, reach: 'wider' },
          { key: 'columns', before: ['id'], after: '*', reach: 'wider' },
        ],
      },
      {
        title: 'update permission of fan on public.album',
        kind: 'changed',
        lines: [
          { key: 'filter', before: {}, after: {}, reach: 'same' },
          { key: 'check', before: null, after: OWN, reach: 'narrower' },
          { key: 'set', before: undefined, after: { id: 1 }, reach: 'changed' },
          { key: 'columns', before: ['id'], after: ['id', 'title'], reach: 'wider' },
        ],
      },
    ]);
    expect(changes.flatMap(({ lines }) => lines.filter(isWiderRows).map(({ key }) => key))).toEqual(['filter']);
  });

  it('skips permissions that are recreated unchanged, and lists new and dropped ones', () => {
    expect(
      permissionChanges([step('drop', 'select'), step('create', 'select', { columns: ['id'], filter: OWN, limit: 5 })], [album], [entry]),
    ).toEqual([]);
    expect(
      permissionChanges([step('drop', 'select'), step('create', 'delete', { filter: OWN })], [album], [entry]).map(({ kind, title }) => [
        kind,
        title,
      ]),
    ).toEqual([
      ['dropped', 'select permission of fan on public.album'],
      ['new', 'delete permission of fan on public.album'],
    ]);
  });
});
