/** The application of docs/tutorials/react.md: installed, built, and used in a browser by members of two organisations. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations, chromiumPath, startBrowser } from '../support/browser.ts';
import { WAIT } from '../support/wait.ts';
import { type RunningApp, startApp } from './running-app.ts';

const INSTALLATION_MS = 400_000;
const API = '**/v1/graphql';
/** Shown on the page of the tutorial. */
const REJECTED =
  'The change was not saved: Check constraint violation. new row for relation "task" violates check constraint "task_title_is_not_blank"';

describe.skipIf(chromiumPath === undefined)('React application of the tutorial', () => {
  let app: RunningApp;
  let browser: Browser;
  beforeAll(async () => {
    app = await startApp();
    browser = await startBrowser();
  }, INSTALLATION_MS);
  afterAll(async () => {
    await browser?.close();
    await app?.stop();
  });

  async function openApp(): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(30_000);
    await page.goto(app.url);
    return page;
  }

  async function enter(page: Page, email: string, password: string): Promise<void> {
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
  }

  /** Returns a page on which a member has signed in and receives live data. */
  async function signedIn(name: 'ann' | 'ben' | 'cleo'): Promise<Page> {
    const page = await openApp();
    await enter(page, `${name}@${name === 'cleo' ? 'bolt' : 'acme'}.example`, `${name}-likes-tutorials`);
    await page.getByText('Live', { exact: true }).waitFor();
    return page;
  }

  const titles = (page: Page): Promise<string[]> => page.getByRole('listitem').locator('label').allInnerTexts();
  const task = (page: Page, title: string) => page.getByRole('checkbox', { name: title, exact: true });
  const alert = (page: Page) => page.getByRole('alert');

  /** Holds back the requests of a page to the API until they are released or aborted; later ones are treated the same. */
  async function holdRequests(page: Page): Promise<{ held: Route[]; release(): void; abort(): void }> {
    const held: Route[] = [];
    let decide: (decision: (route: Route) => Promise<void>) => void = () => undefined;
    const decided = new Promise<(route: Route) => Promise<void>>((resolve) => {
      decide = resolve;
    });
    await page.route(API, async (route) => {
      held.push(route);
      await (await decided)(route);
    });
    return { held, release: () => decide((route) => route.continue()), abort: () => decide((route) => route.abort()) };
  }

  it('rejects a wrong password and an unknown address with the same message', async () => {
    const page = await openApp();
    expect(await axeViolations(page)).toEqual([]);
    for (const [email, password] of [
      ['ann@acme.example', 'wrong'],
      ['nobody@acme.example', 'ann-likes-tutorials'],
    ] as const) {
      await enter(page, email, password);
      await alert(page).getByText('The address or the password is wrong.', { exact: true }).waitFor();
      await page.reload();
    }
    await page.context().close();
  });

  it('shows the tasks of the organisation in two pages', async () => {
    const page = await signedIn('ann');
    await expect.poll(() => titles(page), WAIT).toEqual(Array.from({ length: 10 }, (_, i) => `Inspect roof ${12 - i}`));
    expect(await axeViolations(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Newer' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Older' }).press('Enter');
    await expect.poll(() => titles(page), WAIT).toEqual(['Inspect roof 2', 'Inspect roof 1']);
    expect(await page.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Newer' }).press('Enter');
    await expect.poll(async () => (await titles(page)).length, WAIT).toBe(10);
    await page.context().close();
  });

  it('shows members of another organisation only their own tasks', async () => {
    const page = await signedIn('cleo');
    await expect.poll(() => titles(page), WAIT).toEqual(['Test engine 3', 'Test engine 2', 'Test engine 1']);
    await page.context().close();
  });

  it('shows a change before the service has answered, and keeps it', async () => {
    const page = await signedIn('ann');
    const isDone = () => app.asAdmin('{ task(where: {title: {_eq: "Inspect roof 12"}}) { is_done } }');
    await task(page, 'Inspect roof 12').waitFor();
    const requests = await holdRequests(page);
    await task(page, 'Inspect roof 12').press('Space');
    await expect.poll(() => task(page, 'Inspect roof 12').isChecked(), WAIT).toBe(true);
    await expect.poll(() => requests.held.length, WAIT).toBe(1);
    expect(await isDone()).toEqual({ data: { task: [{ is_done: false }] } });
    requests.release();
    await expect.poll(isDone, WAIT).toEqual({ data: { task: [{ is_done: true }] } });
    expect(await task(page, 'Inspect roof 12').isChecked()).toBe(true);
    await page.context().close();
  });

  it('takes a change back if the request fails', async () => {
    const page = await signedIn('ann');
    await task(page, 'Inspect roof 11').waitFor();
    const requests = await holdRequests(page);
    await task(page, 'Inspect roof 11').press('Space');
    await expect.poll(() => task(page, 'Inspect roof 11').isChecked(), WAIT).toBe(true);
    await expect.poll(() => requests.held.length, WAIT).toBe(1);
    requests.abort();
    await alert(page).getByText('The change was not saved').waitFor();
    expect(await task(page, 'Inspect roof 11').isChecked()).toBe(false);
    expect(await axeViolations(page)).toEqual([]);
    await page.context().close();
  });

  it('takes a new title back if the database rejects it', async () => {
    const page = await signedIn('ann');
    await page.getByRole('button', { name: 'Rename Inspect roof 10' }).press('Enter');
    expect(await axeViolations(page)).toEqual([]);
    const requests = await holdRequests(page);
    await page.getByLabel('Title', { exact: true }).fill('   ');
    await page.keyboard.press('Enter');
    await expect.poll(() => requests.held.length, WAIT).toBe(1);
    expect(await task(page, 'Inspect roof 10').count()).toBe(0);
    requests.release();
    await alert(page).getByText(REJECTED, { exact: true }).waitFor();
    await task(page, 'Inspect roof 10').waitFor();
    await page.context().close();
  });

  it('shows changes of other members at once, and none of other organisations', async () => {
    const [ann, ben, cleo] = await Promise.all([signedIn('ann'), signedIn('ben'), signedIn('cleo')]);
    await ben.getByLabel('New task').fill('Order slates');
    await ben.keyboard.press('Enter');
    await task(ann, 'Order slates').waitFor();
    await ben.getByRole('button', { name: 'Rename Order slates' }).click();
    await ben.getByLabel('Title', { exact: true }).fill('Order 90 slates');
    await ben.getByRole('button', { name: 'Save' }).click();
    await task(ann, 'Order 90 slates').waitFor();
    await task(ann, 'Order 90 slates').check();
    await expect.poll(() => task(ben, 'Order 90 slates').isChecked(), WAIT).toBe(true);
    await cleo.getByLabel('New task').fill('Order pistons');
    await cleo.keyboard.press('Enter');
    await task(cleo, 'Order pistons').waitFor();
    expect(await titles(cleo)).toEqual(['Order pistons', 'Test engine 3', 'Test engine 2', 'Test engine 1']);
    expect((await titles(ann)).slice(0, 2)).toEqual(['Order 90 slates', 'Inspect roof 12']);
    await Promise.all([ann, ben, cleo].map((page) => page.context().close()));
  });

  it('says when a task has been deleted meanwhile', async () => {
    const page = await signedIn('ann');
    await task(page, 'Inspect roof 9').waitFor();
    const requests = await holdRequests(page);
    await task(page, 'Inspect roof 9').press('Space');
    await expect.poll(() => requests.held.length, WAIT).toBe(1);
    await app.asAdmin('mutation { delete_task(where: {title: {_eq: "Inspect roof 9"}}) { affected_rows } }');
    requests.release();
    await alert(page).getByText('The task does not exist any more.').waitFor();
    await expect.poll(() => task(page, 'Inspect roof 9').count(), WAIT).toBe(0);
    await page.context().close();
  });

  it('connects again after the service was away', async () => {
    const page = await signedIn('ann');
    const restart = await app.stopService();
    await page.getByText('Connecting…').waitFor();
    await restart();
    await page.getByText('Live', { exact: true }).waitFor();
    await app.asAdmin('mutation { update_task(where: {title: {_eq: "Inspect roof 8"}}, _set: {title: "Paint roof"}) { affected_rows } }');
    await task(page, 'Paint roof').waitFor();
    await page.context().close();
  });

  it('forgets token and data when a member signs out', async () => {
    const page = await signedIn('ann');
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 0, '']);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You have signed out.').waitFor();
    expect(await page.getByRole('listitem').count()).toBe(0);
    await enter(page, 'cleo@bolt.example', 'cleo-likes-tutorials');
    await task(page, 'Test engine 1').waitFor();
    expect((await titles(page)).filter((title) => title.includes('roof'))).toEqual([]);
    await page.context().close();
  });

  describe('with tokens that expire after three seconds', () => {
    beforeAll(() => app.setTokenLifetime('3s'));

    it('asks to sign in again when the live connection is rejected', async () => {
      const page = await openApp();
      await enter(page, 'ann@acme.example', 'ann-likes-tutorials');
      await page.getByText('Your session has ended. Sign in again.').waitFor();
      await page.context().close();
    });

    it('asks to sign in again when a request is rejected', async () => {
      const page = await openApp();
      await page.routeWebSocket(API, () => undefined); // opens, and never answers
      await enter(page, 'ann@acme.example', 'ann-likes-tutorials');
      await task(page, 'Inspect roof 12').waitFor();
      const ended = page.getByText('Your session has ended. Sign in again.');
      await expect
        .poll(async () => {
          if (await ended.isVisible()) return true;
          await task(page, 'Inspect roof 12')
            .press('Space', { timeout: 1_000 })
            .catch(() => undefined);
          return false;
        }, WAIT)
        .toBe(true);
      await page.context().close();
    });
  });
});
