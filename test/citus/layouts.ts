/** Tables of a shop, the layouts by which they are distributed, and their metadata for both sources. */
import type { JsonObject } from '../../src/util/json.ts';
import type { TestService } from '../support/service.ts';

export const TABLE_NAMES = ['tenant', 'customer', 'orders', 'line', 'country'] as const;
export type TableName = (typeof TABLE_NAMES)[number];

export const KEYS: Readonly<Record<TableName, readonly string[]>> = {
  tenant: ['id'],
  customer: ['tenant_id', 'id'],
  orders: ['tenant_id', 'id'],
  line: ['tenant_id', 'order_id', 'id'],
  country: ['code'],
};

/** Each key contains every column by which a layout distributes. */
export const CREATE_TABLES: readonly string[] = [
  'create table tenant (id int primary key, name text collate "C" not null, plan text collate "C", quota int check (quota < 500))',
  'create table customer (tenant_id int, id int, name text collate "C" not null, city text collate "C", score int, primary key (tenant_id, id))',
  'create table orders (tenant_id int, id int, customer_id int, note text collate "C", amount numeric(10,2), paid boolean not null default false, primary key (tenant_id, id))',
  'create table line (tenant_id int, order_id int, id int, product text collate "C", quantity int check (quantity < 500), primary key (tenant_id, order_id, id))',
  'create table country (code text collate "C" primary key, name text collate "C", tax int)',
  "insert into country select c, 'country ' || c, ascii(c) % 7 from unnest(array['a', 'b', 'c']) c",
  "insert into tenant select t, 't' || t, case when t > 2 then 'big' end, t * 10 from generate_series(1, 4) t",
  "insert into customer select t, c, 'c' || (t * c % 5), (array['a', 'b', 'x', null])[1 + (t + c) % 4], case when c < 5 then t * c end from generate_series(1, 4) t, generate_series(1, 5) c",
  "insert into orders select t, o, 1 + o % 6, case when o % 3 > 0 then 'n' || o end, t * o * 1.5, (t + o) % 2 = 0 from generate_series(1, 4) t, generate_series(1, 7) o",
  "insert into line select t, o, l, 'p' || (t + o + l) % 4, o * l from generate_series(1, 4) t, generate_series(1, 7) o, generate_series(1, 3) l where l <= o % 4",
];

export interface Layout {
  readonly name: string;
  readonly schema: string;
  readonly spread: readonly string[];
  /** Distribution columns of distributed tables. */
  readonly columns: Readonly<Partial<Record<TableName, string>>>;
  /** Orders and customers are colocated by their relationship. */
  readonly together: boolean;
}

const distributed = (columns: Layout['columns'], group: (table: string) => string): readonly string[] =>
  Object.entries(columns).map(
    ([table, column]) => `select create_distributed_table('${table}', '${column}', colocate_with => '${group(table)}')`,
  );
const reference = (...tables: readonly TableName[]): readonly string[] =>
  tables.map((table) => `select create_reference_table('${table}')`);

const BY_KEY = { tenant: 'id', customer: 'id', orders: 'id', line: 'id' } as const;
const BY_TENANT = { tenant: 'id', customer: 'tenant_id', orders: 'tenant_id', line: 'tenant_id' } as const;
const BY_DOCUMENT = { orders: 'id', line: 'order_id' } as const;
const APART = { tenant: 'id', customer: 'tenant_id', orders: 'id', line: 'order_id', country: 'code' } as const;

export const LAYOUTS: readonly Layout[] = [
  {
    ...{ name: 'everything by its own key', schema: 'svc_by_key', columns: BY_KEY, together: false },
    spread: [...distributed(BY_KEY, () => 'default'), ...reference('country')],
  },
  {
    ...{ name: 'by tenant with composite keys', schema: 'svc_by_tenant', columns: BY_TENANT, together: true },
    spread: [...distributed(BY_TENANT, (table) => (table === 'tenant' ? 'none' : 'tenant')), ...reference('country')],
  },
  {
    ...{ name: 'by document with its lines', schema: 'svc_by_document', columns: BY_DOCUMENT, together: true },
    spread: [
      ...distributed(BY_DOCUMENT, (table) => (table === 'orders' ? 'none' : 'orders')),
      ...reference('tenant', 'customer', 'country'),
    ],
  },
  {
    ...{ name: 'schemas by citus_schema_distribute', schema: 'svc_by_schema', columns: {}, together: true },
    spread: ["select citus_schema_distribute('svc_by_schema')"],
  },
  {
    ...{ name: 'single-shard tables', schema: 'svc_single_shard', columns: {}, together: true },
    spread: [
      ...['tenant', 'customer', 'orders', 'line'].map((table) => `select create_distributed_table('${table}', null)`),
      ...reference('country'),
    ],
  },
  {
    ...{ name: 'not colocated', schema: 'svc_apart', columns: APART, together: false },
    spread: distributed(APART, () => 'none'),
  },
];

export interface Related {
  readonly type: 'object' | 'array';
  readonly table: TableName;
  readonly name: string;
  readonly target: TableName;
  readonly mapping: Readonly<Record<string, string>>;
}

export const RELATED: readonly Related[] = [
  { type: 'array', table: 'tenant', name: 'customers', target: 'customer', mapping: { id: 'tenant_id' } },
  { type: 'array', table: 'tenant', name: 'orders', target: 'orders', mapping: { id: 'tenant_id' } },
  { type: 'object', table: 'customer', name: 'tenant', target: 'tenant', mapping: { tenant_id: 'id' } },
  { type: 'object', table: 'customer', name: 'country', target: 'country', mapping: { city: 'code' } },
  { type: 'array', table: 'customer', name: 'orders', target: 'orders', mapping: { tenant_id: 'tenant_id', id: 'customer_id' } },
  { type: 'object', table: 'orders', name: 'customer', target: 'customer', mapping: { tenant_id: 'tenant_id', customer_id: 'id' } },
  { type: 'array', table: 'orders', name: 'lines', target: 'line', mapping: { tenant_id: 'tenant_id', id: 'order_id' } },
  { type: 'object', table: 'line', name: 'order', target: 'orders', mapping: { tenant_id: 'tenant_id', order_id: 'id' } },
  { type: 'array', table: 'country', name: 'customers', target: 'customer', mapping: { code: 'city' } },
];

export const SOURCES = { pg: 'default', dbc: 'twin' } as const;
export type Kind = keyof typeof SOURCES;

/** Permissions: `keeper` within a tenant, `seer` where other tables allow it. */
const PERMISSIONS: Readonly<Record<'keeper' | 'seer', Readonly<Partial<Record<TableName, JsonObject>>>>> = {
  keeper: Object.fromEntries(
    TABLE_NAMES.filter((table) => table !== 'country').map((table) => [
      table,
      { [table === 'tenant' ? 'id' : 'tenant_id']: { _eq: 'X-Svc-Tenant-Id' } },
    ]),
  ),
  seer: {
    tenant: { customers: { score: { _gt: 'X-Svc-Score' } } },
    customer: { _not: { orders: { paid: { _eq: true }, note: { _eq: 'n1' } } } },
    orders: { customer: { score: { _gt: 'X-Svc-Score' } } },
    line: { order: { customer: { tenant: { plan: { _is_null: true } } } } },
    country: { customers: { score: { _gt: 'X-Svc-Score' } } },
  },
};
const WRITABLE: Readonly<Record<TableName, readonly string[]>> = {
  tenant: ['name', 'plan', 'quota'],
  customer: ['name', 'city', 'score'],
  orders: ['customer_id', 'note', 'amount', 'paid'],
  line: ['product', 'quantity'],
  country: ['name', 'tax'],
};

/** Tracks all tables, relationships and permissions of both sources, with prefixes for roots and types. */
export async function trackLayout(service: TestService, { schema }: Layout): Promise<void> {
  for (const [kind, source] of Object.entries(SOURCES)) {
    const run = (name: string, args: JsonObject): Promise<unknown> => service.metadata(`${kind}_${name}`, { source, ...args });
    const named = (name: string): JsonObject => ({ schema, name });
    for (const table of TABLE_NAMES) await run('track_table', { table: named(table), configuration: { custom_name: table } });
    for (const { type, table, name, target, mapping } of RELATED)
      await run(`create_${type}_relationship`, {
        table: named(table),
        name,
        using: { manual_configuration: { remote_table: named(target), column_mapping: mapping } },
      });
    for (const [role, filters] of Object.entries(PERMISSIONS))
      for (const [name, filter] of Object.entries(filters) as [TableName, JsonObject][]) {
        const table = named(name);
        const columns = [...new Set([...KEYS[name], ...WRITABLE[name]])];
        await run('create_select_permission', { table, role, permission: { columns: '*', filter, allow_aggregations: true } });
        await run('create_insert_permission', { table, role, permission: { columns, check: filter } });
        await run('create_update_permission', { table, role, permission: { columns: WRITABLE[name], filter, check: filter } });
        await run('create_delete_permission', { table, role, permission: { filter } });
      }
  }
}
