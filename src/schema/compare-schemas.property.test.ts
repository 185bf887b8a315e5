/** What is told of two schemas is what their whole texts differ in, whatever was not looked at because it was settled. */
import fc from 'fast-check';
import { buildSchema, findBreakingChanges, findDangerousChanges, type GraphQLSchema } from 'graphql';
import { expect, it } from 'vitest';
import { DEEP, runs } from '../../test/support/deep.ts';
import { schemaCache, sourceInfo, tableInfo, type TableSpec, unmasked } from '../../test/support/schema-cache-fixture.ts';
import type { SchemaCache, TableInfo } from '../schema-cache/schema-cache.ts';
import { atOnce } from '../util/sliced.ts';
import { compareSchemas } from './compare-schemas.ts';
import { settledIn } from './fields/same-for-role.ts';
import { createRoleSchemas, DEFAULT_ROLE_SCHEMAS_OPTIONS } from './role-schemas.ts';
import { printRoleSchema } from './sdl.ts';
import type { RootTypes } from './types.ts';

const ROLES = ['admin', 'user', 'guest'] as const;
const COLUMNS = { id: 'int4!', other: 'int4', title: 'text', cost: 'numeric', born: 'date', data: 'jsonb', feel: 'text' } as const;
const RELATIONSHIPS = {
  as: ['array', 'a', 'id', 'other'],
  b: ['object', 'b', 'other', 'id'],
  cs: ['array', 'c', 'id', 'other'],
} as const;

const someColumns = fc.subarray(Object.keys(COLUMNS) as (keyof typeof COLUMNS)[], { minLength: 1 });
// Types without any field have no text that could be read.
const names = someColumns.map((list) => unmasked('id', ...list));
const select = fc.record(
  {
    columns: names,
    allowAggregations: fc.boolean(),
    limit: fc.constantFrom(null, 0, 5),
    queryRootFields: fc.subarray(['select', 'select_by_pk', 'select_aggregate'] as const).map((list) => new Set(list)),
    subscriptionRootFields: fc.subarray(['select', 'select_stream'] as const).map((list) => new Set(list)),
  },
  { requiredKeys: ['columns'] },
);
const writes = fc.record(
  {
    insert: someColumns.map((list) => ({ columns: new Set(list) })),
    update: someColumns.map((list) => ({ columns: new Set(list) })),
    delete: fc.constant({}),
  },
  { requiredKeys: [] },
);
const byRole = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> => fc.dictionary(fc.constantFrom('user', 'guest'), one);

const ordinary: fc.Arbitrary<TableSpec> = fc
  .record({
    // Columns that others refer to are always there.
    columns: fc.subarray(['cost', 'born', 'data'] as const).map((list) => ['id', 'other', 'title', 'feel', ...list] as const),
    isRequired: fc.boolean(),
    key: fc.constantFrom(undefined, ['id']),
    unique: fc.constantFrom<Record<string, string[]>>({}, { titles: ['title'] }),
    relationships: fc.subarray(Object.keys(RELATIONSHIPS) as (keyof typeof RELATIONSHIPS)[]),
    permissions: byRole(select),
    writes: byRole(writes),
    comment: fc.constantFrom(undefined, 'what it is'),
  })
  .map(({ columns, isRequired, key, relationships, comment, ...rest }) => ({
    ...rest,
    columns: Object.fromEntries(columns.map((name) => [name, name === 'title' && isRequired ? 'text!' : COLUMNS[name]])),
    relationships: Object.fromEntries(relationships.map((name) => [name, RELATIONSHIPS[name]])),
    enums: { feel: 'mood' },
    ...(key === undefined ? {} : { key }),
    ...(comment === undefined ? {} : { comment }),
  }));

const moods: fc.Arbitrary<TableSpec> = fc
  .constantFrom<readonly (readonly string[] | undefined)[]>([undefined], [['Happy']], [['Happy', 'Sad']])
  .map(([enumValues]) => ({ columns: { value: 'text!' }, key: ['value'], ...(enumValues === undefined ? {} : { enumValues }) }));

/** A table before and after; null: it is not tracked. */
const pairOf = (name: string, spec: fc.Arbitrary<TableSpec>, isAlwaysThere = false): fc.Arbitrary<readonly (TableInfo | null)[]> => {
  const one = spec.map((made): TableInfo | null => tableInfo(name, made));
  const perhaps = isAlwaysThere ? one : fc.option(one, { freq: 6 });
  const same = perhaps.map((table) => [table, table]);
  return fc.oneof({ arbitrary: same, weight: 3 }, { arbitrary: fc.tuple(perhaps, perhaps), weight: 1 });
};

const conventions = fc.oneof(
  { arbitrary: fc.constantFrom('svc-default' as const, 'graphql-default' as const).map((one) => [one, one] as const), weight: 6 },
  { arbitrary: fc.constant(['svc-default', 'graphql-default'] as const), weight: 1 },
);

const cachePair = fc
  .tuple(fc.tuple(pairOf('a', ordinary, true), pairOf('b', ordinary), pairOf('c', ordinary), pairOf('mood', moods)), conventions)
  .map(([tables, [was, is]]): readonly [SchemaCache, SchemaCache] => {
    const side = (i: 0 | 1, namingConvention: typeof was): SchemaCache => {
      const there = tables.flatMap((pair) => pair[i] ?? []);
      return schemaCache(sourceInfo(there, { namingConvention }, []));
    };
    return [side(0, was), side(1, is)];
  });

const rootsOf = (cache: SchemaCache, role: string): RootTypes =>
  createRoleSchemas(cache, DEFAULT_ROLE_SCHEMAS_OPTIONS).wholeRoots(role, 'backend');

/** By name, the texts of types and of the list of roots. */
function definitions(sdl: string): ReadonlyMap<string, string> {
  return new Map(
    sdl
      .trim()
      .split(/\n\n/)
      .map((text) => [/^(?:schema|(?:type|input|interface|enum|union|scalar) \w+)/m.exec(text)?.[0] ?? text, text]),
  );
}

type Find = typeof findBreakingChanges | typeof findDangerousChanges;

/** Without the standard scalars: a document that does not refer to them does not have them. */
const told = ([before, after]: readonly [GraphQLSchema, GraphQLSchema], find: Find): readonly (readonly string[])[] =>
  [find(before, after), find(after, before)].map((changes) =>
    changes.flatMap(({ description }) => (description.startsWith('Standard scalar ') ? [] : [description])).sort(),
  );

it('tells every type that differs, and no other', async () => {
  let [differing, shared] = [0, 0];
  await fc.assert(
    fc.asyncProperty(cachePair, fc.constantFrom(...ROLES), async ([before, after], role) => {
      const settled = atOnce(settledIn(before, after));
      const [was, is] = [await printRoleSchema(rootsOf(before, role)), await printRoleSchema(rootsOf(after, role))];
      const found = await compareSchemas({ before: rootsOf(before, role), after: rootsOf(after, role), settled });
      expect(found === null).toBe(was === is);
      if (found === null) return;
      differing += 1;
      if ([...(after.sources.get('default')?.tables.values() ?? [])].some(settled)) shared += 1;
      const [whole, parts] = [[was, is].map(definitions), [found.before, found.after].map(definitions)];
      for (const i of [0, 1]) {
        const [mine, others] = [whole[i] ?? new Map<string, string>(), whole[1 - i] ?? new Map<string, string>()];
        for (const [name, text] of mine) {
          if (name !== 'schema' && text !== others.get(name)) expect(parts[i]?.get(name), name).toBe(text);
        }
        // The rest is the same on both sides.
        for (const [name, text] of parts[i] ?? []) {
          if (name !== 'schema' && mine.get(name) !== text) expect(parts[1 - i]?.get(name), name).toBe(text);
        }
      }
      // Each is a document of its own, and says to clients' tools what the whole ones say.
      const schemaOf = (text: string): GraphQLSchema => buildSchema(text, { assumeValid: true });
      const [full, part] = [[schemaOf(was), schemaOf(is)] as const, [schemaOf(found.before), schemaOf(found.after)] as const];
      for (const find of [findBreakingChanges, findDangerousChanges]) expect(told(part, find)).toEqual(told(full, find));
    }),
    runs(300, 30),
  );
  // Else it would have proved nothing; few cases may happen to.
  if (DEEP) expect(Math.min(differing, shared)).toBeGreaterThan(15);
});
