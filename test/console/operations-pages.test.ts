/** Scenarios of the pages Events, Live, Metadata, Settings and Remote schemas. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from 'graphql-ws';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { JsonObject } from '../../src/util/json.ts';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { apply, discardDialog, expectAccessible, undo } from '../support/console-steps.ts';
import { startGraphqlServer } from '../support/graphql-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

let service: TestService;
let browser: Browser;
let webhook: Server;
let status = 500;

describe.skipIf(chromiumPath === undefined)('operations pages', () => {
  beforeAll(async () => {
    webhook = createServer((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(status, { 'content-type': 'application/json' }).end('{"message": "from the webhook"}'));
    });
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
    const { port } = webhook.address() as AddressInfo;
    [service, browser] = await Promise.all([
      startTestService(
        { ENABLE_CONSOLE: 'true', EVENTS_FETCH_INTERVAL: '200', ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' },
        { HOOKS: `http://127.0.0.1:${port}`, HOOK_SECRET: 's3cret' },
      ),
      startBrowser(),
    ]);
    await service.sql('create table item (id int primary key, name text); create table other (id int primary key)');
    await service.metadata('pg_track_table', { table: 'item' });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    webhook?.close();
  });

  const open = (route: string): Promise<ConsolePage> => openConsolePage(browser, service.url, { secret: null, route });

  const triggerIn = (exported: unknown): Record<string, unknown> =>
    (exported as { sources: { tables: { event_triggers: Record<string, unknown>[] }[] }[] }).sources[0]?.tables[0]?.event_triggers[0] ?? {};

  it('create an event trigger, show a failed event, redeliver it, and edit, delete and restore the trigger', async () => {
    const opened = await open('#/events');
    const { page, write } = opened;
    await page.getByRole('button', { name: 'New event trigger' }).click();
    await page.getByRole('combobox', { name: 'Table' }).fill('item');
    await page.getByRole('option', { name: /public\.item/ }).click();
    await page.getByLabel('Name').fill('item_created');
    await page.getByLabel('Webhook').fill('{{HOOKS}}/item_created');
    await page.getByLabel('Retries').fill('0');
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'item_created' }).waitFor();

    await service.sql('insert into item values (1)');
    await expect
      .poll(async () => {
        await page.getByRole('button', { name: 'Refresh events' }).click();
        return page.getByText('failed', { exact: true }).count();
      })
      .toBe(1);
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await opened.go('#/');
    await page.getByRole('link', { name: '1 failed' }).click();
    await page.getByRole('heading', { name: 'item_created' }).waitFor();
    await page.locator('tbody').getByRole('button').first().click();
    const dialog = page.getByRole('dialog', { name: 'Event' });
    await dialog.locator('summary').filter({ hasText: '500' }).click();
    await expectAccessible(opened);
    status = 200;
    await dialog.getByRole('button', { name: 'Redeliver' }).click();
    await dialog.getByText('delivered', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('link', { name: 'Events' }).last().click();
    await page.getByRole('row', { name: /item_created/ }).waitFor();
    await expectAccessible(opened);

    const triggers = async (): Promise<unknown> =>
      service.metadata('export_metadata', { only: { tables: [{ source: 'default', table: 'item' }] } });
    const before = await triggers();
    await page.getByRole('link', { name: 'item_created' }).click();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Edit as JSON …' }).click();
    await page.getByRole('textbox', { name: 'Event trigger item_created' }).getByText('"name"').waitFor();
    await write(
      'Event trigger item_created',
      JSON.stringify({ ...triggerIn(before), retry_conf: { num_retries: 2, interval_sec: 5, timeout_sec: 6 } }),
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(async () => triggerIn(await triggers()), WAIT).toMatchObject({ retry_conf: { num_retries: 2 } });
    await undo(page, 'Event trigger item_created');
    await expect.poll(triggers, WAIT).toEqual(before);

    await page.getByRole('button', { name: 'Edit …' }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('checkbox', { name: 'Update events' }).check();
    const columns = form.getByRole('group', { name: 'Trigger when these columns change' });
    await columns.getByLabel('all').uncheck();
    await columns.getByLabel('id', { exact: true }).uncheck();
    await form.getByLabel('Retries').fill('4');
    await form.getByRole('button', { name: 'Add header' }).click();
    await form.getByLabel('Header 1', { exact: true }).fill('X-From');
    await form.getByLabel('Value of header 1', { exact: true }).fill('svc');
    await form.getByLabel('Signing secret (environment variable)').fill('HOOK_SECRET');
    await form.getByLabel('Request transform (JSON)').fill('{"version": 2, "method": "PUT"');
    await form.getByText('invalid JSON in line 1').first().waitFor();
    await expectAccessible(opened);
    const transform = { version: 2, template_engine: 'Kriti', method: 'PUT' };
    await form.getByLabel('Request transform (JSON)').fill(JSON.stringify(transform));
    await form.getByRole('button', { name: 'Save' }).click();
    // The form closes once the change is in the list and can be undone.
    await form.waitFor({ state: 'detached' });
    await expect
      .poll(async () => triggerIn(await triggers()), WAIT)
      .toMatchObject({
        definition: { update: { columns: ['name'] } },
        retry_conf: { num_retries: 4 },
        headers: [{ name: 'X-From', value: 'svc' }],
        signature: { secret_from_env: 'HOOK_SECRET' },
        request_transform: transform,
      });
    await undo(page, 'Event trigger item_created');
    await expect.poll(triggers, WAIT).toEqual(before);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete trigger …' }).click();
    await apply(page);
    await page.getByText('No event triggers').waitFor();
    await undo(page, 'Delete event trigger');
    await page.getByRole('row', { name: /item_created/ }).waitFor();
    await expect.poll(() => triggers(), WAIT).toEqual(before);
    await opened.close();
  });

  it('schedule cron triggers and one-off events and cancel them', async () => {
    const opened = await open('#/events/cron');
    const { page } = opened;
    await page.getByRole('button', { name: 'New cron trigger' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('nightly');
    await page.getByRole('dialog').getByLabel('Webhook').fill('{{HOOKS}}/nightly');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: /nightly/ }).waitFor();
    await expectAccessible(opened);
    const triggers = async (): Promise<unknown> => service.metadata('get_cron_triggers', {});
    const before = await triggers();
    await page.getByRole('button', { name: 'Delete …' }).click();
    await apply(page);
    await page.getByText('No cron triggers').waitFor();
    await undo(page, 'Delete cron trigger');
    await page.getByRole('heading', { name: /nightly/ }).waitFor();
    await expect.poll(() => triggers(), WAIT).toEqual(before);
    await page.getByRole('tab', { name: 'One-off events' }).click();
    await page.getByRole('button', { name: 'Schedule event' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Webhook').fill('{{HOOKS}}/remind');
    await dialog.getByLabel('Time', { exact: true }).fill('2099-01-01T09:30');
    await dialog.getByLabel('Comment').fill('a reminder');
    await opened.write('Payload', '{"id": 9007199254740993');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await dialog.getByText('Payload: invalid JSON').waitFor();
    await opened.write('Payload', '{"id": 9007199254740993}');
    await dialog.getByRole('button', { name: 'Add header' }).click();
    await dialog.getByLabel('Header 1', { exact: true }).fill('X-Key');
    await dialog.getByLabel('Type of header 1').selectOption('variable');
    await dialog.getByLabel('Variable of header 1').fill('HOOK_KEY');
    await dialog.getByLabel('Retries').fill('3');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await page.getByText('scheduled', { exact: true }).waitFor();
    const oneOff = async (): Promise<readonly JsonObject[]> => {
      const { events } = (await service.metadata('get_scheduled_events', { type: 'one_off' })) as { events: JsonObject[] };
      return events;
    };
    const scheduledTime = String(await page.evaluate(`new Date('2099-01-01T09:30').toISOString()`));
    const [event] = await oneOff();
    expect(event).toMatchObject({
      webhook_conf: '{{HOOKS}}/remind',
      comment: 'a reminder',
      header_conf: [{ name: 'X-Key', value_from_env: 'HOOK_KEY' }],
      retry_conf: { num_retries: 3, retry_interval_seconds: 10 },
    });
    expect(new Date(String(event?.['scheduled_time'])).toISOString()).toBe(scheduledTime);
    const sent = opened.requests.find(({ body }) => body.includes('create_scheduled_event'))?.body;
    expect(sent).toContain('"payload":{"id":9007199254740993}');
    await expectAccessible(opened);
    await undo(page, 'Schedule event for {{HOOKS}}/remind');
    await page.getByText('No one-off events').waitFor();
    expect(await oneOff()).toEqual([]);
    await page.getByRole('button', { name: 'Schedule event' }).click();
    await dialog.getByLabel('Webhook').fill('{{HOOKS}}/remind');
    await dialog.getByRole('button', { name: 'Schedule' }).click();
    await page.getByText('scheduled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('No one-off events').waitFor();
    await opened.close();
  });

  it('list active subscriptions', async () => {
    const client = createClient({ url: `${service.url.replace('http', 'ws')}/v1/graphql`, webSocketImpl: WebSocket });
    const results = client.iterate({ query: 'subscription Watch { item { id } }' });
    await results.next();
    const opened = await open('#/live');
    const { page } = opened;
    await page.getByRole('button', { name: /subscription Watch/ }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'SQL statement' }).waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Close' }).click();
    await client.dispose();
    await page.getByText('No subscriptions').waitFor();
    await expectAccessible(opened);
    await opened.close();
  });

  it('compare metadata object by object, import the selected objects and undo', async () => {
    const document = (await service.metadata('export_metadata', {})) as {
      sources: { tables: { table: unknown; configuration?: unknown }[] }[];
    };
    const [table] = document.sources[0]?.tables ?? [];
    if (table !== undefined) table.configuration = { custom_name: 'thing' };
    document.sources[0]?.tables.push({ table: { schema: 'public', name: 'other' } });
    const opened = await open('#/metadata');
    const { page } = opened;
    const file = { name: 'metadata.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(document)) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('1 changed, 1 added').waitFor();
    await page.getByText('Show').first().click();
    await expectAccessible(opened);
    await page.getByRole('checkbox', { name: /public\.item/ }).uncheck();
    await page.getByRole('button', { name: 'Apply 1' }).click();
    await apply(page);
    await page.getByText('1 changed', { exact: true }).waitFor();
    const names = async (): Promise<string> => JSON.stringify(await service.metadata('export_metadata', {}));
    await expect.poll(() => names(), WAIT).toContain('"other"');
    expect(await names()).not.toContain('thing');
    await undo(page, 'Import 1 object');
    await expect.poll(names, WAIT).not.toContain('"other"');
    await opened.close();
  });

  it('list inconsistent objects, open and delete them', async () => {
    await service.sql('alter table item add spare int');
    await service.metadata('bulk', [
      { type: 'reload_metadata', args: {} },
      { type: 'pg_track_table', args: { table: 'other' } },
      {
        type: 'pg_create_select_permission',
        args: { table: 'item', role: 'auditor', permission: { columns: ['id'], filter: { spare: { _is_null: true } } } },
      },
    ]);
    await service.sql('drop table other; alter table item drop spare', { check_metadata_consistency: false });
    await service.metadata('reload_metadata', {});
    const opened = await open('#/');
    const { page } = opened;
    await page.getByRole('link', { name: 'table other in source default' }).waitFor();
    await opened.go('#/metadata?tab=inconsistent');
    await page
      .getByText(/no such table/)
      .first()
      .waitFor();
    await expectAccessible(opened);
    await page.getByRole('link', { name: 'Open table other in source default' }).click();
    await page.getByRole('heading', { name: 'public.other' }).waitFor();
    await page
      .getByRole('note')
      .getByText(/no such table/)
      .waitFor();
    await page.getByRole('textbox', { name: 'Metadata of public.other' }).getByText('"other"').waitFor();
    await expectAccessible(opened);
    await page.goBack();
    await page.getByRole('link', { name: /^Open select_permission auditor in table item/ }).click();
    await page.getByRole('heading', { name: 'public.item' }).waitFor();
    await page.getByRole('note').getByText(/spare/).waitFor();
    // Opens the permission in its editor.
    await page.getByRole('heading', { name: 'select permission of auditor' }).waitFor();
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await page.getByRole('textbox', { name: 'select permission of auditor as JSON' }).getByText('"spare"').waitFor();
    await page.goBack();
    // A change of something else is not blamed for them.
    await service.metadata('create_query_collection', { name: 'unrelated', definition: { queries: [] } });
    await opened.go('#/settings?tab=allow-list');
    await page.getByRole('button', { name: 'Delete …' }).click();
    const review = page.getByRole('dialog');
    await review.getByText('No further object becomes inconsistent').waitFor();
    expect(await review.getByText('Metadata becomes inconsistent').count()).toBe(0);
    await page.keyboard.press('Escape');
    await review.waitFor({ state: 'detached' });
    await service.metadata('drop_query_collection', { collection: 'unrelated', cascade: false });
    await opened.go('#/metadata?tab=inconsistent');
    await page.getByRole('button', { name: 'Delete all 2' }).click();
    await apply(page);
    await page.getByText('No inconsistent objects').waitFor();
    await page.getByRole('tab', { name: 'Reload and reset' }).click();
    await expectAccessible(opened);
    await opened.close();
  });

  it('change settings and undo', async () => {
    await service.metadata('bulk', [
      { type: 'pg_create_select_permission', args: { table: 'item', role: 'reader', permission: { columns: '*', filter: {} } } },
      { type: 'pg_create_select_permission', args: { table: 'item', role: 'clerk', permission: { columns: ['id'], filter: {} } } },
    ]);
    const opened = await open('#/settings');
    const { page, write } = opened;
    await page.getByLabel('Filter options').fill('enable-console');
    await page.getByRole('row', { name: /--enable-console.*true.*changed/ }).waitFor();
    await expectAccessible(opened);

    await page.getByRole('tab', { name: 'Roles' }).click();
    await page.getByRole('button', { name: 'New inherited role' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('both');
    for (const parent of ['reader', 'clerk']) await page.getByRole('dialog').getByLabel(parent).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByRole('row', { name: /both (?:reader, clerk|clerk, reader)/ }).waitFor();
    await expectAccessible(opened);

    await page.getByRole('tab', { name: 'Allow-list' }).click();
    await page.getByRole('button', { name: 'New collection' }).click();
    await write(
      'New collection',
      '{"name": "shop", "definition": {"queries": [{"name": "Names", "query": "query Names { __typename }"}]}}',
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Add to allow-list' }).click();
    await page.getByText('allowed', { exact: true }).waitFor();
    await expectAccessible(opened);
    const collections = async (): Promise<unknown> =>
      service.metadata('export_metadata', { only: { sections: ['query_collections', 'allowlist'] } });
    const before = await collections();
    await page.getByRole('button', { name: 'Delete …' }).click();
    await apply(page);
    await page.getByText('No collections').waitFor();
    await undo(page, 'Delete collection');
    await page.getByText('allowed', { exact: true }).waitFor();
    await expect.poll(() => collections(), WAIT).toEqual(before);

    await page.getByRole('tab', { name: 'REST' }).click();
    await page.getByText('No REST endpoints').waitFor();
    await expectAccessible(opened);

    await page.getByRole('tab', { name: 'API limits' }).click();
    const save = page.getByRole('button', { name: 'Save' });
    await expect.poll(() => save.getAttribute('title'), WAIT).toBe('No changes');
    await write('API limits', '{"depth_limit": {"global": 10, "per_role": {}}}');
    await save.click();
    await apply(page);
    await expect
      .poll(async () => JSON.stringify(await service.metadata('export_metadata', { only: { sections: ['api_limits'] } })))
      .toContain('depth_limit');
    await expectAccessible(opened);

    await page.getByRole('tab', { name: 'TLS and introspection' }).click();
    await page.getByLabel('Host').fill('hooks.example.org');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('hooks.example.org').first().waitFor();
    // The box is ticked once the service has stored the role.
    await page.getByLabel('clerk').click();
    await expect
      .poll(async () => JSON.stringify(await service.metadata('export_metadata', {})))
      .toContain('"graphql_schema_introspection":{"disabled_for_roles":["clerk"]}');
    await expectAccessible(opened);
    await opened.close();
  });

  it('lead from a table to its event triggers, and from a trigger to its table', async () => {
    await service.sql('create table parcel (id int primary key)');
    await service.metadata('pg_track_table', { table: 'parcel' });
    const opened = await open('#/data/default/public.parcel');
    const { page } = opened;
    await page.getByRole('link', { name: 'Event triggers', exact: true }).click();
    await page.getByRole('heading', { name: 'Events' }).waitFor();
    await page.getByRole('button', { name: 'New event trigger' }).click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.getByRole('combobox', { name: 'Table' }).inputValue(), WAIT).toBe('default: public.parcel');
    await dialog.getByLabel('Name').fill('parcel_sent');
    await dialog.getByLabel('Webhook').fill('{{HOOKS}}/parcels');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('insert on public.parcel, or invoked manually, sent to {{HOOKS}}/parcels').waitFor();
    await expectAccessible(opened);
    await page.getByRole('link', { name: 'public.parcel' }).click();
    await page.getByRole('link', { name: 'Event triggers 1' }).click();
    await page.getByRole('link', { name: 'parcel_sent' }).waitFor();
    await page.getByRole('searchbox', { name: 'Filter triggers' }).fill('nothing of that name');
    await page.getByText('No event trigger or table has “nothing of that name” in its name.').waitFor();
    await page.getByRole('button', { name: 'Clear filter' }).click();
    await page.getByRole('link', { name: 'parcel_sent' }).waitFor();
    await service.metadata('pg_delete_event_trigger', { source: 'default', name: 'parcel_sent' });
    await service.metadata('pg_untrack_table', { table: 'parcel' });
    await opened.close();
  });

  it('show why a remote schema is inconsistent', async () => {
    const remote = await startGraphqlServer('type Query { one: Int }', {});
    await service.metadata('add_remote_schema', { name: 'away', definition: { url: remote.url } });
    await remote.close();
    await service.metadata('reload_metadata', { reload_remote_schemas: true });
    const opened = await open('#/remote-schemas');
    await opened.page
      .getByRole('note')
      .getByText(/HTTP exception occurred/)
      .waitFor();
    await expectAccessible(opened);
    await opened.close();
    await service.metadata('remove_remote_schema', { name: 'away' });
  });

  it('add a remote schema, grant a role a part of it and remove it', async () => {
    const remote = await startGraphqlServer('type Query { country(code: ID!): Country } type Country { code: ID! name: String }', {});
    const opened = await open('#/remote-schemas');
    const { page, write } = opened;
    try {
      await page.getByRole('button', { name: 'New remote schema' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('countries');
      await dialog.getByLabel('Environment variable').fill('COUNTRIES_URL');
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      // The service has no such variable: the form keeps its input.
      await dialog.getByRole('alert').waitFor();
      await expect.poll(() => dialog.getByLabel('Environment variable').inputValue(), WAIT).toBe('COUNTRIES_URL');
      await discardDialog(page);
      await service.metadata('add_remote_schema', { name: 'countries', definition: { url: remote.url } });
      await page.getByRole('heading', { name: 'countries' }).waitFor();
      await page.getByText(/\d+ types/).waitFor();
      await expectAccessible(opened);
      await page.getByRole('button', { name: 'Add permission' }).click();
      await page.getByRole('textbox', { name: 'Role', exact: true }).fill('traveller');
      await page
        .getByRole('dialog')
        .getByRole('checkbox', { name: /^country/ })
        .check();
      await page.getByRole('button', { name: 'Add preset for country(code)' }).click();
      await page.getByLabel('Preset for country(code)', { exact: true }).fill('x-svc-country');
      await page.locator('summary', { hasText: /^Country/ }).click();
      await page.getByRole('checkbox', { name: /^name/ }).uncheck();
      await expectAccessible(opened);
      await page.getByRole('dialog').getByRole('button', { name: 'SDL' }).click();
      await page.getByRole('textbox', { name: 'Permission SDL' }).getByText('@preset(value: "x-svc-country")').waitFor();
      await expectAccessible(opened);
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('button', { name: 'traveller' }).waitFor();
      const storedSdl = JSON.stringify(
        'type Query {\n  country(code: ID! @preset(value: "x-svc-country")): Country\n}\n\ntype Country {\n  code: ID!\n}\n',
      );
      // Invalid SDL stays in the editor.
      await page.getByRole('button', { name: 'traveller' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'SDL' }).click();
      await write('Permission SDL', 'type Query {');
      await page.getByRole('dialog').getByRole('button', { name: 'Fields' }).click();
      await page.getByText('Invalid SDL').waitFor();
      await discardDialog(page);
      await page.getByRole('button', { name: 'Add relationship' }).click();
      await expectAccessible(opened);
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
      await service.metadata('create_remote_schema_remote_relationship', {
        remote_schema: 'countries',
        type_name: 'Country',
        name: 'items',
        definition: { to_source: { source: 'default', table: 'item', relationship_type: 'array', field_mapping: { code: 'name' } } },
      });
      const remotes = async (): Promise<unknown> => service.metadata('export_metadata', { only: { sections: ['remote_schemas'] } });
      const before = await remotes();
      expect(JSON.stringify(before)).toContain(storedSdl);
      await page.getByText('Country.items').waitFor();
      await page.getByRole('button', { name: 'Remove …' }).click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Apply/ })
        .click();
      await page.getByText('No remote schemas').waitFor();
      await undo(page, 'Remove remote schema');
      await page.getByRole('heading', { name: 'countries' }).waitFor();
      await expect.poll(() => remotes(), WAIT).toEqual(before);
    } finally {
      await remote.close();
    }
    await opened.close();
  });
});
