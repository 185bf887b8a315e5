/** The main tasks of the console without a pointer, and the first query in few clicks. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { chord, leaveEditor, openPalette } from '../support/console-steps.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const TABLES = `create table author (id int primary key, name text);
  create table book (id int primary key, author_id int references author, owner int);
  insert into author values (1, 'Ada'); insert into book select id, 1, id % 3 from generate_series(1, 9) id`;

describe.skipIf(chromiumPath === undefined)('console from an empty database', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService({}, false), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const tracked = async (): Promise<number> => {
    const { sources } = (await service.metadata('export_metadata', {})) as { sources: { tables: JsonObject[] }[] };
    return sources[0]?.tables.length ?? 0;
  };

  it('reaches a first query in six clicks', async () => {
    await service.sql(TABLES);
    const { page, close } = await openConsolePage(browser, service.url);
    let clicks = 0;
    const click = async (role: 'link' | 'button', name: string | RegExp): Promise<void> => {
      clicks++;
      await page.getByRole(role, { name, exact: typeof name === 'string' }).click();
    };
    await click('link', 'Track');
    await click('button', 'Track 2 tables');
    await page.getByText('Applied: Track 2 tables with 2 relationships').waitFor();
    await click('link', 'Explorer');
    await click('button', 'Insert author');
    // The page loads the fields of the type first.
    await expect.poll(() => page.getByRole('textbox', { name: 'Query editor' }).textContent(), WAIT).toContain('author');
    await click('button', 'Run');
    await page.getByText('1 row').waitFor();
    expect(clicks).toBeLessThanOrEqual(6);
    await close();
  });

  it('reaches a first query from the keyboard', async () => {
    await service.metadata('pg_untrack_tables', {
      tables: ['author', 'book'].map((table) => ({ source: 'default', table, cascade: true })),
    });
    const { page, tabTo, close } = await openConsolePage(browser, service.url);
    await page.getByText('consistent').first().waitFor();
    await chord(page, 'gd', '#/data');
    await tabTo('button', 'Track 2 tables');
    await page.keyboard.press('Enter');
    await page.getByText('Applied: Track 2 tables with 2 relationships').waitFor();
    await expect.poll(() => tracked(), WAIT).toBe(2);
    await openPalette(page);
    await page.keyboard.type('explorer');
    await page.keyboard.press('Enter');
    await tabTo('textbox', 'Query editor');
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{ author { name books { id } } }');
    await page.keyboard.press('Control+Enter');
    await page.getByText('1 row').waitFor();
    await leaveEditor(page, 'Query editor');
    await tabTo('button', 'Variables');
    await close();
  });

  it('creates a filtered select permission from the keyboard', async () => {
    const { page, go, tabTo, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.book?tab=permissions');
    await tabTo('button', 'Add role');
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Role name' }).waitFor();
    await tabTo('combobox', 'Role name');
    await page.keyboard.type('reader');
    await page.keyboard.press('Control+Enter');
    await tabTo('button', 'All rows');
    await page.keyboard.press('Enter');
    await page.getByText('can read 9 of 9 rows').waitFor();
    await tabTo('button', 'Add condition to condition');
    await page.keyboard.press('Enter');
    await tabTo('combobox', 'Column of condition');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('owner');
    await page.keyboard.press('Enter');
    await tabTo('combobox', 'Value of condition');
    await page.keyboard.type('1');
    await page.keyboard.press('Enter');
    await page.getByText('can read 3 of 9 rows').waitFor();
    await tabTo('button', 'Review changes');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByText('Applied: select permission of reader on public.book').waitFor();
    const { data } = (await service.graphql('{ book { id owner } }', { role: 'reader' })) as { data: { book: { owner: number }[] } };
    expect(data.book.map(({ owner }) => owner)).toEqual([1, 1, 1]);
    // The replaced form does not lose the focus.
    await expect.poll(() => page.evaluate('document.activeElement.textContent'), WAIT).toContain('partial');
    await close();
  });
});
