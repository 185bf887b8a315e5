/** Scenarios of the import of rows: 5,000 rows of which ten are wrong, all rows or none, pasted rows. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { expectAccessible } from '../support/console-steps.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const TABLES = `
create table city (id int primary key);
insert into city select generate_series(1, 100);
create table member (
  id int primary key,
  email text not null unique,
  city_id int not null references city,
  amount numeric not null check (amount > 0),
  joined date
);
`;
const HEAD = 'id,email,city_id,amount,joined';
/** Replaced cells by row: what the page finds, then what only the database finds. */
const WRONG: Readonly<Record<number, Readonly<Record<number, string>>>> = {
  10: { 3: 'many' },
  1200: { 1: 'm1@example.org' },
  1800: { 1: '' },
  2500: { 0: '3' },
  4000: { 0: 'x' },
  500: { 2: '99999' },
  700: { 3: '-1' },
  1500: { 4: '2020-13-01' },
  3100: { 2: '88888' },
  4999: { 3: '0' },
};

function csv(count: number, wrong: typeof WRONG): string {
  const rows = Array.from({ length: count }, (_, index) => {
    const n = index + 1;
    const cells = [String(n), `m${n}@example.org`, String(1 + (n % 100)), '3.50', '2020-01-01'];
    return cells.map((cell, place) => wrong[n]?.[place] ?? cell).join(',');
  });
  return [HEAD, ...rows].join('\n');
}

let service: TestService;
let browser: Browser;

describe.skipIf(chromiumPath === undefined)('the import of rows', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService({ ENABLE_CONSOLE: 'true' }), startBrowser()]);
    await service.sql(TABLES);
    for (const table of ['city', 'member']) await service.metadata('pg_track_table', { table });
  });
  beforeEach(async () => {
    await service.sql('truncate member');
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = (): Promise<ConsolePage> => openConsolePage(browser, service.url, { secret: null, route: '#/data/default/public.member' });
  const count = async (): Promise<string | undefined> =>
    ((await service.sql('select count(*) from member')) as { result: string[][] }).result[1]?.[0];
  const choose = async ({ page }: ConsolePage, text: string | Buffer, name = 'members.csv'): Promise<void> => {
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page
      .getByRole('dialog')
      .getByLabel('File')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  };

  it('inserts 4,990 of 5,000 rows and lists the other ten with their reasons', async () => {
    const opened = await open();
    // An empty table offers it, too.
    await opened.page.getByRole('button', { name: 'Import rows' }).click();
    await opened.page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    const { page, requests } = opened;
    const dialog = page.getByRole('dialog', { name: 'Import into public.member' });
    await choose(opened, Buffer.from('1,Zoë', 'latin1'));
    await dialog.getByText('The file is not UTF-8 text. Save it as UTF-8.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await choose(opened, csv(5000, WRONG));
    await dialog.getByText('of CSV, 5 with errors').waitFor();
    const errors = dialog.getByRole('table', { name: 'Rows with errors' });
    expect(await errors.getByRole('row').allTextContents()).toEqual([
      'LineColumnErrorValue',
      '11amountexpected a numbermany',
      '1201emailthe same value as in line 2m1@example.org',
      '1801emailthe value is missing',
      '2501idthe same value as in line 43',
      '4001idexpected a whole numberx',
    ]);
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Import 4,995 rows' }).click();
    await dialog.getByText('4,990 rows inserted').waitFor();
    const left = dialog.getByRole('table', { name: 'Rows that were not inserted' });
    const lines = (await left.getByRole('row').allTextContents()).slice(1);
    expect(lines.map((line) => Number.parseInt(line, 10))).toEqual([11, 501, 701, 1201, 1501, 1801, 2501, 3101, 4001, 5000]);
    expect(lines[1]).toContain('member_city_id_fkey');
    expect(lines[2]).toContain('member_amount_check');
    await expectAccessible(opened);
    expect(await count()).toBe('4990');
    const inserts = requests.filter(({ body }) => body.includes('mutation Import'));
    expect(inserts.length).toBeLessThan(20);
    expect(Math.max(...inserts.map(({ body }) => body.length))).toBeLessThan(1_200_000);

    const [file] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download these rows' }).click()]);
    const stream = await file.createReadStream();
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const saved = Buffer.concat(chunks).toString().split('\r\n');
    expect(saved.length).toBe(11);
    expect(saved[0]).toBe(`${HEAD},error`);
    expect(saved[1]).toBe('10,m10@example.org,11,many,2020-01-01,amount: expected a number');
    await opened.close();
  });

  it('inserts all rows or none, and finds every row that the database rejects', async () => {
    const opened = await open();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    await choose(opened, csv(1000, { 500: { 2: '99999' }, 700: { 3: '-1' } }));
    await dialog.getByText('of CSV, none with errors').waitFor();
    await dialog.getByRole('button', { name: 'All rows or none' }).click();
    await dialog.getByRole('button', { name: 'Import 1,000 rows' }).click();
    await dialog.getByText('No row was inserted, because some were rejected.').waitFor();
    const lines = (await dialog.getByRole('table', { name: 'Rows that were not inserted' }).getByRole('row').allTextContents()).slice(1);
    expect(lines.map((line) => Number.parseInt(line, 10))).toEqual([501, 701]);
    expect(await count()).toBe('0');
    await dialog.getByRole('button', { name: 'Other rows' }).click();
    await dialog.getByLabel('File').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(csv(1000, {})) });
    await dialog.getByRole('button', { name: 'All rows or none' }).click();
    await dialog.getByRole('button', { name: 'Import 1,000 rows' }).click();
    await dialog.getByText('1,000 rows inserted').waitFor();
    expect(await count()).toBe('1000');
    await opened.close();
  });

  it('stops after the current request, and counts what was inserted', async () => {
    const opened = await open();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let requests = 0;
    await page.route('**/v1/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation Import') === true && ++requests > 1) await released;
      await route.continue();
    });
    await choose(opened, csv(2000, {}));
    await dialog.getByRole('button', { name: 'Import 2,000 rows' }).click();
    await dialog.getByText('500 of 2,000 rows, 0 rejected').waitFor();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    release();
    await dialog.getByText('1,000 rows inserted').waitFor();
    await dialog.getByText('Stopped. The other rows were not sent.').waitFor();
    await dialog.getByRole('row', { name: '1002–2001 not sent' }).waitFor();
    expect(await count()).toBe('1000');
    const [file] = await Promise.all([page.waitForEvent('download'), dialog.getByRole('button', { name: 'Download these rows' }).click()]);
    const chunks: Buffer[] = [];
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
    const saved = Buffer.concat(chunks).toString().split('\r\n');
    expect(saved.length).toBe(1001);
    expect(saved[1]).toBe('1001,m1001@example.org,2,3.50,2020-01-01,not sent');
    await opened.close();
  });

  it('stops when another page is opened, and asks before the tab closes', async () => {
    const opened = await open();
    const { page, go } = opened;
    const dialog = page.getByRole('dialog');
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let requests = 0;
    await page.route('**/v1/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation Import') === true && ++requests > 1) await released;
      await route.continue();
    });
    await choose(opened, csv(2000, {}));
    const asks = (): Promise<unknown> => page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))");
    await dialog.getByText('of CSV, none with errors').waitFor();
    expect(await asks()).toBe(false);
    await dialog.getByRole('button', { name: 'Import 2,000 rows' }).click();
    await dialog.getByText('500 of 2,000 rows, 0 rejected').waitFor();
    expect(await asks()).toBe(true);
    await go('#/');
    await dialog.waitFor({ state: 'detached' });
    expect(await asks()).toBe(false);
    release();
    await page.getByText('The import has stopped: 1,000 of 2,000 rows inserted').waitFor();
    expect(await count()).toBe('1000');
    await opened.close();
  });

  it('does not say that rows of a lost answer were not inserted', async () => {
    const opened = await open();
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    await page.route('**/v1/graphql', async (route) => {
      if (route.request().postData()?.includes('mutation Import') !== true) return route.continue();
      // The service inserts the rows, but its answer is replaced by that of a proxy.
      await route.fetch();
      await route.fulfill({ status: 200, contentType: 'text/html', body: '<html></html>' });
    });
    await choose(opened, csv(10, {}));
    await dialog.getByRole('button', { name: 'All rows or none' }).click();
    await dialog.getByRole('button', { name: 'Import 10 rows' }).click();
    await dialog.getByText('Lines 2–11 may or may not have been inserted').waitFor();
    expect(await dialog.getByText('No row was inserted').count()).toBe(0);
    expect(await count()).toBe('10');
    await opened.close();
  });

  it('imports rows that are pasted into the grid, and JSON', async () => {
    await service.sql("insert into member values (1, 'one@example.org', 1, 1, null)");
    const opened = await open();
    const { page, settle } = opened;
    const dialog = page.getByRole('dialog');
    await page.getByRole('gridcell', { name: 'one@example.org' }).waitFor();
    await settle();
    await page.getByRole('gridcell', { name: 'one@example.org' }).click();
    await page.evaluate('navigator.clipboard.writeText("2\\ttwo@example.org\\t2\\t2\\n3\\tthree@example.org\\t3\\t3\\n")');
    await page.keyboard.press('Control+v');
    await dialog.getByText('of TSV, none with errors').waitFor();
    await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
    await dialog.getByText('2 rows inserted').waitFor();
    await dialog.getByRole('button', { name: 'Other rows' }).click();
    await dialog.getByLabel('Or paste rows').fill('[{"ID": 4, "email": "four@example.org", "city": 4, "amount": 12345678901234567890.5}]');
    await dialog.getByRole('button', { name: 'Preview' }).click();
    await dialog.getByText('No column for city_id, which is required').waitFor();
    await dialog.getByLabel('Target of city', { exact: true }).selectOption('city_id');
    await dialog.getByText('No column for city_id').waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Import 1 row' }).click();
    await dialog.getByText('1 row inserted').waitFor();
    await expect
      .poll(() => service.sql('select id, email, city_id, amount from member order by id'), WAIT)
      .toMatchObject({
        result: [
          expect.anything(),
          ['1', 'one@example.org', '1', '1'],
          ['2', 'two@example.org', '2', '2'],
          ['3', 'three@example.org', '3', '3'],
          ['4', 'four@example.org', '4', '12345678901234567890.5'],
        ],
      });
    await opened.close();
  });
});
