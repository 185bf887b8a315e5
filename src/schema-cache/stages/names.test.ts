import { describe, expect, test } from 'vitest';
import { catalog, named, table } from '../../../test/support/fake-backend.ts';
import { author, decode, buildOf, cacheOf, infoOf } from '../../../test/support/schema-cache-build.ts';
import { nameKey } from '../../catalog/catalog.ts';
import { updateTable, withoutTable } from '../../metadata/edit.ts';
import type { Json } from '../../util/json.ts';

describe('names across tables', () => {
  test('of two objects that claim a root field, the later one is inconsistent, with all its conflicts', () => {
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

  test('several conflicts of one root are listed together', () => {
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

  test('type names conflict too, and relationships to the excluded table are removed', () => {
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

  test('the excluded object returns when the name is free', () => {
    const tables: readonly Json[] = [{ table: 'article' }, { table: 'author', configuration: { custom_name: 'article' } }];
    const metadata = decode(tables);
    const conflict = buildOf(metadata);
    const { cache } = buildOf(withoutTable(metadata, 's', nameKey(named('article'))), undefined, conflict);
    expect(cache.inconsistencies).toEqual([]);
    expect(infoOf(cache, 'author')?.baseName).toBe('article');
  });

  test('a discarded build does not change the register', () => {
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
