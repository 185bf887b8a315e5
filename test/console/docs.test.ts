import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, HAS_FOCUS, openConsolePage, startBrowser } from '../support/browser.ts';
import { sample } from '../support/deep.ts';
import { startConsoleService } from '../support/console-service.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/docs.mjs', import.meta.url));
/** A page with tables and code, the first page, a page with files, and one with wide tables. */
const PAGES = ['permissions.html', '', 'tutorials/events.html', 'reference/operators.html'];
/** One page for each kind of content. */
const KINDS_OF_PAGES: ReadonlySet<string> = new Set([
  'about.html',
  'changelog.html',
  'options.html',
  'compare.html',
  'architecture.html',
  'tutorials/react.html',
  'how-to/deploy-kubernetes.html',
  'reference/command-line.html',
  'reference/metadata-api.html',
]);
/** Search terms, each with a part of the title of the result that they need. It differs from that before, which may still be shown. */
const SEARCHES = [
  ['_has_keys_any', 'Types and operators'],
  ['--metadata-read-only', 'Options of svc'],
  ['permission-denied', 'Error codes and responses'],
  ['dead letter queue', 'Event delivery'],
  ['SVC_GRAPHQL_METADATA_READ_ONLY', 'Options of svc'],
  ['pg_track_table', 'Metadata API'],
  ['where', 'Arguments: filter, sort, paginate'],
  ['is_enum', 'Enum tables'],
  ['row level permission', 'Row-level and column-level permissions'],
  ['multi-tenant', 'Multi-tenancy'],
  ['Relay', '› Relay'],
  ['subscripton', 'subscription'],
  ['subscription', 'Subscriptions over websockets'],
  ['migrations', 'Database migrations'],
  ['event trigger yaml', 'Event triggers in project files'],
  ['codegen scalars', 'Types of scalars'],
  ['permissions yaml', 'Permissions in project files'],
] as const;
const WIDTHS = [390, 820, 1440];
/** Pixels by which the page is wider than the window. */
const BEYOND = 'document.documentElement.scrollWidth - innerWidth';
/** True if exactly the wide parts can be focused. */
const SCROLLABLE = `[...document.querySelectorAll('article pre, .table')]
  .every((each) => (each.scrollWidth > each.clientWidth) === each.hasAttribute('tabindex'))`;

describe.skipIf(chromiumPath === undefined)('the documentation site', () => {
  let folder: string;
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-site-'));
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, folder], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    [service, browser] = await Promise.all([startConsoleService({ DOCS_ASSETS_DIR: folder }, false), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    rmSync(folder, { recursive: true });
  });

  for (const theme of ['light', 'dark'] as const) {
    it(`fits three widths and is accessible in the ${theme} theme`, async () => {
      const findings: string[] = [];
      for (const path of PAGES) {
        const { page, axe, close } = await openConsolePage(browser, service.url, { theme, secret: null, path: `/docs/${path}` });
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          const place = `${path}, ${width} pixels`;
          const beyond = (await page.evaluate(BEYOND)) as number;
          if (beyond > 0) findings.push(`${place}: ${beyond} pixels too wide`);
          // Wide tables and code become focusable when the layout is known.
          await expect.poll(() => page.evaluate(SCROLLABLE)).toBe(true);
          if (width !== 820) findings.push(...(await axe()).map((each) => `${place}: ${each}`));
        }
        await close();
      }
      expect(findings).toEqual([]);
    });
  }

  it('has no page that scrolls sideways', async () => {
    const findings: string[] = [];
    const { page, close } = await openConsolePage(browser, service.url, { secret: null, path: '/docs/' });
    const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
    expect(pages.length).toBeGreaterThan(100);
    // A page takes a third of a second: a short run tests one of each kind, and a sample.
    for (const name of sample(pages, 10, (each) => KINDS_OF_PAGES.has(each))) {
      await page.goto(`${service.url}/docs/${name}`, { waitUntil: 'domcontentloaded' });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const beyond = (await page.evaluate(BEYOND)) as number;
        if (beyond > 0) findings.push(`${name}, ${width} pixels: ${beyond} pixels too wide`);
      }
    }
    expect(findings).toEqual([]);
    await close();
  });

  it('shows the rows of a table with many columns as lists in a narrow window', async () => {
    const { page, close } = await openConsolePage(browser, service.url, { secret: null, path: '/docs/options.html', width: 390 });
    const row = page.getByRole('main').locator('tr', { hasText: '--metadata-read-only' }).first();
    const boxes = await Promise.all((await row.locator('td').all()).map((cell) => cell.boundingBox()));
    expect(boxes.length).toBe(5);
    expect(new Set(boxes.map((box) => box?.x)).size).toBe(1);
    const titles = `[...document.querySelectorAll('tbody tr')].at(0).querySelectorAll('td')[4].dataset.title`;
    expect(await page.evaluate(titles)).toBe('meaning');
    await close();
  });

  it('begins the keyboard order with the link to the text, and has a link to each section', async () => {
    // The list of pages is scrolled to this one.
    const { page, close } = await openConsolePage(browser, service.url, { secret: null, path: '/docs/caching.html', height: 400 });
    await expect.poll(() => page.evaluate(`document.querySelector('.pages').scrollTop`)).toBeGreaterThan(100);
    const anchor = page.getByRole('heading', { name: 'Response headers' }).getByRole('link', { name: 'Link to this section' });
    const opacity = () => page.evaluate(`getComputedStyle(document.querySelector('#response-headers .anchor')).opacity`);
    expect(await opacity()).toBe('0');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the text');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await anchor.focus();
    expect(await opacity()).toBe('1');
    await anchor.press('Enter');
    await page.waitForURL('**/docs/caching.html#response-headers');
    await close();
  });

  it('finds an operator, and follows the result and a link by keyboard', async () => {
    const { page, requests, axe, close } = await openConsolePage(browser, service.url, { secret: null, path: '/docs/' });
    expect(requests.some(({ url }) => url.includes('/search-'))).toBe(false);
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await dialog.getByRole('status').getByText('Type a word').waitFor();
    await page.keyboard.type('_cne');
    const first = dialog.getByRole('link').first();
    await first.waitFor();
    expect(await first.textContent()).toContain('Tables, relationships and permissions › Conditions');
    expect(await first.locator('mark').first().textContent()).toBe('_cne');
    expect(await axe()).toEqual([]);
    await page.keyboard.press('ArrowDown');
    expect(await first.evaluate(HAS_FOCUS)).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/permissions.html#conditions-and-session-variables');
    await page.getByRole('main').getByRole('link', { name: 'the reference' }).press('Enter');
    await page.waitForURL('**/docs/reference/metadata-api.html');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Metadata API');
    await close();
  });

  it('finds names, words and questions among the first three results', async () => {
    const { page, close } = await openConsolePage(browser, service.url, { secret: null, path: '/docs/errors.html' });
    await page.keyboard.press('/');
    const dialog = page.getByRole('dialog', { name: 'Search' });
    const first = async () => (await dialog.getByRole('link').allTextContents()).slice(0, 3).join('\n');
    for (const [query, expected] of SEARCHES) {
      await dialog.getByRole('searchbox').fill(query);
      await expect.poll(first, { ...WAIT, message: query }).toContain(expected);
    }
    await close();
  });

  it('shows the navigation of a narrow window with a button, and remembers the theme', async () => {
    const { page, close } = await openConsolePage(browser, service.url, { secret: null, path: '/docs/', width: 390 });
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await page.getByRole('button', { name: 'Pages' }).press('Enter');
    await pages.waitFor();
    await page.keyboard.press('Escape');
    await pages.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Pages' }).click();
    await pages.getByRole('link', { name: 'Your first API' }).click();
    await page.waitForURL('**/docs/tutorials/first-api.html');
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    expect(await background()).toBe(dark);
    await close();
  });

  it('is linked from each page of the console', async () => {
    const { page, go, close } = await openConsolePage(browser, service.url);
    const pages = page.locator('.sidebar a');
    await pages.first().waitFor();
    const addresses: string[] = [];
    for (const link of await pages.all()) {
      const title = (await link.getAttribute('title'))?.split(' (')[0] ?? '';
      await go((await link.getAttribute('href')) ?? '');
      const address = await page.getByRole('link', { name: `Documentation: ${title}` }).getAttribute('href');
      expect(address).toContain(`${service.url}/docs/`);
      addresses.push(address?.slice(`${service.url}/docs/`.length) ?? '');
    }
    expect(addresses.length).toBeGreaterThanOrEqual(9);
    for (const [path = '', anchor = ''] of addresses.map((address) => address.split('#')))
      expect(readFileSync(join(folder, path), 'utf8')).toContain(anchor === '' ? '<h1' : ` id="${anchor}"`);
    await close();
  });
});
