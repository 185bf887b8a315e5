import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { furnish, OPENERS, ROUTES } from '../support/console-pages.ts';
import { chord, openPalette } from '../support/console-steps.ts';
import { startConsoleService } from '../support/console-service.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

/** Names of the chosen page and tab, where one has to scroll to see that they are chosen. */
const CHOSEN_OUT_OF_SIGHT = `[...document.querySelectorAll('[role="tab"][aria-selected="true"], .sidebar [aria-current]')]
  .filter((each) => each.getBoundingClientRect().left < -1 || each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.textContent || each.title)`;
/** Where the pictures go for somebody to look at; without it there are none. */
const PICTURES = process.env['SVC_CONSOLE_PICTURES'];

/** Names of buttons, tabs and headings that something lies upon, or that are cut to less than a line, wherever one scrolls. */
const HIDDEN = `[...document.querySelectorAll('main button, main [role="tab"], main h1, main h2, main h3')].flatMap((each) => {
  if (!each.checkVisibility({ visibilityProperty: true }) || each.closest('.visually-hidden') || !each.textContent.trim()) return [];
  each.scrollIntoView({ block: 'center', inline: 'center' });
  const { left, top, right, bottom } = each.getBoundingClientRect();
  let seen = [top, bottom];
  for (let over = each.parentElement; over; over = over.parentElement) {
    if (getComputedStyle(over).overflowY === 'visible') continue;
    const frame = over.getBoundingClientRect();
    seen = [Math.max(seen[0], frame.top), Math.min(seen[1], frame.bottom)];
  }
  const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  if (each.matches('h1, h2, h3') && each.scrollWidth > each.clientWidth + 1) return [each.textContent.trim() + ' is cut'];
  const isWhole = seen[1] - seen[0] >= Math.min(bottom - top, 16) && found && (each.contains(found) || found.contains(each));
  return isWhole ? [] : [each.textContent.trim() + ' is hidden'];
})`;

describe.skipIf(chromiumPath === undefined)('every page', () => {
  let service: TestService;
  let browser: Browser;
  let remote: GraphqlServer;
  beforeAll(async () => {
    [service, browser, remote] = await Promise.all([
      startConsoleService({ ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' }),
      startBrowser(),
      startGraphqlServer('type Query { country(code: ID!): Country } type Country { code: ID! name: String }'),
    ]);
    await furnish(service, remote);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await remote?.close();
  });

  it('is looked at here, with each of its tabs and dialogs, in the light and in the dark', async () => {
    const { page, go, settle, axe, close } = await openConsolePage(browser, service.url);
    await page.getByText('consistent').first().waitFor();
    const findings: string[] = [];
    const check = async (what: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        findings.push(...(await axe()).map((each) => `${what} in the ${colorScheme}: ${each}`));
      }
    };
    // What the navigation leads to, whatever that is by now, and what hangs on it.
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
        // The same button on another tab of the page opens the same dialog.
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
    // Each page of the navigation was reached, and the buttons that open dialogs were recognised.
    expect(pages.length).toBeGreaterThanOrEqual(9);
    expect(dialogs.length).toBeGreaterThan(15);
    for (const page of pages) expect(routes).toContain(page);
    await close();
  }, 480_000);

  for (const theme of ['light', 'dark'] as const) {
    for (const width of [1280, 320]) {
      it(`is accessible and fits: ${theme}, ${width} pixels wide`, async () => {
        const { page, go, settle, axe, close } = await openConsolePage(browser, service.url, { theme, width });
        const findings: string[] = [];
        for (const route of ROUTES) {
          await go(route);
          await settle();
          findings.push(...(await axe()).map((each) => `${route} ${each}`));
          const overflow = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
          if (overflow > 0) findings.push(`${route} is ${overflow} pixels too wide`);
          if (PICTURES !== undefined) {
            mkdirSync(PICTURES, { recursive: true });
            writeFileSync(join(PICTURES, `${route.replace(/\W+/g, '-')}-${theme}-${width}.png`), await page.screenshot());
          }
          const chosenAside = (await page.evaluate(CHOSEN_OUT_OF_SIGHT)) as string[];
          findings.push(...chosenAside.map((name) => `${route} is at ${name}, which is out of sight`));
          findings.push(...((await page.evaluate(HIDDEN)) as string[]).map((each) => `${route} ${each}`));
        }
        expect(findings).toEqual([]);
        await close();
      });
    }
  }

  it('tells what the service refuses, with a way to ask again', async () => {
    const { page, go, axe, close } = await openConsolePage(browser, service.url);
    await page.getByText('consistent').first().waitFor();
    const refused = JSON.stringify({ path: '$.args', error: 'the database is away for a while', code: 'connection-error' });
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
      await page.getByRole('main').getByText('the database is away for a while').first().waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        findings.push(...(await axe()).map((each) => `${route} in the ${colorScheme}: ${each}`));
      }
    }
    await page.unrouteAll();
    await page.getByRole('main').getByRole('button', { name: 'Retry' }).first().click();
    await page.getByRole('main').getByText('the database is away').waitFor({ state: 'detached' });
    expect(findings).toEqual([]);
    await close();
  });

  it('has a palette, keys and dialogs that are accessible', async () => {
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
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    // What is wider than its place is found to be so once it is seen.
    await settle();
    findings.push(...(await axe()));
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
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

  it('works below a path of a proxy', async () => {
    const target = new URL(service.url);
    const proxy = createServer((incoming, outgoing) => {
      const path = incoming.url ?? '/';
      if (!path.startsWith('/x/')) return void outgoing.writeHead(404).end();
      const passed = ask(
        { host: target.hostname, port: target.port, method: incoming.method, path: path.slice(2), headers: incoming.headers },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
        },
      );
      incoming.pipe(passed);
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
