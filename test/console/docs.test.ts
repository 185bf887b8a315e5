import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, HAS_FOCUS, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import type { TestService } from '../support/service.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/docs.mjs', import.meta.url));
/** A page with tables and code, the first page, a page with files, and one with wide tables. */
const PAGES = ['permissions.html', '', 'tutorials/events.html', 'reference/operators.html'];
const WIDTHS = [390, 1024, 1440];
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
          const beyond = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
          if (beyond > 0) findings.push(`${place}: ${beyond} pixels too wide`);
          // Wide tables and code become focusable when the layout is known.
          await expect.poll(() => page.evaluate(SCROLLABLE)).toBe(true);
          if (width !== 1024) findings.push(...(await axe()).map((each) => `${place}: ${each}`));
        }
        await close();
      }
      expect(findings).toEqual([]);
    });
  }

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

  it.each([
    ['_has_keys_any', 'Types and operators'],
    ['--metadata-read-only', 'Options of svc'],
    ['SVC_GRAPHQL_METADATA_READ_ONLY', 'Options of svc'],
    ['permission-denied', 'Error codes and responses'],
    ['dead letter queue', 'Event delivery'],
    ['pg_track_table', 'Metadata API'],
  ])('finds %s', async (query, expected) => {
    const { page, close } = await openConsolePage(browser, service.url, { secret: null, path: '/docs/errors.html' });
    await page.keyboard.press('/');
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await dialog.getByRole('searchbox').fill(query);
    await dialog.getByRole('link').first().waitFor();
    expect((await dialog.getByRole('link').allTextContents()).slice(0, 3).join('\n')).toContain(expected);
    await close();
  });

  it('shows the navigation of a narrow window with a button, and remembers the theme', async () => {
    const { page, close } = await openConsolePage(browser, service.url, { secret: null, path: '/docs/', width: 390 });
    await page.getByRole('button', { name: 'Pages' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Your first API' }).click();
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
