import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, HAS_FOCUS, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { leaveEditor } from '../support/console-steps.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined)('explorer and SQL pages', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('complete fields without full introspection and compare two personas', async () => {
    const { page, go, write, requests, close } = await openConsolePage(browser, service.url);
    await go('#/explorer');
    await write('Query editor', 'query Albums { album(limit: 3) { ti');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /^title/ }).waitFor();
    await page.keyboard.press('Escape');
    await write('Query editor', 'query Albums { employee { employee_id phone } }');
    await page.getByRole('button', { name: 'Compare with' }).click();
    await page.getByRole('menuitem', { name: /\| customer/ }).click();
    await page
      .getByText(/field 'employee'|hidden|session variable/)
      .first()
      .waitFor();
    await expect.poll(() => page.getByRole('region', { name: /^Response for/ }).count()).toBe(2);
    await write('Query editor', 'query Albums { album(limit: 3) { title } }');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByText('Seq Scan').first().waitFor();
    // The SQL page explains the statement with times.
    await page.getByRole('link', { name: 'Open in SQL' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'SQL', exact: true }).textContent(), WAIT).toContain('from "public"."album"');
    await page.goBack();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Create REST endpoint' }).click();
    await page.getByLabel('URL').fill('albums');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Applied: Create REST endpoint albums').waitFor();
    const response = await service.send('/api/rest/albums', { headers: { 'x-svc-admin-secret': 'the-secret-of-the-console-tests' } });
    expect(response.json).toMatchObject({ album: [{}, {}, {}] });
    expect(requests.some(({ body }) => /__schema\s*\{\s*types/.test(body))).toBe(false);
    await close();
  });

  it('close the completion list on run and Escape, and leave the editor on Escape and Tab', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    await go('#/explorer');
    const editor = page.getByRole('textbox', { name: 'Query editor' });
    const options = page.getByRole('option');
    const openList = async (): Promise<void> => {
      await page.keyboard.press('Control+Space');
      await page.getByRole('option', { name: /^album_id/ }).waitFor();
    };
    await write('Query editor', '{ album(limit: 2) { title alb } }');
    for (let letters = 0; letters < 4; letters++) await page.keyboard.press('ArrowLeft');
    await openList();
    await page.keyboard.press('Control+Enter');
    await page.getByText("field 'alb' not found", { exact: false }).first().waitFor();
    expect(await options.count()).toBe(0);
    await openList();
    await page.keyboard.press('Escape');
    await expect.poll(() => options.count(), WAIT).toBe(0);
    expect(await editor.evaluate(HAS_FOCUS)).toBe(true);
    await leaveEditor(page, 'Query editor');
    await close();
  });

  it('save a query to an allow-listed collection, reopen it and underline errors', async () => {
    const { page, go, write, axe, close } = await openConsolePage(browser, service.url);
    await go('#/explorer');
    const text = 'query Genres { genre(limit: 2) { name } }';
    await write('Query editor', text);
    await page.getByRole('button', { name: 'Saved' }).click();
    await page.getByRole('button', { name: 'Save query' }).first().click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.getByLabel('Name').inputValue()).toBe('Genres');
    await dialog.getByRole('combobox', { name: 'Collection' }).fill('shop');
    await dialog.getByLabel('Add the collection to the allow-list').check();
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByText('Applied: Add Genres to collection shop').waitFor();
    await expect
      .poll(() => service.metadata('export_metadata', { only: { sections: ['query_collections', 'allowlist'] } }), WAIT)
      .toMatchObject({
        query_collections: expect.arrayContaining([{ name: 'shop', definition: { queries: [{ name: 'Genres', query: text }] } }]),
        allowlist: [{ collection: 'shop', scope: { global: true } }],
      });
    await page.getByText('allow-list', { exact: true }).waitFor();
    expect(await axe()).toEqual([]);
    // An opening bracket typed over a selection wraps it.
    await page.getByRole('textbox', { name: 'Query editor' }).focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('{');
    await expect.poll(() => page.getByRole('textbox', { name: 'Query editor' }).textContent(), WAIT).toBe(`{${text}}`);
    await write('Query editor', '{ genre(where: {nothing: {_eq: 1}}) { name } }');
    await page.keyboard.press('Control+Enter');
    await page.locator('.cm-lintRange-error', { hasText: 'nothing' }).waitFor();
    await write('Query editor', '{ genre { first: name ...F } } fragment F on genre { missing }');
    await page.keyboard.press('Control+Enter');
    await page.locator('.cm-lintRange-error', { hasText: 'missing' }).waitFor();
    await page.getByText('Line 1, column 54').waitFor();
    await write('Query editor', '{ genre { nam } }');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Did you mean name?').waitFor();
    await write('Query editor', '{ genre { missing } }');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Line 1, column 11').waitFor();
    await page.getByLabel('Filter saved queries').fill('genr');
    await page
      .getByRole('list', { name: 'Saved queries' })
      .getByRole('button', { name: /^Genres/ })
      .click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('2 rows').waitFor();
    await expect.poll(() => page.locator('.cm-lintRange-error').count()).toBe(0);
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    await page.getByRole('grid', { name: 'Response as table' }).waitFor();
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByLabel('Filter history').fill('missing');
    await page.getByRole('button', { name: /fragment F/ }).waitFor();
    await close();
  });

  it('replace a wrong name by a suggestion, with the mouse and with the keyboard', async () => {
    const { page, go, write, tabTo, axe, close } = await openConsolePage(browser, service.url, { route: '#/explorer' });
    await go('#/explorer');
    const editor = page.getByRole('textbox', { name: 'Query editor' });
    const run = async (text: string): Promise<void> => {
      await write('Query editor', text);
      await page.keyboard.press('Control+Enter');
      await page.getByText('Did you mean').waitFor();
    };
    for (const [wrong, suggestion, right] of [
      // The alias and the other fields of the same name stay.
      ['{ genre { nam: nam } }', 'name', '{ genre { nam: name } }'],
      ['{ genre { name } g: genre(limt: 2) { limt: name } }', 'limit', '{ genre { name } g: genre(limit: 2) { limt: name } }'],
      ['{ genre(where: {_or: [{name: {_eqq: "_eqq"}}]}) { name } }', '_eq', '{ genre(where: {_or: [{name: {_eq: "_eqq"}}]}) { name } }'],
      ['{ genre(order_by: [{name: acs}]) { name } }', 'asc', '{ genre(order_by: [{name: asc}]) { name } }'],
      ['{ genre(limit: 2) { name @includ(if: true) } }', 'include', '{ genre(limit: 2) { name @include(if: true) } }'],
      ['{ genre { ...F } } fragment F on genre { nam }', 'name', '{ genre { ...F } } fragment F on genre { name }'],
    ] as const) {
      await run(wrong);
      await page.getByRole('button', { name: suggestion, exact: true }).click();
      await expect.poll(() => editor.textContent(), WAIT).toBe(right);
      expect(await editor.evaluate(HAS_FOCUS)).toBe(true);
      await page.keyboard.press('Control+Enter');
      await page.getByRole('status').getByText(/200 ·/).waitFor();
      await expect.poll(() => page.getByRole('alert').count(), WAIT).toBe(0);
    }
    await run('{ genre { nam } }');
    expect(await axe()).toEqual([]);
    await leaveEditor(page, 'Query editor');
    await tabTo('textbox', 'Variables');
    await leaveEditor(page, 'Variables');
    await tabTo('button', 'name');
    await page.keyboard.press('Enter');
    await expect.poll(() => editor.textContent(), WAIT).toBe('{ genre { name } }');
    await page.keyboard.press('Control+z');
    await expect.poll(() => editor.textContent(), WAIT).toBe('{ genre { nam } }');
    // Suggestions for a document that is no longer in the editor are plain text.
    await write('Query editor', '{ genre { name nam } }');
    expect(await page.getByRole('button', { name: 'name', exact: true }).count()).toBe(0);
    await page.getByText('Did you mean name?').waitFor();
    await close();
  });

  it('start from example queries with the names of the API', async () => {
    const renamed = await startConsoleService({}, false);
    try {
      await renamed.sql(
        'create table author (id int primary key); create table book (id int primary key, author_id int references author)',
      );
      await renamed.metadata('pg_update_source', {
        name: 'default',
        customization: { root_fields: { namespace: 'library', prefix: 'all_' }, type_names: { suffix: '_row' } },
      });
      await renamed.metadata('bulk', [
        { type: 'pg_track_table', args: { table: 'author', configuration: { custom_name: 'writer' } } },
        { type: 'pg_track_table', args: { table: 'book' } },
        {
          type: 'pg_create_array_relationship',
          args: { table: 'author', name: 'books', using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } } },
        },
      ]);
      const { page, close } = await openConsolePage(browser, renamed.url, { route: '#/explorer' });
      await page.getByRole('button', { name: 'Count', exact: true }).click();
      await page.getByRole('textbox', { name: 'Query editor' }).focus();
      await page.keyboard.press('Control+Enter');
      await expect
        .poll(() => page.getByRole('textbox', { name: 'Response for admin as JSON' }).textContent(), WAIT)
        .toMatch(/"library": \{\s*"all_writer_aggregate": \{\s*"aggregate": \{\s*"count": 0/);
      await close();
    } finally {
      await renamed.stop();
    }
  });

  it('stream a subscription and stop it', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    await go('#/explorer');
    await write('Query editor', 'subscription Live { genre_by_pk(genre_id: 1) { name } }');
    await page.keyboard.press('Control+Enter');
    await page.getByText('live · 1').waitFor();
    await service.sql(`update genre set name = 'Polka' where genre_id = 1`);
    await page.getByText('Polka').waitFor();
    await expect.poll(() => service.metadata('get_subscriptions', {}), WAIT).toMatchObject({ pollers: [{}] });
    const live = await openConsolePage(browser, service.url);
    await live.go('#/live');
    await live.page.getByRole('button', { name: /^subscription Live/ }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/^ended/).waitFor();
    await expect.poll(() => service.metadata('get_subscriptions', {}), WAIT).toEqual({ pollers: [] });
    await live.page.getByText('No subscriptions').waitFor();
    await live.close();
    await close();
  });

  it('refuse writes in read-only mode, list dependents, track new tables and cancel a statement', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    await go('#/sql');
    const run = page.getByRole('button', { name: 'Run', exact: true });
    await page.getByLabel('Read only').check();
    await write('SQL', 'create table log (id int primary key)');
    await run.click();
    await page
      .getByText(/read-only transaction/)
      .first()
      .waitFor();
    await page.getByLabel('Read only').uncheck();
    await run.click();
    await page.getByText('New tables: public.log').waitFor();
    await page.getByRole('button', { name: 'Track 1 table' }).click();
    await page.getByText('Applied: Track public.log').waitFor();
    await service.metadata('pg_create_select_permission', { table: 'log', role: 'reader', permission: { columns: ['id'], filter: {} } });
    await write('SQL', 'alter table log drop column id');
    await run.click();
    await page.getByRole('listitem').getByText('permission log.reader.select').waitFor();
    await page.getByRole('button', { name: 'Run with cascade' }).click();
    await page.getByText(/^Done in/).waitFor();
    await write('SQL', 'select 1 as one; select pg_sleep(60)');
    await page.getByRole('button', { name: 'Run all' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Run statement' }).waitFor();
    await expect
      .poll(
        async () =>
          (await service.sql(
            `select count(*) from pg_stat_activity where query like '%pg_sleep(60)%' and state = 'active' and pid <> pg_backend_pid()`,
          )) as object,
      )
      .toMatchObject({ result: [['count'], ['0']] });
    await write('SQL', 'select 9007199254740993 as big, 2 as two');
    await run.click();
    await page.getByRole('grid', { name: 'Result' }).waitFor();
    await page.getByRole('button', { name: 'TSV' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('big\ttwo\n9007199254740993\t2');
    await close();
  });
});
