/** Scenarios of the schema diagram of a source. */
import { readFileSync } from 'node:fs';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { expectAccessible } from '../support/console-steps.ts';
import { startConsoleService } from '../support/console-service.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const MANY = 1451;
const nameOf = (index: number): string => `t${String(index).padStart(4, '0')}`;

let service: TestService;
let browser: Browser;

describe.skipIf(chromiumPath === undefined)('schema diagram', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService({}, false), startBrowser()]);
    await service.sql(`
      create schema crm;
      create table author (id int primary key, name text, secret text);
      create table book (id int primary key, author_id int references author, title text);
      create table crm."le<a>d" (id int primary key, book_id int references book);
      create table alone (id int primary key)`);
    const select = (table: Json, columns: Json): Json => ({
      type: 'pg_create_select_permission',
      args: { table, role: 'reader', permission: { columns, filter: {} } },
    });
    await service.metadata('bulk', [
      { type: 'pg_track_tables', args: { tables: ['author', 'book', 'alone', { schema: 'crm', name: 'le<a>d' }] } },
      {
        type: 'pg_create_array_relationship',
        args: { table: 'author', name: 'books', using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } } },
      },
      select('author', ['id', 'name']),
      select('book', '*'),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  /** A name in the drawing; titles of boxes have the same text. */
  const drawn = (diagram: Locator, text: string): Locator =>
    diagram
      .locator('text')
      .and(diagram.getByText(text, { exact: true }))
      .first();
  const open = (route: string): Promise<ConsolePage> => openConsolePage(browser, service.url, { route });

  it('shows the tables and keys of a source, and those that a role sees', async () => {
    const opened = await open('#/data/default');
    const { page, close } = opened;
    await page.getByRole('tab', { name: 'Diagram' }).click();
    const diagram = page.getByRole('group', { name: /^Diagram of default/ });
    await page.getByRole('status').getByText('4 tables').waitFor();
    for (const name of ['public.author', 'public.book', 'public.alone', 'crm.le<a>d', 'secret', 'book_id'])
      await drawn(diagram, name).waitFor();
    await expectAccessible(opened);

    await page.getByRole('combobox', { name: 'Role' }).selectOption('reader');
    await page.getByRole('status').getByText('2 tables').waitFor();
    expect(await drawn(diagram, 'secret').count()).toBe(0);
    await page.getByRole('combobox', { name: 'Role' }).selectOption('All roles');
    await page.getByRole('combobox', { name: 'Schema' }).selectOption('crm');
    await page.getByRole('status').getByText('1 table', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Schema' }).selectOption('All schemas');
    await page.getByRole('status').getByText('4 tables').waitFor();
    await close();
  });

  it('finds a table by keyboard, lists its columns and connections, and opens it', async () => {
    const opened = await open('#/data/default?tab=diagram');
    const { page, tabTo, close } = opened;
    await page.getByRole('status').getByText('4 tables').waitFor();
    await tabTo('combobox', 'Find table');
    await page.keyboard.type('public.book');
    await page.keyboard.press('Enter');
    const panel = page.getByRole('region', { name: 'Selected table' });
    await panel.getByRole('heading', { name: 'public.book' }).waitFor();
    await panel.getByText('one row, book_author_id_fkey, books').waitFor();
    await expectAccessible(opened);
    await panel.getByRole('button', { name: 'public.author' }).click();
    await panel.getByRole('heading', { name: 'public.author' }).waitFor();
    await panel.getByText('many rows, book_author_id_fkey, books').waitFor();
    await panel.getByRole('link', { name: 'Open table' }).click();
    await page.getByRole('heading', { name: 'public.author' }).waitFor();
    await close();
  });

  it('moves and zooms, and selects a table with the mouse', async () => {
    const { page, close } = await open('#/data/default?tab=diagram');
    const diagram = page.getByRole('group', { name: /^Diagram of default/ });
    await drawn(diagram, 'public.alone').click();
    await page.getByRole('region', { name: 'Selected table' }).getByRole('heading', { name: 'public.alone' }).waitFor();
    const place = (): Promise<string | null> => diagram.locator('> g').getAttribute('transform');
    const moved = async (act: () => Promise<unknown>): Promise<void> => {
      const before = await place();
      await act();
      await expect.poll(place, WAIT).not.toBe(before);
    };
    await diagram.focus();
    await moved(() => page.keyboard.press('ArrowRight'));
    await moved(() => page.keyboard.press('+'));
    await moved(() => page.getByRole('button', { name: 'Zoom out' }).click());
    await diagram.hover();
    await moved(() => page.mouse.wheel(0, 300));
    await moved(async () => {
      await page.mouse.down();
      await page.mouse.move(500, 500, { steps: 4 });
      await page.mouse.up();
    });
    await moved(() => page.getByRole('button', { name: 'Fit' }).click());
    await close();
  });

  it('downloads the whole diagram as SVG', async () => {
    const { page, close } = await open('#/data/default?tab=diagram');
    const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download SVG' }).click()]);
    expect(saved.suggestedFilename()).toBe('default.svg');
    const svg = readFileSync(await saved.path(), 'utf8');
    expect(svg).toContain('crm.le&lt;a&gt;d');
    // The policy of the console forbids to parse texts.
    const blank = await page.context().newPage();
    const problem = await blank.evaluate(
      `new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml').querySelector('parsererror')?.textContent ?? null`,
    );
    expect(problem).toBeNull();
    await close();
  });

  it('draws 1,451 connected tables with few elements', async () => {
    const names = Array.from({ length: MANY }, (_, index) => nameOf(index));
    for (let start = 0; start < MANY; start += 300) {
      await service.sql(
        names
          .slice(start, start + 300)
          .map((name, at) => {
            const index = start + at;
            const key = index === 0 ? '' : ` references ${nameOf(index % 7 === 0 ? 0 : Math.floor(index / 5))}`;
            return `create table ${name} (id int primary key, owner int${key}, title text, note text);`;
          })
          .join('\n'),
      );
    }
    await service.metadata('pg_track_tables', { tables: names });
    const { page, close } = await open('#/data/default?tab=diagram');
    await page
      .getByRole('status')
      .getByText(`${MANY + 4} tables`)
      .waitFor();
    const elements = (): Promise<unknown> => page.evaluate('document.querySelectorAll("*").length');
    expect(await elements()).toBeLessThanOrEqual(3000);
    const search = page.getByRole('combobox', { name: 'Find table' });
    await search.fill('public.t0700');
    await page.getByRole('option', { name: 'public.t0700' }).click();
    await drawn(page.getByRole('group', { name: /^Diagram of default/ }), 'public.t0700').waitFor();
    // Every zoom draws only what is in view.
    for (let step = 0; step < 24; step++) {
      await page.getByRole('button', { name: 'Zoom out' }).click();
      expect(await elements()).toBeLessThanOrEqual(3000);
    }
    await close();
  }, 240_000);
});
