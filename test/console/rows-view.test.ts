/** Scenarios of the view of rows: columns, several conditions, saved views, and edits of several rows. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { expectAccessible } from '../support/console-steps.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

let service: TestService;
let browser: Browser;

describe.skipIf(chromiumPath === undefined)('the view of rows', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService({ ENABLE_CONSOLE: 'true' }), startBrowser()]);
    await service.sql(`
      create table part (id int primary key, name text not null, size text check (size in ('S', 'M')), stock int not null default 0, note text);
      insert into part select n, 'Part ' || n, case when n % 2 = 0 then 'S' else 'M' end, n from generate_series(1, 40) n`);
    await service.metadata('pg_track_table', { table: 'part' });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = async (query = ''): Promise<ConsolePage> => {
    const opened = await openConsolePage(browser, service.url, { secret: null, route: `#/data/default/public.part${query}` });
    await opened.page.getByRole('grid').getByRole('row').nth(2).waitFor();
    await opened.settle();
    return opened;
  };
  const headings = ({ page }: ConsolePage): Promise<string[]> =>
    page
      .getByRole('columnheader')
      .evaluateAll(new Function('all', `return all.map((each) => each.textContent.split(' ')[0])`) as (all: unknown) => string[]);

  it('hides, pins and sizes columns, and keeps that in a saved view', async () => {
    const opened = await open();
    const { page } = opened;
    await expect.poll(() => headings(opened), WAIT).toEqual(['Selected', 'id', 'name', 'size', 'stock', 'note']);
    await page.getByRole('button', { name: 'Columns', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Columns' });
    await dialog.getByRole('checkbox', { name: 'note' }).uncheck();
    await dialog.getByRole('button', { name: 'Pin stock' }).click();
    await dialog.getByLabel('Width of name').fill('300');
    await dialog.getByLabel('Width of name').blur();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await expect.poll(() => headings(opened), WAIT).toEqual(['Selected', 'stock', 'id', 'name', 'size']);
    const name = page.getByRole('columnheader', { name: /^name/ });
    expect((await name.boundingBox())?.width).toBe(300);

    // The pointer drags the edge of a heading.
    const box = await name.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 297, (box?.y ?? 0) + 10);
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 197, (box?.y ?? 0) + 10);
    await page.mouse.up();
    await expect.poll(async () => (await name.boundingBox())?.width, WAIT).toBe(200);

    await page.getByRole('button', { name: /^name/ }).click();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save view …' }).click();
    await page.getByLabel('Name').fill('Stock first');
    await page.keyboard.press('Control+Enter');
    await page.getByText('View Stock first saved in this browser').waitFor();
    await page.getByRole('button', { name: /^Columns/ }).click();
    await dialog.getByRole('button', { name: 'Reset' }).click();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: /^name/ }).click();
    await expect.poll(() => headings(opened), WAIT).toEqual(['Selected', 'id', 'name', 'size', 'stock', 'note']);

    // It survives a reload.
    await page.reload();
    await page.getByRole('grid').getByRole('row').nth(2).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Stock first', exact: true }).click();
    await page.getByRole('columnheader', { name: /^name/ }).and(page.locator('[aria-sort="ascending"]')).waitFor();
    await expect.poll(() => headings(opened), WAIT).toEqual(['Selected', 'stock', 'id', 'name', 'size']);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Delete Stock first' }).click();
    await page.getByRole('button', { name: 'Views' }).click();
    await expect.poll(() => page.getByRole('menuitem').allTextContents(), WAIT).toEqual(['Save view …']);
    await opened.close();
  });

  it('filters by several conditions at once, joined by AND or OR', async () => {
    const opened = await open();
    const { page } = opened;
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    const ids = async (): Promise<string[]> =>
      page
        .getByRole('gridcell')
        .evaluateAll(
          new Function('all', `return all.filter((each) => each.dataset.cell.endsWith(':1')).map((each) => each.textContent)`) as (
            all: unknown,
          ) => string[],
        );
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await dialog.getByLabel('Column', { exact: true }).selectOption('id');
    await dialog.getByLabel('Operator', { exact: true }).selectOption('_lte');
    await dialog.getByLabel('Value', { exact: true }).fill('4');
    await dialog.getByRole('button', { name: 'Add condition' }).click();
    await dialog.getByLabel('Column 2').selectOption('size');
    await dialog.getByLabel('Value 2').fill('S');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(ids, WAIT).toEqual(['2', '4']);
    await page.getByRole('button', { name: 'id _lte 4' }).click();
    await dialog.getByRole('button', { name: 'Any condition' }).click();
    await dialog.getByLabel('Column 2').selectOption('stock');
    await dialog.getByLabel('Value 2').fill('7');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(ids, WAIT).toEqual(['1', '2', '3', '4', '7']);
    await opened.close();
  });

  it('edits several rows in one request', async () => {
    const opened = await open('?where=%7B%22id%22%3A%7B%22_gt%22%3A37%7D%7D');
    const { page, requests } = opened;
    for (const row of [1, 3]) await page.getByRole('checkbox', { name: `Select row ${row}`, exact: true }).check();
    await page.getByRole('button', { name: 'Edit 2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit 2 rows of public.part' });
    await dialog.getByLabel('stock', { exact: true }).fill('many');
    await dialog.getByLabel('size').selectOption('M');
    // The button with a label asks as well.
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.getByText('Discard what you have entered?').waitFor();
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    await dialog.getByRole('button', { name: 'Update 2 rows' }).click();
    await dialog.getByText('Not a valid Int').waitFor();
    await expectAccessible(opened);
    await dialog.getByLabel('stock', { exact: true }).fill('100');
    await dialog.getByRole('button', { name: 'Update 2 rows' }).click();
    await page.getByText('Updated 2 of 2 rows').waitFor();
    expect(await service.sql('select id, name, size, stock from part where id > 37 order by id')).toMatchObject({
      result: [expect.anything(), ['38', 'Part 38', 'M', '100'], ['39', 'Part 39', 'M', '39'], ['40', 'Part 40', 'M', '100']],
    });
    expect(requests.filter(({ body }) => body.includes('mutation Update')).length).toBe(1);
    await opened.close();
  });
});
