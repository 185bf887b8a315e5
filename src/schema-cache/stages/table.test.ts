import { describe, expect, test } from 'vitest';
import { catalog, column, table } from '../../../test/support/fake-backend.ts';
import { author, decode, open, buildOf, cacheOf, infoOf, reasons } from '../../../test/support/schema-cache-build.ts';
import type { CatalogTable } from '../../catalog/catalog.ts';
import { recordOf } from '../inconsistency.ts';

describe('tables', () => {
  test('take their names from the configuration, or from table and schema', () => {
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

  test('a missing table has one record and none for its own objects', () => {
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

  test('require GraphQL names of keys, unless the database generated them from other names', () => {
    const bad: CatalogTable = { ...author, primaryKey: { name: 'author-key', columns: ['id'] } };
    expect(reasons(cacheOf([{ table: 'author' }], catalog([bad])))).toEqual([
      'cannot include "author-key" in the GraphQL schema because  it is not a valid GraphQL identifier',
    ]);
    const odd = table('odd-name', { columns: ['id int4!'], key: ['id'] });
    expect(reasons(cacheOf([{ table: 'odd-name', configuration: { custom_name: 'odd' } }], catalog([odd])))).toEqual([]);
  });

  test('columns have custom names and comments, and those with invalid names are omitted', () => {
    const found = catalog([table('t', { columns: ['id int4!', { ...column('x text'), name: 'a b' }, 'c text', 'd text'] })]);
    const config = { column_config: { id: { custom_name: 'key' }, c: { comment: '' }, d: { comment: 'dee' }, 'a b': {} } };
    const columns = infoOf(cacheOf([{ table: 't', configuration: config }], found), 't')?.columns;
    expect([...(columns ?? [])].map(([name, c]) => [name, c.fieldName, c.customName, c.comment])).toEqual([
      ['id', 'key', true, undefined],
      ['c', 'c', false, null],
      ['d', 'd', false, 'dee'],
    ]);
  });

  test('require GraphQL names of column types, unless the column itself is omitted', () => {
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

  test('reject two columns with one name', () => {
    const config = { column_config: { id: { custom_name: 'name' } } };
    expect(reasons(cacheOf([{ table: 'author', configuration: config }]))).toEqual([
      'the following field names belong to more than one column: "name" (columns "id", "name")',
    ]);
  });

  test('reject two columns with one name after re-casing', () => {
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
