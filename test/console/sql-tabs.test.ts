import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { expectAccessible } from '../support/console-steps.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined)('the SQL page', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('marks the statement that will run, and runs a selection alone', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url, { route: '#/sql' });
    await go('#/sql');
    const marked = page.getByRole('textbox', { name: 'SQL', exact: true }).locator('.cm-running');
    await write('SQL', 'select 1 as one;\nselect 2\n  as two;\nselect 3 as three');
    await expect.poll(() => marked.allTextContents(), WAIT).toEqual(['select 3 as three']);
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => marked.allTextContents(), WAIT).toEqual(['select 2', '  as two;']);
    await page.keyboard.press('Control+Enter');
    const grid = page.getByRole('grid', { name: 'Result' });
    await grid.getByRole('columnheader', { name: 'two' }).waitFor();
    await page.keyboard.press('Control+Home');
    for (let letters = 0; letters < 'select 1'.length; letters++) await page.keyboard.press('Shift+ArrowRight');
    await page.getByRole('button', { name: 'Run selection' }).click();
    await grid.getByRole('columnheader', { name: '?column?' }).waitFor();
    await expect.poll(() => marked.count(), WAIT).toBe(0);
    await close();
  });

  it('shows the result of a tab in that tab only', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url, { route: '#/sql' });
    await go('#/sql');
    const grid = page.getByRole('grid', { name: 'Result' });
    await write('SQL', 'select 1 as first_tab');
    await page.keyboard.press('Control+Enter');
    await grid.getByRole('columnheader', { name: 'first_tab' }).waitFor();
    await page.getByRole('button', { name: 'New tab' }).click();
    await expect.poll(() => grid.count(), WAIT).toBe(0);
    await write('SQL', 'select 2 as second_tab');
    await page.keyboard.press('Control+Enter');
    await grid.getByRole('columnheader', { name: 'second_tab' }).waitFor();
    await page.getByRole('tab', { name: /first_tab/ }).click();
    await grid.getByRole('columnheader', { name: 'first_tab' }).waitFor();
    await close();
  });

  it('completes the columns of the tables that a statement names', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url, { route: '#/sql' });
    await go('#/sql');
    await write('SQL', 'select * from album where tit');
    await expect
      .poll(async () => {
        await page.keyboard.press('Escape');
        await page.keyboard.press('Control+Space');
        return page
          .getByRole('option', { name: /^title/ })
          .waitFor({ timeout: 2000 })
          .then(
            () => true,
            () => false,
          );
      }, WAIT)
      .toBe(true);
    await page.keyboard.press('Escape');
    await write('SQL', 'select a.tit from album a');
    for (let letters = 0; letters < ' from album a'.length; letters++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /^title/ }).waitFor();
    await page.keyboard.press('Escape');
    await close();
  });

  it('forgets statements with passwords that an earlier version has stored, on every page', async () => {
    const { page, close } = await openConsolePage(browser, service.url, { route: '#/' });
    const key = await page.evaluate<string>(`'svc:' + new URL('.', document.baseURI).pathname + ':sql-history'`);
    const statements = ["alter role app password 'old-one'", "select dblink_connect('postgres://app:old-two@db/shop')", 'select 3'];
    await page.evaluate(`localStorage.setItem(${JSON.stringify(key)}, ${JSON.stringify(JSON.stringify(statements))})`);
    await page.reload();
    await expect.poll(() => page.evaluate<string>(`localStorage.getItem(${JSON.stringify(key)})`), WAIT).toBe(JSON.stringify(['select 3']));
    // Something else under the key does not keep the console from opening.
    await page.evaluate(`localStorage.setItem(${JSON.stringify(key)}, '{"a": 1}')`);
    await page.reload();
    await page.getByRole('navigation').first().waitFor();
    await close();
  });

  it('keeps texts in tabs, and saves statements for all administrators', async () => {
    const opened = await openConsolePage(browser, service.url, { route: '#/sql' });
    const { page, go, write, close } = opened;
    await go('#/sql');
    await write('SQL', 'select 1 as first');
    await page.getByRole('button', { name: 'New tab' }).click();
    await write('SQL', 'select 2 as second');
    await page.getByRole('tab', { name: 'select 1 as first' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'SQL', exact: true }).textContent(), WAIT).toBe('select 1 as first');
    await page.reload();
    await page.getByRole('tab', { name: 'select 2 as second' }).click();
    await page.getByRole('button', { name: 'Save …' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Two');
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('tab', { name: 'Two' }).waitFor();
    expect(await service.metadata('get_catalog_state', {})).toMatchObject({
      console_state: { sql_statements: [{ name: 'Two', sql: 'select 2 as second' }] },
    });
    await page.getByRole('button', { name: 'Close tab' }).click();
    await expect.poll(() => page.getByRole('tab').count(), WAIT).toBe(1);
    await page.getByText('Closed Two').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('tab', { name: 'Two' }).waitFor();
    await write('SQL', "select 'abc' as password");
    await page.keyboard.press('Control+Enter');
    await page.getByRole('columnheader', { name: 'password' }).waitFor();
    expect(await page.evaluate(`Object.entries(localStorage).filter(([key]) => key.endsWith('sql-history')).join()`)).not.toContain('abc');
    await close();
    const other = await openConsolePage(browser, service.url, { route: '#/sql' });
    await other.page.getByRole('button', { name: 'Saved …' }).click();
    await expectAccessible(other);
    await other.page.getByRole('dialog').getByRole('button', { name: 'Two', exact: true }).click();
    await other.page.getByRole('button', { name: 'Run', exact: true }).click();
    await other.page.getByRole('columnheader', { name: 'second' }).waitFor();
    await other.page.getByRole('button', { name: 'Saved …' }).click();
    await other.page.getByRole('button', { name: 'Delete Two' }).click();
    await other.page.getByRole('button', { name: 'Confirm' }).click();
    await other.page.getByText('No saved statements').waitFor();
    await other.close();
  });

  it('repeats with cascade what failed, wherever the cursor is now', async () => {
    for (const name of ['kept', 'gone']) {
      await service.sql(`create table ${name} (id int primary key, note text)`);
      await service.metadata('pg_track_table', { table: name });
      await service.metadata('pg_create_select_permission', { table: name, role: 'reader', permission: { columns: ['note'], filter: {} } });
    }
    const { page, go, write, close } = await openConsolePage(browser, service.url, { route: '#/sql' });
    await go('#/sql');
    const cascade = page.getByRole('button', { name: 'Run with cascade' });
    await write('SQL', 'alter table kept drop column note;\nalter table gone drop column note');
    await page.keyboard.press('Control+Enter');
    await cascade.waitFor();
    await page.keyboard.press('End');
    await page.keyboard.type(' ');
    await cascade.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Enter');
    await cascade.waitFor();
    await page.getByRole('button', { name: 'New tab' }).click();
    await cascade.waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: /^alter table kept/ }).click();
    await page.getByRole('textbox', { name: 'SQL', exact: true }).focus();
    await page.keyboard.press('Control+Home');
    await cascade.click();
    await page.getByText(/^Done in/).waitFor();
    expect(await service.sql("select table_name from information_schema.columns where column_name = 'note'")).toMatchObject({
      result: [['table_name'], ['kept']],
    });
    await close();
  });

  it('explains a statement as a tree, without running it unless asked to', async () => {
    const opened = await openConsolePage(browser, service.url, { route: '#/sql' });
    const { page, go, write, close } = opened;
    await go('#/sql');
    await write('SQL', 'delete from genre where genre_id = 1');
    await page.getByRole('button', { name: 'Explain …' }).click();
    await page.getByRole('menuitem', { name: 'Plan, without running it' }).click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('ModifyTable').waitFor();
    expect(await service.sql('select count(*) from genre where genre_id = 1')).toMatchObject({ result: [['count'], ['1']] });
    await write('SQL', 'select 1;\nselect title from album join artist using (artist_id) order by title');
    await page.getByRole('button', { name: 'Explain …' }).click();
    await page.getByRole('menuitem', { name: 'Plan with times (runs the statement)' }).click();
    await plan.getByText('Sort', { exact: true }).click();
    await plan.getByText('Sort Key').waitFor();
    await plan.getByText('full table scan').first().waitFor();
    await plan
      .getByText(/^\d+ rows, \d+ expected$/)
      .first()
      .waitFor();
    await expectAccessible(opened);
    // A selection of several statements would run all but the first one.
    await write('SQL', 'select 1; delete from genre where genre_id = 2');
    await page.keyboard.press('Control+a');
    await page.getByRole('button', { name: 'Run selection' }).waitFor();
    for (const item of ['Plan, without running it', 'Plan with times (runs the statement)']) {
      await page.getByRole('button', { name: 'Explain …' }).click();
      await page.getByRole('menuitem', { name: item }).click();
      await page.getByText('Select a single statement to explain.').waitFor();
    }
    expect(await service.sql('select count(*) from genre where genre_id = 2')).toMatchObject({ result: [['count'], ['1']] });
    // An error keeps its place in the text.
    await write('SQL', 'select 1;\nselect nothing from album');
    await page.getByRole('button', { name: 'Explain …' }).click();
    await page.getByRole('menuitem', { name: 'Plan, without running it' }).click();
    await page.getByText(/column "nothing" does not exist/).waitFor();
    await expect
      .poll(() => page.getByRole('textbox', { name: 'SQL', exact: true }).locator('.cm-lintRange-error').textContent(), WAIT)
      .toBe('n');
    await close();
  });
});
