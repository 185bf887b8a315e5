import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { column, named } from '../../test/support/fake-backend.ts';
import { all, decode, open, buildOf, infoOf } from '../../test/support/schema-cache-build.ts';
import { type Catalog, type CatalogTable, nameKey } from '../catalog/catalog.ts';
import { updateTable, withoutTable } from '../metadata/edit.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { SourceInput } from './build.ts';
import { recordOf } from './inconsistency.ts';
import { runs } from '../../test/support/deep.ts';

describe('sources', () => {
  test('a failed source has one record and none for its tables', () => {
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

  test('reports objects of features that do not exist', () => {
    const tables = [{ table: 'author' }];
    const { cache } = buildOf(decode(tables, { backend_configs: [{ name: 'go', definition: {} }] }));
    expect(cache.inconsistencies.map(({ type: of, name, reason }) => [of, name, reason])).toEqual([
      ['backend_configs', 'backend_configs go', 'Inconsistent object: the key "backend_configs" is not supported (at backend_configs)'],
    ]);
  });
});

describe('reusing the previous build', () => {
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

  test('unaffected objects stay identical', () => {
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

  test('an edit of one role does not affect the permissions of others', () => {
    const first = buildOf(base, input);
    const edited = updateTable(base, 's', nameKey(named('author')), (t) => ({
      ...t,
      selectPermissions: new Map([...t.selectPermissions].slice(1)),
    }));
    const second = buildOf(edited, input, first);
    expect(infoOf(second.cache, 'author')?.permissions.get('b')).toBe(infoOf(first.cache, 'author')?.permissions.get('b'));
    expect(infoOf(second.cache, 'author')?.permissions.has('a')).toBe(false);
  });

  test('any sequence of edits gives the result of a build from scratch', () => {
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
      runs(300, 10),
    );
  });
});
