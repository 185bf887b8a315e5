/** Documents of the crash test, small enough to predict the effect of each operation. */
import type { Json, JsonObject } from '../../src/util/json.ts';

export const TABLES = ['t0', 't1', 't2', 't3', 't4', 't5'] as const;
/** Dropped and created by operations of the test. */
export const EXTRA = 'extra';

export interface Document {
  /** Comment and roles of each tracked table. */
  readonly tables: Readonly<Record<string, { readonly comment: string; readonly roles: readonly string[] }>>;
  /** The text of the one query of each collection. */
  readonly collections: Readonly<Record<string, string>>;
}

export interface Operation {
  readonly name: string;
  readonly endpoint: '/v1/metadata' | '/v1/query' | '/v2/query';
  readonly body: JsonObject;
  readonly status: number;
  /** The document afterwards; unchanged for an operation that fails. */
  readonly after: Document;
}

type Random = () => number;

const custom = (table: string, comment: string): JsonObject => ({
  type: 'pg_set_table_customization',
  args: { table, configuration: { comment } },
});
const permit = (table: string, role: string): JsonObject => ({
  type: 'pg_create_select_permission',
  args: { table, role, permission: { columns: ['id'], filter: {} } },
});
const forbid = (table: string, role: string): JsonObject => ({ type: 'pg_drop_select_permission', args: { table, role } });
const track = (table: string): JsonObject => ({ type: 'pg_track_table', args: { table } });
const untrack = (table: string): JsonObject => ({ type: 'pg_untrack_table', args: { table, cascade: true } });
const runSql = (sql: string): JsonObject => ({ type: 'run_sql', args: { sql, cascade: true } });
const EXPORT: JsonObject = { type: 'export_metadata', args: {} };

/** A random operation and its effect on the document; `n` makes its content unique. */
export function nextOperation(before: Document, n: number, random: Random): Operation {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const stamp = `n${n}`;
  const role = `r${n % 5}`;
  const [table, other] = [pick(TABLES), pick(TABLES)];
  const commented = (document: Document, tables: readonly string[]): Document => ({
    ...document,
    tables: {
      ...document.tables,
      ...Object.fromEntries(tables.map((name) => [name, { roles: document.tables[name]?.roles ?? [], comment: stamp }])),
    },
  });
  const metadata = (name: string, body: JsonObject, after: Document, status = 200): Operation => ({
    name,
    endpoint: '/v1/metadata',
    body,
    status,
    after,
  });
  const bulk = (name: string, args: readonly Json[], after: Document, status = 200): Operation =>
    metadata(name, { type: 'bulk', args }, after, status);
  const without = { ...before, tables: Object.fromEntries(Object.entries(before.tables).filter(([name]) => name !== EXTRA)) };

  const kinds: readonly (() => Operation)[] = [
    () => metadata('one object', custom(table, stamp), commented(before, [table])),
    () => {
      const { roles = [], comment = '' } = before.tables[table] ?? {};
      const has = roles.includes(role);
      const after = has ? roles.filter((each) => each !== role) : [...roles, role];
      return metadata('one permission', has ? forbid(table, role) : permit(table, role), {
        ...before,
        tables: { ...before.tables, [table]: { comment, roles: after } },
      });
    },
    () =>
      bulk(
        'many objects',
        TABLES.map((name) => custom(name, stamp)),
        commented(before, TABLES),
      ),
    () => {
      const query = `query ${stamp} { __typename }`;
      const name = `c${n % 2}`;
      const definition = { queries: [{ name: 'q', query }] };
      const drop =
        before.collections[name] === undefined ? [] : [{ type: 'drop_query_collection', args: { collection: name, cascade: true } }];
      return bulk(
        'kinds of objects',
        [custom(table, stamp), ...drop, EXPORT, { type: 'create_query_collection', args: { name, definition } }],
        {
          ...commented(before, [table]),
          collections: { ...before.collections, [name]: query },
        },
      );
    },
    // Exports between edits, and drops that check dependents, end the batch of earlier edits.
    () => {
      const after = commented(before, [other]);
      const fresh = { ...after.tables, [table]: { comment: stamp, roles: [role] } };
      return bulk(
        'several steps',
        [custom(other, stamp), untrack(table), EXPORT, track(table), EXPORT, custom(table, stamp), EXPORT, permit(table, role)],
        { ...after, tables: fresh },
      );
    },
    () => bulk('failing late', [custom(table, stamp), EXPORT, untrack(other), EXPORT, track('nothing')], before, 400),
    () => {
      const after = commented({ ...before, tables: without.tables }, TABLES);
      return metadata('whole document', { type: 'replace_metadata', args: printDocument(after) }, after);
    },
    () =>
      before.tables[EXTRA] === undefined
        ? {
            name: 'sql and metadata',
            endpoint: '/v1/query',
            body: {
              type: 'bulk',
              args: [runSql(`create table if not exists ${EXTRA} (id int primary key)`), { type: 'track_table', args: { name: EXTRA } }],
            },
            status: 200,
            after: { ...before, tables: { ...before.tables, [EXTRA]: { comment: '', roles: [] } } },
          }
        : { name: 'sql that untracks', endpoint: '/v2/query', body: runSql(`drop table ${EXTRA}`), status: 200, after: without },
    () => metadata('nothing', { type: 'reload_metadata', args: {} }, before),
  ];
  return pick(kinds)();
}

const CONFIGURATION = { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } };

/** In the form of `replace_metadata`. */
export function printDocument({ tables, collections }: Document): JsonObject {
  return {
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        configuration: CONFIGURATION,
        tables: Object.entries(tables).map(([name, { comment, roles }]) => ({
          table: { schema: 'public', name },
          configuration: { comment },
          select_permissions: roles.map((role) => ({ role, permission: { columns: ['id'], filter: {} } })),
        })),
      },
    ],
    query_collections: Object.entries(collections).map(([name, query]) => ({ name, definition: { queries: [{ name: 'q', query }] } })),
  };
}

/** Reads an exported document; unexpected content is lost, but not the effects of the test. */
export function readDocument(exported: Json): Document {
  const { sources = [], query_collections = [] } = exported as unknown as Exported;
  const tables = (sources[0]?.tables ?? []).map(({ table, configuration, select_permissions }) => [
    table.name,
    { comment: configuration?.comment ?? '', roles: (select_permissions ?? []).map(({ role }) => role) },
  ]);
  const collections = query_collections.map(({ name, definition }) => [name, definition.queries.map(({ query }) => query).join()]);
  return { tables: Object.fromEntries(tables), collections: Object.fromEntries(collections) };
}

interface Exported {
  readonly sources?: readonly {
    readonly tables: readonly {
      readonly table: { readonly name: string };
      readonly configuration?: { readonly comment?: string };
      readonly select_permissions?: readonly { readonly role: string }[];
    }[];
  }[];
  readonly query_collections?: readonly {
    readonly name: string;
    readonly definition: { readonly queries: readonly { readonly query: string }[] };
  }[];
}

/** Returns equal texts for equal documents. */
export function canonical({ tables, collections }: Document): string {
  const sorted = Object.entries(tables)
    .map(([name, { comment, roles }]) => [name, comment, [...roles].sort()] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted, Object.entries(collections).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
