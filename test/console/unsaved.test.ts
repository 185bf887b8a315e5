/** Drafts survive: in editors while other pages are open, and in dialogs until the user discards them. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { apply, expectAccessible } from '../support/console-steps.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined)('unsaved changes', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
    for (const role of ['reader', 'writer'])
      await service.metadata('pg_create_select_permission', { table: 'album', role, permission: { columns: ['title'], filter: {} } });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('of permissions survive another cell, another page and the changes of others', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    const permission = '#/data/default/public.album?tab=permissions&role=';
    await go(`${permission}reader&operation=select`);
    await page.getByLabel('artist_id', { exact: true }).check();
    await page.getByRole('button', { name: 'select permission of writer' }).click();
    await page.getByRole('heading', { name: 'select permission of writer' }).waitFor();
    await page.getByRole('button', { name: 'select permission of reader: partial 1 of 3 columns, edited' }).waitFor();
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await write('select permission of writer as JSON', '{"columns": ');
    await go('#/sql');
    await page.getByRole('heading', { name: 'SQL' }).waitFor();
    await service.metadata('pg_create_select_permission', {
      table: 'genre',
      role: 'reader',
      permission: { columns: ['name'], filter: {} },
    });
    await go(`${permission}reader&operation=select`);
    await expect.poll(() => page.getByLabel('artist_id', { exact: true }).isChecked(), WAIT).toBe(true);
    await page.getByRole('button', { name: 'select permission of writer' }).click();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'select permission of writer as JSON' }).textContent(), WAIT)
      .toContain('{"columns": ');
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.getByRole('button', { name: 'select permission of reader' }).click();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await apply(page);
    await page.getByText('Applied: select permission of reader').waitFor();
    await page.getByRole('button', { name: 'select permission of reader: partial 2 of 3 columns', exact: true }).waitFor();
    await close();
  });

  it('of a new role keep the role in the grid', async () => {
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.album?tab=permissions');
    await page.getByRole('button', { name: 'Add role' }).click();
    await page.getByRole('combobox', { name: 'Role name' }).fill('visitor');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'All rows' }).click();
    await go('#/events');
    await page.getByRole('heading', { name: 'Events' }).waitFor();
    await go('#/data/default/public.album?tab=permissions');
    await page.getByRole('button', { name: 'select permission of visitor: none edited' }).waitFor();
    await close();
  });

  it('of the editors of tables, limits, actions and metadata survive another page', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.genre?tab=structure');
    await page.getByLabel('GraphQL name of name').fill('title');
    await go('#/data/default/public.artist?tab=json');
    await write('Metadata of public.artist', '{"unfinished": ');
    await go('#/settings?tab=limits');
    await write('API limits', '{"depth_limit": ');
    await go('#/actions/+');
    await write('Signature and types', 'type Mutation { buy');
    await go('#/metadata');
    await write('Metadata to import', '{"version": 3');
    await go('#/data/+');
    await page.getByLabel('Name', { exact: true }).fill('warehouse');

    await go('#/data/default/public.genre?tab=structure');
    await expect.poll(() => page.getByLabel('GraphQL name of name').inputValue(), WAIT).toBe('title');
    const textOf = (name: string) => page.getByRole('textbox', { name, exact: true }).textContent();
    for (const [route, name, text] of [
      ['#/data/default/public.artist?tab=json', 'Metadata of public.artist', '{"unfinished": '],
      ['#/settings?tab=limits', 'API limits', '{"depth_limit": '],
      ['#/actions/+', 'Signature and types', 'type Mutation { buy'],
      ['#/metadata', 'Metadata to import', '{"version": 3'],
    ] as const) {
      await go(route);
      await expect.poll(() => textOf(name), WAIT).toContain(text);
    }
    await go('#/data/+');
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue(), WAIT).toBe('warehouse');
    // The browser asks before it closes a page with drafts.
    expect(await page.evaluate(`!dispatchEvent(new Event('beforeunload', { cancelable: true }))`)).toBe(true);
    await close();
  });

  it('of a metadata import or operation make the browser ask, until they are sent', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url, { route: '#/metadata' });
    const asks = (): Promise<boolean> => page.evaluate(`!dispatchEvent(new Event('beforeunload', { cancelable: true }))`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Metadata to import' }).textContent(), WAIT).toContain('sources');
    // A stored document is not lost.
    expect(await asks()).toBe(false);
    await write('Metadata to import', '{"version": 3');
    await expect.poll(asks, WAIT).toBe(true);
    await write('Metadata to import', ' ');
    await expect.poll(asks, WAIT).toBe(false);

    await go('#/metadata?tab=operation');
    await write('Metadata operation', '{"type": "get_inconsistent_metadata", "args": {}}');
    await expect.poll(asks, WAIT).toBe(true);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Done').waitFor();
    expect(await asks()).toBe(false);
    await close();
  });

  it('of a row are duplicated only after a question', async () => {
    const where = encodeURIComponent('{"artist_id":{"_eq":1}}');
    const { page, close } = await openConsolePage(browser, service.url, { route: `#/data/default/public.artist?where=${where}` });
    await page.getByRole('gridcell', { name: '1', exact: true }).dblclick();
    const dialog = page.getByRole('dialog', { name: 'Row of public.artist' });
    const name = dialog.getByRole('textbox', { name: 'name' });
    const stored = await name.inputValue();
    await name.fill('Edited');
    await dialog.getByRole('button', { name: 'Duplicate' }).click();
    await dialog.getByText('Discard what you have entered?').waitFor();
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    expect(await name.inputValue()).toBe('Edited');
    await dialog.getByRole('button', { name: 'Duplicate' }).click();
    await dialog.getByRole('button', { name: 'Discard', exact: true }).click();
    const copy = page.getByRole('dialog', { name: 'Insert into public.artist' });
    await expect.poll(() => copy.getByRole('textbox', { name: 'name' }).inputValue(), WAIT).toBe(stored);
    await close();
  });

  it('of a structure form count if they are made by buttons alone', async () => {
    const { page, close } = await openConsolePage(browser, service.url, { route: '#/data/default' });
    const dialog = page.getByRole('dialog', { name: 'New table' });
    for (const button of ['Add column', 'Remove column 2']) {
      await page.getByRole('button', { name: 'New table' }).click();
      await dialog.getByRole('button', { name: button, exact: true }).click();
      await page.keyboard.press('Escape');
      await dialog.getByText('Discard what you have entered?').waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    // An untouched form closes at once.
    await page.getByRole('button', { name: 'New table' }).click();
    await dialog.getByLabel('Comment').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await close();
  });

  it('in a dialog are discarded by Escape only after a question', async () => {
    const opened = await openConsolePage(browser, service.url);
    const { page, go, write, close } = opened;
    await go('#/data/default/public.album');
    await page.getByRole('button', { name: 'Insert' }).click();
    const dialog = page.getByRole('dialog');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Insert' }).click();
    const title = dialog.getByRole('textbox', { name: 'title' });
    await title.fill('Blue Train');
    await page.keyboard.press('Escape');
    await dialog.getByText('Discard what you have entered?').waitFor();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    expect(await title.inputValue()).toBe('Blue Train');
    await dialog.getByRole('button', { name: 'Close' }).first().click();
    await dialog.getByText('Discard what you have entered?').waitFor();
    await title.press('End');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    // The text of an editor counts, too.
    await service.metadata('pg_create_event_trigger', {
      name: 'hook',
      table: 'album',
      webhook: 'http://127.0.0.1:9',
      insert: { columns: '*' },
    });
    await go('#/events/triggers/default/hook');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Edit as JSON …' }).click();
    await write('Event trigger hook', '{"name": ');
    // A move ends the search for completions, which the first Escape would end otherwise.
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Escape');
    await dialog.getByText('Discard what you have entered?').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await close();
  });

  it('of a row survive a change of the metadata', async () => {
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.artist');
    await page.getByRole('button', { name: 'Insert' }).click();
    const name = page.getByRole('dialog').getByRole('textbox', { name: 'name' });
    await name.fill('Nina Simone');
    await service.metadata('set_api_limits', { depth_limit: { global: 9, per_role: {} } });
    const { resource_version: version } = (await service.metadata('export_metadata', {}, { version: 2 })) as { resource_version: number };
    await page.getByText(`v${version} ·`).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await name.inputValue()).toBe('Nina Simone');
    await service.metadata('remove_api_limits', {});
    await close();
  });
});
