/** Events, Live, Metadata and Settings as somebody uses them. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from 'graphql-ws';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { chromiumPath, startBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { expectAccessible, openPage, type Watched } from './browser.ts';

let service: TestService;
let browser: Browser;
let hook: Server;
let status = 500;
let watched: Watched;

describe.skipIf(chromiumPath === undefined)('the console', () => {
  beforeAll(async () => {
    hook = createServer((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(status, { 'content-type': 'application/json' }).end('{"message": "as told"}'));
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const { port } = hook.address() as AddressInfo;
    [service, browser] = await Promise.all([
      startTestService({ ENABLE_CONSOLE: 'true', EVENTS_FETCH_INTERVAL: '200' }, { HOOKS: `http://127.0.0.1:${port}` }),
      startBrowser(),
    ]);
    await service.sql('create table item (id int primary key, name text); create table other (id int primary key)');
    await service.metadata('pg_track_table', { table: 'item' });
    watched = await openPage(browser, service.url);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    hook?.close();
  });
  afterEach(() => {
    expect(watched.complaints).toEqual([]);
  });

  const open = async (path: string): Promise<Page> => {
    const { page } = watched;
    await page.goto(`${service.url}/console/#/${path}`);
    return page;
  };

  it('makes a trigger, shows what failed, and delivers it again', async () => {
    const page = await open('events');
    await page.getByRole('button', { name: 'New event trigger' }).click();
    await page.getByRole('combobox', { name: 'Table' }).fill('item');
    await page.getByRole('option', { name: /public\.item/ }).click();
    await page.getByLabel('Name').fill('itemed');
    await page.getByLabel('Webhook').fill('{{HOOKS}}/itemed');
    await page.getByLabel('Retries').fill('0');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'itemed' }).waitFor();

    await service.sql('insert into item values (1)');
    await expect
      .poll(async () => {
        await page.getByRole('button', { name: 'Read the events again' }).click();
        return page.getByText('failed', { exact: true }).count();
      })
      .toBe(1);
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await page.locator('tbody').getByRole('button').first().click();
    const dialog = page.getByRole('dialog', { name: 'Event' });
    await dialog.locator('summary').filter({ hasText: '500' }).click();
    await expectAccessible(page);
    status = 200;
    await dialog.getByRole('button', { name: 'Redeliver' }).click();
    await dialog.getByText('delivered', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('link', { name: 'Events' }).last().click();
    await page.getByRole('row', { name: /itemed/ }).waitFor();
    await expectAccessible(page);
  }, 60_000);

  it('plans calls and cancels them', async () => {
    const page = await open('events/cron');
    await page.getByRole('button', { name: 'New cron trigger' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: /nightly/ }).waitFor();
    await expectAccessible(page);
    await page.getByRole('tab', { name: 'One-off events' }).click();
    await page.getByRole('button', { name: 'Schedule a call' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Schedule' }).click();
    await page.getByText('scheduled', { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Nothing is scheduled').waitFor();
  }, 60_000);

  it('shows subscriptions while they last', async () => {
    const client = createClient({ url: `${service.url.replace('http', 'ws')}/v1/graphql`, webSocketImpl: WebSocket });
    const answers = client.iterate({ query: 'subscription Watch { item { id } }' });
    await answers.next();
    const page = await open('live');
    await page.getByRole('button', { name: /subscription Watch/ }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'Statement' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Close' }).click();
    await client.dispose();
    await page.getByText('Nobody subscribes').waitFor();
    await expectAccessible(page);
  }, 60_000);

  it('compares a document object by object, applies what is ticked, and takes it back', async () => {
    const document = (await service.metadata('export_metadata', {})) as {
      sources: { tables: { table: unknown; configuration?: unknown }[] }[];
    };
    const [table] = document.sources[0]?.tables ?? [];
    if (table !== undefined) table.configuration = { custom_name: 'thing' };
    document.sources[0]?.tables.push({ table: { schema: 'public', name: 'other' } });
    const page = await open('metadata');
    const file = { name: 'metadata.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(document)) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('1 changed, 1 added').waitFor();
    await page.getByText('Show').first().click();
    await expectAccessible(page);
    await page.getByRole('checkbox', { name: /public\.item/ }).uncheck();
    await page.getByRole('button', { name: 'Apply 1' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Apply/ })
      .click();
    await page.getByText('1 changed', { exact: true }).waitFor();
    const names = async (): Promise<string> => JSON.stringify(await service.metadata('export_metadata', {}));
    expect(await names()).toContain('"other"');
    expect(await names()).not.toContain('thing');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(names).not.toContain('"other"');
  }, 60_000);

  it('shows what is inconsistent, and drops it', async () => {
    await service.metadata('pg_track_table', { table: 'other' });
    await service.sql('drop table other', { check_metadata_consistency: false });
    await service.metadata('reload_metadata', {});
    const page = await open('metadata?tab=inconsistent');
    await page
      .getByText(/no such table/)
      .first()
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Drop all 1' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Apply/ })
      .click();
    await page.getByText('Everything fits').waitFor();
    await page.getByRole('tab', { name: 'Reload and clear' }).click();
    await expectAccessible(page);
  }, 60_000);

  it('changes settings, and takes back what was changed', async () => {
    await service.metadata('bulk', [
      { type: 'pg_create_select_permission', args: { table: 'item', role: 'reader', permission: { columns: '*', filter: {} } } },
      { type: 'pg_create_select_permission', args: { table: 'item', role: 'clerk', permission: { columns: ['id'], filter: {} } } },
    ]);
    const page = await open('settings');
    await page.getByLabel('Filter options').fill('enable-console');
    await page.getByRole('row', { name: /--enable-console.*true.*set/ }).waitFor();
    await expectAccessible(page);

    await page.getByRole('tab', { name: 'Roles' }).click();
    await page.getByRole('button', { name: 'New inherited role' }).click();
    await page.getByLabel('Name').fill('both');
    for (const parent of ['reader', 'clerk']) await page.getByRole('dialog').getByLabel(parent).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await page.getByRole('row', { name: /both (?:reader, clerk|clerk, reader)/ }).waitFor();
    await expectAccessible(page);

    await page.getByRole('tab', { name: 'Allow-list' }).click();
    await page.getByRole('button', { name: 'New collection' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Put on the list' }).click();
    await page.getByText('allowed', { exact: true }).waitFor();
    await expectAccessible(page);

    await page.getByRole('tab', { name: 'REST' }).click();
    await page.getByText('No REST endpoint').waitFor();
    await expectAccessible(page);

    await page.getByRole('tab', { name: 'Limits' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => JSON.stringify(await service.metadata('export_metadata', { only: { sections: ['api_limits'] } })))
      .toContain('depth_limit');
    await expectAccessible(page);

    await page.getByRole('tab', { name: 'TLS and introspection' }).click();
    await page.getByLabel('Host').fill('hooks.example.org');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('hooks.example.org').first().waitFor();
    await page.getByLabel('clerk').check();
    await expect
      .poll(async () => JSON.stringify(await service.metadata('export_metadata', {})))
      .toContain('"graphql_schema_introspection":{"disabled_for_roles":["clerk"]}');
    await expectAccessible(page);
  }, 60_000);
});
