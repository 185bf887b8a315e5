import { describe, expect, it } from 'vitest';
import { schemaCache, selectPermission, sourceInfo, tableInfo, unmasked } from '../../test/support/schema-cache-fixture.ts';
import { nameKey } from '../catalog/catalog.ts';
import type { SourceInfo, TableInfo } from '../schema-cache/schema-cache.ts';
import { createRoleSchemas, DEFAULT_ROLE_SCHEMAS_OPTIONS } from './role-schemas.ts';

const a = tableInfo('a', {
  columns: { id: 'int4!' },
  permissions: { one: { columns: unmasked('id') }, both: { columns: unmasked('id') } },
});
const b = tableInfo('b', {
  columns: { id: 'int4!' },
  permissions: { two: { columns: unmasked('id') }, both: { columns: unmasked('id') } },
});
const source = sourceInfo([a, b]);
const options = DEFAULT_ROLE_SCHEMAS_OPTIONS;

function withTable(info: TableInfo): SourceInfo {
  return { ...source, tables: new Map(source.tables).set(nameKey(info.name), info) };
}

describe('role schemas', () => {
  it('are built once per role and variant', () => {
    const schemas = createRoleSchemas(schemaCache(source), options);
    expect(schemas.get('one', 'frontend')).toBe(schemas.get('one', 'frontend'));
    expect(schemas.get('one', 'frontend')).not.toBe(schemas.get('two', 'frontend'));
    expect(schemas.get('one', 'frontend').role).toBe('one');
  });

  it('are reused after changes that do not affect the role', () => {
    const before = createRoleSchemas(schemaCache(source), options);
    const roles = ['admin', 'one', 'two', 'both', 'nobody'];
    const old = roles.map((role) => before.get(role, 'frontend'));
    const after = createRoleSchemas(schemaCache(withTable({ ...b, catalog: { ...b.catalog, comment: 'changed' } })), options, before);
    expect(roles.filter((role, i) => after.get(role, 'frontend') === old[i])).toEqual(['one', 'nobody']);
  });

  it('are reused after a change of another role on the same table', () => {
    const before = createRoleSchemas(schemaCache(source), options);
    const old = ['admin', 'one', 'two', 'both'].map((role) => before.get(role, 'frontend'));
    const permissions = new Map(b.permissions).set('two', { select: selectPermission({ columns: unmasked('id'), limit: 3 }) });
    const after = createRoleSchemas(schemaCache(withTable({ ...b, permissions })), options, before);
    expect(['admin', 'one', 'two', 'both'].map((role, i) => after.get(role, 'frontend') === old[i])).toEqual([true, true, false, true]);
  });

  it('are rebuilt after dropped tables, new permissions, customization and introspection options', () => {
    const before = createRoleSchemas(schemaCache(source), options);
    const old = before.get('one', 'frontend');
    const same = (cache: ReturnType<typeof schemaCache>) => createRoleSchemas(cache, options, before).get('one', 'frontend') === old;
    expect(same(schemaCache(sourceInfo([a])))).toBe(true);
    expect(same(schemaCache(sourceInfo([b])))).toBe(false);
    expect(same(schemaCache(withTable({ ...b, permissions: a.permissions })))).toBe(false);
    expect(same(schemaCache({ ...source, customization: { rootFields: { prefix: 'x' }, typeNames: {} } }))).toBe(false);
    expect(same({ ...schemaCache(source), introspectionDisabledFor: new Set(['one']) })).toBe(false);
    expect(same({ ...schemaCache(source), introspectionDisabledFor: new Set(['two']) })).toBe(true);
    expect(same(schemaCache(withTable(tableInfo('c', { columns: { id: 'int4!' }, permissions: { two: {} } }))))).toBe(true);
  });

  it('evict the least recently used one', () => {
    const schemas = createRoleSchemas(schemaCache(source), { ...options, maxSchemas: 2 });
    const one = schemas.get('one', 'frontend');
    const two = schemas.get('two', 'frontend');
    schemas.get('one', 'frontend');
    schemas.get('both', 'frontend');
    expect(schemas.get('one', 'frontend')).toBe(one);
    expect(schemas.get('two', 'frontend')).not.toBe(two);
  });
});
