/** The initial state of every case. */
import type { Json, JsonObject } from '../../../src/util/json.ts';

export const SCHEMA = `
  create table author (id int primary key, name text not null);
  create table article (id int primary key, title text not null, author_id int not null references author);
  create table tag (id int primary key, article_id int references article);
  create table color (value text primary key, comment text);
  create function author_label(author_row author) returns text language sql stable as 'select author_row.name';
  create function author_twice(author_row author, n int) returns int language sql stable as 'select 2 * n';
  create function search_articles(term text) returns setof article language sql stable as 'select * from article where title = term';
  create function late_articles() returns setof article language sql stable as 'select * from article';
  create function strip(term text) returns text language sql stable as 'select term';
`;

/** Events in the log of the source, if it has event triggers. */
export const EVENT_ID = '11111111-1111-4111-8111-111111111111';

/** The initial rows of the tables. */
export const ROWS = `
  truncate author, article, tag, color; insert into color values ('red', null);
  do $$ begin
    if to_regclass('svc_catalog.event_log') is not null then
      delete from svc_catalog.event_log;
      insert into svc_catalog.event_log (id, schema_name, table_name, trigger_name, payload, delivered)
        values ('${EVENT_ID}', 'public', 'tag', 'tagged', '{"op": "INSERT"}', true);
    end if;
  end $$`;

const named = (name: string): JsonObject => ({ schema: 'public', name });
const CONFIGURATION: JsonObject = { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } };

/** Two tracked tables with a relationship each way, and one object of every other kind. */
export const BASE: JsonObject = {
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: CONFIGURATION,
      tables: [
        {
          table: named('author'),
          array_relationships: [
            { name: 'articles', using: { foreign_key_constraint_on: { table: named('article'), column: 'author_id' } } },
          ],
          computed_fields: [{ name: 'label', definition: { function: named('author_label') } }],
          select_permissions: [
            { role: 'user', permission: { columns: ['id', 'name'], computed_fields: ['label'], filter: {} } },
            { role: 'editor', permission: { columns: ['id'], filter: {} } },
          ],
        },
        {
          table: named('article'),
          object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
          select_permissions: [
            { role: 'user', permission: { columns: ['id', 'title'], filter: { author: { id: { _eq: 'X-Svc-User-Id' } } } } },
          ],
          insert_permissions: [{ role: 'user', permission: { check: {}, columns: ['id'] } }],
          update_permissions: [{ role: 'user', permission: { columns: ['title'], filter: {}, check: null } }],
          delete_permissions: [{ role: 'user', permission: { filter: {} } }],
        },
        {
          table: named('color'),
          remote_relationships: [
            {
              name: 'same',
              definition: {
                to_source: { relationship_type: 'object', source: 'default', table: 'color', field_mapping: { value: 'value' } },
              },
            },
          ],
        },
      ],
      functions: [{ function: named('search_articles'), permissions: [{ role: 'user' }] }],
    },
    {
      name: 'second',
      kind: 'postgres',
      configuration: CONFIGURATION,
      customization: { root_fields: { prefix: 'second_' }, type_names: { prefix: 'second_' } },
      tables: [],
    },
  ],
  inherited_roles: [{ role_name: 'manager', role_set: ['user', 'editor'] }],
  query_collections: [
    { name: 'shop', definition: { queries: [{ name: 'titles', query: 'query titles { article { title } }' }] } },
    { name: 'spare', definition: { queries: [{ name: 'names', query: 'query names { author { name } }' }] } },
  ],
  allowlist: [{ collection: 'shop', scope: { global: true } }],
  rest_endpoints: [
    { name: 'titles', url: 'titles', methods: ['GET'], definition: { query: { collection_name: 'shop', query_name: 'titles' } } },
  ],
  cron_triggers: [{ name: 'hourly', webhook: 'http://localhost/x', schedule: '0 * * * *', include_in_metadata: true }],
  network: { tls_allowlist: [{ host: 'known.example.org', permissions: ['self-signed'] }] },
  api_limits: { disabled: false, depth_limit: { global: 10, per_role: {} } },
};

/** The base with a table that does not exist in the database. */
export const WITH_INCONSISTENT: JsonObject = {
  ...BASE,
  sources: (BASE['sources'] as JsonObject[]).map((source, i) =>
    i === 0 ? { ...source, tables: [...(source['tables'] as Json[]), { table: named('missing') }] } : source,
  ),
};

/** The document without its inherited roles. */
export function withoutInheritedRoles(document: JsonObject): JsonObject {
  return { ...document, inherited_roles: [] };
}
