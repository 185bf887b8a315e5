/** The comparison finds exactly the differences of the complete texts, independent of the types that were skipped as unchanged. */
import fc from 'fast-check';
import { buildSchema, findBreakingChanges, findDangerousChanges, type GraphQLSchema, introspectionFromSchema } from 'graphql';
import { expect, it } from 'vitest';
import { DEEP, runs } from '../../test/support/deep.ts';
import {
  catalogFunction,
  inPublic,
  schemaCache,
  sourceInfo,
  tableInfo,
  type TableSpec,
  typeNamed,
  unmasked,
} from '../../test/support/schema-cache-fixture.ts';
import { nameKey } from '../catalog/catalog.ts';
import { NO_REMOTE_CUSTOMIZATION } from '../metadata/remote-schema.ts';
import { NO_CUSTOMIZATION } from '../metadata/source.ts';
import { remoteNames } from '../remote-schema/customization.ts';
import { modelFromIntrospection } from '../remote-schema/from-introspection.ts';
import type {
  ComputedFieldInfo,
  FunctionInfo,
  RemoteRelationshipInfo,
  RemoteSchemaInfo,
  SchemaCache,
  TableInfo,
} from '../schema-cache/schema-cache.ts';
import type { Json } from '../util/json.ts';
import { runSync } from '../util/cooperative.ts';
import { compareSchemas } from './compare-schemas.ts';
import { DEFAULT_BUILD_OPTIONS, type FieldOptions } from '../schema/fields/options.ts';
import { unchangedTables } from '../schema/fields/same-for-role.ts';
import { createRoleSchemas, DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../schema/role-schemas.ts';
import { printRoleSchema } from './sdl.ts';
import type { RootTypes } from './types.ts';

const ROLES = ['admin', 'user', 'guest'] as const;
const COLUMNS = { id: 'int4!', other: 'int4', title: 'text', cost: 'numeric', born: 'date', data: 'jsonb', feel: 'text' } as const;
const RELATIONSHIPS = {
  as: ['array', 'a', 'id', 'other'],
  b: ['object', 'b', 'other', 'id'],
  cs: ['array', 'c', 'id', 'other'],
} as const;

const computed = (
  name: string,
  returns: ComputedFieldInfo['returns'],
  comment?: string,
  further: readonly string[] = [],
): ComputedFieldInfo => ({
  name,
  comment,
  function: catalogFunction(name, {
    arguments: ['line', ...further].map((argument) => ({ name: argument, type: typeNamed('int4'), hasDefault: false })),
  }),
  tableArgument: 0,
  sessionArgument: null,
  returns,
});
const COMPUTED = [
  computed('worth', { kind: 'scalar', type: typeNamed('numeric') }),
  computed('worth', { kind: 'scalar', type: typeNamed('float8') }, 'what it is worth'),
  computed('grown', { kind: 'scalar', type: typeNamed('int8') }, undefined, ['by']),
  computed('kin', { kind: 'table', table: inPublic('b') }),
] as const;

const someColumns = fc.subarray(Object.keys(COLUMNS) as (keyof typeof COLUMNS)[], { minLength: 1 });
// Types without fields have no valid text.
const names = someColumns.map((list) => unmasked('id', ...list));
const select = fc.record(
  {
    columns: names,
    computedFields: fc.subarray(['worth', 'grown'] as const).map((list) => unmasked(...list)),
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
    // Columns that others refer to always exist.
    columns: fc.subarray(['cost', 'born', 'data'] as const).map((list) => ['id', 'other', 'title', 'feel', ...list] as const),
    isRequired: fc.boolean(),
    key: fc.constantFrom(undefined, ['id']),
    unique: fc.constantFrom<Record<string, string[]>>({}, { titles: ['title'] }),
    relationships: fc.subarray(Object.keys(RELATIONSHIPS) as (keyof typeof RELATIONSHIPS)[]),
    permissions: byRole(select),
    writes: byRole(writes),
    computedFields: fc.uniqueArray(fc.constantFrom(...COMPUTED), { selector: ({ name }) => name, maxLength: 3 }),
    comment: fc.constantFrom(undefined, 'what it is'),
    costs: fc.constantFrom(null, 'what it costs'),
  })
  .map(({ columns, isRequired, key, relationships, comment, costs, ...rest }) => ({
    ...rest,
    columnFacts: { cost: { comment: costs } },
    columns: Object.fromEntries(columns.map((name) => [name, name === 'title' && isRequired ? 'text!' : COLUMNS[name]])),
    relationships: Object.fromEntries(relationships.map((name) => [name, RELATIONSHIPS[name]])),
    enums: { feel: 'mood' },
    ...(key === undefined ? {} : { key }),
    ...(comment === undefined ? {} : { comment }),
  }));

const moods: fc.Arbitrary<TableSpec> = fc
  .constantFrom<readonly (readonly string[] | undefined)[]>([undefined], [['Happy']], [['Happy', 'Sad']])
  .map(([enumValues]) => ({ columns: { value: 'text!' }, key: ['value'], ...(enumValues === undefined ? {} : { enumValues }) }));

/** A table before and after; null if it is not tracked. */
const pairOf = (name: string, spec: fc.Arbitrary<TableSpec>, isAlwaysThere = false): fc.Arbitrary<readonly (TableInfo | null)[]> => {
  const one = spec.map((made): TableInfo | null => tableInfo(name, made));
  const perhaps = isAlwaysThere ? one : fc.option(one, { freq: 6 });
  const same = perhaps.map((table) => [table, table]);
  return fc.oneof({ arbitrary: same, weight: 3 }, { arbitrary: fc.tuple(perhaps, perhaps), weight: 1 });
};

/** Mostly equal on both sides. */
const twice = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<readonly [T, T]> =>
  fc.oneof({ arbitrary: one.map((same): readonly [T, T] => [same, same]), weight: 6 }, { arbitrary: fc.tuple(one, one), weight: 1 });

const functions: fc.Arbitrary<readonly FunctionInfo[]> = fc.option(
  fc
    .record({
      exposedAs: fc.constantFrom('query' as const, 'mutation' as const),
      returns: fc.constantFrom('a', 'c'),
      permissions: fc.subarray(['user', 'guest']),
    })
    .map(({ exposedAs, returns, permissions }): readonly FunctionInfo[] => [
      {
        source: 'default',
        name: inPublic('found'),
        catalog: catalogFunction('found', { returnsTable: inPublic(returns), returnsSet: true }),
        customName: undefined,
        customRootFields: new Map(),
        comment: undefined,
        exposedAs,
        sessionArgument: null,
        returns: inPublic(returns),
        permissions: new Set(permissions),
      },
    ]),
  { nil: [] },
);

const server = (sdl: string): ReadonlyMap<string, RemoteSchemaInfo> => {
  const introspection = introspectionFromSchema(buildSchema(sdl), { inputValueDeprecation: true, specifiedByUrl: true });
  const model = runSync(modelFromIntrospection(introspection as unknown as Json));
  return new Map([['people', { name: 'people', model, names: remoteNames(model, NO_REMOTE_CUSTOMIZATION), permissions: null }]]);
};
const PEOPLE = `scalar date
enum Temper { GOOD BAD }
input Wanted { temper: Temper = GOOD, and: Wanted }
interface Being { id: ID! }
type Person implements Being { id: ID!, born: date }
union Found = Person
type Query { people(wanted: Wanted = { temper: BAD }, first: Int = 3): [Person!], found: Found }`;
// Shares a scalar with tables, and has default values, which cannot be parsed without their types.
const SERVERS = [
  new Map<string, never>(),
  server(PEOPLE),
  server(PEOPLE.replace('first: Int = 3', 'first: Int = 4')),
  server(PEOPLE.replace('and: Wanted', 'and: Wanted, born: date')),
  server(PEOPLE.replace('{ id: ID!, born: date }', '{ id: ID!, mood: Temper }')),
  server(PEOPLE.replace('GOOD BAD', 'GOOD BAD UGLY')),
] as const;

const FAR: RemoteRelationshipInfo = {
  name: 'far',
  target: {
    kind: 'source',
    source: 'default',
    table: inPublic('b'),
    relationship: 'array',
    columns: [{ local: 'id', remote: 'other' }],
  },
};
const FAR_RELATIONSHIPS: readonly SchemaCache['remoteRelationships'][] = [
  new Map(),
  new Map([['default', new Map([[nameKey(inPublic('c')), new Map([['far', FAR]])]])]]),
];

const CUSTOMIZATIONS = [NO_CUSTOMIZATION, { rootFields: {}, typeNames: { prefix: 'p_' } }] as const;

const cachePair = fc
  .tuple(
    fc.tuple(pairOf('a', ordinary, true), pairOf('b', ordinary), pairOf('c', ordinary), pairOf('mood', moods)),
    twice(fc.constantFrom('svc-default' as const, 'graphql-default' as const)),
    twice(fc.constantFrom(...CUSTOMIZATIONS)),
    twice(functions),
    twice(fc.constantFrom(...SERVERS)),
    twice(fc.constantFrom(...FAR_RELATIONSHIPS)),
  )
  .map(([tables, conventions, customizations, tracked, servers, far]): readonly [SchemaCache, SchemaCache] => {
    const side = (i: 0 | 1): SchemaCache => {
      const there = tables.flatMap((pair) => pair[i] ?? []);
      const known = tracked[i].filter(({ returns }) => there.some(({ name }) => nameKey(name) === nameKey(returns)));
      return {
        ...schemaCache(sourceInfo(there, { namingConvention: conventions[i], customization: customizations[i] }, known)),
        remoteSchemas: servers[i],
        remoteRelationships: far[i],
      };
    };
    return [side(0), side(1)];
  });

const options: fc.Arbitrary<FieldOptions> = fc
  .record({ inferFunctionPermissions: fc.boolean(), hideAggregationPredicates: fc.boolean(), hideUpdateManyFields: fc.boolean() })
  .map((given) => ({ ...DEFAULT_BUILD_OPTIONS, ...given }));

/** Returns the texts of types and of the list of roots, by name. */
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

it('returns exactly the types that differ', async () => {
  let [differing, shared] = [0, 0];
  await fc.assert(
    fc.asyncProperty(cachePair, fc.constantFrom(...ROLES), options, async ([before, after], role, build) => {
      const rootsOf = (cache: SchemaCache): RootTypes =>
        createRoleSchemas(cache, { ...DEFAULT_ROLE_SCHEMAS_OPTIONS, build }).wholeRoots(role, 'backend');
      const settled = runSync(unchangedTables(before, after));
      const [was, is] = [await printRoleSchema(rootsOf(before)), await printRoleSchema(rootsOf(after))];
      const found = await compareSchemas({ before: rootsOf(before), after: rootsOf(after), isUnchanged: settled });
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
        // All other types are equal on both sides.
        for (const [name, text] of parts[i] ?? []) {
          if (name !== 'schema' && mine.get(name) !== text) expect(parts[1 - i]?.get(name), name).toBe(text);
        }
      }
      // Each text is a document of its own from which clients' tools draw the same conclusions as from the complete ones.
      const schemaOf = (text: string): GraphQLSchema => buildSchema(text, { assumeValid: true });
      const [full, part] = [[schemaOf(was), schemaOf(is)] as const, [schemaOf(found.before), schemaOf(found.after)] as const];
      for (const find of [findBreakingChanges, findDangerousChanges]) expect(told(part, find)).toEqual(told(full, find));
    }),
    runs(300, 8),
  );
  // Otherwise the test would prove nothing; with few cases this may happen.
  if (DEEP) expect(Math.min(differing, shared)).toBeGreaterThan(15);
});
