import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { undo } from '../support/console-steps.ts';
import { startConsoleService } from '../support/console-service.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined)('Data pages', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('lead from untracked tables to a first query', async () => {
    const empty = await startConsoleService({}, false);
    try {
      await empty.sql(
        'create table author (id int primary key, name text); create table book (id int primary key, author_id int references author); insert into author values (1, $$Ada$$)',
      );
      const { page, write, close } = await openConsolePage(browser, empty.url);
      await page.getByRole('link', { name: 'Track', exact: true }).click();
      await page.getByRole('button', { name: 'Track 2 tables' }).click();
      await page.getByText('Applied: Track 2 tables with 2 relationships').waitFor();
      await page.getByRole('link', { name: 'Explorer', exact: true }).click();
      await page.getByRole('button', { name: 'Insert author', exact: true }).waitFor();
      await write('Query editor', '{ author { name books { id } } }');
      await page.keyboard.press('Control+Enter');
      await page.getByText('1 row').waitFor();
      const { metadata } = (await empty.metadata('export_metadata', {}, { version: 2 })) as {
        metadata: { sources: { tables: JsonObject[] }[] };
      };
      expect(metadata.sources[0]?.tables.map((table) => Object.keys(table))).toEqual([
        ['table', 'array_relationships'],
        ['table', 'object_relationships'],
      ]);
      await close();
    } finally {
      await empty.stop();
    }
  });

  it('show a role the rows of the API without counting them', async () => {
    const { page, requests, go, close } = await openConsolePage(browser, service.url);
    await page.getByText('consistent').first().waitFor();
    await page.getByRole('button', { name: 'as admin' }).click();
    await page.getByRole('combobox', { name: 'Role' }).fill('customer');
    await page.getByLabel('Variable name 1').fill('user-id');
    await page.getByLabel('Variable value 1').fill('4');
    await page.getByRole('button', { name: 'Use persona' }).click();
    await go('#/data/default/public.invoice?order=total.desc');
    const grid = page.getByRole('grid', { name: 'Rows of public.invoice' });
    await grid.getByRole('row').nth(2).waitFor();
    const shown = (await page.evaluate(
      `[...document.querySelectorAll('tbody tr')].map((row) => row.querySelectorAll('td')[1].textContent)`,
    )) as string[];
    const { data } = (await service.graphql('{ invoice(order_by: {total: desc}, limit: 51) { invoice_id } }', {
      role: 'customer',
      session: { 'user-id': '4' },
    })) as { data: { invoice: { invoice_id: number }[] } };
    expect(shown.length).toBeGreaterThan(1);
    expect(shown).toEqual(data.invoice.map(({ invoice_id: id }) => String(id)));
    const queries = requests.filter(({ url, body }) => url.endsWith('/v1/graphql') && body.includes('Browse'));
    expect(queries.every(({ headers }) => headers['x-svc-role'] === 'customer' && headers['x-svc-user-id'] === '4')).toBe(true);
    expect(requests.some(({ body }) => body.includes('aggregate {'))).toBe(false);
    await close();
  });

  it('filter, sort and page like the API', async () => {
    const { page, requests, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.track');
    const grid = page.getByRole('grid', { name: 'Rows of public.track' });
    /** Compares the first two columns with the rows that the API returns for `args`. */
    const expectRows = async (args: string): Promise<void> => {
      const { data } = (await service.graphql(`{ track(${args}) { track_id name } }`)) as {
        data: { track: { track_id: number; name: string }[] };
      };
      expect(data.track.length).toBeGreaterThan(1);
      const expected = data.track.map(({ track_id: id, name }) => `${id} ${name}`);
      // Only visible rows are rendered, and none while they load.
      const matches = async (): Promise<true | string[]> => {
        const rows = (await page.evaluate(
          `[...document.querySelectorAll('tbody tr[aria-rowindex]')].map((row) => row.querySelectorAll('td')[1].textContent + ' ' + row.querySelectorAll('td')[2].textContent)`,
        )) as string[];
        return (rows.length > 1 && rows.every((row, index) => row === expected[index])) || rows;
      };
      await expect.poll(matches).toBe(true);
    };
    await grid.getByRole('row').nth(2).waitFor();
    await expectRows('order_by: {track_id: asc}, limit: 50');
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    await page.getByText('51 – 100').waitFor();
    await expectRows('order_by: {track_id: asc}, limit: 50, offset: 50');
    await grid.getByRole('button', { name: /^milliseconds/ }).click();
    await grid
      .getByRole('columnheader', { name: /^milliseconds/ })
      .and(page.locator('[aria-sort="ascending"]'))
      .waitFor();
    await expectRows('order_by: {milliseconds: asc}, limit: 50');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Column').selectOption('name');
    await dialog.getByLabel('Operator').selectOption('_ilike');
    await dialog.getByLabel('Value').fill('%a%');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: /^name _ilike %a%/ }).waitFor();
    await expectRows('where: {name: {_ilike: "%a%"}}, order_by: {milliseconds: asc}, limit: 50');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await dialog.getByRole('button', { name: 'Add condition' }).click();
    await dialog.getByLabel('Column 2').selectOption('composer');
    await dialog.getByLabel('Operator 2').selectOption('_is_null');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: /^composer _is_null true/ }).waitFor();
    expect(requests.some(({ body }) => body.includes('aggregate {') || body.includes('count(*)'))).toBe(false);
    await close();
  });

  it('edit a cell in place: null, an empty string and an invalid value', async () => {
    await service.sql(
      "create table cell (id int primary key, note text, n int not null); insert into cell values (1, 'a', 1), (2, 'b', 2)",
    );
    await service.metadata('pg_track_table', { table: 'cell' });
    const { page, go, axe, settle, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.cell');
    const grid = page.getByRole('grid', { name: 'Rows of public.cell' });
    const cells = async (): Promise<unknown> => service.sql('select note, n from cell order by id');
    const note = grid.getByRole('gridcell', { name: 'a', exact: true });
    /** Keys act on the focused cell. A closing editor returns the focus, and an arrow key moves it, asynchronously. */
    const hasFocus = (column: number): Promise<void> =>
      expect.poll(() => page.evaluate('document.activeElement?.dataset.cell'), WAIT).toBe(`0:${column}`);
    // The first overview may announce the new table: its rows are then rendered again and lose the focus.
    await note.waitFor();
    await settle();
    await note.focus();
    await page.keyboard.press('F2');
    const editor = page.getByRole('textbox', { name: /^note:/ });
    await editor.waitFor();
    expect(await axe()).toEqual([]);
    await editor.fill('');
    await page.keyboard.press('Escape');
    await note.waitFor();
    await hasFocus(2);
    await page.keyboard.press('F2');
    await editor.fill('');
    await page.keyboard.press('Enter');
    await grid.getByText('empty', { exact: true }).waitFor();
    await expect.poll(cells, WAIT).toMatchObject({
      result: [
        ['note', 'n'],
        ['', '1'],
        ['b', '2'],
      ],
    });
    await hasFocus(2);
    await page.keyboard.press('F2');
    await grid.getByRole('button', { name: 'NULL' }).click();
    await page.keyboard.press('Enter');
    await grid.getByText('null', { exact: true }).waitFor();
    await expect.poll(cells, WAIT).toMatchObject({
      result: [
        ['note', 'n'],
        ['NULL', '1'],
        ['b', '2'],
      ],
    });
    await hasFocus(2);
    await page.keyboard.press('ArrowRight');
    await hasFocus(3);
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: /^n:/ }).fill('one');
    await page.keyboard.press('Enter');
    await page.locator('.cell-editor [aria-invalid="true"]').waitFor();
    await page.getByRole('textbox', { name: /^n:/ }).fill('11');
    await page.keyboard.press('Enter');
    await grid.getByRole('gridcell', { name: '11' }).waitFor();
    await expect.poll(cells, WAIT).toMatchObject({
      result: [
        ['note', 'n'],
        ['NULL', '11'],
        ['b', '2'],
      ],
    });
    // A reload that puts another row in its place does not change the row that is edited.
    await hasFocus(3);
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: /^n:/ }).waitFor();
    await service.sql("insert into cell values (0, 'first', 7)");
    await page.getByRole('button', { name: 'Refresh rows' }).click();
    await grid.getByRole('gridcell', { name: 'first' }).waitFor();
    await page.getByRole('textbox', { name: /^n:/ }).fill('12');
    await page.getByRole('textbox', { name: /^n:/ }).press('Enter');
    await grid.getByRole('gridcell', { name: '12' }).waitFor();
    await expect.poll(cells, WAIT).toMatchObject({
      result: [
        ['note', 'n'],
        ['first', '7'],
        ['NULL', '12'],
        ['b', '2'],
      ],
    });
    await close();
  });

  it('write rows as a role without losing digits or touching rows of others', async () => {
    await service.sql(`create table note (id bigint primary key, owner int not null, big numeric(78, 0), text text, doc jsonb);
      insert into note values (1, 4, 1, 'mine', null), (2, 5, 2, 'theirs', null), (9007199254740993, 4, 12345678901234567890123456789012345678901234567890, '', '{"a": 9007199254740993}')`);
    await service.metadata('pg_track_table', { table: 'note' });
    const own = { owner: { _eq: 'X-Svc-User-Id' } };
    const columns = ['id', 'big', 'text', 'doc'];
    for (const [operation, permission] of [
      ['select', { columns: [...columns, 'owner'], filter: {} }],
      ['insert', { columns, check: own, set: { owner: 'X-Svc-User-Id' } }],
      ['update', { columns, filter: own, check: null }],
      ['delete', { filter: own }],
    ] as const) {
      await service.metadata(`pg_create_${operation}_permission`, { table: 'note', role: 'writer', permission });
    }
    const { page, context, go, close } = await openConsolePage(browser, service.url);
    await context.addInitScript(
      `localStorage.setItem('svc:/console/:persona', JSON.stringify({role: 'writer', variables: {'user-id': '4'}}))`,
    );
    await page.reload();
    await go('#/data/default/public.note');
    await page.getByRole('gridcell', { name: '9007199254740993', exact: true }).dblclick();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.getByLabel('big').inputValue()).toBe('12345678901234567890123456789012345678901234567890');
    await expect.poll(() => dialog.getByLabel('doc').inputValue()).toBe('{"a":9007199254740993}');
    await dialog.getByLabel('text', { exact: true }).fill('changed');
    await dialog.getByLabel('doc').fill('{"a": 9007199254740995}');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Row updated').waitFor();
    await page.getByRole('button', { name: 'Insert', exact: true }).click();
    await dialog.getByLabel('id', { exact: true }).fill('9007199254740997');
    await dialog.getByLabel('big').fill('99999999999999999999999');
    await dialog.getByRole('button', { name: 'Insert', exact: true }).click();
    await page.getByText('Row inserted').waitFor();
    await expect
      .poll(() => service.sql('select id, owner, big, text is null, doc from note where id > 2 order by id'), WAIT)
      .toMatchObject({
        result: [
          ['id', 'owner', 'big', '?column?', 'doc'],
          ['9007199254740993', '4', '12345678901234567890123456789012345678901234567890', 'f', '{"a": 9007199254740995}'],
          ['9007199254740997', '4', '99999999999999999999999', 't', 'NULL'],
        ],
      });
    await go('#/data/default/public.note?where=%7B%22id%22%3A%7B%22_lt%22%3A100%7D%7D');
    await page.getByRole('button', { name: 'Delete all matching' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Deleted 1 row', { exact: true }).waitFor();
    await expect.poll(() => service.sql('select id from note where id < 100'), WAIT).toMatchObject({ result: [['id'], ['2']] });
    await close();
  });

  it.each([
    ['svc-default', { prefix: 'p_', suffix: '_t' }],
    ['graphql-default', { prefix: 'p', suffix: 't' }],
  ])('count, sort, insert and delete rows of a source with its own type names and the convention %s', async (convention, names) => {
    const source = convention.split('-')[0] ?? '';
    await service.sql(
      `create table ${source}_part (id int primary key, full_name text); insert into ${source}_part values (1, 'a'), (2, 'b')`,
    );
    await service.metadata('pg_add_source', {
      name: source,
      configuration: { connection_info: { database_url: service.databaseUrl } },
      customization: { naming_convention: convention, type_names: names, root_fields: { namespace: `${source}_api`, ...names } },
    });
    const table = { schema: 'public', name: `${source}_part` };
    await service.metadata('pg_track_table', { source, table, configuration: { custom_name: `${source}_piece` } });
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go(`#/data/${source}/public.${source}_part?order=id.desc`);
    const grid = page.getByRole('grid', { name: `Rows of public.${source}_part` });
    await grid.getByRole('row').filter({ hasText: 'b' }).waitFor();
    await page.getByRole('button', { name: 'Count', exact: true }).click();
    await page.getByText('2 rows', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Insert', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('id', { exact: true }).fill('3');
    await dialog.getByRole('button', { name: 'Insert', exact: true }).click();
    await page.getByText('Row inserted').waitFor();
    await grid.getByRole('checkbox', { name: 'Select row 1', exact: true }).check();
    await page.getByRole('button', { name: 'Delete 1' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Deleted 1 row', { exact: true }).waitFor();
    await expect
      .poll(() => service.sql(`select id from ${source}_part order by id`), WAIT)
      .toMatchObject({ result: [['id'], ['1'], ['2']] });
    await close();
  });

  it('change metadata, undo the change and apply a change on top of another', async () => {
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.genre?tab=structure');
    await page.getByLabel('GraphQL name of name').fill('title');
    // A concurrent change of another table is no conflict.
    await service.metadata('pg_create_select_permission', {
      table: 'artist',
      role: 'reader',
      permission: { columns: ['name'], filter: {} },
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Applied: GraphQL names of public.genre').waitFor();
    await expect.poll(() => service.graphql('{ genre(limit: 1) { title } }'), WAIT).toHaveProperty('data');
    await undo(page, 'GraphQL names of public.genre');
    await expect.poll(() => service.graphql('{ genre(limit: 1) { name } }'), WAIT).toHaveProperty('data');

    await go('#/data/default/public.genre?tab=permissions&role=customer&operation=select');
    await page.getByLabel('All columns, including new ones').check();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').waitFor();
    await service.metadata('pg_create_select_permission', {
      table: 'genre',
      role: 'reader',
      permission: { columns: ['name'], filter: {} },
    });
    await page.getByRole('button', { name: /^Apply/ }).click();
    await page.getByText('Another administrator has changed the same objects').waitFor();
    await page.getByRole('button', { name: /^Apply on top/ }).click();
    await page.getByText('Applied: select permission of customer on public.genre').waitFor();
    const genre = (
      (await service.metadata('export_metadata', {})) as {
        sources: { tables: { table: JsonObject; select_permissions: JsonObject[] }[] }[];
      }
    ).sources[0]?.tables.find(({ table }) => table['name'] === 'genre');
    expect(genre?.select_permissions.map(({ role, permission }) => [role, (permission as JsonObject)['columns']]).sort()).toEqual([
      ['customer', '*'],
      ['employee', ['genre_id', 'name']],
      ['reader', ['name']],
    ]);
    await close();
  });
});
