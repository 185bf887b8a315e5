/** Roles across all tables, and stored queries that a permission change would break. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { undo } from '../support/console-steps.ts';
import { startConsoleService } from '../support/console-service.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined)('roles', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  type Permission = JsonObject & { role: string };
  const exported = (): Promise<Json> => service.metadata('export_metadata', {});
  /** Select permissions of a role by table. */
  const selectOf = async (role: string): Promise<Record<string, Json>> => {
    const { sources } = (await exported()) as { sources: { tables: { table: JsonObject; select_permissions?: Permission[] }[] }[] };
    const found = (sources[0]?.tables ?? []).flatMap(({ table, select_permissions: list = [] }) =>
      list.filter((each) => each.role === role).map((each) => [String(table['name']), each['permission'] ?? null] as const),
    );
    return Object.fromEntries(found);
  };

  it('are copied, renamed, deleted and restored across all tables', async () => {
    const before = await exported();
    const customer = await selectOf('customer');
    expect(Object.keys(customer).length).toBeGreaterThan(2);
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/settings?tab=roles');
    const dialog = page.getByRole('dialog');
    const apply = page.getByRole('dialog').getByRole('button', { name: /^Apply/ });

    await page.getByRole('button', { name: 'Copy customer …' }).click();
    await dialog.getByLabel('Name').fill('employee');
    await expect.poll(() => dialog.getByRole('button', { name: 'Review changes' }).getAttribute('title')).toContain('already');
    await dialog.getByLabel('Name').fill('visitor');
    await dialog.getByRole('button', { name: 'Review changes' }).click();
    await apply.click();
    await page.getByText('Applied: Copy role customer to visitor').waitFor();
    await expect.poll(() => selectOf('visitor'), WAIT).toEqual(customer);
    await expect.poll(() => selectOf('customer'), WAIT).toEqual(customer);

    await page.getByRole('button', { name: 'Rename visitor …' }).click();
    await dialog.getByLabel('Name').fill('guest');
    await dialog.getByRole('button', { name: 'Review changes' }).click();
    await apply.click();
    await page.getByText('Applied: Rename role visitor to guest').waitFor();
    await expect.poll(() => selectOf('visitor'), WAIT).toEqual({});
    await expect.poll(() => selectOf('guest'), WAIT).toEqual(customer);

    await page.getByRole('button', { name: 'Delete guest …' }).click();
    await apply.click();
    await page.getByText('Applied: Delete role guest').waitFor();
    await expect.poll(() => exported(), WAIT).toEqual(before);
    await undo(page, 'Delete role guest');
    await expect.poll(() => selectOf('guest'), WAIT).toEqual(customer);
    await service.metadata('replace_metadata', before as JsonObject);
    await close();
  });

  it('get a copied permission on another table', async () => {
    const album = (await selectOf('employee'))['album'];
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.media_type?tab=permissions&role=employee&operation=select');
    await service.sql('create table format (media_type_id int primary key, name text)');
    await service.metadata('pg_track_table', { table: 'format' });
    const source = (await selectOf('employee'))['media_type'];
    await page.reload();
    await page.getByRole('button', { name: 'Copy permission …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Filter tables').fill('form');
    await dialog.getByLabel('public.format').check();
    await dialog.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: /^Apply/ }).click();
    await page.getByText('Applied: Copy select permission of employee on public.media_type').waitFor();
    const after = await selectOf('employee');
    expect(after['format']).toEqual(source);
    expect(after['media_type']).toEqual(source);
    expect(after['album']).toEqual(album);
    await close();
  });

  it('show the stored queries that deleting a permission would break', async () => {
    await service.metadata('create_query_collection', {
      name: 'shop',
      definition: { queries: [{ name: 'Top', query: 'query Top { album(limit: 3) { title } }' }] },
    });
    await service.metadata('add_collection_to_allowlist', { collection: 'shop' });
    const { page, go, axe, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.album?tab=permissions&role=employee&operation=select');
    await page.getByRole('button', { name: 'Delete permission …' }).click();
    await page.getByText('Breaks 1 stored query').waitFor();
    await page.getByText(/^Top of shop for employee: /).waitFor();
    expect(await axe()).toEqual([]);
    await page.getByRole('button', { name: 'Discard' }).click();
    await close();
  });
});
