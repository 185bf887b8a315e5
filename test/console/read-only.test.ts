/** Nothing is changed where nothing may be: told by the log of the service and by what it holds, beside what the page sends. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSampleData } from '../../src/embedded-postgres/sample-data.ts';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { furnish, ROUTES } from '../support/console-pages.ts';
import { startConsoleService } from '../support/console-service.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

/** What can be pressed, by its place among the like. */
const PRESSABLE = 'main button, main input[type="checkbox"], main [role="gridcell"]';
const MOST_PRESSED = 24;
const COUNTS = `select (select count(*) from album) albums, (select count(*) from artist) artists, (select sum(customer_id) from customer) customers,
  (select string_agg(title, ',' order by album_id) from album) titles, (select count(*) from pg_tables where schemaname = 'public') tables`;

/** All that a console could change. */
async function held(service: TestService): Promise<unknown> {
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

/** Presses all there is on a page, and in the dialogs that open; whatever navigates is gone back from. @returns how much was pressed */
async function pressAll({ page, go, settle }: ConsolePage, route: string): Promise<number> {
  await go(route);
  await settle();
  const count = Math.min(await page.locator(PRESSABLE).count(), MOST_PRESSED);
  for (let index = 0; index < count; index++) {
    // As somebody does who writes into the page's own tree: what is only shown to be out of reach is reached.
    await page.evaluate(`document.querySelectorAll(${JSON.stringify(PRESSABLE)})[${index}]?.click()`);
    await page.evaluate(
      `document.querySelectorAll('dialog[open] .dialog-foot button, dialog[open] .body button').forEach((each) => each.click())`,
    );
    await page.keyboard.press('Control+Enter');
    for (let dialogs = await page.locator('dialog[open]').count(); dialogs > 0; dialogs--) await page.keyboard.press('Escape');
    if (!page.url().endsWith(route)) await go(route);
  }
  return count;
}

describe.skipIf(chromiumPath === undefined)('where nothing may be changed', () => {
  let service: TestService;
  let guarded: TestService;
  let browser: Browser;
  let remote: GraphqlServer;
  beforeAll(async () => {
    [service, guarded, browser, remote] = await Promise.all([
      startConsoleService({ CONSOLE_READ_ONLY: 'true', CONSOLE_LABEL: 'PRODUCTION', ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' }),
      startConsoleService({ METADATA_READ_ONLY: 'true' }, false),
      startBrowser(),
      startGraphqlServer('type Query { country(code: ID!): Country } type Country { code: ID! name: String }'),
    ]);
    await furnish(service, remote);
    await loadSampleData(guarded.databaseUrl);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await guarded?.stop();
    await remote?.close();
  });

  it('a console that is read-only changes nothing, whatever is pressed on its pages', async () => {
    const opened = await openConsolePage(browser, service.url);
    const { page, requests, settle, close } = opened;
    await page.getByText('PRODUCTION').first().waitFor();
    const before = await held(service);
    const from = service.observations.length;
    let pressed = 0;
    for (const route of ROUTES) pressed += await pressAll(opened, route);
    await settle();
    expect(pressed).toBeGreaterThan(200);
    const audits = auditsSince(service, from);
    expect(audits.filter(({ types }) => types.some((type) => type !== 'pg_run_sql'))).toEqual([]);
    expect(audits.filter(({ versionBefore, versionAfter }) => versionBefore !== versionAfter)).toEqual([]);
    expect(await held(service)).toEqual(before);
    expect(requests.filter(({ body }) => /"read_only":false|"query":"\s*mutation/.test(body))).toEqual([]);
    expect(requests.filter(({ body }) => /run_sql/.test(body) && !/"read_only":true/.test(body))).toEqual([]);
    await close();
  }, 480_000);

  it('a console that is read-only says why', async () => {
    const { page, go, write, requests, close } = await openConsolePage(browser, service.url, { route: '#/data/default/public.album' });
    const insert = page.getByRole('button', { name: 'Insert' });
    await insert.waitFor();
    await expect.poll(() => insert.getAttribute('title'), WAIT).toContain('read-only');
    await go('#/data/default/public.album?tab=permissions&role=customer&operation=select');
    const away = page.getByRole('button', { name: 'Take it away' });
    await away.waitFor();
    await expect.poll(() => away.getAttribute('aria-disabled'), WAIT).toBe('true');
    await expect.poll(() => away.getAttribute('title'), WAIT).toContain('read-only');
    await go('#/sql');
    await page.getByLabel('Read only').waitFor();
    await expect.poll(() => page.getByLabel('Read only').isDisabled(), WAIT).toBe(true);
    await go('#/explorer');
    await page.getByRole('textbox', { name: 'GraphQL document' }).waitFor();
    await write('GraphQL document', 'mutation { delete_genre(where: {}) { affected_rows } }');
    await page.keyboard.press('Control+Enter');
    await page
      .getByText(/read-only/)
      .first()
      .waitFor();
    expect(requests.filter(({ body }) => /delete_genre/.test(body))).toEqual([]);
    await close();
  });

  it('a service whose metadata is read-only refuses, which the page tells where it was asked', async () => {
    const { page, go, write, close } = await openConsolePage(browser, guarded.url, { route: '#/data/default' });
    await page.getByRole('button', { name: /^Track all/ }).waitFor();
    const before = await guarded.metadata('export_metadata', {}, { version: 2 });
    const from = guarded.observations.length;
    await page.getByRole('button', { name: /^Track all/ }).click();
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
    // What is refused is not begun.
    expect(auditsSince(guarded, from)).toEqual([]);
    expect(await guarded.metadata('export_metadata', {}, { version: 2 })).toEqual(before);
    await close();
  });
});
