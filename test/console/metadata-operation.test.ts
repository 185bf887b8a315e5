/** Running operations of the metadata API that are pasted as JSON. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { type ConsolePage, chromiumPath, HAS_FOCUS, openConsolePage, type PageOptions, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { apply, expectAccessible, leaveEditor, openPalette } from '../support/console-steps.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const ROUTE = '#/metadata?tab=operation';

describe.skipIf(chromiumPath === undefined)('a pasted metadata operation', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService({}, false), startBrowser()]);
    await service.sql(
      'create table author (id int primary key, name text); create table article (id int primary key, author_id int references author)',
    );
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = (options: PageOptions = {}): Promise<ConsolePage> => openConsolePage(browser, service.url, { route: ROUTE, ...options });
  const run = async ({ page, write }: ConsolePage, request: JsonObject | string): Promise<void> => {
    await write('Metadata operation', typeof request === 'string' ? request : JSON.stringify(request));
    await page.keyboard.press('Control+Enter');
  };
  const answerOf = (page: Page) => page.getByRole('textbox', { name: 'Answer', exact: true });
  const trackedTables = async (): Promise<string[]> => {
    const { sources } = (await service.metadata('export_metadata', {})) as { sources: { tables: { table: { name: string } }[] }[] };
    return sources.flatMap(({ tables }) => tables.map(({ table }) => table.name));
  };
  const changes = ({ requests }: ConsolePage): string[] =>
    requests.flatMap(({ body }) => (/track|drop_|clear_/.test(body) && !body.includes('preview_changes') ? [body] : []));

  it('is completed, run and answered with the keyboard alone', async () => {
    const opened = await open({ route: '#/' });
    const { page, tabTo } = opened;
    await openPalette(page);
    await page.keyboard.type('metadata operation');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Export and import' }).focus();
    for (let tabs = 0; tabs < 4; tabs++) await page.keyboard.press('ArrowRight');
    const editor = page.getByRole('textbox', { name: 'Metadata operation' });
    await tabTo('textbox', 'Metadata operation');
    expect(page.url()).toContain(ROUTE);
    // The editor closes brackets and quotes by itself.
    await page.keyboard.type('{"type": "pg_track_tab');
    await page.getByRole('option', { name: /^pg_track_table(?!s)/ }).waitFor();
    // The editor ignores the key for 75 ms after the list opens, so that a line break while typing stays one.
    await page.waitForTimeout(300);
    await page.keyboard.press('Enter');
    await expect.poll(() => editor.textContent(), WAIT).toBe('{"type": "pg_track_table"}');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type(', "args": {"table": "author"');
    await leaveEditor(page, 'Metadata operation');
    await tabTo('button', 'Run');
    await page.keyboard.press('Enter');
    await page.getByText('Applied: Track table on author').waitFor();
    await expect.poll(() => answerOf(page).textContent(), WAIT).toBe('{ "message": "success" }');
    expect(await trackedTables()).toEqual(['author']);
    await service.metadata('pg_untrack_table', { table: 'author' });
    await opened.close();
  });

  it('completes names only where operations have them', async () => {
    const { page, write, close } = await open();
    for (const text of ['{"type": "create_action", "args": {"name": "a", "definition": {"arguments": [{"type": "', '{"args": "']) {
      await write('Metadata operation', text);
      await page.keyboard.press('Control+Space');
      await page.waitForTimeout(300);
      expect(await page.getByRole('option').count(), text).toBe(0);
    }
    await write('Metadata operation', '{"type": "bulk", "args": [{"type": "pg_track_table", "args": {"table": "a"}}, {"type": "export');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /^export_metadata/ }).waitFor();
    await close();
  });

  it('is sent as it is written: a bulk with relationships, an alias, and answers with exact numbers', async () => {
    const opened = await open();
    const { page, requests } = opened;
    const bulk: JsonObject = {
      type: 'bulk',
      args: [
        { type: 'postgres_track_table', args: { table: 'author' } },
        { type: 'pg_track_table', args: { table: 'article' } },
        {
          type: 'pg_create_object_relationship',
          args: { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
        },
      ],
    };
    await run(opened, bulk);
    await page.getByText('Applied: 3 operations').waitFor();
    await expect.poll(() => answerOf(page).textContent(), WAIT).toContain('{ "message": "success" }');
    const [sent] = requests.filter(({ body }) => body.includes('track_table'));
    const { resource_version: version, ...written } = JSON.parse(sent?.body ?? '') as JsonObject;
    expect(written).toEqual(bulk);
    expect(version).toEqual(expect.any(Number));
    await page.getByRole('button', { name: 'Code' }).click();
    await page.getByRole('dialog').getByText('postgres_track_table').waitFor();
    await page.keyboard.press('Escape');
    // Reads need no review and leave no change.
    await run(opened, '{"type": "export_metadata", "version": 2, "args": {}}');
    await expect.poll(() => answerOf(page).textContent(), WAIT).toContain('"resource_version":');
    await page.getByRole('button', { name: '1 change', exact: true }).waitFor();
    await service.sql('create table big (id bigint primary key default 9007199254740993)');
    await run(opened, '{"type": "pg_get_table_info", "args": {"table": "big", "details": true}}');
    await expect.poll(() => answerOf(page).textContent(), WAIT).toContain('9007199254740993');
    await run(opened, '{"type": "pg_get_table_info", "args": {"table": "missing"}}');
    await expect.poll(() => answerOf(page).textContent(), WAIT).toBe('null');
    await opened.close();
  });

  it('shows what is wrong, with the path and a mark, and changes nothing', async () => {
    const opened = await open();
    const { page } = opened;
    const before = await trackedTables();
    const alert = page.getByRole('alert');
    await run(opened, '{"type": "bulk", "args": [\n{"type": "pg_trak_table", "args": {"table": "big"}}]}');
    await alert.getByText('The metadata API has no operation "pg_trak_table".').waitFor();
    await alert.getByText('$.args[0].type').waitFor();
    await page.locator('.cm-lintRange-error', { hasText: '"type": "pg_trak_table"' }).waitFor();
    expect(changes(opened)).toEqual([]);
    await expectAccessible(opened);
    await alert.getByRole('button', { name: 'pg_track_table', exact: true }).click();
    const editor = page.getByRole('textbox', { name: 'Metadata operation' });
    await expect.poll(() => editor.textContent(), WAIT).toContain('{"type": "pg_track_table", "args": {"table": "big"}}]}');
    expect(await editor.evaluate(HAS_FOCUS)).toBe(true);
    for (const [request, message, path] of [
      ['{"type": "pg_track_table"', 'invalid JSON in line 1', ''],
      ['[{"type": "pg_track_table", "args": {}}]', 'Send a list as {"type": "bulk", "args": [...]}.', ''],
      ['{"type": "export_metadata"}', 'The key "args" is missing.', ''],
      ['{"type": "run_sql", "args": {"sql": "select 1"}}', 'Run SQL on the SQL page.', '$.type'],
      // These are errors of the service.
      ['{"type": "pg_track_table", "args": {"tabel": "big"}}', 'tabel', '$.args.tabel'],
      [
        '{"type": "bulk", "args": [{"type": "pg_track_table", "args": {"table": "big"}}, {"type": "pg_track_table", "args": {"table": "missing"}}]}',
        'missing',
        '$.args[1].args',
      ],
      ['{"type": "export_metadata", "version": 3, "args": {}}', 'expected 1 or 2, encountered 3', '$.version'],
    ] as const) {
      await run(opened, request);
      await alert.getByText(message).first().waitFor();
      if (path === '') continue;
      await alert.getByText(path, { exact: true }).waitFor();
      await expect.poll(() => page.locator('.cm-lintRange-error').count(), WAIT).toBeGreaterThan(0);
    }
    expect(await trackedTables()).toEqual(before);
    await opened.close();
  });

  it('asks before something is dropped, and drops nothing if that is discarded', async () => {
    const opened = await open();
    const { page, requests } = opened;
    const drop: JsonObject = { type: 'bulk_keep_going', args: [{ type: 'pg_untrack_table', args: { table: 'article' } }] };
    await run(opened, drop);
    const review = page.getByRole('dialog', { name: 'Untrack table on article' });
    await review.getByText('bulk_keep_going').waitFor();
    expect(await trackedTables()).toContain('article');
    await review.getByRole('button', { name: 'Discard' }).click();
    await review.waitFor({ state: 'detached' });
    expect(changes(opened)).toEqual([]);
    expect(await answerOf(page).count()).toBe(0);
    await run(opened, drop);
    await apply(page);
    await expect.poll(() => answerOf(page).textContent(), WAIT).toContain('"message": "success"');
    expect(await trackedTables()).not.toContain('article');
    expect(JSON.parse(requests.find(({ body }) => body.startsWith('{"resource_version"'))?.body ?? '')).toMatchObject(drop);
    for (const type of ['clear_metadata', 'cleanup_event_trigger_logs', 'set_custom_types']) {
      await run(opened, { type, args: {} });
      await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    }
    // A version that the user wrote is respected.
    await run(opened, { type: 'pg_track_table', resource_version: 1, args: { table: 'article' } });
    await page.getByRole('alert').getByText('conflict', { exact: true }).waitFor();
    expect(await trackedTables()).not.toContain('article');
    await opened.close();
  });

  it('fits narrow windows and is accessible', async () => {
    const opened = await open({ width: 390 });
    const { page } = opened;
    await run(opened, { type: 'export_metadata', args: {} });
    await answerOf(page).waitFor();
    await expectAccessible(opened);
    for (const width of [320, 390, 820]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${width} px`).toBeLessThanOrEqual(0);
    }
    await opened.close();
  });

  it('reads, but changes nothing, in read-only mode', async () => {
    const readOnly = await startTestService({ ENABLE_CONSOLE: 'true', CONSOLE_READ_ONLY: 'true' });
    try {
      const opened = await openConsolePage(browser, readOnly.url, { secret: null, route: ROUTE });
      const { page } = opened;
      await run(opened, { type: 'clear_metadata', args: {} });
      await expect
        .poll(() => page.getByRole('button', { name: 'Run', exact: true }).getAttribute('title'), WAIT)
        .toContain('This console is read-only');
      await page.getByRole('button', { name: 'Run', exact: true }).click({ force: true });
      await run(opened, {
        type: 'bulk',
        args: [
          { type: 'export_metadata', args: {} },
          { type: 'postgres_untrack_tables', args: { tables: [] } },
        ],
      });
      expect(changes(opened)).toEqual([]);
      expect(await page.getByRole('dialog').count()).toBe(0);
      await run(opened, { type: 'get_inconsistent_metadata', args: {} });
      await expect.poll(() => answerOf(page).textContent(), WAIT).toContain('"is_consistent": true');
      await opened.close();
    } finally {
      await readOnly.stop();
    }
  });
});
