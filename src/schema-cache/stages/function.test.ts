import { describe, expect, test } from 'vitest';
import { catalog, named, rowType, sqlFunction, type } from '../../../test/support/fake-backend.ts';
import { author, decode, open, buildOf, reasons } from '../../../test/support/schema-cache-build.ts';
import { nameKey } from '../../catalog/catalog.ts';
import type { Json } from '../../util/json.ts';
import type { Build } from '../build.ts';

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

  test('are exposed by volatility unless the metadata override it', () => {
    const exposed = (entry: Json, fields: Parameters<typeof sqlFunction>[1]) =>
      functionsOf(entry, { ...returning, ...fields })
        .sources.get('s')
        ?.functions.get(nameKey(named('f')))?.exposedAs;
    expect(exposed({}, {})).toBe('query');
    expect(exposed({}, { volatility: 'volatile' })).toBe('mutation');
    expect(exposed({ configuration: { exposed_as: 'query' } }, { volatility: 'volatile' })).toBe('query');
  });

  test('are rejected with all reasons', () => {
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

  test('an inherited role has the permission of any of its direct and indirect parents', () => {
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
