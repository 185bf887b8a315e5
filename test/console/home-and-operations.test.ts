import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { expectAccessible } from '../support/console-steps.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

describe.skipIf(chromiumPath === undefined)('home and the last operations', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('lead from the endpoint to a first query, and from an error to its operation', async () => {
    const opened = await openConsolePage(browser, service.url, { route: '#/' });
    const { page, close } = opened;
    await page.getByRole('button', { name: 'Copy the endpoint' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()'), WAIT).toBe(`${service.url}/v1/graphql`);
    await page.getByRole('link', { name: 'Open in the Explorer' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Query editor' }).textContent(), WAIT).toContain('query FirstRows');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('5 rows').waitFor();
    const secret = { 'x-svc-admin-secret': 'the-secret-of-the-console-tests' };
    const send = (query: string) => service.send('/v1/graphql', { method: 'POST', headers: secret, body: JSON.stringify({ query }) });
    await send('query Broken { album { nothing } }');
    await send('query Titles { album(where: {title: {_eq: "a title"}}) { title } }');
    await opened.go('#/');
    await page.getByRole('heading', { name: 'Last errors' }).waitFor();
    await page.getByText('validation-failed').first().waitFor();
    await expectAccessible(opened);
    await page.getByRole('link', { name: 'Show all' }).click();
    const row = page.getByRole('row', { name: /FirstRows/ });
    await row.waitFor();
    await page.getByRole('button', { name: 'Requests', exact: true }).click();
    await page.getByText('query Titles { album(where: {title: {_eq: "…"}}) { title } }').waitFor();
    await expectAccessible(opened);
    await page.getByLabel('Only errors').check();
    await expect.poll(() => row.count(), WAIT).toBe(0);
    await page.getByRole('cell', { name: 'validation-failed' }).first().waitFor();
    await close();
  });

  it('lead from a slow operation to its requests, and from a request to its document', async () => {
    const headers = { 'x-svc-admin-secret': 'the-secret-of-the-console-tests' };
    const send = (query: string) => service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) });
    await send('query Slow { album(limit: 3) { title } }');
    await send('query Other { genre { name } }');
    const opened = await openConsolePage(browser, service.url, { route: '#/' });
    const { page, go, close } = opened;
    const requests = page.getByRole('table', { name: 'Requests' });
    await page.getByRole('link', { name: 'Slow', exact: true }).click();
    await requests.getByText('query Slow { album(limit: 0) { title } }').waitFor();
    expect(await requests.getByText('query Other').count()).toBe(0);
    await go('#/live?tab=operations');
    await page.getByRole('link', { name: 'Slow', exact: true }).click();
    await requests.getByText('query Slow { album(limit: 0) { title } }').waitFor();
    await expectAccessible(opened);
    await requests.getByRole('link', { name: 'Open', exact: true }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Query editor' }).textContent(), WAIT).toContain('query Slow');
    await page.goBack();
    await requests.waitFor();
    await page.goBack();
    await page.getByRole('table', { name: 'Operations' }).waitFor();
    await close();
  });

  it('creates a REST endpoint in the settings, from a saved query', async () => {
    await service.metadata('create_query_collection', {
      name: 'shop',
      definition: { queries: [{ name: 'Genres', query: 'query Genres { genre(limit: 2) { name } }' }] },
    });
    const opened = await openConsolePage(browser, service.url, { route: '#/settings?tab=rest' });
    const { page, close } = opened;
    await page.getByRole('button', { name: 'New REST endpoint' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Saved query' }).fill('shop: Genres');
    await expect.poll(() => dialog.getByLabel('URL').inputValue(), WAIT).toBe('genres');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Applied: Create REST endpoint genres').waitFor();
    const response = await service.send('/api/rest/genres', { headers: { 'x-svc-admin-secret': 'the-secret-of-the-console-tests' } });
    expect(response.json).toMatchObject({ genre: [{}, {}] });
    await page
      .getByRole('row', { name: /genres/ })
      .getByRole('button', { name: 'curl' })
      .click();
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'), WAIT)
      .toBe(`curl -s '${service.url}/api/rest/genres' \\\n  -H "X-Svc-Admin-Secret: $SVC_GRAPHQL_ADMIN_SECRET"`);
    await close();
  });
});
