/** For all tracked objects, the GraphQL reference implementation accepts the schema of a role. */
import fc from 'fast-check';
import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  printSchema,
  validateSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { libraryCache } from '../../../test/support/library-fixture.ts';
import { schemaCache, sourceInfo, type TableSpec, tableInfo, unmasked } from '../../../test/support/schema-cache-fixture.ts';
import type { SchemaApi } from '../../metadata/schema-api.ts';
import type { SchemaCache } from '../../schema-cache/schema-cache.ts';
import { createRoleSchemas, DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../role-schemas.ts';
import { printRoleSchema } from '../../graphql-engine/sdl.ts';
import { DEFAULT_BUILD_OPTIONS, type SchemaVariant } from './options.ts';
import { relayRootTypes } from '../relay/root-types.ts';
import { rootTypes } from './root-types.ts';
import { SchemaContext } from './schema-context.ts';
import { textOfBytes } from '../../util/bytes.ts';
import { runs } from '../../../test/support/deep.ts';

async function introspect(cache: SchemaCache, role: string, variant: SchemaVariant, api: SchemaApi): Promise<IntrospectionQuery> {
  const prepared = createRoleSchemas(cache, DEFAULT_ROLE_SCHEMAS_OPTIONS).get(role, variant, api).prepare(getIntrospectionQuery(), null);
  const { response } = prepared.translate(prepared.variables({}));
  if (response.kind !== 'object') throw new Error('expected an object');
  const node = response.entries[0]?.[1];
  if (node?.kind !== 'deferred') throw new Error('expected a deferred response');
  return { __schema: JSON.parse(textOfBytes(await node.produce())) };
}

async function sdl(cache: SchemaCache, role: string, variant: SchemaVariant = 'frontend', api: SchemaApi = 'graphql'): Promise<string> {
  const types = api === 'relay' ? relayRootTypes : rootTypes;
  return printRoleSchema(types(new SchemaContext(cache, DEFAULT_BUILD_OPTIONS), role, variant));
}

/** Scalars that exist even if they are not used. */
const STANDARD = new Set(['Int', 'Float', 'String', 'Boolean', 'ID']);
const TYPES = [
  'int4',
  'int4!',
  'text',
  'text!',
  'jsonb',
  'bool',
  'float8',
  'numeric[]',
  'text[]',
  'geometry',
  'geography',
  'raster',
  'ltree',
  'uuid',
  'inet',
  'date',
  'money',
];
const NAMES = ['user_details', 'a', 'b_c', 'Order', '_x', 'film2'];

const API = fc.constantFrom<SchemaApi>('graphql', 'graphql', 'relay');
const VARIANT = fc.constantFrom<SchemaVariant>('frontend', 'backend');

const table = fc.record({
  columns: fc.array(fc.tuple(fc.constantFrom('id', 'first_name', 'fooBar', '_y', 'z9', 'OWNER'), fc.constantFrom(...TYPES)), {
    minLength: 1,
    maxLength: 5,
  }),
  key: fc.boolean(),
  custom: fc.option(fc.constantFrom('custom_one', 'CustomTwo'), { nil: undefined }),
  aggregations: fc.boolean(),
  target: fc.nat(),
  visible: fc.integer({ min: 1, max: 5 }),
  /** Number of columns that may be written. */
  insertable: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
  updatable: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }),
  deletable: fc.boolean(),
  backendOnly: fc.boolean(),
  unique: fc.constantFrom('a_key', 'not a name'),
  view: fc.boolean(),
});

const cacheOf = fc
  .record({
    tables: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), table), { minLength: 1, selector: ([name, spec]) => spec.custom ?? name }),
    convention: fc.constantFrom('svc-default' as const, 'graphql-default' as const),
    prefix: fc.constantFrom(undefined, 'pre_'),
    namespace: fc.constantFrom(undefined, 'app'),
  })
  .filter(({ tables }) => new Set(tables.map(([name]) => name)).size === tables.length)
  .map(({ tables, convention, prefix, namespace }) => {
    const infos = tables.map(([name, spec]) => {
      const columns = Object.fromEntries(spec.columns);
      const [first] = Object.keys(columns) as [string];
      const [target] = tables[spec.target % tables.length] as (typeof tables)[number];
      const firstColumns = (count: number) => new Set(Object.keys(columns).slice(0, count));
      const { insertable, updatable, deletable, backendOnly } = spec;
      const writes = {
        ...(insertable === undefined ? {} : { insert: { columns: firstColumns(insertable), backendOnly } }),
        ...(updatable === undefined ? {} : { update: { columns: firstColumns(updatable), backendOnly } }),
        ...(deletable ? { delete: { backendOnly } } : {}),
      };
      const made: TableSpec = {
        // `writer` may write but not read.
        writes: { user: writes, writer: writes },
        unique: { [spec.unique]: [first] },
        ...(spec.view ? { facts: { kind: 'view' as const, updatable: false, uniqueConstraints: [] } } : {}),
        columns,
        relationships: { owner: ['object', target, first, first], the_items: ['array', target, first, first] },
        permissions: {
          user: { columns: unmasked(...Object.keys(columns).slice(0, spec.visible)), allowAggregations: spec.aggregations },
        },
        ...(spec.key ? { key: [first] } : {}),
        ...(spec.custom === undefined ? {} : { configuration: { customName: spec.custom } }),
      };
      return tableInfo(name, made);
    });
    const customization = {
      rootFields: { ...(prefix === undefined ? {} : { prefix }), ...(namespace === undefined ? {} : { namespace }) },
      typeNames: prefix === undefined ? {} : { prefix },
    };
    return schemaCache(sourceInfo(infos, { namingConvention: convention, customization }));
  });

describe('the schema of a role', () => {
  it('is valid and equal by introspection and as SDL', async () => {
    await fc.assert(
      fc.asyncProperty(cacheOf, fc.constantFrom('admin', 'user', 'writer', 'nobody'), VARIANT, API, async (cache, role, variant, api) => {
        const client = buildClientSchema(await introspect(cache, role, variant, api));
        expect(validateSchema(client).map(({ message }) => message)).toEqual([]);
        const built = buildSchema(await sdl(cache, role, variant, api));
        expect(validateSchema(built).map(({ message }) => message)).toEqual([]);
        const names = (schema: GraphQLSchema) =>
          Object.keys(schema.getTypeMap())
            .filter((name) => !STANDARD.has(name))
            .sort();
        expect(names(built)).toEqual(names(client));
      }),
      runs(90),
    );
  });

  it('has the expected SDL', async () => {
    await expect(printSchema(buildSchema(await sdl(libraryCache(), 'user')))).toMatchFileSnapshot('__snapshots__/library-user.graphql.txt');
    await expect(printSchema(buildSchema(await sdl(libraryCache({ namingConvention: 'graphql-default' }), 'masked')))).toMatchFileSnapshot(
      '__snapshots__/library-masked-graphql-default.graphql.txt',
    );
  });
});
