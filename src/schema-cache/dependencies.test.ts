import { describe, expect, test } from 'vitest';
import { catalog, fakeBackend, named, rowType, sqlFunction, table } from '../../test/support/fake-backend.ts';
import { kindsOf } from '../metadata/kinds.ts';
import { decodeDocument } from '../metadata/document.ts';
import { EMPTY_METADATA, type Metadata } from '../metadata/metadata.ts';
import type { Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { buildSchemaCache } from './build.ts';
import { dependents, type DroppedObject, dropRefusal } from './dependencies.ts';

const found = catalog(
  [
    table('author', { columns: ['id int4!', 'name text'], key: ['id'] }),
    table('article', { columns: ['id int4!', 'title text', 'author_id int4'], key: ['id'], references: ['author_id -> author.id'] }),
    table('note', { columns: ['id int4!', 'text text'], key: ['id'] }),
  ],
  [
    sqlFunction('author_articles', {
      arguments: [{ name: 'a', type: rowType('author'), hasDefault: false }],
      returns: rowType('article'),
      returnsTable: named('article'),
      returnsSet: true,
    }),
    sqlFunction('find_articles', { returns: rowType('article'), returnsTable: named('article'), returnsSet: true }),
    sqlFunction('shout', { arguments: [{ name: 'n', type: rowType('note'), hasDefault: false }] }),
  ],
);

const select = (role: string, filter: Json, columns: Json = ['id'], more: object = {}): Json => ({
  role,
  permission: { columns, filter, ...more },
});
const document: Json = {
  version: 3,
  sources: [
    {
      name: 's',
      kind: 'fake',
      configuration: {},
      functions: [{ function: 'find_articles' }],
      tables: [
        {
          table: 'author',
          array_relationships: [{ name: 'articles', using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } } }],
          computed_fields: [{ name: 'all', definition: { function: 'author_articles' } }],
          select_permissions: [select('reader', { articles: { title: { _eq: 'x' } } }), select('writer', { name: { _ceq: 'name' } })],
        },
        {
          table: 'article',
          object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
          select_permissions: [select('reader', { author: { articles: { id: { _gt: 1 } } } }), select('writer', {}, '*')],
        },
        {
          table: 'note',
          computed_fields: [{ name: 'loud', definition: { function: 'shout' } }],
          select_permissions: [
            select('reader', { _or: [{ _exists: { _table: 'article', _where: { title: { _ceq: ['$', 'text'] } } } }] }),
            select('writer', {}, ['id'], { computed_fields: ['loud'] }),
          ],
        },
      ],
    },
  ],
};
const metadata = decodeDocument(document, ROOT, kindsOf([fakeBackend]), EMPTY_METADATA);
const build = (of: Metadata) =>
  buildSchemaCache({
    metadata: of,
    sources: new Map([['s', { kind: 'open', backend: fakeBackend, catalog: found, enumValues: new Map() }]]),
    options: { defaultNamingConvention: 'svc-default' },
  }).cache;
const cache = build(metadata);

function texts(...dropped: readonly DroppedObject[]): readonly string[] {
  return dependents(metadata, cache, dropped).map(({ text }) => text.replace(' in source "s"', ''));
}

const at = (name: string) => ({ source: 's', table: named(name) });

test('the fixture is consistent', () => {
  expect(cache.inconsistencies).toEqual([]);
});

describe('dropping a table', () => {
  test('removes its own objects silently, and lists those of other tables', () => {
    expect(texts({ kind: 'table', ...at('article') })).toEqual([
      'computed field author.all',
      'function find_articles',
      'permission author.reader.select',
      'permission note.reader.select',
      'relationship author.articles',
    ]);
  });

  test('tables that are dropped together do not depend on each other', () => {
    expect(texts({ kind: 'table', ...at('article') }, { kind: 'table', ...at('author') })).toEqual([
      'function find_articles',
      'permission note.reader.select',
    ]);
  });

  test('cascade removes every dependent and leaves no inconsistency', () => {
    const dropped: DroppedObject = { kind: 'table', ...at('article') };
    const without = dependents(metadata, cache, [dropped]).reduce((edited, { remove }) => remove(edited), metadata);
    const source = without.sources.get('s');
    const tables = new Map([...(source?.tables ?? [])].filter(([, entry]) => entry.table.name !== 'article'));
    const after = { ...without, sources: new Map([['s', { ...(source as NonNullable<typeof source>), tables }]]) };
    expect(build(after).inconsistencies).toEqual([]);
  });
});

test('permissions depend on the relationships that they use, in either direction', () => {
  expect(texts({ kind: 'relationship', ...at('article'), name: 'author' })).toEqual(['permission article.reader.select']);
  expect(texts({ kind: 'relationship', ...at('author'), name: 'articles' })).toEqual([
    'permission article.reader.select',
    'permission author.reader.select',
  ]);
});

test('lists, `*`, expressions, both sides of comparisons and relationships depend on a column', () => {
  expect(texts({ kind: 'column', ...at('author'), name: 'name' })).toEqual(['permission author.writer.select']);
  expect(texts({ kind: 'column', ...at('note'), name: 'text' })).toEqual(['permission note.reader.select']);
  expect(texts({ kind: 'column', ...at('article'), name: 'author_id' })).toEqual([
    'permission article.reader.select',
    'permission article.writer.select',
    'permission author.reader.select',
    'relationship article.author',
    'relationship author.articles',
  ]);
});

test('relationships from both ends depend on a foreign key', () => {
  const dropped: DroppedObject = { kind: 'constraint', ...at('article'), name: 'article_fkey0' };
  expect(texts(dropped)).toEqual([
    'permission article.reader.select',
    'permission author.reader.select',
    'relationship article.author',
    'relationship author.articles',
  ]);
  expect(texts({ ...dropped, name: 'article_pkey' })).toEqual([]);
});

test('a computed field depends on its function', () => {
  expect(texts({ kind: 'computed-field', ...at('note'), name: 'loud' })).toEqual(['permission note.writer.select']);
  expect(texts({ kind: 'database-function', source: 's', function: named('shout') })).toEqual([
    'computed field note.loud',
    'permission note.writer.select',
  ]);
});

test('permissions that only list a dropped computed field stay without it', () => {
  for (const dropped of [
    { kind: 'computed-field', ...at('note'), name: 'loud' },
    { kind: 'database-function', source: 's', function: named('shout') },
  ] as const) {
    const found = dependents(metadata, cache, [dropped]);
    expect(found.find(({ text }) => text.startsWith('permission'))?.effect).toBe('changed');
    const narrowed = found.reduce((edited, { remove }) => remove(edited), metadata);
    const note = [...(narrowed.sources.get('s')?.tables.values() ?? [])].find(({ table }) => table.name === 'note');
    expect(note?.selectPermissions.get('writer')?.permission).toMatchObject({ columns: ['id'], computedFields: [] });
    expect(note?.selectPermissions.has('reader')).toBe(true);
  }
});

test('nothing depends on a tracked function, a permission or a source', () => {
  expect(texts({ kind: 'function', source: 's', function: named('find_articles') })).toEqual([]);
  expect(texts({ kind: 'permission', ...at('note'), permission: 'select', role: 'reader' })).toEqual([]);
  expect(texts({ kind: 'source', source: 's' })).toEqual([]);
});

test('the refusal lists the dependents with their source', () => {
  const list = dependents(metadata, cache, [{ kind: 'computed-field', ...at('note'), name: 'loud' }]);
  expect(dropRefusal(list)).toBe('cannot drop due to the following dependent objects: permission note.writer.select in source "s"');
});
