/** A read-only console changes nothing, judged by the audit log and the stored state of the service and the requests of the page. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSampleData } from '../../src/embedded-postgres/sample-data.ts';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { createSampleObjects, ROUTES } from '../support/console-pages.ts';
import { startConsoleService } from '../support/console-service.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const CLICKABLE = 'main button, main input[type="checkbox"], main [role="gridcell"]';
const MAX_CLICKS = 24;
const COUNTS = `select (select count(*) from album) albums, (select count(*) from artist) artists, (select sum(customer_id) from customer) customers,
  (select string_agg(title, ',' order by album_id) from album) titles, (select count(*) from pg_tables where schemaname = 'public') tables`;

/** Everything that a console could change. */
async function stateOf(service: TestService): Promise<unknown> {
  return {
    metadata: await service.metadata('export_metadata', {}, { version: 2 }),
    cron: await service.metadata('get_cron_triggers', {}),
    events: await service.metadata('get_scheduled_events', { type: 'one_off' }),
    rows: await service.sql(COUNTS, { read_only: true }),
  };
}

function auditsSince(service: TestService, from: number) {
  return service.observations.slice(from).filter((each) => each.kind === 'audit');
}

/** Clicks everything on a page and in the dialogs that open. @returns the number of clicked elements of the page */
async function clickAll({ page, go, settle }: ConsolePage, route: string): Promise<number> {
  await go(route);
  await settle();
  const count = Math.min(await page.locator(CLICKABLE).count(), MAX_CLICKS);
  for (let index = 0; index < count; index++) {
    // A click from script also reaches elements that only look disabled or are covered.
    await page.evaluate(`document.querySelectorAll(${JSON.stringify(CLICKABLE)})[${index}]?.click()`);
    await page.evaluate(
      `document.querySelectorAll('dialog[open] .dialog-foot button, dialog[open] .body button').forEach((each) => each.click())`,
    );
    await page.keyboard.press('Control+Enter');
    for (let dialogs = await page.locator('dialog[open]').count(); dialogs > 0; dialogs--) await page.keyboard.press('Escape');
    if (!page.url().endsWith(route)) await go(route);
  }
  return count;
}

describe.skipIf(chromiumPath === undefined)('read-only mode', () => {
  let service: TestService;
  let readOnlyService: TestService;
  let browser: Browser;
  let remote: GraphqlServer;
  beforeAll(async () => {
    [service, readOnlyService, browser, remote] = await Promise.all([
      startConsoleService({ CONSOLE_READ_ONLY: 'true', CONSOLE_LABEL: 'PRODUCTION', ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' }),
      startConsoleService({ METADATA_READ_ONLY: 'true' }, false),
      startBrowser(),
      startGraphqlServer('type Query { country(code: ID!): Country } type Country { code: ID! name: String }'),
    ]);
    await createSampleObjects(service, remote);
    await loadSampleData(readOnlyService.databaseUrl);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await readOnlyService?.stop();
    await remote?.close();
  });

  it('changes nothing when everything on every page is clicked', async () => {
    const opened = await openConsolePage(browser, service.url);
    const { page, requests, settle, close } = opened;
    await page.getByText('PRODUCTION').first().waitFor();
    const before = await stateOf(service);
    const from = service.observations.length;
    let clicks = 0;
    for (const route of ROUTES) clicks += await clickAll(opened, route);
    await settle();
    expect(clicks).toBeGreaterThan(200);
    const audits = auditsSince(service, from);
    expect(audits.filter(({ types }) => types.some((type) => type !== 'pg_run_sql'))).toEqual([]);
    expect(audits.filter(({ versionBefore, versionAfter }) => versionBefore !== versionAfter)).toEqual([]);
    expect(await stateOf(service)).toEqual(before);
    expect(requests.filter(({ body }) => /"read_only":false|"query":"\s*mutation/.test(body))).toEqual([]);
    expect(requests.filter(({ body }) => /run_sql/.test(body) && !/"read_only":true/.test(body))).toEqual([]);
    await close();
  }, 480_000);

  it('gives the reason on disabled controls', async () => {
    const { page, go, write, requests, close } = await openConsolePage(browser, service.url, { route: '#/data/default/public.album' });
    const insert = page.getByRole('button', { name: 'Insert' });
    await insert.waitFor();
    await expect.poll(() => insert.getAttribute('title'), WAIT).toContain('read-only');
    await go('#/data/default/public.album?tab=permissions&role=customer&operation=select');
    const deleteButton = page.getByRole('button', { name: 'Delete permission …' });
    await deleteButton.waitFor();
    await expect.poll(() => deleteButton.getAttribute('aria-disabled'), WAIT).toBe('true');
    await expect.poll(() => deleteButton.getAttribute('title'), WAIT).toContain('read-only');
    await go('#/sql');
    await page.getByLabel('Read only').waitFor();
    await expect.poll(() => page.getByLabel('Read only').isDisabled(), WAIT).toBe(true);
    await go('#/explorer');
    await page.getByRole('textbox', { name: 'Query editor' }).waitFor();
    await write('Query editor', 'mutation { delete_genre(where: {}) { affected_rows } }');
    await page.keyboard.press('Control+Enter');
    await page
      .getByText(/read-only/)
      .first()
      .waitFor();
    expect(requests.filter(({ body }) => /delete_genre/.test(body))).toEqual([]);
    await close();
  });

  it('shows the error of a service with read-only metadata in the form that sent the change', async () => {
    const { page, go, write, close } = await openConsolePage(browser, readOnlyService.url, { route: '#/data/default' });
    await page.getByRole('button', { name: /^Track \d+ tables/ }).waitFor();
    const before = await readOnlyService.metadata('export_metadata', {}, { version: 2 });
    const from = readOnlyService.observations.length;
    await page.getByRole('button', { name: /^Track \d+ tables/ }).click();
    await page
      .getByRole('status')
      .getByText(/the metadata of this service is read-only/)
      .waitFor();
    await go('#/actions/+');
    await write('Signature and types', 'type Mutation { login: Login! } type Login { token: String! }');
    await page.getByLabel('URL').fill('http://127.0.0.1:9/login');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page
      .getByRole('alert')
      .getByText(/the metadata of this service is read-only/)
      .waitFor();
    await go('#/sql');
    await write('SQL', 'create table log (id int primary key)');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page
      .getByText(/read-only/)
      .last()
      .waitFor();
    // A refused change leaves no audit entry.
    expect(auditsSince(readOnlyService, from)).toEqual([]);
    expect(await readOnlyService.metadata('export_metadata', {}, { version: 2 })).toEqual(before);
    await close();
  });
});
