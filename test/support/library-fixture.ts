/** Authors, articles and related tables: the schema cache of most schema tests. */
import type { ComputedFieldInfo, FunctionInfo, SchemaCache, SourceInfo } from '../../src/schema-cache/schema-cache.ts';
import type { BoolExp } from '../../src/ir/bool-exp.ts';
import { catalogFunction, inPublic, schemaCache, sourceInfo, tableInfo, typeNamed, unmasked } from './schema-cache-fixture.ts';

/** `author_id = x-svc-user-id`. */
export const OWN_ARTICLES: BoolExp = {
  kind: 'compare',
  left: { kind: 'column', column: 'author_id', type: typeNamed('int4') },
  operator: '_eq',
  argument: { kind: 'operand', operand: { value: { kind: 'session', name: 'x-svc-user-id' }, type: typeNamed('int4'), list: false } },
  nullSafe: false,
};

const argument = (name: string, type: string, hasDefault = false) => ({ name, type: typeNamed(type), hasDefault });

const fullName: ComputedFieldInfo = {
  name: 'full_name',
  comment: undefined,
  function: catalogFunction('author_full_name', { arguments: [argument('a', 'author'), argument('claims', 'json')] }),
  tableArgument: 0,
  sessionArgument: 1,
  returns: { kind: 'scalar', type: typeNamed('text') },
};

const search: ComputedFieldInfo = {
  name: 'search_articles',
  comment: 'finds',
  function: catalogFunction('search_author_articles', {
    arguments: [argument('a', 'author'), argument('term', 'text'), argument('strict', 'bool', true), argument('more', 'int4', true)],
    returnsTable: inPublic('article'),
    returnsSet: true,
  }),
  tableArgument: 0,
  sessionArgument: null,
  returns: { kind: 'table', table: inPublic('article') },
};

const drafts: ComputedFieldInfo = {
  name: 'drafts',
  comment: undefined,
  function: catalogFunction('author_drafts', { arguments: [argument('a', 'author')], returnsTable: inPublic('article'), returnsSet: true }),
  tableArgument: 0,
  sessionArgument: null,
  returns: { kind: 'table', table: inPublic('article') },
};

const author = tableInfo('author', {
  columns: { id: 'int4!', name: 'text', born: 'date', mood: 'text', rating: 'float8', active: 'bool', tags: 'text[]', data: 'jsonb' },
  key: ['id'],
  enums: { mood: 'mood' },
  relationships: { articles: ['array', 'article', 'id', 'author_id'] },
  computedFields: [fullName, search, drafts],
  permissions: {
    user: { columns: unmasked('id', 'name'), computedFields: unmasked('full_name') },
    blind: { computedFields: unmasked('full_name'), allowAggregations: true },
    plain: { columns: unmasked('id') },
  },
});

const article = tableInfo('article', {
  columns: { id: 'int4!', title: 'text!', author_id: 'int4!', views: 'int4', place: 'geometry' },
  key: ['id'],
  relationships: {
    author: ['object', 'author', 'author_id', 'id'],
    secret: ['object', 'secret', 'id', 'article_id'],
    readers: ['array', 'author', 'id', 'id'],
  },
  permissions: {
    user: { columns: unmasked('id', 'title'), filter: OWN_ARTICLES, limit: 5, allowAggregations: true },
    masked: {
      columns: new Map([
        ['id', null],
        ['title', OWN_ARTICLES],
      ]),
      queryRootFields: new Set(['select_by_pk'] as const),
    },
  },
});

const secret = tableInfo('secret', { columns: { article_id: 'int4', code: 'uuid' } });
const mood = tableInfo('mood', { columns: { value: 'text!' }, key: ['value'], enumValues: ['Happy', 'Sad'] });

const findArticles: FunctionInfo = {
  source: 'default',
  name: inPublic('find_articles'),
  catalog: catalogFunction('find_articles', {
    arguments: [argument('term', 'text'), argument('session', 'json'), argument('', 'int4', true)],
    returnsTable: inPublic('article'),
    returnsSet: true,
  }),
  customName: undefined,
  customRootFields: new Map(),
  comment: undefined,
  exposedAs: 'query',
  sessionArgument: 1,
  returns: inPublic('article'),
  permissions: new Set(),
};

export function librarySource(rest: Partial<SourceInfo> = {}): SourceInfo {
  return sourceInfo([author, article, secret, mood], rest, [findArticles]);
}

export function libraryCache(rest: Partial<SourceInfo> = {}): SchemaCache {
  return schemaCache(librarySource(rest));
}
