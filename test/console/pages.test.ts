import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { createSampleObjects, OPENERS, ROUTES } from '../support/console-pages.ts';
import { chord, openPalette } from '../support/console-steps.ts';
import { startConsoleService } from '../support/console-service.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

/** Names of the selected page and tab that are scrolled out of view. */
const SELECTED_OUT_OF_VIEW = `[...document.querySelectorAll('[role="tab"][aria-selected="true"], .sidebar [aria-current]')]
  .filter((each) => each.getBoundingClientRect().left < -1 || each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.textContent || each.title)`;
/** Directory for screenshots; none are taken without it. */
const SCREENSHOTS = process.env['SVC_CONSOLE_SCREENSHOTS'];

/** Buttons, tabs and headings that are covered, or cut to less than a line, at every scroll position. */
const HIDDEN = `[...document.querySelectorAll('main button, main [role="tab"], main h1, main h2, main h3')].flatMap((each) => {
  if (!each.checkVisibility({ visibilityProperty: true }) || each.closest('.visually-hidden') || !each.textContent.trim()) return [];
  each.scrollIntoView({ block: 'center', inline: 'center' });
  const { left, top, right, bottom } = each.getBoundingClientRect();
  let seen = [top, bottom];
    for (let outer = each.parentElement; outer; outer = outer.parentElement) {
      if (getComputedStyle(outer).overflowY === 'visible') continue;
      const frame = outer.getBoundingClientRect();
    seen = [Math.max(seen[0], frame.top), Math.min(seen[1], frame.bottom)];
  }
  const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  if (each.matches('h1, h2, h3') && each.scrollWidth > each.clientWidth + 1) return [each.textContent.trim() + ' is cut'];
  const isWhole = seen[1] - seen[0] >= Math.min(bottom - top, 16) && found && (each.contains(found) || found.contains(each));
  return isWhole ? [] : [each.textContent.trim() + ' is hidden'];
})`;

/** Controls that are smaller than a finger. Links in a sentence are as high as their line, and a checkbox is hit by its label as well. */
const SMALL = `[...document.querySelectorAll('button, a, input, select, textarea, summary')].flatMap((each) => {
  if (!each.checkVisibility({ visibilityProperty: true }) || each.closest('.visually-hidden, .skip-link, .diagram, .neighbourhood')) return [];
  const target = each.type === 'checkbox' ? each.closest('label, td') : each;
  const { width, height } = target.getBoundingClientRect();
  const isInline = each.matches('a') && getComputedStyle(each).display === 'inline';
  return isInline || width < 2 || height >= 40 ? [] : [(each.getAttribute('aria-label') || each.textContent.trim()) + ' is ' + height + ' pixels high'];
})`;

describe.skipIf(chromiumPath === undefined)('console pages', () => {
  let service: TestService;
  let browser: Browser;
  let remote: GraphqlServer;
  beforeAll(async () => {
    [service, browser, remote] = await Promise.all([
      startConsoleService({ ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' }),
      startBrowser(),
      startGraphqlServer('type Query { country(code: ID!): Country } type Country { code: ID! name: String }'),
    ]);
    await createSampleObjects(service, remote);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await remote?.close();
  });

  it('are accessible with all their tabs and dialogs in the light and the dark theme', async () => {
    const { page, go, settle, axe, close } = await openConsolePage(browser, service.url);
    await page.getByText('consistent').first().waitFor();
    const findings: string[] = [];
    const check = async (place: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        findings.push(...(await axe()).map((each) => `${place}, ${colorScheme} theme: ${each}`));
      }
    };
    // All pages of the navigation, including new ones that ROUTES lacks.
    const pages = (await page.evaluate(
      `[...document.querySelectorAll('.sidebar a')].map((link) => link.getAttribute('href'))`,
    )) as string[];
    const routes: string[] = [...new Set([...pages, ...ROUTES])];
    const dialogs: string[] = [];
    const tried = new Set<string>();
    for (let index = 0; index < routes.length; index++) {
      const route = routes[index] ?? '';
      await go(route);
      await settle();
      const tabs = page.locator('main [role="tab"]:not(.draft-tab *)');
      for (const name of await tabs.allTextContents()) {
        await tabs.filter({ hasText: name }).first().click();
        const [path = '', query = ''] = new URL(page.url()).hash.split('?');
        const tab = new URLSearchParams(query).get('tab');
        const shown = tab === null ? path : `${path}?tab=${tab}`;
        if (!routes.some((each) => each === shown || each.startsWith(`${shown}&`))) routes.push(shown);
      }
      await go(route);
      await settle();
      if (!ROUTES.some((each) => each === route)) await check(route);
      for (const name of (await page.evaluate(OPENERS)) as string[]) {
        const opener = page.locator('main').getByRole('button', { name, exact: true }).first();
        // A button of the same name on another tab opens the same dialog.
        const place = `${route.split('?')[0]} ${name}`;
        if (tried.has(place) || !(await opener.isVisible())) continue;
        tried.add(place);
        await opener.click();
        await settle();
        const opened = page.locator('dialog[open]');
        if ((await opened.count()) > 0) {
          const title =
            (await opened.first().getAttribute('aria-label')) ?? (await opened.first().getByRole('heading').first().textContent());
          if (!dialogs.includes(String(title))) {
            dialogs.push(String(title));
            await check(`${route}, the dialog ${title}`);
          }
          await page.keyboard.press('Escape');
          await opened.first().waitFor({ state: 'detached' });
        }
      }
    }
    expect(findings).toEqual([]);
    // Guards against a loop that reached no page or recognised no button.
    expect(pages.length).toBeGreaterThanOrEqual(9);
    expect(dialogs.length).toBeGreaterThan(15);
    for (const page of pages) expect(routes).toContain(page);
    await close();
  }, 480_000);

  for (const theme of ['light', 'dark'] as const) {
    for (const width of [1280, 320]) {
      it(`are accessible and fit ${width} pixels in the ${theme} theme`, async () => {
        const { page, go, settle, axe, close } = await openConsolePage(browser, service.url, { theme, width });
        const findings: string[] = [];
        for (const route of ROUTES) {
          await go(route);
          await settle();
          findings.push(...(await axe()).map((each) => `${route} ${each}`));
          const overflow = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
          if (overflow > 0) findings.push(`${route} is ${overflow} pixels too wide`);
          if (SCREENSHOTS !== undefined) {
            mkdirSync(SCREENSHOTS, { recursive: true });
            writeFileSync(join(SCREENSHOTS, `${route.replace(/\W+/g, '-')}-${theme}-${width}.png`), await page.screenshot());
          }
          const outOfView = (await page.evaluate(SELECTED_OUT_OF_VIEW)) as string[];
          findings.push(...outOfView.map((name) => `${route}: the selected ${name} is out of view`));
          findings.push(...((await page.evaluate(HIDDEN)) as string[]).map((each) => `${route} ${each}`));
          if (width === 320) findings.push(...((await page.evaluate(SMALL)) as string[]).map((each) => `${route} ${each}`));
        }
        expect(findings).toEqual([]);
        await close();
      });
    }
  }

  it('show errors of the service with a button to retry', async () => {
    const { page, go, axe, close } = await openConsolePage(browser, service.url);
    await page.getByText('consistent').first().waitFor();
    const refused = JSON.stringify({ path: '$.args', error: 'the database is unreachable', code: 'connection-error' });
    await page.route(/\/v[12](?:alpha1)?\//, (route) =>
      /get_overview/.test(route.request().postData() ?? '') ? route.continue() : route.fulfill({ status: 400, body: refused }),
    );
    const findings: string[] = [];
    for (const route of [
      '#/data/default/public.album',
      '#/remote-schemas',
      '#/events',
      '#/live',
      '#/metadata?tab=inconsistent',
      '#/settings?tab=rest',
    ]) {
      await go(route);
      await page.getByRole('main').getByText('the database is unreachable').first().waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        findings.push(...(await axe()).map((each) => `${route}, ${colorScheme} theme: ${each}`));
      }
    }
    await page.unrouteAll();
    await page.getByRole('main').getByRole('button', { name: 'Retry' }).first().click();
    await page.getByRole('main').getByText('the database is unreachable').waitFor({ state: 'detached' });
    expect(findings).toEqual([]);
    await close();
  });

  it('have an accessible command palette, shortcut list and persona menu', async () => {
    const { page, axe, settle, close } = await openConsolePage(browser, service.url);
    await page.getByText('consistent').first().waitFor();
    const findings: string[] = [];
    await openPalette(page);
    await page.keyboard.type('invoice_l');
    findings.push(...(await axe()));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'public.invoice_line' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    // Scrollable areas become focusable after a render.
    await settle();
    findings.push(...(await axe()));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
    await chord(page, 'gs', '#/sql');
    await page.getByRole('heading', { name: 'SQL' }).waitFor();
    await page.getByRole('button', { name: 'as admin' }).click();
    await page.getByRole('combobox', { name: 'Role' }).waitFor();
    findings.push(...(await axe()));
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate('document.activeElement.textContent'), WAIT).toBe('as admin');
    expect(findings).toEqual([]);
    await close();
  });

  it('work below a path prefix of a proxy', async () => {
    const target = new URL(service.url);
    const proxy = createServer((incoming, outgoing) => {
      const path = incoming.url ?? '/';
      if (!path.startsWith('/x/')) return void outgoing.writeHead(404).end();
      const forwarded = sendRequest(
        { host: target.hostname, port: target.port, method: incoming.method, path: path.slice(2), headers: incoming.headers },
        (response) => {
          outgoing.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(outgoing);
        },
      );
      incoming.pipe(forwarded);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const { page, go, close } = await openConsolePage(browser, url, { path: '/x/console/' });
      await go('#/data/default/public.album');
      await page.getByRole('grid', { name: 'Rows of public.album' }).waitFor();
      await close();
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });
});
