/** A change of a column's type in the console, on a MariaDB server. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { expectAccessible } from '../support/console-steps.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined || !hasMariadb())('a column of MariaDB', () => {
  let server: TestMariadb;
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    server = await startMariadb();
    await server.run('create database shape');
    [service, browser] = await Promise.all([startConsoleService({}, false, { SHAPE: server.url('shape') }), startBrowser()]);
    const connection_info = { connection_string: { from_env: 'SHAPE' } };
    await service.metadata('dbb_add_source', { name: 'shape', configuration: { connection_info } });
    await server.run(
      `create table shape.book (id int primary key, title varchar(20) character set latin1 not null default 'none' comment 'A title', twice int as (id * 2))`,
    );
    await service.metadata('reload_metadata', {});
    await service.metadata('dbb_track_table', { source: 'shape', table: 'book' });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await server?.stop();
  });

  it('gets another type, with the rest of its definition in the SQL', async () => {
    const opened = await openConsolePage(browser, service.url, { route: '#/data/shape/book?tab=structure' });
    const { page, close } = opened;
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Edit column title' }).click();
    await dialog.getByRole('combobox', { name: 'Type' }).fill('varchar(300)');
    await expect
      .poll(() => dialog.getByRole('region', { name: 'SQL' }).locator('pre').textContent(), WAIT)
      .toMatch(
        /^alter table `book` modify column `title` varchar\(300\) character set latin1 collate latin1_\w+ not null default 'none' comment 'A title';\n$/,
      );
    await expectAccessible(opened);
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit column twice' }).click();
    await dialog.getByRole('combobox', { name: 'Type' }).fill('bigint');
    await dialog.getByText('The values of the column are generated').first().waitFor();
    await close();
  });
});
