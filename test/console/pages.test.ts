import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import type { TestService } from '../support/service.ts';

const ROUTES = [
  '#/',
  '#/explorer',
  '#/data/default',
  '#/data/default?tab=relationships',
  '#/data/default?tab=permissions',
  '#/data/+',
  '#/data/default/public.album',
  '#/data/default/public.album?tab=structure',
  '#/data/default/public.album?tab=relationships',
  '#/data/default/public.album?tab=permissions&role=customer&operation=select',
  '#/data/default/public.album?tab=json',
  '#/sql',
  '#/events',
  '#/metadata',
  '#/nowhere',
] as const;
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
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  for (const theme of ['light', 'dark'] as const) {
    for (const width of [1280, 320]) {
      it(`is accessible and fits: ${theme}, ${width} pixels wide`, async () => {
        const { page, go, axe, close } = await openConsolePage(browser, service.url, { theme, width });
        const findings: string[] = [];
        for (const route of ROUTES) {
          await go(route);
          await page.waitForTimeout(400);
          findings.push(...(await axe()).map((each) => `${route} ${each}`));
          const overflow = (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) as number;
          if (overflow > 0) findings.push(`${route} is ${overflow} pixels too wide`);
          findings.push(...((await page.evaluate(HIDDEN)) as string[]).map((each) => `${route} ${each}`));
          if (PICTURES !== undefined) {
            mkdirSync(PICTURES, { recursive: true });
            writeFileSync(join(PICTURES, `${route.replace(/\W+/g, '-')}-${theme}-${width}.png`), await page.screenshot());
          }
        }
        expect(findings).toEqual([]);
        await close();
      }, 120_000);
    }
  }

  it('has a palette, keys and dialogs that are accessible', async () => {
    const { page, axe, close } = await openConsolePage(browser, service.url);
    await page.getByText('consistent').first().waitFor();
    const findings: string[] = [];
    await page.keyboard.press('Control+k');
    await page.keyboard.type('invoice_l');
    findings.push(...(await axe()));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'public.invoice_line' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    findings.push(...(await axe()));
    await page.keyboard.press('Escape');
    await page.keyboard.type('gs');
    await page.getByRole('heading', { name: 'SQL' }).waitFor();
    await page.getByRole('button', { name: 'as admin' }).click();
    findings.push(...(await axe()));
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('as admin');
    expect(findings).toEqual([]);
    await close();
  });

  it('asks for nothing that changes anything when the console is read-only', async () => {
    const readOnly = await startConsoleService({ CONSOLE_READ_ONLY: 'true', CONSOLE_LABEL: 'PRODUCTION' });
    const { page, go, requests, close } = await openConsolePage(browser, readOnly.url);
    await page.getByText('PRODUCTION').first().waitFor();
    await go('#/data/default/public.album');
    const insert = page.getByRole('button', { name: 'Insert' });
    await insert.click({ force: true });
    expect(await insert.getAttribute('title')).toContain('read-only');
    await go('#/data/default/public.album?tab=permissions&role=customer&operation=select');
    const away = page.getByRole('button', { name: 'Take it away' });
    await away.click({ force: true });
    expect(await away.getAttribute('aria-disabled')).toBe('true');
    await go('#/sql');
    expect(await page.getByLabel('Read only').isDisabled()).toBe(true);
    expect(requests.filter(({ body }) => /_permission"|track_|mutation |"read_only":false/.test(body))).toEqual([]);
    await close();
    await readOnly.stop();
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
