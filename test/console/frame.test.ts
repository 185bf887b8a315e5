/** Frame of the console: keyboard, sidebars, small screens, large text and density. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, HAS_FOCUS, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { expectAccessible, openPalette } from '../support/console-steps.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const ALBUMS = '#/data/default/public.album';

describe.skipIf(chromiumPath === undefined)('frame of the console', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const treeItem = (page: Page, name: string) => page.getByRole('treeitem', { name, exact: true });
  const hasFocus = (page: Page, name: string) => treeItem(page, name).evaluate(HAS_FOCUS);

  it('skips to the content with the first stop of Tab', async () => {
    const opened = await openConsolePage(browser, service.url);
    const { page, close } = opened;
    await page.getByText('consistent').first().waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(() => page.getByRole('button', { name: 'Skip to content' }).evaluate(HAS_FOCUS), WAIT).toBe(true);
    await expectAccessible(opened);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('main').evaluate(HAS_FOCUS), WAIT).toBe(true);
    expect(await page.evaluate('location.hash')).toBe('');
    await close();
  });

  it('moves in the tree of tables by arrow keys, with one stop of Tab', async () => {
    const opened = await openConsolePage(browser, service.url, { route: ALBUMS });
    const { page, tabTo, close } = opened;
    await treeItem(page, 'album').waitFor();
    await tabTo('link', 'Add source');
    await page.keyboard.press('Tab');
    await expect.poll(() => hasFocus(page, 'album'), WAIT).toBe(true);
    await expectAccessible(opened);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => hasFocus(page, 'artist'), WAIT).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'public.artist' }).waitFor();
    await page.keyboard.press('End');
    await expect.poll(() => hasFocus(page, 'track'), WAIT).toBe(true);
    await page.keyboard.press('ArrowLeft');
    const source = page.getByRole('treeitem', { name: /default/ });
    await expect.poll(() => source.evaluate(HAS_FOCUS), WAIT).toBe(true);
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => page.getByRole('treeitem').count(), WAIT).toBe(1);
    expect(await source.getAttribute('aria-expanded')).toBe('false');
    await page.keyboard.press('ArrowRight');
    await treeItem(page, 'album').waitFor();
    await page.keyboard.press('Tab');
    await expect.poll(() => page.getByRole('separator', { name: 'Width of the tables' }).evaluate(HAS_FOCUS), WAIT).toBe(true);
    await close();
  });

  it('resizes and folds the sidebars, and keeps their widths', async () => {
    const { page, close } = await openConsolePage(browser, service.url, { route: ALBUMS });
    // Found also while it is folded and hidden.
    const tables = page.locator('#tables');
    const widthOf = async (): Promise<number> => Math.round((await tables.boundingBox())?.width ?? 0);
    await treeItem(page, 'album').waitFor();
    expect(await widthOf()).toBe(272);
    const edge = page.getByRole('separator', { name: 'Width of the tables' });
    await edge.press('ArrowRight');
    await expect.poll(widthOf, WAIT).toBe(288);
    const box = await edge.boundingBox();
    await page.mouse.move(box?.x ?? 0, 300);
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 80, 300, { steps: 4 });
    await page.mouse.up();
    await expect.poll(widthOf, WAIT).toBe(368);
    await edge.press('Enter');
    await expect.poll(widthOf, WAIT).toBeLessThanOrEqual(1);
    await page.getByRole('button', { name: 'Fold navigation' }).click();
    const home = page.getByTitle('Home (g h)');
    const widthOfHome = async (): Promise<number> => (await home.boundingBox())?.width ?? 0;
    await expect.poll(widthOfHome, WAIT).toBeLessThan(60);
    await page.reload();
    await expect.poll(widthOfHome, WAIT).toBeLessThan(60);
    await edge.press('Enter');
    await expect.poll(widthOf, WAIT).toBe(368);
    await close();
  });

  it('runs commands from the palette', async () => {
    const { page, requests, close } = await openConsolePage(browser, service.url, { route: ALBUMS });
    await treeItem(page, 'album').waitFor();
    const command = async (text: string): Promise<void> => {
      await openPalette(page);
      await page.keyboard.type(text);
      await page.getByRole('option', { selected: true }).getByText('command').waitFor();
      await page.keyboard.press('Enter');
    };
    await command('reload default');
    await page.getByText('Applied: Reload default').waitFor();
    expect(requests.some(({ body }) => body.includes('"reload_sources"'))).toBe(true);
    await command('album permissions');
    await page.getByRole('tab', { name: 'Permissions', selected: true }).waitFor();
    await command('dark theme');
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme'), WAIT).toBe('dark');
    await command('fold navigation');
    await page.getByRole('button', { name: 'Unfold navigation' }).waitFor();
    await command('keyboard shortcuts');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await close();
  });

  it('fills a phone with the rows of a table, above labelled pages', async () => {
    const opened = await openConsolePage(browser, service.url, { route: ALBUMS, width: 390, height: 844 });
    const { page, close } = opened;
    const grid = page.getByRole('group', { name: 'Rows of public.album' });
    await grid.waitFor();
    expect((await grid.boundingBox())?.height).toBeGreaterThan(844 / 2 - 1);
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Data', exact: true });
    const text = link.getByText('Data', { exact: true });
    expect((await text.boundingBox())?.width).toBeGreaterThan(20);
    expect((await link.boundingBox())?.y).toBeGreaterThan(844 - 80);
    await expectAccessible(opened);
    await close();
  });

  it('starts at the top of a low window, and squeezes no part of a page into another', async () => {
    const { page, go, settle, close } = await openConsolePage(browser, service.url, { route: '#/explorer', width: 720, height: 450 });
    await page.getByText('Run a query to see its response').waitFor();
    await settle();
    expect(await page.evaluate('document.querySelector("main").scrollTop')).toBe(0);
    await go('#/sql');
    const save = await page.getByRole('button', { name: 'Save …' }).boundingBox();
    const tab = await page.getByRole('tab', { name: 'statement 1' }).boundingBox();
    expect((save?.y ?? 0) + (save?.height ?? 0)).toBeLessThanOrEqual(tab?.y ?? 0);
    expect((await page.locator('.code-editor').boundingBox())?.height).toBeGreaterThan(100);
    await go(ALBUMS);
    const grid = page.getByRole('group', { name: 'Rows of public.album' });
    await grid.waitFor();
    expect((await grid.boundingBox())?.height).toBeGreaterThan(100);
    await close();
  });

  it('grows with the font size of the browser', async () => {
    const { page, context, close } = await openConsolePage(browser, service.url, { route: '#/' });
    const session = await context.newCDPSession(page);
    await session.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } });
    await page.goto(`${service.url}/console/${ALBUMS}`);
    await page.reload();
    const cell = page.getByRole('gridcell').first();
    await cell.waitFor();
    expect(await page.evaluate('getComputedStyle(document.body).fontSize')).toBe('28px');
    expect((await cell.boundingBox())?.height).toBe(64);
    for (const route of ['#/', ALBUMS, `${ALBUMS}?tab=permissions&role=customer&operation=select`, '#/settings', '#/explorer']) {
      await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), route).toBe(true);
    }
    await close();
  });

  it('has rows of the chosen density', async () => {
    const opened = await openConsolePage(browser, service.url, { route: ALBUMS });
    const { page, close } = opened;
    const cell = page.getByRole('gridcell').first();
    await cell.waitFor();
    const heights = async () => [(await cell.boundingBox())?.height, (await treeItem(page, 'album').boundingBox())?.height];
    expect(await heights()).toEqual([32, 28]);
    for (const [label, expected] of [
      ['Compact rows', [28, 24]],
      ['Spacious rows', [40, 36]],
    ] as const) {
      await page.getByRole('button', { name: 'Theme and density' }).click();
      await page.getByRole('menuitem', { name: label }).click();
      await expect.poll(heights, WAIT).toEqual(expected);
      await expectAccessible(opened);
    }
    // The last row of a long table is reached.
    await cell.focus();
    await page.keyboard.press('Control+End');
    await page.getByRole('gridcell', { name: '50', exact: true }).first().waitFor();
    await close();
  });
});

describe.skipIf(chromiumPath === undefined)('a console without an admin secret', () => {
  it('warns calmly on the own machine, and by a banner elsewhere', async () => {
    const service = await startTestService({ ENABLE_CONSOLE: 'true' });
    const browser = await startBrowser(['--host-resolver-rules=MAP console.test 127.0.0.1']);
    try {
      const opened = await openConsolePage(browser, service.url, { secret: null });
      const { page, close } = opened;
      await page.getByRole('note', { name: /no admin secret/ }).waitFor();
      expect(await page.getByRole('complementary', { name: 'Warning' }).count()).toBe(0);
      await expectAccessible(opened);
      await close();
      const elsewhere = await browser.newPage();
      await elsewhere.goto(`${service.url.replace('127.0.0.1', 'console.test')}/console/`);
      await elsewhere.getByRole('complementary', { name: 'Warning' }).getByText('Anyone who can reach it').waitFor();
      expect(await elsewhere.getByRole('note', { name: /no admin secret/ }).count()).toBe(0);
    } finally {
      await browser.close();
      await service.stop();
    }
  });
});
