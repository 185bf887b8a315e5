import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined)('permission editor', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const permissions = async (table: string): Promise<JsonObject> => {
    const { sources } = (await service.metadata('export_metadata', {})) as {
      sources: { tables: (JsonObject & { table: JsonObject })[] }[];
    };
    return sources[0]?.tables.find((each) => each.table['name'] === table) ?? {};
  };

  it('previews the rows of a draft, which the role then reads', async () => {
    const { page, go, requests, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.album?tab=permissions');
    await page.getByRole('button', { name: 'Add role' }).click();
    await page.getByRole('combobox', { name: 'Role name' }).fill('fan');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('button', { name: 'All rows' }).click();
    await page.getByText('can read 347 of 347 rows').waitFor();
    await page.getByRole('button', { name: 'Add condition to condition' }).click();
    await page.getByRole('combobox', { name: 'Column of condition' }).fill('artist_id');
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Value of condition' }).fill('X-Svc-User-Id');
    await page.keyboard.press('Enter');
    await page.getByText('Enter a value for X-Svc-User-Id').waitFor();
    await page.getByLabel('X-Svc-User-Id for the preview').fill('3');
    await page.getByText(/can read \d+ of 347 rows/).waitFor();
    const previewed = Number(/can read (\d+) of/.exec((await page.locator('.preview-count').textContent()) ?? '')?.[1]);
    await page.getByRole('button', { name: 'Excluded' }).click();
    await page.getByRole('button', { name: 'Why is row 1 excluded?' }).click();
    await page.getByRole('list', { name: 'Why the row is excluded' }).getByText('no', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Review changes' }).click();
    const shown = JSON.parse((await page.getByRole('dialog').locator('pre').last().textContent()) ?? '') as JsonObject;
    await page.getByRole('button', { name: /^Apply/ }).click();
    await page.getByText('Applied: select permission of fan on public.album').waitFor();
    expect(
      requests
        .map(({ body }) => body)
        .filter((body) => body.includes('create_select_permission') && !body.includes('preview_changes'))
        .map((body) => JSON.parse(body) as JsonObject),
    ).toEqual([shown]);
    await expect
      .poll(async () => (await permissions('album'))['select_permissions'], WAIT)
      .toContainEqual({
        role: 'fan',
        permission: { columns: ['album_id', 'title', 'artist_id'], filter: { artist_id: { _eq: 'X-Svc-User-Id' } } },
      });
    const { data } = (await service.graphql('{ album { album_id } }', { role: 'fan', session: { 'user-id': '3' } })) as {
      data: { album: JsonObject[] };
    };
    expect(data.album).toHaveLength(previewed);
    await close();
  });

  it('keeps unknown parts of a condition and invalid JSON', async () => {
    const filter: JsonObject = {
      _or: [{ title: { _like: 'A%' } }, { _exists: { _table: { schema: 'public', name: 'artist' }, _where: { name: { _eq: 'x' } } } }],
      artist: { name: { _neq: 'y' } },
    };
    await service.metadata('pg_create_select_permission', {
      table: 'album',
      role: 'tree',
      permission: { columns: ['title'], filter, query_root_fields: ['select'] },
    });
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.album?tab=permissions&role=tree&operation=select');
    const menu = page.getByRole('button', { name: 'More actions for condition', exact: true });
    await menu.click();
    await page.getByRole('menuitem', { name: 'Wrap in NOT' }).click();
    await page.getByLabel('Group operator of condition', { exact: true }).selectOption('any');
    await page.getByLabel('Group operator of condition', { exact: true }).selectOption('not');
    await menu.click();
    await page.getByRole('menuitem', { name: 'Unwrap' }).click();
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const editor = 'select permission of tree as JSON';
    await page.getByLabel(editor).waitFor();
    await write(editor, '{ "columns": ["title"], ');
    await page.getByText(/invalid JSON/).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Review changes' }).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Tree', exact: true }).click();
    await page.getByText('{ "columns": ["title"],').waitFor();
    await write(editor, JSON.stringify({ columns: '*', filter, query_root_fields: ['select'] }));
    await page.getByRole('button', { name: 'Tree', exact: true }).click();
    await page.getByLabel('Group operator of condition, part 1').waitFor();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: /^Apply/ }).click();
    await page.getByText('Applied: select permission of tree on public.album').waitFor();
    await expect
      .poll(async () => (await permissions('album'))['select_permissions'], WAIT)
      .toContainEqual({
        role: 'tree',
        permission: { columns: '*', filter, query_root_fields: ['select'] },
      });
    await close();
  });

  it('copies a permission to other roles, undoes the copy and deletes the permission', async () => {
    const before = await permissions('invoice');
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.invoice?tab=permissions&role=customer&operation=select');
    await page.getByRole('button', { name: 'Copy permission …' }).click();
    await page.getByRole('dialog').getByLabel('employee', { exact: true }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: /^Apply/ }).click();
    await page.getByText('Applied: Copy select permission of customer on public.invoice to employee').waitFor();
    const [customer, employee] = (await permissions('invoice'))['select_permissions'] as { permission: JsonObject }[];
    expect(customer).toEqual((before['select_permissions'] as JsonObject[])[0]);
    expect(employee?.permission).toEqual(customer?.permission);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page
      .getByText(/^Undo: /)
      .first()
      .waitFor();
    await expect.poll(() => permissions('invoice'), WAIT).toEqual(before);
    await page.getByRole('button', { name: 'Delete permission …' }).click();
    await page.getByRole('dialog').getByText('Drop select permission on public.invoice for customer').waitFor();
    await page.getByRole('button', { name: /^Apply/ }).click();
    await page.getByText('customer has no select permission.').waitFor();
    await close();
  });
});
