/** Dialogs where there is little room: what is in them is reached by scrolling downwards alone. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { furnish, OPENERS, ROUTES } from '../support/console-pages.ts';
import { startConsoleService } from '../support/console-service.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import type { TestService } from '../support/service.ts';

/** Where the pictures go for somebody to look at; without it there are none. */
const PICTURES = process.env['SVC_CONSOLE_PICTURES'];
/**
 * What of the topmost dialog is wider than its place, beyond its edge, or cut without a way to scroll to it. An editor, and text that is
 * shown as code, scroll by themselves.
 */
const BEYOND = `(() => {
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
  if (!dialog) return ['there is no dialog'];
  const found = [];
  const name = (each) => each.tagName.toLowerCase() + ' ' + (each.getAttribute('aria-label') || each.textContent.trim().slice(0, 40));
  const frame = dialog.getBoundingClientRect();
  if (frame.left < 0 || frame.right > innerWidth) found.push('the dialog is from ' + frame.left + ' to ' + frame.right);
  for (const part of [dialog, ...dialog.querySelectorAll(':scope > *')])
    if (part.scrollWidth > part.clientWidth + 1) found.push(name(part) + ' is ' + (part.scrollWidth - part.clientWidth) + ' pixels too wide');
  for (const each of dialog.querySelectorAll('button, input, select, textarea, h2, h3, label, p, li, td, th')) {
    if (!each.checkVisibility({ visibilityProperty: true }) || each.closest('.visually-hidden, .code-block, .diff')) continue;
    const { left, right, width, height } = each.getBoundingClientRect();
    let scrolls = false;
    for (let over = each.parentElement; over && over !== dialog; over = over.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(over);
      if (overflowX === 'auto' && !over.matches('.body')) scrolls = true;
      if (overflowY === 'hidden' && over.clientHeight < Math.min(height, 16)) found.push(name(each) + ' is squeezed');
    }
    if (!scrolls && width > 1 && (left < frame.left - 1 || right > frame.right + 1)) found.push(name(each) + ' is beyond the edge');
    if (!scrolls && each.matches('button, h2, h3') && each.scrollWidth > each.clientWidth + 1) found.push(name(each) + ' is cut');
  }
  return found;
})()`;

describe.skipIf(chromiumPath === undefined)('dialogs in 320 pixels', () => {
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

  it('have nothing beyond their edges', async () => {
    const { page, go, settle, close } = await openConsolePage(browser, service.url, { width: 320, height: 640 });
    const findings: string[] = [];
    const seen = new Set<string>();
    const tried = new Set<string>();
    const look = async (route: string): Promise<void> => {
      const dialog = page.locator('dialog[open]').last();
      const title = String(await dialog.getByRole('heading').first().textContent());
      if (seen.has(title)) return;
      seen.add(title);
      await settle();
      findings.push(...((await page.evaluate(BEYOND)) as string[]).map((each) => `${route}, ${title}: ${each}`));
      if (PICTURES === undefined) return;
      mkdirSync(PICTURES, { recursive: true });
      const file = title.replace(/\W+/g, '-');
      writeFileSync(join(PICTURES, `${file}-320.png`), await page.screenshot());
      await page.emulateMedia({ forcedColors: 'active' });
      writeFileSync(join(PICTURES, `${file}-320-forced.png`), await page.screenshot());
      await page.emulateMedia({ forcedColors: 'none' });
    };
    for (const route of ROUTES) {
      await go(route);
      await settle();
      for (const name of (await page.evaluate(OPENERS)) as string[]) {
        // The same button on another tab of the page opens the same dialog.
        const place = `${route.split('?')[0]} ${name}`;
        const opener = page.locator('main').getByRole('button', { name, exact: true }).first();
        if (tried.has(place) || !(await opener.isVisible())) continue;
        tried.add(place);
        await opener.click();
        await settle();
        if ((await page.locator('dialog[open]').count()) > 0) {
          await look(route);
          await page.keyboard.press('Escape');
          await page.locator('dialog[open]').waitFor({ state: 'detached' });
        } else if (!page.url().endsWith(route)) {
          await go(route);
          await settle();
        }
      }
    }
    expect(findings).toEqual([]);
    expect(seen.size).toBeGreaterThan(15);
    await close();
  }, 480_000);
});
