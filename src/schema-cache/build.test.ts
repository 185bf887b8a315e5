import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { catalog, column, fakeBackend, named, sqlFunction, rowType, table, type } from '../../test/support/fake-backend.ts';
import { type Catalog, type CatalogTable, nameKey } from '../catalog/catalog.ts';
import { updateTable, withoutTable } from '../metadata/edit.ts';
import { decodeDocument } from '../metadata/document.ts';
import { kindsOf } from '../metadata/kinds.ts';
import { EMPTY_METADATA, type Metadata } from '../metadata/metadata.ts';
import type { Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { type Build, buildSchemaCache, type SourceInput } from './build.ts';
import { recordOf, recordsOf } from './inconsistency.ts';
import type { SchemaCache, TableInfo } from './schema-cache.ts';

const author = table('author', { columns: ['id int4!', 'name text', 'data jsonb'], key: ['id'] });
const article = table('article', {
  columns: ['id int4!', 'title text', 'author_id int4!', 'editor_id int4'],
  key: ['id'],
  references: ['author_id -> author.id', 'editor_id -> author.id'],
});
const address = table('address', {
  columns: ['author_id int4!', 'street text'],
  unique: [['author_id']],
  references: ['author_id -> author.id'],
});
const color = table('color', { columns: ['value text!', 'comment text'], key: ['value'] });
const shirt = table('shirt', { columns: ['id int4!', 'color text'], key: ['id'], references: ['color -> color.value'] });
const all = catalog([author, article, address, color, shirt]);

function decode(tables: readonly Json[], more: Record<string, Json> = {}, source: Record<string, Json> = {}): Metadata {
  const document: Json = { version: 3, sources: [{ name: 's', kind: 'fake', configuration: {}, tables, ...source }], ...more };
  return decodeDocument(document, ROOT, kindsOf([fakeBackend]), EMPTY_METADATA);
}

function open(found: Catalog, enums: Readonly<Record<string, readonly { value: string; description: string | null }[]>> = {}): SourceInput {
  return {
    kind: 'open',
    backend: fakeBackend,
    catalog: found,
    enumValues: new Map(Object.entries(enums).map(([name, values]) => [nameKey(named(name)), values])),
  };
}

function buildOf(metadata: Metadata, input: SourceInput = open(all), previous?: Build): Build {
  const sources = new Map([...metadata.sources.keys()].map((name) => [name, input]));
  return buildSchemaCache({ metadata, sources, options: { defaultNamingConvention: 'svc-default' } }, previous);
}

function cacheOf(tables: readonly Json[], found: Catalog = all): SchemaCache {
  return buildOf(decode(tables), open(found)).cache;
}

function infoOf(cache: SchemaCache, name: string): TableInfo | undefined {
  return cache.sources.get('s')?.tables.get(nameKey(named(name)));
}

const reasons = (cache: SchemaCache) => cache.inconsistencies.map(({ reason }) => reason.replace('Inconsistent object: ', ''));

describe('sources', () => {
  test('one that failed is one record, without its tables', () => {
    const { cache } = buildOf(
      decode([{ table: 'author', object_relationships: [{ name: 'x', using: { foreign_key_constraint_on: 'y' } }] }]),
      {
        kind: 'failed',
        reason: 'connection error',
        message: 'no route',
      },
    );
    expect(cache.sources.size).toBe(0);
    expect(cache.inconsistencies.map(recordOf)).toEqual([
      { definition: 's', name: 'source s', reason: 'Inconsistent object: connection error', type: 'source', message: 'no route' },
    ]);
  });

  test('objects of features that do not exist are reported', () => {
    const tables = [{ table: 'author', event_triggers: [{ name: 'changed' }] }];
    const { cache } = buildOf(decode(tables, { actions: [{ name: 'go', definition: {} }] }));
    expect(cache.inconsistencies.map(({ type: of, name, reason }) => [of, name, reason])).toEqual([
      ['action', 'action go', 'Inconsistent object: actions are not supported yet'],
      ['event_trigger', 'event_trigger changed in table author in source s', 'Inconsistent object: event_triggers are not supported yet'],
    ]);
  });
});

describe('tables', () => {
  test('names come from the configuration, else from table and schema', () => {
    const found = catalog([author, table('sales.order', { columns: ['id int4!'] }), table('my table', { columns: ['id int4!'] })]);
    const cache = cacheOf(
      [{ table: 'author', configuration: { custom_name: 'Writer' } }, { table: { schema: 'sales', name: 'order' } }, { table: 'my table' }],
      found,
    );
    expect(reasons(cache)).toEqual([]);
    expect(infoOf(cache, 'author')).toMatchObject({ baseName: 'Writer', customName: true, inGraphql: true });
    expect(infoOf(cache, 'sales.order')).toMatchObject({ baseName: 'sales_order', customName: false, inGraphql: true });
    expect(infoOf(cache, 'my table')).toMatchObject({ baseName: 'my table', inGraphql: false });
  });

  test('one that does not exist is one record; what belongs to it is not listed', () => {
    const cache = cacheOf([{ table: 'nothing', select_permissions: [{ role: 'r', permission: { columns: ['x'], filter: {} } }] }]);
    expect(cache.inconsistencies.map(recordOf)).toEqual([
      {
        definition: { schema: 'public', name: 'nothing' },
        name: 'table nothing in source s',
        reason: 'Inconsistent object: no such table/view exists in source: "nothing"',
        type: 'table',
      },
    ]);
  });

  test('names of keys must be GraphQL names, unless the database made them up from names that are not', () => {
    const bad: CatalogTable = { ...author, primaryKey: { name: 'author-key', columns: ['id'] } };
    expect(reasons(cacheOf([{ table: 'author' }], catalog([bad])))).toEqual([
      'cannot include "author-key" in the GraphQL schema because  it is not a valid GraphQL identifier',
    ]);
    const odd = table('odd-name', { columns: ['id int4!'], key: ['id'] });
    expect(reasons(cacheOf([{ table: 'odd-name', configuration: { custom_name: 'odd' } }], catalog([odd])))).toEqual([]);
  });

  test('columns: custom names, comments, illegal names left out', () => {
    const found = catalog([table('t', { columns: ['id int4!', { ...column('x text'), name: 'a b' }, 'c text', 'd text'] })]);
    const config = { column_config: { id: { custom_name: 'key' }, c: { comment: '' }, d: { comment: 'dee' }, 'a b': {} } };
    const columns = infoOf(cacheOf([{ table: 't', configuration: config }], found), 't')?.columns;
    expect([...(columns ?? [])].map(([name, c]) => [name, c.fieldName, c.customName, c.comment])).toEqual([
      ['id', 'key', true, undefined],
      ['c', 'c', false, null],
      ['d', 'd', false, 'dee'],
    ]);
  });

  test('types of columns must have GraphQL names, unless the column is left out itself', () => {
    const reason = 'cannot use SQL type "my-type" in the GraphQL schema because its name is not a valid GraphQL identifier';
    const found = (name: string) => catalog([table('t', { columns: ['id int4!', { ...column('x my-type[]'), name }] })]);
    const { inconsistencies } = cacheOf([{ table: 't' }], found('x'));
    expect(inconsistencies).toMatchObject([
      { type: 'table', reason: `Inconsistent object: ${reason}`, refusal: { code: 'validation-failed', message: reason } },
    ]);
    expect(reasons(cacheOf([{ table: 't' }], found('a b')))).toEqual([]);
    const custom = { column_config: { 'a b': { custom_name: 'ab' } } };
    expect(reasons(cacheOf([{ table: 't', configuration: custom }], found('a b')))).toEqual([reason]);
  });

  test('two columns cannot have one name', () => {
    const config = { column_config: { id: { custom_name: 'name' } } };
    expect(reasons(cacheOf([{ table: 'author', configuration: config }]))).toEqual([
      'the following field names belong to more than one column: "name" (columns "id", "name")',
    ]);
  });

  test('nor one name once the naming convention has re-cased them', () => {
    const found = catalog([table('t', { columns: ['first_name text', { ...column('x text'), name: 'firstName' }] })]);
    const camel = decode([{ table: 't' }], {}, { customization: { naming_convention: 'graphql-default' } });
    const plain = buildOf(decode([{ table: 't' }]), open(found));
    expect(reasons(plain.cache)).toEqual([]);
    const message = 'the following field names belong to more than one column: "firstName" (columns "first_name", "firstName")';
    expect(reasons(buildOf(camel, open(found), plain).cache)).toEqual([message]);
    const renamed = { first_name: { custom_name: 'first_name' } };
    const tables = [{ table: 't', configuration: { column_config: renamed } }];
    const apart = decode(tables, {}, { customization: { naming_convention: 'graphql-default' } });
    expect(reasons(buildOf(apart, open(found)).cache)).toEqual([]);
  });
});

describe('enum tables', () => {
  const rows = [
    { value: 'red', description: null },
    { value: 'blue', description: 'cold' },
  ];

  test('values are sorted, and columns that reference the key know it', () => {
    const { cache } = buildOf(decode([{ table: 'color', is_enum: true }, { table: 'shirt' }]), open(all, { color: rows }));
    expect(reasons(cache)).toEqual([]);
    expect(infoOf(cache, 'color')?.enumValues?.map(({ value }) => value)).toEqual(['blue', 'red']);
    expect(infoOf(cache, 'shirt')?.columns.get('color')?.enumTable).toEqual(named('color'));
    expect(infoOf(cacheOf([{ table: 'color' }, { table: 'shirt' }]), 'shirt')?.columns.get('color')?.enumTable).toBeNull();
  });

  test.each([
    ['no key', table('color', { columns: ['value text!'] }), rows, ' because the table must have a primary key'],
    [
      'a key of another type',
      table('color', { columns: ['value int4!'], key: ['value'] }),
      rows,
      ' because the table’s primary key ("value") must have type "text", not type "integer"',
    ],
    [
      'too many columns',
      table('color', { columns: ['value text!', 'a text', 'b text'], key: ['value'] }),
      rows,
      ' because the table must have exactly one primary key and optionally one comment column, not 3 columns (a, b, value)',
    ],
    ['no rows', color, [], ' because the table must have at least one row'],
    [
      'an illegal value',
      color,
      [{ value: 'dark red', description: null }],
      ' because the value "dark red" is not a valid GraphQL enum value name',
    ],
    [
      'two defects',
      color,
      [
        { value: 'true', description: null },
        { value: '1', description: null },
      ],
      ' for the following reasons:\n  • the value "true" is not a valid GraphQL enum value name\n  • the value "1" is not a valid GraphQL enum value name\n',
    ],
  ])('refused: %s', (_, tableOf, values, reason) => {
    const { cache } = buildOf(decode([{ table: 'color', is_enum: true }]), open(catalog([tableOf]), { color: values }));
    expect(reasons(cache)).toEqual([`the table "color" cannot be used as an enum${reason}`]);
  });
});

describe('relationships', () => {
  const object = (name: string, using: Json): Json => ({ name, using });
  const tracked: readonly Json[] = [{ table: 'address' }];

  test('over an own foreign key', () => {
    const cache = cacheOf([
      { table: 'author' },
      {
        table: 'article',
        object_relationships: [
          object('author', { foreign_key_constraint_on: 'author_id' }),
          object('editor', { foreign_key_constraint_on: ['editor_id'] }),
        ],
      },
    ]);
    const found = infoOf(cache, 'article')?.relationships;
    expect(found?.get('author')).toEqual({
      name: 'author',
      kind: 'object',
      comment: undefined,
      target: named('author'),
      join: { columns: [{ local: 'author_id', remote: 'id' }], unique: true },
      nullable: false,
      insertionOrder: 'before-parent',
    });
    expect(found?.get('editor')?.nullable).toBe(true);
  });

  test('over a foreign key of the other table: unique when its columns are a key there', () => {
    const cache = cacheOf([
      {
        table: 'author',
        object_relationships: [object('address', { foreign_key_constraint_on: { table: 'address', column: 'author_id' } })],
        array_relationships: [object('articles', { foreign_key_constraint_on: { table: 'article', columns: ['author_id'] } })],
      },
      { table: 'article' },
      ...tracked,
    ]);
    const found = infoOf(cache, 'author')?.relationships;
    expect([...(found?.keys() ?? [])]).toEqual(['address', 'articles']);
    expect(found?.get('address')).toMatchObject({
      join: { columns: [{ local: 'id', remote: 'author_id' }], unique: true },
      nullable: true,
      insertionOrder: 'after-parent',
    });
    expect(found?.get('articles')).toMatchObject({
      kind: 'array',
      join: { columns: [{ local: 'id', remote: 'author_id' }], unique: false },
      insertionOrder: 'after-parent',
    });
  });

  test('manual', () => {
    const using = (order: Json): Json => ({
      manual_configuration: { remote_table: 'author', column_mapping: { title: 'name' }, insertion_order: order },
    });
    const cache = cacheOf([
      { table: 'author' },
      { table: 'article', object_relationships: [object('a', using(null)), object('b', using('after_parent'))] },
    ]);
    expect(infoOf(cache, 'article')?.relationships.get('a')).toMatchObject({
      join: { columns: [{ local: 'title', remote: 'name' }], unique: false },
      nullable: true,
      insertionOrder: 'before-parent',
    });
    expect(infoOf(cache, 'article')?.relationships.get('b')?.insertionOrder).toBe('after-parent');
  });

  test.each<[string, Json, string]>([
    [
      'no such key',
      { foreign_key_constraint_on: 'title' },
      'in table "article": in relationship "r": no foreign constraint exists on the given column(s)',
    ],
    [
      'a key that points elsewhere',
      { foreign_key_constraint_on: { table: 'shirt', column: 'color' } },
      'in table "article": in relationship "r": no foreign constraint exists on the given column(s)',
    ],
    ['a target that is not tracked', { foreign_key_constraint_on: 'author_id' }, 'table "author" is not tracked'],
    [
      'a mapped column that is missing',
      { manual_configuration: { remote_table: 'shirt', column_mapping: { title: 'nope' } } },
      'table "shirt" has no field named "nope"',
    ],
  ])('refused: %s', (_, using, reason) => {
    expect(reasons(cacheOf([{ table: 'shirt' }, { table: 'article', object_relationships: [object('r', using)] }]))).toEqual([reason]);
  });

  test('several keys over the same columns are ambiguous', () => {
    const double = table('double', { columns: ['a int4'], references: ['a -> author.id', 'a -> article.id'] });
    const cache = cacheOf(
      [{ table: 'double', object_relationships: [object('r', { foreign_key_constraint_on: 'a' })] }, { table: 'author' }],
      catalog([double, author]),
    );
    expect(reasons(cache)).toEqual([
      'in table "double": in relationship "r": more than one foreign key constraint exists on the given column(s)',
    ]);
  });

  test('the record has the definition as it is exported', () => {
    const cache = cacheOf([
      { table: 'author', array_relationships: [object('articles', { foreign_key_constraint_on: { table: 'article', column: 'title' } })] },
      { table: 'article' },
    ]);
    expect(cache.inconsistencies.map(recordOf)).toEqual([
      {
        definition: {
          using: { foreign_key_constraint_on: { column: 'title', table: { schema: 'public', name: 'article' } } },
          name: 'articles',
          source: 's',
          comment: null,
          table: { schema: 'public', name: 'author' },
        },
        name: 'array_relation articles in table author in source s',
        reason: 'Inconsistent object: in table "author": in relationship "articles": no foreign constraint exists on the given column(s)',
        type: 'array_relation',
      },
    ]);
  });

  test('clashes with columns, custom names (also of the aggregate field) and computed fields', () => {
    const list = { foreign_key_constraint_on: { table: 'article', column: 'author_id' } };
    const config = { column_config: { name: { custom_name: 'articles_aggregate' } } };
    const found = catalog(
      [author, article],
      [sqlFunction('f', { arguments: [{ name: 'a', type: rowType('author'), hasDefault: false }] })],
    );
    const cache = cacheOf(
      [
        {
          table: 'author',
          configuration: config,
          array_relationships: [object('articles', list), object('id', list), object('both', list)],
          computed_fields: [{ name: 'both', definition: { function: 'f' } }],
        },
        { table: 'article' },
      ],
      found,
    );
    expect(cache.inconsistencies.map(({ name, reason }) => [name.split(' in table')[0], reason])).toEqual([
      ['array_relation articles', 'Inconsistent object: field definition conflicts with custom field name for postgres column "name"'],
      ['array_relation both', 'Conflicting objects: conflicting definitions for field "both"'],
      ['computed_field both', 'Conflicting objects: conflicting definitions for field "both"'],
      ['array_relation id', 'Inconsistent object: field definition conflicts with postgres column'],
    ]);
    expect(recordsOf(cache.inconsistencies)).toHaveLength(3);
    expect(infoOf(cache, 'author')?.relationships.size).toBe(0);
  });

  test('clashes of the aggregate field with other relationships and with columns', () => {
    const list = { foreign_key_constraint_on: { table: 'article', column: 'author_id' } };
    const wide = table('author', { columns: ['id int4!', 'sold_aggregate int4'], key: ['id'] });
    const cache = cacheOf(
      [
        {
          table: 'author',
          array_relationships: [object('articles', list), object('articles_aggregate', list), object('sold', list)],
        },
        { table: 'article' },
      ],
      catalog([wide, article]),
    );
    expect(cache.inconsistencies.map(({ name, reason }) => [name.split(' in table')[0], reason])).toEqual([
      ['array_relation articles', 'Conflicting objects: conflicting definitions for field "articles_aggregate"'],
      ['array_relation articles_aggregate', 'Conflicting objects: conflicting definitions for field "articles_aggregate"'],
      ['array_relation sold', 'Inconsistent object: field definition conflicts with postgres column'],
    ]);
    expect(recordsOf(cache.inconsistencies)).toHaveLength(2);
  });

  test('clashes that the naming convention brings about', () => {
    const list = { foreign_key_constraint_on: { table: 'article', column: 'author_id' } };
    const wide = table('author', { columns: ['id int4!', 'first_name text'], key: ['id'] });
    const tables: readonly Json[] = [
      {
        table: 'author',
        array_relationships: [object('firstName', list), object('my_list', list), object('myList', list)],
      },
      { table: 'article' },
    ];
    const plain = buildOf(decode(tables), open(catalog([wide, article])));
    expect(reasons(plain.cache)).toEqual([]);
    const camel = decode(tables, {}, { customization: { naming_convention: 'graphql-default' } });
    const { cache } = buildOf(camel, open(catalog([wide, article])), plain);
    expect(cache.inconsistencies.map(({ name, reason }) => [name.split(' in table')[0], reason])).toEqual([
      ['array_relation firstName', 'Inconsistent object: field definition conflicts with postgres column'],
      ['array_relation myList', 'Conflicting objects: conflicting definitions for field "myList"'],
      ['array_relation my_list', 'Conflicting objects: conflicting definitions for field "myList"'],
    ]);
  });
});

describe('computed fields', () => {
  const row = { name: 'a', type: rowType('author'), hasDefault: false };
  const fields = (...functions: Parameters<typeof sqlFunction>[1][]) => {
    const found = catalog(
      [author, article],
      functions.map((each) => sqlFunction('f', each)),
    );
    return cacheOf(
      [
        { table: 'author', computed_fields: [{ name: 'cf', definition: { function: 'f', session_argument: 'who' } }] },
        { table: 'article' },
      ],
      found,
    );
  };
  const who = { name: 'who', type: type('json'), hasDefault: false };

  test('scalar and table results', () => {
    expect(infoOf(fields({ arguments: [row, who] }), 'author')?.computedFields.get('cf')).toMatchObject({
      tableArgument: 0,
      sessionArgument: 1,
      returns: { kind: 'scalar', type: type('text') },
    });
    const set = fields({ arguments: [who, row], returns: rowType('article'), returnsTable: named('article'), returnsSet: true });
    expect(reasons(set)).toEqual([expect.stringContaining('the first argument of the function "f" is not COMPOSITE type')]);
  });

  test.each<[string, readonly Parameters<typeof sqlFunction>[1][], string]>([
    [
      'an argument of a type that GraphQL cannot name',
      [{ arguments: [row, who, { ...who, name: 'more', type: type('my-type') }] }],
      'cannot use SQL type "my-type" in the GraphQL schema because its name is not a valid GraphQL identifier',
    ],
    ['a result of such a type', [{ arguments: [row, who], returns: type('my-type') }], 'cannot use SQL type "my-type"'],
    ['missing', [], ': no such function exists: "f"'],
    ['overloaded', [{}, {}], ': function "f" is overloaded. Overloaded functions are not supported'],
    [
      'volatile',
      [{ volatility: 'volatile', arguments: [row, who] }],
      'because the function "f" is of type VOLATILE; cannot be added as a computed field',
    ],
    [
      'another table',
      [{ arguments: [{ ...row, type: rowType('article') }, who] }],
      'because the first argument of the function "f" of type "article" is not the table to which the computed field is being added',
    ],
    [
      'a session argument of another type',
      [{ arguments: [row, { ...who, type: type('text') }] }],
      'because argument "who" of the function "f" is not of type JSON',
    ],
    [
      'a result of no table',
      [{ arguments: [row, who], returnsSet: true }],
      'because the function "f" returning type text is not a BASE type',
    ],
  ])('refused: %s', (_, functions, reason) => {
    const [text] = reasons(fields(...functions));
    expect(text).toContain('in table "author": in computed field "cf": ');
    expect(text).toContain(reason);
  });
});

describe('functions', () => {
  const returning = { returns: rowType('author'), returnsTable: named('author'), returnsSet: true };
  const functionsOf = (
    entry: Json,
    fields: Parameters<typeof sqlFunction>[1] = returning,
    tables: readonly Json[] = [{ table: 'author' }],
  ) =>
    buildOf(
      decode(tables, {}, { functions: [{ function: 'f', ...(entry as object) }] }),
      open(catalog([author], [sqlFunction('f', fields)])),
    ).cache;

  test('exposed by volatility unless the metadata says otherwise', () => {
    const exposed = (entry: Json, fields: Parameters<typeof sqlFunction>[1]) =>
      functionsOf(entry, { ...returning, ...fields })
        .sources.get('s')
        ?.functions.get(nameKey(named('f')))?.exposedAs;
    expect(exposed({}, {})).toBe('query');
    expect(exposed({}, { volatility: 'volatile' })).toBe('mutation');
    expect(exposed({ configuration: { exposed_as: 'query' } }, { volatility: 'volatile' })).toBe('query');
  });

  test('refusals', () => {
    expect(reasons(functionsOf({ configuration: { exposed_as: 'mutation' } }))).toEqual([
      'in function "f": the function "f" cannot be tracked because the function was requested to be exposed as a mutation, but is not marked VOLATILE. Maybe the function was given the wrong volatility when it was defined?',
    ]);
    expect(reasons(functionsOf({}, { variadic: true }))).toEqual([
      'in function "f": the function "f" cannot be tracked for the following reasons:\n  • function with "VARIADIC" parameters are not supported\n  • the function does not return a "COMPOSITE" type\n',
    ]);
    expect(reasons(functionsOf({}, returning, []))).toEqual(['in function "f": table "author" is not tracked']);
    const odd = { ...returning, arguments: [{ name: 'a', type: type('my-type'), hasDefault: false }] };
    expect(reasons(functionsOf({}, odd))).toEqual([
      'in function "f": cannot use SQL type "my-type" in the GraphQL schema because its name is not a valid GraphQL identifier',
    ]);
  });

  test('a permission needs a select permission on the table', () => {
    const cache = functionsOf({ permissions: [{ role: 'a' }, { role: 'b' }] }, returning, [
      { table: 'author', select_permissions: [{ role: 'a', permission: { columns: [], filter: {} } }] },
    ]);
    expect([...(cache.sources.get('s')?.functions.get(nameKey(named('f')))?.permissions ?? [])]).toEqual(['a']);
    expect(cache.inconsistencies).toMatchObject([
      { type: 'function_permission', name: 'function_permission b permission for function f in source s' },
    ]);
  });

  test('an inherited role has the permission of any of its parents, also through another one', () => {
    const select_permissions = ['a', 'b'].map((role) => ({ role, permission: { columns: ['id'], filter: {} } }));
    const metadata = decode(
      [{ table: 'author', select_permissions }],
      {
        inherited_roles: [
          { role_name: 'outer', role_set: ['inner', 'b'] },
          { role_name: 'inner', role_set: ['a', 'b'] },
        ],
      },
      { functions: [{ function: 'f', permissions: [{ role: 'a' }] }] },
    );
    const input = open(catalog([author], [sqlFunction('f', returning)]));
    const permissionsIn = (build: Build) =>
      [...(build.cache.sources.get('s')?.functions.get(nameKey(named('f')))?.permissions ?? [])].sort();
    const build = buildOf(metadata, input);
    expect(permissionsIn(build)).toEqual(['a', 'inner', 'outer']);
    expect(permissionsIn(buildOf({ ...metadata, inheritedRoles: new Map() }, input, build))).toEqual(['a']);
  });
});

describe('names across tables', () => {
  test('the later object of two that claim a root field is out, and named with all its clashes', () => {
    const { cache } = buildOf(
      decode([
        { table: 'author', configuration: { custom_root_fields: { select: 'people' } } },
        { table: 'article', configuration: { custom_root_fields: { select_by_pk: 'people' } } },
      ]),
    );
    const message =
      "Encountered conflicting definitions in the selection set for 'subscription_root' for field 'people' defined in [table article in source s, table author in source s]. Fields must not be defined more than once across all sources.";
    expect(cache.inconsistencies).toMatchObject([
      { name: 'table article in source s', reason: `Inconsistent object: ${message}`, refusal: { code: 'unexpected', message } },
    ]);
    expect(infoOf(cache, 'article')).toBeUndefined();
    expect(infoOf(cache, 'author')).toBeDefined();
  });

  test('several clashes of one root are listed together', () => {
    const { cache } = buildOf(decode([{ table: 'article' }, { table: 'author', configuration: { custom_name: 'article' } }]));
    expect(cache.inconsistencies[0]?.refusal?.message).toBe(
      "Encountered conflicting definitions in the selection set for 'mutation_root' for fields: [\n" +
        [
          'delete_article_by_pk',
          'delete_article',
          'update_article_many',
          'update_article_by_pk',
          'update_article',
          'insert_article_one',
          'insert_article',
        ]
          .map((field) => `  '${field}' defined in [table article in source s, table author in source s]`)
          .join(',\n') +
        '\n]. Fields must not be defined more than once across all sources.',
    );
  });

  test('a type name is taken too; relationships to the loser are cut', () => {
    const found = catalog([author, table('author_aggregate', { columns: ['id int4!'], key: ['id'], references: ['id -> author.id'] })]);
    const rename = {
      custom_root_fields: Object.fromEntries(
        ['select', 'select_by_pk', 'select_aggregate', 'select_stream'].map((key) => [key, `other_${key}`]),
      ),
    };
    const cache = cacheOf(
      [
        {
          table: 'author',
          array_relationships: [{ name: 'r', using: { foreign_key_constraint_on: { table: 'author_aggregate', column: 'id' } } }],
        },
        { table: 'author_aggregate', configuration: rename },
      ],
      found,
    );
    expect(cache.inconsistencies.map(({ reason }) => reason)).toEqual([
      "Inconsistent object: Encountered conflicting definitions of the GraphQL type 'author_aggregate' in [table author in source s, table author_aggregate in source s]. Types must not be defined more than once across all sources.",
      'Inconsistent object: table "author_aggregate" is not tracked',
    ]);
  });

  test('the loser comes back when the name is free', () => {
    const tables: readonly Json[] = [{ table: 'article' }, { table: 'author', configuration: { custom_name: 'article' } }];
    const metadata = decode(tables);
    const conflict = buildOf(metadata);
    const { cache } = buildOf(withoutTable(metadata, 's', nameKey(named('article'))), undefined, conflict);
    expect(cache.inconsistencies).toEqual([]);
    expect(infoOf(cache, 'author')?.baseName).toBe('article');
  });

  test('a build that is thrown away leaves no trace in the register', () => {
    const metadata = decode([{ table: 'author' }]);
    const first = buildOf(metadata);
    const renamed = updateTable(metadata, 's', nameKey(named('author')), (t) => ({
      ...t,
      configuration: { ...t.configuration, customName: 'article' },
    }));
    buildOf(renamed, undefined, first);
    const both = buildOf(decode([{ table: 'author' }, { table: 'article' }]), undefined, first);
    expect(both.cache.inconsistencies).toEqual([]);
    expect(buildOf(renamed, undefined, both).cache.inconsistencies).toEqual([]);
    expect(buildOf(metadata, undefined, first).cache.inconsistencies).toEqual([]);
  });
});

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

  test('select permissions are joined, columns of some parents are masked by their filters', () => {
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

  test('an explicit permission wins, parents without one do not count', () => {
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

  test('mutation permissions must be alike, in any order; a conflict is informational', () => {
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

  test('unknown parents and cycles', () => {
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

  test('a cycle begins at the role that sorts first, whatever the order of the document and the way into it', () => {
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

describe('building upon the build before', () => {
  const base = decode([
    {
      table: 'author',
      array_relationships: [{ name: 'articles', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } }],
      select_permissions: ['a', 'b'].map((role) => ({
        role,
        permission: { columns: ['id'], filter: { articles: { title: { _eq: role } } } },
      })),
    },
    { table: 'article', object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }] },
    { table: 'address', select_permissions: [{ role: 'a', permission: { columns: '*', filter: { street: 'x' } } }] },
    { table: 'color', is_enum: true },
    { table: 'shirt' },
  ]);
  const input = open(all, { color: [{ value: 'red', description: null }] });

  test('what is not concerned stays the same object', () => {
    const first = buildOf(base, input);
    const edited = updateTable(base, 's', nameKey(named('address')), (t) => ({
      ...t,
      configuration: { ...t.configuration, comment: 'new' },
    }));
    const second = buildOf(edited, input, first);
    for (const name of ['author', 'article', 'color', 'shirt']) expect(infoOf(second.cache, name)).toBe(infoOf(first.cache, name));
    expect(infoOf(second.cache, 'address')).not.toBe(infoOf(first.cache, 'address'));
    expect(buildOf(edited, input, second).cache.sources.get('s')).toBe(second.cache.sources.get('s'));
  });

  test('an edit of one role leaves the permissions of others', () => {
    const first = buildOf(base, input);
    const edited = updateTable(base, 's', nameKey(named('author')), (t) => ({
      ...t,
      selectPermissions: new Map([...t.selectPermissions].slice(1)),
    }));
    const second = buildOf(edited, input, first);
    expect(infoOf(second.cache, 'author')?.permissions.get('b')).toBe(infoOf(first.cache, 'author')?.permissions.get('b'));
    expect(infoOf(second.cache, 'author')?.permissions.has('a')).toBe(false);
  });

  test('any sequence of edits gives what a build from scratch gives', () => {
    const names = ['author', 'article', 'address', 'color', 'shirt'];
    const step = fc.record({
      table: fc.constantFrom(...names),
      action: fc.constantFrom(
        'untrack',
        'track',
        'rename',
        'unrename',
        'enum',
        'permission',
        'no-permission',
        'relationship',
        'no-relationship',
        'drop',
        'create',
        'column',
        'inherit',
      ),
      discard: fc.boolean(),
    });
    const apply = (metadata: Metadata, found: Catalog, { table: name, action }: { table: string; action: string }): [Metadata, Catalog] => {
      const key = nameKey(named(name));
      const source = metadata.sources.get('s');
      if (source === undefined) return [metadata, found];
      const original = base.sources.get('s')?.tables.get(key);
      const edit = (change: (t: NonNullable<typeof original>) => NonNullable<typeof original>): Metadata =>
        source.tables.has(key) ? updateTable(metadata, 's', key, change) : metadata;
      const inCatalog = (tables: Catalog['tables']): [Metadata, Catalog] => [metadata, { ...found, tables }];
      switch (action) {
        case 'untrack':
          return [withoutTable(metadata, 's', key), found];
        case 'track':
          return [
            { ...metadata, sources: new Map([['s', { ...source, tables: new Map(source.tables).set(key, original as never) }]]) },
            found,
          ];
        case 'rename':
          return [edit((t) => ({ ...t, configuration: { ...t.configuration, customName: 'article' } })), found];
        case 'unrename':
          return [edit((t) => ({ ...t, configuration: (original as never as typeof t).configuration })), found];
        case 'enum':
          return [edit((t) => ({ ...t, isEnum: !t.isEnum })), found];
        case 'permission':
          return [
            edit((t) => ({
              ...t,
              selectPermissions: new Map(t.selectPermissions).set('a', {
                role: 'a',
                permission: {
                  columns: '*',
                  computedFields: [],
                  filter: { _exists: { _table: 'author', _where: { articles: { author: { name: 'x' } } } } },
                  allowAggregations: false,
                },
              }),
            })),
            found,
          ];
        case 'no-permission':
          return [edit((t) => ({ ...t, selectPermissions: new Map() })), found];
        case 'relationship':
          return [
            edit((t) => ({
              ...t,
              objectRelationships: (original as never as typeof t).objectRelationships,
              arrayRelationships: (original as never as typeof t).arrayRelationships,
            })),
            found,
          ];
        case 'no-relationship':
          return [edit((t) => ({ ...t, objectRelationships: new Map(), arrayRelationships: new Map() })), found];
        case 'drop':
          return inCatalog(new Map([...found.tables].filter(([each]) => each !== key)));
        case 'create':
          return inCatalog(new Map(found.tables).set(key, all.tables.get(key) as CatalogTable));
        case 'column': {
          const before = found.tables.get(key);
          return before === undefined
            ? [metadata, found]
            : inCatalog(
                new Map(found.tables).set(key, {
                  ...before,
                  columns: [...before.columns, column(`extra${before.columns.length} text`, 9)],
                }),
              );
        }
        default:
          return [{ ...metadata, inheritedRoles: new Map([['i', { roleName: 'i', roleSet: ['a', 'b'] }]]) }, found];
      }
    };
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        let metadata = base;
        let found = all;
        let build = buildOf(metadata, input);
        for (const each of steps) {
          const [nextMetadata, nextFound] = apply(metadata, found, each);
          const values = new Map([[nameKey(named('color')), [{ value: 'red', description: null }]]]);
          const nextInput: SourceInput = { ...(input as Extract<SourceInput, { kind: 'open' }>), catalog: nextFound, enumValues: values };
          const next = buildOf(nextMetadata, nextInput, build);
          expect(next.cache).toEqual(buildOf(nextMetadata, nextInput).cache);
          if (each.discard) continue;
          [metadata, found, build] = [nextMetadata, nextFound, next];
        }
      }),
      { numRuns: 300 },
    );
  });
});
