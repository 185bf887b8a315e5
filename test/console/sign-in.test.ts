import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, SECRET, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined)('sign-in page', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService({}, false), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('rejects a wrong secret and forgets the right one on reload', async () => {
    const { page, requests, close } = await openConsolePage(browser, service.url, { secret: null });
    const field = page.getByLabel('Admin secret');
    await field.fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Invalid admin secret.').waitFor();
    await field.fill(SECRET);
    await page.keyboard.press('Enter');
    await page.getByText('consistent').first().waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const apiRequests = requests.filter(({ url }) => url.includes('/v1'));
    expect(apiRequests.length).toBeGreaterThan(2);
    await close();
  });

  it('keeps the secret for the tab until sign-out when asked to', async () => {
    const { page, close } = await openConsolePage(browser, service.url, { secret: null });
    await page.getByLabel('Admin secret').fill(SECRET);
    await page.getByLabel('Keep for this tab').check();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('consistent').first().waitFor();
    await page.reload();
    await page.getByText('consistent').first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('JSON.stringify(Object.entries(sessionStorage))')).not.toContain(SECRET);
    await close();
  });

  it('forgets the secret after 30 minutes of inactivity and keeps the page state', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    await page.clock.install();
    await page.reload();
    await go('#/sql');
    await write('SQL', 'select 1 as draft');
    await page.clock.fastForward('29:00');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('grid', { name: 'Result' }).waitFor();
    await page.clock.fastForward('29:00');
    expect(await page.getByRole('heading', { name: 'Sign in' }).count()).toBe(0);
    await page.clock.fastForward('02:00');
    await page.getByText('You were signed out after 30 minutes of inactivity.').waitFor();
    expect(await page.evaluate('JSON.stringify(Object.entries(sessionStorage))')).not.toContain(SECRET);
    await page.getByLabel('Admin secret').fill(SECRET);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor({ state: 'detached' });
    await page.getByText('select 1 as draft').first().waitFor();
    await close();
  });

  it('stays signed out although a request that was sent before is answered later', async () => {
    const { page, close } = await openConsolePage(browser, service.url);
    await page.clock.install();
    await page.reload();
    await page.getByText('consistent').first().waitFor();
    let isHeld = false;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/v1/metadata', async (route) => {
      isHeld = true;
      await released;
      await route.continue();
    });
    await page.clock.fastForward('29:00');
    await expect.poll(() => isHeld, WAIT).toBe(true);
    await page.clock.fastForward('02:00');
    const reason = page.getByText('You were signed out after 30 minutes of inactivity.');
    await reason.waitFor();
    const answered = page.waitForResponse('**/v1/metadata');
    release();
    await (await answered).finished();
    await page.clock.fastForward('01:00');
    expect(await reason.count()).toBe(1);
    await page.getByLabel('Admin secret').fill(SECRET);
    await page.keyboard.press('Enter');
    await page.getByText('consistent').first().waitFor();
    await close();
  });
});
