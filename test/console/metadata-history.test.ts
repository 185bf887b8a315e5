/** The history of metadata changes in the console. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { runSql } from '../support/postgres.ts';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { apply, expectAccessible } from '../support/console-steps.ts';
import type { TestService } from '../support/service.ts';

describe.skipIf(chromiumPath === undefined)('the history of metadata changes', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService({}, false), startBrowser()]);
    await service.sql('create table author (id int primary key, name text)');
    await service.metadata('pg_track_table', { table: 'author' });
    await service.metadata('pg_create_select_permission', {
      table: 'author',
      role: 'reader',
      permission: { columns: ['id'], filter: {} },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const newest = async (): Promise<JsonObject> => {
    const { history } = (await service.metadata('get_metadata_history', { limit: 1 })) as { readonly history: readonly JsonObject[] };
    return history[0] ?? {};
  };

  it('shows who has changed what, and restores a version through the review', async () => {
    const restored = Number((await newest())['resource_version']) - 1;
    const opened = await openConsolePage(browser, service.url, { route: '#/metadata' });
    const { page, close } = opened;
    await page.getByRole('tab', { name: 'History' }).click();
    const changes = page.getByRole('table', { name: 'Changes of the metadata' });
    const row = changes.getByRole('row').filter({ hasText: 'pg_create_select_permission' });
    await row.getByText('admin (admin secret').waitFor();
    await row.getByText('table public.author of default').waitFor();
    await row.getByText('current').waitFor();
    await expectAccessible(opened);

    await row.getByRole('button', { name: /^Show version/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Show', { exact: true }).click();
    await dialog.getByText('"role": "reader"').waitFor();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Close' }).click();

    await changes.getByRole('button', { name: `Restore version ${restored}`, exact: true }).click();
    await page.getByRole('button', { name: 'Apply 1 …' }).waitFor();
    await page.getByText('table public.author of default').waitFor();
    await page.getByRole('button', { name: 'Apply 1 …' }).click();
    await apply(page);
    await page.getByText('No differences').waitFor();
    expect(JSON.stringify(await service.metadata('export_metadata', {}))).not.toContain('reader');
    expect(await newest()).toMatchObject({ client: 'svc-console', operations: ['replace_metadata'], credentials: 'admin-secret' });

    // A new change appears without a reload, and an edited import is not replaced.
    await page.getByRole('tab', { name: 'History' }).click();
    await changes.getByRole('row').filter({ hasText: 'replace_metadata' }).getByText('current').waitFor();
    await close();
  });

  it('does not replace an edited import', async () => {
    const { page, write, close } = await openConsolePage(browser, service.url, { route: '#/metadata' });
    await write('Metadata to import', '{"version": 3');
    await page.getByRole('tab', { name: 'History' }).click();
    const button = page.getByRole('button', { name: /^Restore version/ }).last();
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await page.evaluate(`location.hash = '#/metadata?tab=exchange&version=2'`);
    await page.getByText('Clear the text under Import first').waitFor();
    expect(await page.getByRole('textbox', { name: 'Metadata to import' }).textContent()).toContain('{"version": 3');
    await close();
  });

  it('shows a gap, and restores no version before it', async () => {
    for (const name of ['a', 'b', 'c']) await service.metadata('create_query_collection', { name, definition: { queries: [] } });
    const middle = Number((await newest())['resource_version']) - 1;
    await runSql(service.databaseUrl, `delete from svc_catalog.metadata_history_object where resource_version = ${middle}`);
    const opened = await openConsolePage(browser, service.url, { route: '#/metadata?tab=history' });
    const { page, close } = opened;
    await page.getByText(`Versions before v${middle} cannot be restored`).waitFor();
    await expectAccessible(opened);
    const disabled = (version: number) =>
      page.getByRole('button', { name: `Restore version ${version}`, exact: true }).getAttribute('aria-disabled');
    expect(await disabled(middle - 1)).toBe('true');
    expect(await disabled(middle)).not.toBe('true');
    await close();
  });
});
