/** The console shows what is true now: no errors and results of an earlier state, and no more than a role may see. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { apply, expectAccessible } from '../support/console-steps.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined)('what the console shows', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const isTracked = async (name: string): Promise<boolean> => {
    const { sources } = (await service.metadata('export_metadata', {})) as { sources: { tables: { table: JsonObject }[] }[] };
    return sources[0]?.tables.some(({ table }) => table['name'] === name) === true;
  };

  it('suggests the name of a relationship again after it was deleted', async () => {
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.album?tab=relationships');
    const list = page.getByRole('table', { name: 'Relationships', exact: true });
    await list
      .getByRole('row', { name: /^artist/ })
      .getByRole('button', { name: 'Delete …' })
      .click();
    await apply(page);
    await page.getByText('Applied: Delete relationship artist').waitFor();
    const name = page.getByLabel('Name of the relationship from public.album to public.artist');
    await expect.poll(() => name.inputValue(), WAIT).toBe('artist');
    // The list of the source knows the names in use, too.
    await service.metadata('pg_create_object_relationship', {
      table: 'album',
      name: 'artist',
      using: { manual_configuration: { remote_table: 'genre', column_mapping: { artist_id: 'genre_id' } } },
    });
    await go('#/data/default?tab=relationships');
    await expect.poll(() => name.inputValue(), WAIT).toBe('artist_by_artist_id');
    await service.metadata('pg_drop_relationship', { table: 'album', relationship: 'artist' });
    await close();
  });

  it('forgets a count when the filter changes, and an error when the form changes', async () => {
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.album');
    await page.getByRole('button', { name: 'Count' }).click();
    await page.getByText(/^\d+ rows$/).waitFor();
    await go(`#/data/default/public.album?where=${encodeURIComponent('{"album_id": {"_eq": 1}}')}`);
    await page.getByText('1 – 1').waitFor();
    expect(await page.getByText(/^\d+ rows$/).count()).toBe(0);
    await go('#/data/default/public.album?tab=relationships');
    await page
      .getByRole('row', { name: /^tracks/ })
      .getByRole('button', { name: 'Rename' })
      .click();
    const dialog = page.getByRole('dialog');
    // A dialog with one field is submitted by Enter.
    await dialog.getByRole('textbox', { name: 'Name' }).fill('title');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('textbox', { name: 'Name' }).fill('songs');
    await expect.poll(() => dialog.getByRole('alert').count(), WAIT).toBe(0);
    await page.keyboard.press('Enter');
    await page.getByText('Applied: Rename relationship tracks to songs').waitFor();
    await close();
  });

  it('previews only the columns that the role may read', async () => {
    const { page, go, close } = await openConsolePage(browser, service.url);
    await service.metadata('pg_create_select_permission', {
      table: 'customer',
      role: 'clerk',
      permission: { columns: ['first_name', 'country'], filter: { country: { _eq: 'Brazil' } } },
    });
    const route = '#/data/default/public.customer?tab=permissions&role=clerk&operation=';
    await go(`${route}select`);
    const preview = page.getByRole('complementary', { name: 'Preview' });
    const headings = () => preview.getByRole('columnheader').allInnerTexts();
    await expect.poll(headings, WAIT).toEqual(['first_name', 'country']);
    await page.getByLabel('country', { exact: true }).uncheck();
    await expect.poll(headings, WAIT).toEqual(['first_name']);
    await preview.getByRole('button', { name: 'Excluded' }).click();
    await preview.getByRole('button', { name: 'Why is row 1 excluded?' }).click();
    await preview.getByText('country').waitFor();
    // The condition stays, the value is not shown.
    expect(await preview.getByRole('table').innerText()).not.toContain('Brazil');
    await page.getByRole('button', { name: 'Reset' }).click();
    // A role that deletes rows sees of them what its select permission has.
    await go(`${route}delete`);
    await page.getByRole('button', { name: 'All rows' }).click();
    await expect.poll(headings, WAIT).toEqual(['first_name', 'country']);
    await page.getByRole('button', { name: 'Reset' }).click();
    await close();
  });

  it('does not recommend all rows for a new permission', async () => {
    const { page, go, close } = await openConsolePage(browser, service.url);
    const primary = () => page.locator('.permission .button-primary').first().innerText();
    await go('#/data/default/public.invoice?tab=permissions&role=clerk&operation=select');
    await expect.poll(primary, WAIT).toBe('Own rows (customer_id)');
    await go('#/data/default/public.genre?tab=permissions&role=clerk&operation=select');
    await expect.poll(primary, WAIT).toBe('Rows by a condition');
    await page.getByRole('button', { name: 'Rows by a condition' }).click();
    await page.getByText('Enter a value for genre_id').waitFor();
    await page.getByRole('button', { name: 'Reset' }).click();
    await close();
  });

  it('opens a cell of permissions wherever it is clicked', async () => {
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.album?tab=permissions');
    const row = page.getByRole('row', { name: /^clerk/ });
    const cell = row.getByRole('gridcell').nth(2);
    const box = await cell.boundingBox();
    await cell.click({ position: { x: (box?.width ?? 0) - 4, y: 4 } });
    await page.getByRole('heading', { name: 'insert permission of clerk' }).waitFor();
    await go('#/data/default?tab=permissions');
    const grid = page.getByRole('grid', { name: 'select permissions' });
    await grid.getByRole('gridcell', { name: 'public.customer' }).click();
    await page.getByRole('heading', { name: 'public.customer' }).waitFor();
    await close();
  });

  it('offers to track a table that is not tracked, and to reload one that is gone', async () => {
    await service.sql('create table shelf (id int primary key, name text)');
    const opened = await openConsolePage(browser, service.url);
    const { page, go, close } = opened;
    await go('#/data/default/public.shelves');
    await page.getByRole('heading', { name: 'default has no table public.shelves' }).waitFor();
    await go('#/data/default/public.shelf');
    await page.getByRole('heading', { name: 'public.shelf is not tracked' }).waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Track', exact: true }).click();
    await page.getByText('The table is empty').waitFor();
    expect(await isTracked('shelf')).toBe(true);
    await service.sql('drop table shelf', { check_metadata_consistency: false });
    await page.getByRole('button', { name: 'Refresh rows' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Reload default' }).click();
    await page.getByRole('heading', { name: 'The database has no public.shelf' }).waitFor();
    await expectAccessible(opened);
    await service.sql('create table shelf (id int primary key, name text)');
    await page.getByRole('button', { name: 'Reload default' }).first().click();
    await page.getByText('The table is empty').waitFor();
    await service.sql('drop table shelf', { check_metadata_consistency: false });
    await page.getByRole('button', { name: 'Refresh rows' }).click();
    await page.getByRole('alert').getByRole('button', { name: 'Reload default' }).click();
    await page.getByRole('button', { name: 'Untrack …' }).click();
    await apply(page);
    await page.getByRole('heading', { name: 'default has no table public.shelf' }).waitFor();
    expect(await isTracked('shelf')).toBe(false);
    await close();
  });
});
