import { expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { roleSteps } from './role-change.ts';

const customer = (permission: JsonObject): JsonObject => ({ role: 'customer', permission });
const album = {
  table: { schema: 'public', name: 'album' },
  select_permissions: [customer({ columns: ['id'], filter: {} }), { role: 'other', permission: { columns: '*', filter: {} } }],
  delete_permissions: [customer({ filter: {} })],
};
const metadata: JsonObject = {
  sources: [
    {
      name: 'default',
      kind: 'pg',
      tables: [album, { table: { schema: 'public', name: 'artist' } }],
      functions: [{ function: 'search', permissions: [{ role: 'customer' }] }],
    },
  ],
  actions: [{ name: 'buy', permissions: [{ role: 'customer' }] }],
  remote_schemas: [{ name: 'countries', permissions: [{ role: 'customer', definition: { schema: 'type Query { a: Int }' } }] }],
  inherited_roles: [{ role_name: 'both', role_set: ['customer', 'other', 'third'] }],
  allowlist: [{ collection: 'shop', scope: { global: false, roles: ['customer'] } }, { collection: 'all' }],
  graphql_schema_introspection: { disabled_for_roles: ['customer'] },
  api_limits: { depth_limit: { global: 9, per_role: { customer: 3 } } },
};
const typesOf = (steps: readonly { type: string }[]): string[] => steps.map(({ type }) => type);

it('renames a role everywhere, and back', () => {
  const { tables, steps, inverse } = roleSteps(metadata, 'customer', { kind: 'rename', to: 'buyer' });
  expect(tables).toEqual([{ source: 'default', kind: 'pg', table: album.table }]);
  const made = steps([album]);
  expect(typesOf(made)).toEqual([
    'pg_drop_delete_permission',
    'pg_drop_select_permission',
    'pg_create_select_permission',
    'pg_create_delete_permission',
    'pg_drop_function_permission',
    'pg_create_function_permission',
    'drop_action_permission',
    'create_action_permission',
    'drop_remote_schema_permissions',
    'add_remote_schema_permissions',
    'drop_inherited_role',
    'add_inherited_role',
    'update_scope_of_collection_in_allowlist',
    'set_graphql_introspection_options',
    'set_api_limits',
  ]);
  expect(made.find(({ type }) => type === 'add_inherited_role')?.args).toEqual({
    role_name: 'both',
    role_set: ['other', 'third', 'buyer'],
  });
  expect(made.at(-1)?.args).toEqual({ depth_limit: { global: 9, per_role: { buyer: 3 } } });
  expect(JSON.stringify(inverse)).toContain('"per_role":{"customer":3}');
  expect(typesOf(inverse ?? []).slice(0, 2)).toEqual(['set_api_limits', 'set_graphql_introspection_options']);
});

it('copies a role and leaves the original alone', () => {
  const made = roleSteps(metadata, 'customer', { kind: 'copy', to: 'buyer' }).steps([album]);
  expect(typesOf(made).filter((type) => type.includes('drop'))).toEqual([]);
  expect(made.filter(({ args }) => args['role'] === 'customer')).toEqual([]);
  expect(made[0]?.args).toMatchObject({ role: 'buyer', permission: { columns: ['id'], filter: {} } });
});

it('deletes a role unless an inherited role needs it', () => {
  const made = roleSteps(metadata, 'customer', { kind: 'drop' }).steps([album]);
  expect(made.some(({ args }) => args['role'] === 'customer')).toBe(true);
  expect(typesOf(made)).toContain('drop_collection_from_allowlist');
  const two = { ...metadata, inherited_roles: [{ role_name: 'both', role_set: ['customer', 'other'] }] };
  expect(() => roleSteps(two, 'customer', { kind: 'drop' })).toThrow('both inherits from customer and other');
});

it('has no inverse steps if only tables change', () => {
  expect(roleSteps({ sources: metadata['sources'] ?? [] }, 'other', { kind: 'drop' }).inverse).toBeUndefined();
});
