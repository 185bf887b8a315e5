import { describe, expect, test } from 'vitest';
import { catalog, named, rowType, sqlFunction, table } from '../../../test/support/fake-backend.ts';
import { author, article, decode, open, buildOf, cacheOf, infoOf, reasons } from '../../../test/support/schema-cache-build.ts';
import type { Json } from '../../util/json.ts';
import { recordOf, recordsOf } from '../inconsistency.ts';

describe('relationships', () => {
  const object = (name: string, using: Json): Json => ({ name, using });
  const tracked: readonly Json[] = [{ table: 'address' }];

  test('resolve a foreign key of the table', () => {
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

  test('resolve a foreign key of the other table, unique if its columns are a key there', () => {
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

  test('resolve a manual configuration', () => {
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
  ])('reject %s', (_, using, reason) => {
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

  test('conflict with columns, custom names (also of the aggregate field) and computed fields', () => {
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
      ['array_relation articles', 'Inconsistent object: field definition conflicts with custom field name for fake column "name"'],
      ['array_relation both', 'Conflicting objects: conflicting definitions for field "both"'],
      ['computed_field both', 'Conflicting objects: conflicting definitions for field "both"'],
      ['array_relation id', 'Inconsistent object: field definition conflicts with fake column'],
    ]);
    expect(recordsOf(cache.inconsistencies)).toHaveLength(3);
    expect(infoOf(cache, 'author')?.relationships.size).toBe(0);
  });

  test('conflict if the aggregate field has the name of another relationship or column', () => {
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
      ['array_relation sold', 'Inconsistent object: field definition conflicts with fake column'],
    ]);
    expect(recordsOf(cache.inconsistencies)).toHaveLength(2);
  });

  test('conflict because of the naming convention', () => {
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
      ['array_relation firstName', 'Inconsistent object: field definition conflicts with fake column'],
      ['array_relation myList', 'Conflicting objects: conflicting definitions for field "myListAggregate"'],
      ['array_relation my_list', 'Conflicting objects: conflicting definitions for field "myListAggregate"'],
    ]);
  });
});
