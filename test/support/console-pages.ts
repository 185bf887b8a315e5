/** The pages of the console, with sample content for each. */
import type { GraphqlServer } from './graphql-server.ts';
import type { TestService } from './service.ts';

/** A table whose name is as long as PostgreSQL allows. */
const LONG_NAME = 'a_table_whose_name_is_as_long_as_postgresql_lets_a_name_become_';

/** Each page with its tabs. */
export const ROUTES = [
  '#/',
  '#/explorer',
  '#/data/default',
  '#/data/default?tab=relationships',
  '#/data/default?tab=permissions',
  '#/data/default?tab=functions',
  '#/data/default?tab=diagram',
  '#/data/default?tab=types',
  '#/data/+',
  '#/data/default/public.album',
  '#/data/default/public.album?tab=structure',
  '#/data/default/public.album?tab=relationships',
  '#/data/default/public.album?tab=permissions&role=customer&operation=select',
  '#/data/default/public.album?tab=fields',
  '#/data/default/public.album?tab=json',
  '#/sql',
  '#/remote-schemas',
  '#/actions',
  '#/actions?tab=types',
  '#/actions/+',
  '#/actions/order_albums',
  '#/actions/order_albums?tab=permissions',
  '#/actions/order_albums?tab=transforms',
  '#/actions/order_albums?tab=call',
  '#/actions/order_albums?tab=code',
  '#/events',
  '#/events/triggers/default/album_changed',
  '#/events/cron',
  '#/events/one-off',
  '#/live',
  '#/live?tab=operations',
  '#/live?tab=connections',
  '#/metadata',
  '#/metadata?tab=history',
  '#/metadata?tab=inconsistent',
  '#/metadata?tab=renew',
  '#/metadata?tab=operation',
  '#/settings',
  '#/settings?tab=roles',
  '#/settings?tab=allow-list',
  '#/settings?tab=rest',
  '#/settings?tab=limits',
  '#/settings?tab=outside',
  `#/data/default/public.${LONG_NAME}`,
  '#/missing',
] as const;

/** Names of the buttons that open a dialog and change nothing by themselves. */
export const OPENERS = `[...new Set([...document.querySelectorAll('main button')]
  .filter((each) => each.getAttribute('aria-disabled') !== 'true' && !each.getAttribute('aria-haspopup'))
  .map((each) => each.getAttribute('aria-label') || each.textContent.trim())
  .filter((name) => /…$|^(?:New (?!tab)|Insert$|Insert row|Add (?:relationship|remote|computed|permission|role)|Schedule|Invoke|Track by name|Rename|Edit|Filter$|Save query)/.test(name)))].slice(0, 14)`;

/** Sample content for each page. Names and URLs are long, as in production. */
export async function createSampleObjects(service: TestService, remote: GraphqlServer): Promise<void> {
  const webhook = 'http://127.0.0.1:9/hooks/of/a-department/with-a-long-name/album-changed';
  await service.metadata('add_remote_schema', {
    name: 'countries',
    definition: { url: `${remote.url}/the-graph-of-all-the-countries-in-the-world`, timeout_seconds: 5 },
    comment: 'Countries and their names.',
  });
  await service.metadata('add_remote_schema_permissions', {
    remote_schema: 'countries',
    role: 'customer',
    definition: { schema: 'type Query { country(code: ID!): Country } type Country { name: String }' },
  });
  await service.metadata('create_remote_schema_remote_relationship', {
    remote_schema: 'countries',
    type_name: 'Country',
    name: 'customers',
    definition: { to_source: { source: 'default', table: 'customer', relationship_type: 'array', field_mapping: { name: 'country' } } },
  });
  await service.sql(`create table ${LONG_NAME} (id int primary key)`);
  await service.metadata('pg_track_table', { table: LONG_NAME });
  await service.sql(`
    create function label_of_an_album(album_row album, prefix text) returns text language sql stable as $$ select prefix || album_row.title $$;
    create function albums_with_a_title_like(session json, pattern text) returns setof album language sql stable
      as $$ select * from album where title like pattern $$;
    create function albums_of_an_artist(artist int) returns setof album language sql stable as $$ select * from album where artist_id = artist $$`);
  await service.metadata('pg_add_computed_field', {
    table: 'album',
    name: 'label',
    definition: { function: 'label_of_an_album', table_argument: 'album_row' },
    comment: 'The title with a prefix.',
  });
  await service.metadata('pg_track_function', { function: 'albums_with_a_title_like', configuration: { session_argument: 'session' } });
  await service.metadata('set_custom_types', {
    input_objects: [
      {
        name: 'OrderedAlbum',
        fields: [
          { name: 'album_id', type: 'Int!' },
          { name: 'count', type: 'Int', description: 'Defaults to 1.' },
        ],
      },
    ],
    objects: [
      {
        name: 'Order',
        description: 'A customer order.',
        fields: [
          { name: 'number', type: 'String!' },
          { name: 'customer_id', type: 'Int!' },
        ],
        relationships: [{ name: 'customer', type: 'object', remote_table: 'customer', field_mapping: { customer_id: 'customer_id' } }],
      },
    ],
    enums: [{ name: 'DeliveryMethod', values: [{ value: 'BY_POST' }, { value: 'BY_DOWNLOAD' }] }],
  });
  await service.metadata('create_action', {
    name: 'order_albums',
    comment: 'Orders albums of the shop for the calling customer.',
    definition: {
      handler: `${webhook}/order/albums`,
      arguments: [{ name: 'albums', type: '[OrderedAlbum!]!' }],
      output_type: 'Order!',
      headers: [{ name: 'x-department', value: 'a-department-with-a-long-name' }],
      request_transform: {
        version: 2,
        template_engine: 'Kriti',
        method: 'PUT',
        url: "{{$base_url}}/{{getSessionVariable('x-svc-user-id')}}",
        request_headers: { add_headers: { 'x-count': '{{size($body.input.albums)}}' }, remove_headers: [] },
        body: { action: 'transform', template: '{"albums": {{$body.input.albums}}}' },
      },
    },
  });
  await service.metadata('create_action_permission', { action: 'order_albums', role: 'customer' });
  await service.metadata('pg_create_event_trigger', {
    name: 'album_changed',
    table: 'album',
    webhook,
    insert: { columns: '*' },
    update: { columns: ['title'] },
    retry_conf: { num_retries: 0, interval_sec: 10, timeout_sec: 5 },
  });
  await service.sql("update album set title = title || '!' where album_id = 1");
  await service.metadata('create_cron_trigger', { name: 'nightly', webhook, schedule: '0 3 * * *', include_in_metadata: true });
  await service.metadata('create_scheduled_event', {
    webhook,
    schedule_at: '2999-01-01T00:00:00Z',
    payload: {},
    comment: 'In the distant future.',
  });
  await service.metadata('create_query_collection', {
    name: 'storefront',
    definition: { queries: [{ name: 'Albums', query: 'query Albums { album(limit: 10, order_by: {title: asc}) { album_id title } }' }] },
  });
  await service.metadata('add_collection_to_allowlist', { collection: 'storefront' });
  await service.metadata('create_rest_endpoint', {
    name: 'albums',
    url: 'albums/by/title/in/order',
    methods: ['GET', 'POST'],
    definition: { query: { collection_name: 'storefront', query_name: 'Albums' } },
  });
  await service.metadata('add_host_to_tls_allowlist', { host: 'a-host-with-a-long-name.department.example.org', suffix: '8443' });
  await service.metadata('add_inherited_role', { role_name: 'customer_and_employee', role_set: ['customer', 'employee'] });
}
