/** Scenarios of the form of a row: editors by type, foreign keys, copies. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, HAS_FOCUS, openConsolePage, startBrowser } from '../support/browser.ts';
import { expectAccessible } from '../support/console-steps.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const TABLES = `
create type mood as enum ('happy', 'so-so', 'sad');
create table city (id int primary key, name text not null);
insert into city select n, 'City ' || n from generate_series(1, 300) n;
create table guest (
  id bigint generated always as identity primary key,
  name text not null,
  city_id int not null references city,
  born date,
  seen timestamptz,
  is_regular boolean not null default true,
  mood mood,
  status text check (status in ('new', 'left')),
  tags text[],
  doc jsonb
);
`;

let service: TestService;
let browser: Browser;

describe.skipIf(chromiumPath === undefined)('the form of a row', () => {
  beforeAll(async () => {
    [service, browser] = await Promise.all([startTestService({ ENABLE_CONSOLE: 'true' }), startBrowser()]);
    await service.sql(TABLES);
    for (const table of ['city', 'guest']) await service.metadata('pg_track_table', { table });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('has an editor for each type, in the order of the table, and inserts one row after the other', async () => {
    const opened = await openConsolePage(browser, service.url, { secret: null, route: '#/data/default/public.guest' });
    const { page } = opened;
    const dialog = page.getByRole('dialog', { name: 'Insert into public.guest' });
    await page.getByRole('button', { name: 'Insert row' }).click();
    const name = dialog.getByLabel('name', { exact: true });
    await expect.poll(() => name.evaluate(HAS_FOCUS), WAIT).toBe(true);
    expect(await dialog.locator('.field').evaluateAll(LABELS)).toEqual([
      'name required',
      'city_id required',
      'born',
      'seen',
      'is_regular',
      'mood',
      'status',
      'tags',
      'doc',
    ]);
    await dialog.getByRole('checkbox', { name: 'Insert another' }).check();
    await name.fill('Ann');

    await dialog.getByRole('button', { name: 'Select city_id in public.city' }).click();
    const picker = page.getByRole('dialog', { name: 'Select a row of public.city' });
    await picker.getByText('Only the first 50 rows are shown').waitFor();
    await expectAccessible(opened);
    await picker.getByRole('searchbox').fill('ty 29');
    // It does not submit the form behind it.
    await page.keyboard.press('Control+Enter');
    await picker.getByText('City 291').waitFor();
    await picker.getByRole('button', { name: '291', exact: true }).click();
    expect(await dialog.getByLabel('city_id', { exact: true }).inputValue()).toBe('291');
    expect(opened.requests.some(({ body }) => /insert_guest/.test(body))).toBe(false);

    await dialog.locator('[data-picker=born]').fill('1990-02-03');
    expect(await dialog.getByLabel('born', { exact: true }).inputValue()).toBe('1990-02-03');
    await dialog.locator('[data-picker=seen]').fill('2026-01-02T03:04');
    await dialog.getByRole('group', { name: 'is_regular' }).getByRole('button', { name: 'false' }).click();
    await dialog.getByLabel('mood').selectOption('so-so');
    await dialog.getByLabel('status').selectOption('left');
    for (const [index, tag] of ['a', 'b "c"'].entries()) {
      await dialog.getByRole('button', { name: 'Add item' }).click();
      await dialog.getByLabel(`tags item ${index + 1}`, { exact: true }).fill(tag);
    }
    await dialog.getByLabel('doc', { exact: true }).fill('{"a": ');
    await dialog.getByText('invalid JSON in line 1').waitFor();
    await dialog.getByLabel('doc', { exact: true }).fill('{"a": 9007199254740993}');
    await expectAccessible(opened);
    await page.keyboard.press('Control+Enter');
    await page.getByText('Row inserted').waitFor();
    const found = await service.sql(
      `select name, city_id, born, seen = '2026-01-02T03:04' seen, is_regular, mood, status, tags, doc from guest`,
      { read_only: true },
    );
    expect(found).toMatchObject({
      result: [
        expect.anything(),
        ['Ann', '291', '1990-02-03', expect.any(String), 'f', 'so-so', 'left', String.raw`{a,"b \"c\""}`, '{"a": 9007199254740993}'],
      ],
    });

    // The form is empty again, and has the focus.
    await expect.poll(() => name.inputValue(), WAIT).toBe('');
    await expect.poll(() => name.evaluate(HAS_FOCUS), WAIT).toBe(true);
    await name.fill('Bob');
    await dialog.getByRole('button', { name: 'Insert', exact: true }).click();
    // The error is at the field that it names.
    await dialog.locator('.field', { hasText: 'city_id' }).getByRole('alert').waitFor();
    await expect.poll(() => dialog.getByLabel('city_id', { exact: true }).evaluate(HAS_FOCUS), WAIT).toBe(true);
    await dialog.getByLabel('city_id', { exact: true }).fill('7');
    await dialog.getByRole('checkbox', { name: 'Insert another' }).uncheck();
    await dialog.getByRole('button', { name: 'Insert', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('gridcell', { name: 'Bob' }).waitFor();
    await opened.close();
  });

  it('updates a row, sets null and duplicates a row without its generated key', async () => {
    const [, id] = (
      (await service.sql(`insert into guest (name, city_id, born, tags) values ('Carl', 3, '1980-01-01', '{x,y}') returning id`)) as {
        result: string[][];
      }
    ).result.flat();
    const opened = await openConsolePage(browser, service.url, {
      secret: null,
      route: `#/data/default/public.guest?where=${encodeURIComponent(`{"name":{"_like":"Carl%"}}`)}`,
    });
    const { page } = opened;
    await page.getByRole('gridcell', { name: '1980-01-01' }).dblclick();
    const dialog = page.getByRole('dialog', { name: 'Row of public.guest' });
    // The field of the cell has the focus, not its button NULL.
    await expect.poll(() => dialog.getByLabel('born', { exact: true }).evaluate(HAS_FOCUS), WAIT).toBe(true);
    await dialog.getByRole('button', { name: 'Remove tags item 1' }).click();
    // Edits by buttons count, and the button with a label asks as well.
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await dialog.getByText('Discard what you have entered?').waitFor();
    await dialog.getByRole('button', { name: 'Keep editing' }).click();
    await dialog.getByLabel('born', { exact: true }).fill('');
    await expect.poll(() => dialog.getByLabel('born', { exact: true }).getAttribute('placeholder'), WAIT).toBe('NULL');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('gridcell', { name: 'Carl' }).dblclick();
    await dialog.getByRole('button', { name: 'Duplicate' }).click();
    const copy = page.getByRole('dialog', { name: 'Insert into public.guest' });
    await expect.poll(() => copy.getByLabel('name', { exact: true }).inputValue(), WAIT).toBe('Carl');
    await copy.getByLabel('name', { exact: true }).fill('Carla');
    await copy.getByRole('button', { name: 'Insert', exact: true }).click();
    await page.getByRole('gridcell', { name: 'Carla' }).waitFor();
    expect(await service.sql(`select name, born, tags, id > ${id} from guest where name like 'Carl%' order by id`)).toMatchObject({
      result: [expect.anything(), ['Carl', 'NULL', '{y}', 'f'], ['Carla', 'NULL', '{y}', 't']],
    });
    await opened.close();
  });
});

/** Evaluated in the browser, whose types these tests do not have: labels of fields with their marks. */
const LABELS = new Function(
  'fields',
  `return fields.map((field) => [field.querySelector('label, .label'), field.querySelector('.required')].flatMap((each) => each?.textContent ?? []).join(' '))`,
) as (fields: unknown) => string[];
