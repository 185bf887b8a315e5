/** Dialogs on a narrow screen: their content is reached by vertical scrolling alone. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { createSampleObjects, OPENERS, ROUTES } from '../support/console-pages.ts';
import { startConsoleService } from '../support/console-service.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import type { TestService } from '../support/service.ts';

/** Directory for screenshots; none are taken without it. */
const SCREENSHOTS = process.env['SVC_CONSOLE_SCREENSHOTS'];
/** Elements of the topmost dialog that are too wide, beyond its edge or cut off. Editors and code blocks scroll by themselves. */
const OVERFLOWING = `(() => {
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
        for (let outer = each.parentElement; outer && outer !== dialog; outer = outer.parentElement) {
          const { overflowX, overflowY } = getComputedStyle(outer);
          if (overflowX === 'auto' && !outer.matches('.body')) scrolls = true;
          if (overflowY === 'hidden' && outer.clientHeight < Math.min(height, 16)) found.push(name(each) + ' is squeezed');
    }
    if (each.matches('button, input:not([type="checkbox"]), select, textarea') && width > 1 && height < 40) found.push(name(each) + ' is only ' + height + ' pixels high');
    if (!scrolls && width > 1 && (left < frame.left - 1 || right > frame.right + 1)) found.push(name(each) + ' is beyond the edge');
    if (!scrolls && each.matches('button, h2, h3') && each.scrollWidth > each.clientWidth + 1) found.push(name(each) + ' is cut');
  }
  return found;
})()`;

describe.skipIf(chromiumPath === undefined)('dialogs at a width of 320 pixels', () => {
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

  it('fit their content', async () => {
    const { page, go, settle, close } = await openConsolePage(browser, service.url, { width: 320, height: 640 });
    const findings: string[] = [];
    const seen = new Set<string>();
    const tried = new Set<string>();
    const inspect = async (route: string): Promise<void> => {
      const dialog = page.locator('dialog[open]').last();
      const title = String(await dialog.getByRole('heading').first().textContent());
      if (seen.has(title)) return;
      seen.add(title);
      await settle();
      findings.push(...((await page.evaluate(OVERFLOWING)) as string[]).map((each) => `${route}, ${title}: ${each}`));
      if (SCREENSHOTS === undefined) return;
      mkdirSync(SCREENSHOTS, { recursive: true });
      const file = title.replace(/\W+/g, '-');
      writeFileSync(join(SCREENSHOTS, `${file}-320.png`), await page.screenshot());
      await page.emulateMedia({ forcedColors: 'active' });
      writeFileSync(join(SCREENSHOTS, `${file}-320-forced.png`), await page.screenshot());
      await page.emulateMedia({ forcedColors: 'none' });
    };
    for (const route of ROUTES) {
      await go(route);
      await settle();
      for (const name of (await page.evaluate(OPENERS)) as string[]) {
        // A button of the same name on another tab opens the same dialog.
        const place = `${route.split('?')[0]} ${name}`;
        const opener = page.locator('main').getByRole('button', { name, exact: true }).first();
        if (tried.has(place) || !(await opener.isVisible())) continue;
        tried.add(place);
        await opener.click();
        await settle();
        if ((await page.locator('dialog[open]').count()) > 0) {
          await inspect(route);
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
