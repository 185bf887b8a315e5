import { describe, expect, it } from 'vitest';
import { libraryCache, librarySource } from '../../../test/support/library-fixture.ts';
import { schemaCache, sourceInfo, tableInfo, unmasked } from '../../../test/support/schema-cache-fixture.ts';
import { failure, translate } from '../../../test/support/translate.ts';
import { DEFAULT_BUILD_OPTIONS } from './options.ts';
import { rootTypes } from './root-types.ts';
import { SchemaContext } from './schema-context.ts';
import type { SchemaCache } from '../../schema-cache/schema-cache.ts';
import type { ObjectType } from '../../graphql-engine/types.ts';
import { printType } from '../../graphql-engine/types.ts';

function roots(cache: SchemaCache, role: string) {
  return rootTypes(new SchemaContext(cache, DEFAULT_BUILD_OPTIONS), role, 'frontend');
}

function signatures(type: ObjectType): readonly string[] {
  return [...type.fields().values()].map(({ name, args, type: result }) => {
    const list = [...args.values()].map((argument) => `${argument.name}: ${printType(argument.type)}`).join(', ');
    return `${name}(${list}): ${printType(result)}`;
  });
}

const SELECT = (t: string) =>
  `distinct_on: [${t}_select_column!], limit: Int, offset: Int, order_by: [${t}_order_by!], where: ${t}_bool_exp`;

describe('root fields', () => {
  it('have the arguments and types that clients depend on', () => {
    expect(signatures(roots(libraryCache(), 'user').query)).toEqual([
      `author(${SELECT('author')}): [author!]!`,
      'author_by_pk(id: Int!): author',
      `article(${SELECT('article')}): [article!]!`,
      'article_by_pk(id: Int!): article',
      `article_aggregate(${SELECT('article')}): article_aggregate!`,
      `find_articles(args: find_articles_args!, ${SELECT('article')}): [article!]!`,
      `find_articles_aggregate(args: find_articles_args!, ${SELECT('article')}): article_aggregate!`,
    ]);
  });

  it('are described by the table', () => {
    const { query } = roots(libraryCache(), 'admin');
    expect(query.field?.('author')?.description).toBe('fetch data from the table: "author"');
    expect(query.field?.('author_by_pk')?.description).toBe('fetch data from the table: "author" using primary key columns');
    expect(query.field?.('find_articles')?.description).toBe('execute function "find_articles" which returns "article"');
  });

  it('follow the root field lists of the permission for each operation', () => {
    const { query, subscription } = roots(libraryCache(), 'masked');
    expect([...query.fields().keys()]).toEqual(['article_by_pk', 'find_articles']);
    expect([...(subscription as ObjectType).fields().keys()]).toEqual(['article', 'article_by_pk', 'find_articles', 'article_stream']);
  });

  it('need a permission on the function if permissions are not inferred', () => {
    const context = new SchemaContext(libraryCache(), { ...DEFAULT_BUILD_OPTIONS, inferFunctionPermissions: false });
    expect(rootTypes(context, 'user', 'frontend').query.field?.('find_articles')).toBeUndefined();
    expect(rootTypes(context, 'admin', 'frontend').query.field?.('find_articles')).toBeDefined();
  });

  it('are found by the names that are listed', () => {
    const { query } = roots(libraryCache(), 'admin');
    const one = query.field?.('article_aggregate');
    expect(query.fields().get('article_aggregate')).toBe(one);
    expect(query.field?.('nonsense')).toBeUndefined();
  });
});

describe('custom names', () => {
  const writer = tableInfo('author', { columns: { id: 'int4!' }, key: ['id'], configuration: { customName: 'writer' } });

  it('produce <name>_one and the alias <name>_by_pk', () => {
    const { query } = roots(schemaCache(sourceInfo([writer])), 'admin');
    expect([...query.fields().keys()]).toEqual(['writer', 'writer_one', 'writer_aggregate', 'writer_by_pk']);
  });

  it('drop the alias if a root has that name', () => {
    const other = tableInfo('writer_by_pk', { columns: { id: 'int4!' } });
    const cache = schemaCache(sourceInfo([writer, other]));
    expect(printType(roots(cache, 'admin').query.field?.('writer_by_pk')?.type as never)).toBe('[writer_by_pk!]!');
  });
});

describe('source customization', () => {
  it('moves the roots into a namespace, which is omitted if empty', () => {
    const cache = schemaCache(
      librarySource({
        customization: { rootFields: { namespace: 'app', prefix: 'fb_', suffix: '_x' }, typeNames: { prefix: 'p_', suffix: '_s' } },
      }),
    );
    const operation = translate(cache, '{ app { __typename a: fb_author_x { __typename } fb_article_by_pk_x(id: 1) { id } } }');
    expect(operation.response).toEqual({
      kind: 'object',
      entries: [
        [
          'app',
          {
            kind: 'object',
            entries: [
              ['__typename', { kind: 'json', text: '"p_app_query_s"' }],
              ['a', { kind: 'root', index: 0 }],
              ['fb_article_by_pk_x', { kind: 'root', index: 1 }],
            ],
          },
        ],
      ],
    });
    expect(operation.roots[0]?.root.query).toMatchObject({ fields: [{ typeName: 'p_author_s' }] });
    expect([...roots(cache, 'nobody').query.fields().keys()]).toEqual(['no_queries_available']);
  });

  it('renames everything by graphql-default', () => {
    const cache = libraryCache({ namingConvention: 'graphql-default' });
    const operation = translate(
      cache,
      `query ($o: [ArticleOrderBy!]) {
        authorAggregate(distinctOn: [id], orderBy: {id: DESC_NULLS_LAST}, where: {mood: {_eq: SAD}, name: {_isNull: true}}) {
          aggregate { stddevPop { rating } } nodes { mood searchArticles(args: {term: ""}, orderBy: $o) { authorId } __typename }
        }
      }`,
    );
    expect(operation.roots[0]?.root.query).toMatchObject({
      rows: {
        orderBy: [{ direction: 'desc', nulls: 'last' }],
        where: { items: [{ argument: { operand: { value: { json: 'Sad' } } } }, { kind: 'is-null' }] },
      },
      fields: [
        { fields: [{ alias: 'stddevPop', function: 'stddev_pop' }] },
        {
          fields: [{ alias: 'mood', upperCase: true }, { query: { fields: [{ read: { column: 'author_id' } }] } }, { typeName: 'Author' }],
        },
      ],
    });
  });
});

describe('several sources', () => {
  it('answer one operation, each with its own names', () => {
    const other = sourceInfo([tableInfo('event', { columns: { id: 'int4!' }, permissions: { user: { columns: unmasked('id') } } })], {
      name: 'other',
    });
    const operation = translate(schemaCache(librarySource(), other), '{ author { id } event { id } }', { role: 'user' });
    expect(operation.roots.map(({ source }) => source)).toEqual(['default', 'other']);
    expect(failure(() => translate(schemaCache(other), '{ author { id } }', { role: 'user' }))).toContain(
      "field 'author' not found in type: 'query_root'",
    );
  });
});
