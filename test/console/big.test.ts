import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const TABLES = 1451;
const ROLES = 20;
const nameOf = (index: number): string => `t${String(index).padStart(4, '0')}`;

describe.skipIf(chromiumPath === undefined)('console with 1,451 tables and 20 roles', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService({}, false), startBrowser()]);
    const names = Array.from({ length: TABLES }, (_, index) => nameOf(index));
    for (let start = 0; start < TABLES; start += 300) {
      await service.sql(
        names
          .slice(start, start + 300)
          .map((name) => `create table ${name} (id int primary key, owner int, title text, note text);`)
          .join('\n'),
      );
    }
    const select_permissions: Json = Array.from(
      { length: ROLES },
      (_, i): JsonObject => ({
        role: `role${i}`,
        permission: { columns: '*', filter: i === 0 ? {} : { owner: { _eq: 'X-Svc-User-Id' } } },
      }),
    );
    const tables: Json = names.map((name) => ({ table: { schema: 'public', name }, select_permissions }));
    const configuration: Json = { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } };
    await service.metadata('replace_metadata', { version: 3, sources: [{ name: 'default', kind: 'pg', configuration, tables }] });
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('loads the overview in one request, renders only visible rows and finds a table from the keyboard', async () => {
    const { page, requests, go, close } = await openConsolePage(browser, service.url);
    await page.getByText('consistent').first().waitFor();
    expect(
      requests.filter(({ url }) => !url.includes('/v1') && !url.includes('/v2') && !url.includes('/healthz')).length,
    ).toBeLessThanOrEqual(6);
    // The first query of Home needs the names of one table; nothing reads the whole document.
    const exports = requests.filter(({ body }) => body.includes('export_metadata')).map(({ body }) => JSON.parse(body) as JsonObject);
    expect(exports.length).toBeLessThanOrEqual(1);
    for (const { args } of exports) expect(args).toMatchObject({ only: { tables: [{ source: 'default' }], sections: [], sources: [] } });
    await go('#/data/default');
    await page
      .getByRole('link', { name: nameOf(0), exact: true })
      .first()
      .waitFor();
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(3000);
    await page.keyboard.press('/');
    await page.keyboard.type('t1450');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'public.t1450' }).waitFor();
    await page.getByText('The table is empty').waitFor();
    // Each export covers one table.
    const exported = requests.filter(({ body }) => body.includes('export_metadata'));
    expect(exported.every(({ body }) => body.includes('"only"'))).toBe(true);
    await go('#/data/default?tab=permissions');
    const grid = page.getByRole('grid', { name: 'select permissions' });
    await grid.getByRole('gridcell').first().focus();
    await page.keyboard.press('Control+End');
    await grid.getByText('public.t1450').waitFor();
    await expect.poll(() => grid.getByRole('columnheader').count(), WAIT).toBe(ROLES + 1);
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(3000);
    await close();
  });

  it('loads completions of the explorer type by type', async () => {
    const { page, requests, go, write, close } = await openConsolePage(browser, service.url);
    await go('#/explorer');
    await page.getByRole('textbox', { name: 'Query editor' }).waitFor();
    await write('Query editor', '{ t0700 { tit');
    await page.keyboard.press('Control+Space');
    await page.getByRole('option', { name: /^title/ }).waitFor();
    expect(requests.some(({ body }) => /types\s*\{/.test(body))).toBe(false);
    await close();
  });
});
