import { describe, expect, it } from 'vitest';
import type { CustomRootField, RootFieldKey } from '../metadata/table.ts';
import {
  fieldName,
  functionRootName,
  namesOfFunction,
  namesOfNamespace,
  namesOfTable,
  type NameStyle,
  predicateColumnsTypeName,
  sharedTypeName,
  tableRootNames,
  tableTypeName,
} from './naming.ts';

const plain: NameStyle = { namingConvention: 'svc-default', customization: { rootFields: {}, typeNames: {} } };
const cased: NameStyle = { ...plain, namingConvention: 'graphql-default' };

function table(baseName: string, customName = false, roots: Partial<Record<RootFieldKey, CustomRootField>> = {}) {
  const customRootFields = new Map(Object.entries(roots) as [RootFieldKey, CustomRootField][]);
  return { baseName, customName, configuration: { customRootFields }, enumValues: null, computedFields: new Map<string, unknown>() };
}

describe('names of the default convention', () => {
  it.each([
    ['select', 'author'],
    ['select_by_pk', 'author_by_pk'],
    ['select_aggregate', 'author_aggregate'],
    ['select_stream', 'author_stream'],
    ['insert', 'insert_author'],
    ['insert_one', 'insert_author_one'],
    ['update', 'update_author'],
    ['update_by_pk', 'update_author_by_pk'],
    ['update_many', 'update_author_many'],
    ['delete', 'delete_author'],
    ['delete_by_pk', 'delete_author_by_pk'],
  ] as const)('%s is %s', (key, name) => {
    expect(tableRootNames(plain, table('author'), key)).toEqual({ name, alias: null });
  });

  it('names the by-key root of a custom name <name>_one, with <name>_by_pk as an alias', () => {
    expect(tableRootNames(plain, table('Writer', true), 'select_by_pk')).toEqual({ name: 'Writer_one', alias: 'Writer_by_pk' });
    expect(tableRootNames(plain, table('Writer', true), 'update_by_pk')).toEqual({ name: 'update_Writer_by_pk', alias: null });
  });

  it('replaces the name and the alias by custom root fields, within prefix and suffix', () => {
    const style: NameStyle = {
      ...plain,
      customization: { rootFields: { prefix: 'fb_', suffix: '_x' }, typeNames: { prefix: 'p_', suffix: '_s' } },
    };
    const custom = table('Writer', true, { select_by_pk: { name: 'one_writer' } });
    expect(tableRootNames(style, custom, 'select_by_pk')).toEqual({ name: 'fb_one_writer_x', alias: null });
    expect(tableRootNames(style, custom, 'select').name).toBe('fb_Writer_x');
    expect(tableTypeName(style, custom, 'bool_exp')).toBe('p_Writer_bool_exp_s');
  });

  it('keeps the custom name of a root that has only a comment', () => {
    expect(tableRootNames(plain, table('a', false, { select: { comment: 'hm' } }), 'select').name).toBe('a');
  });
});

describe('names of graphql-default', () => {
  it.each([
    ['select', 'userDetails'],
    ['select_by_pk', 'userDetailsByPk'],
    ['insert_one', 'insertUserDetailsOne'],
    ['update_many', 'updateUserDetailsMany'],
  ] as const)('%s is %s', (key, name) => {
    expect(tableRootNames(cased, table('user_details'), key).name).toBe(name);
  });

  it('does not re-case custom names, and appends re-cased suffixes', () => {
    const custom = table('table_one', true);
    expect(tableRootNames(cased, custom, 'select')).toEqual({ name: 'table_one', alias: null });
    expect(tableRootNames(cased, custom, 'select_by_pk')).toEqual({ name: 'table_oneOne', alias: 'table_oneByPk' });
    expect(tableRootNames(cased, custom, 'insert_one').name).toBe('insertTable_oneOne');
    expect(tableTypeName(cased, custom)).toBe('table_one');
    expect(tableTypeName(cased, custom, 'bool_exp')).toBe('table_oneBoolExp');
    expect(tableTypeName(cased, custom, 'sum', 'order_by')).toBe('table_oneSumOrderBy');
  });

  it.each([
    ['subcategory_enums', ['aggregate_order_by'], 'subcategoryEnumsAggregateOrderBy'],
    ['subcategory_enums', ['aggregate_bool_exp', 'count'], 'subcategoryEnumsAggregateBoolExpCount'],
    ['Table__one', ['aggregate_bool_exp', 'bool_and'], 'TableOneAggregateBoolExpBoolAnd'],
    ['_one_', ['aggregate_bool_exp'], '_one_AggregateBoolExp'],
  ])('joins the words of the custom name %s in %j: %s', (name, suffixes, expected) => {
    expect(tableTypeName(cased, table(name, true), ...suffixes)).toBe(expected);
    expect(tableTypeName(plain, table(name, true), ...suffixes)).toBe([name, ...suffixes].join('_'));
  });

  it('joins prefix and suffix with capitals', () => {
    const style: NameStyle = { ...cased, customization: { rootFields: { prefix: 'test', suffix: 'query' }, typeNames: {} } };
    expect(tableRootNames(style, table('author_local'), 'select').name).toBe('testAuthorLocalQuery');
    expect(tableRootNames(style, table('author_local'), 'insert').name).toBe('testInsertAuthorLocalQuery');
  });

  it.each([
    ['_has_keys_any', '_hasKeysAny'],
    ['_eq', '_eq'],
    ['author__id', 'authorId'],
    ['ID', 'id'],
    ['authorId', 'authorId'],
    ['_', '_'],
    ['address_2', 'address2'],
  ])('makes the field %s %s', (name, expected) => {
    expect(fieldName('graphql-default', name)).toBe(expected);
  });

  it('capitalizes shared types and scalars', () => {
    expect(sharedTypeName('graphql-default', 'Int', 'comparison_exp')).toBe('IntComparisonExp');
    expect(sharedTypeName('graphql-default', 'order_by')).toBe('OrderBy');
    expect(sharedTypeName('graphql-default', 'uuid')).toBe('Uuid');
  });
});

describe('names that an object produces', () => {
  it('lists roots per operation and the types', () => {
    const { roots, types } = namesOfTable(plain, { ...table('color', true), enumValues: [] });
    expect(roots).toContainEqual({ root: 'query', namespace: null, name: 'color_one', givesWay: false });
    expect(roots).toContainEqual({ root: 'subscription', namespace: null, name: 'color_by_pk', givesWay: true });
    expect(roots.filter(({ name }) => name === 'color_stream').map(({ root }) => root)).toEqual(['subscription']);
    expect(types).toEqual(
      expect.arrayContaining(['color', 'color_bool_exp', 'color_sum_fields', 'color_enum', 'color_enum_comparison_exp']),
    );
    expect(new Set(types).size).toBe(types.length);
    expect(predicateColumnsTypeName(plain, table('t'), 'bool_and')).toBe('t_select_column_t_aggregate_bool_exp_bool_and_arguments_columns');
  });

  it('puts the roots of a source with a namespace into it', () => {
    const style: NameStyle = { ...plain, customization: { rootFields: { namespace: 'app' }, typeNames: { prefix: 'p_' } } };
    expect(namesOfTable(style, table('a')).roots.every(({ namespace }) => namespace === 'app')).toBe(true);
    expect(namesOfNamespace(style).types).toContain('p_app_mutation_backend');
    expect(namesOfNamespace(plain)).toEqual({ roots: [], types: [] });
  });

  it('names functions by schema, custom name and exposure', () => {
    const info = { name: { schema: 'other', name: 'find' }, customName: undefined, customRootFields: new Map() };
    expect(functionRootName(plain, info, 'public', 'function_aggregate')).toBe('other_find_aggregate');
    expect(functionRootName(plain, { ...info, customName: 'look' }, 'public', 'function')).toBe('look');
    const { roots } = namesOfFunction(plain, { ...info, exposedAs: 'mutation' }, 'public');
    expect(roots.map(({ root, name }) => `${root} ${name}`)).toEqual(['mutation other_find']);
  });
});
