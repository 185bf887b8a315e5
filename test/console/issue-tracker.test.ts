/** Builds the issue tracker of the tutorial in the console, finding everything by its visible text. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const TABLES = `create table member (id serial primary key, name text not null);
create table issue (
  id serial primary key,
  title text not null,
  is_open boolean not null default true,
  is_public boolean not null default false,
  author_id int not null references member
);
create table comment (id serial primary key, issue_id int not null references issue, author_id int not null references member, body text not null)`;

const ROWS = `mutation {
  insert_member(objects: [{name: "Ann"}, {name: "Bob"}]) { affected_rows }
  public: insert_issue_one(object: {title: "It is slow", is_public: true, author_id: 1,
    comments: {data: [{author_id: 2, body: "Not here"}]}}) { id }
  private: insert_issue_one(object: {title: "Salaries", author_id: 2}) { id }
}`;

describe.skipIf(chromiumPath === undefined)('issue tracker built in the console', () => {
  let service: TestService;
  let browser: Browser;
  let receiver: Server;
  let opened: ConsolePage;
  const deliveries: string[] = [];
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        const { event } = JSON.parse(body) as { event: { op: string; data: { new: { title: string } } } };
        deliveries.push(`${event.op} ${event.data.new.title}`);
        response.end('{}');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    [service, browser] = await Promise.all([startTestService({ ENABLE_CONSOLE: 'true', EVENTS_FETCH_INTERVAL: '200' }), startBrowser()]);
    opened = await openConsolePage(browser, service.url, { secret: null });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    receiver?.close();
  });

  const goTo = (page: string): Promise<void> =>
    opened.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: page, exact: true }).click();
  const button = (name: string | RegExp) => opened.page.getByRole('button', { name, exact: typeof name === 'string' });

  it('creates and tracks related tables with SQL', async () => {
    const { page, write } = opened;
    await page.getByText('The database has no tables yet').waitFor();
    await page.getByRole('link', { name: 'Create some with SQL' }).click();
    await write('SQL', TABLES);
    await button('Run all').click();
    await page.getByText('New tables: public.comment, public.issue, public.member').waitFor();
    await button('Track 3 tables').click();
    await page.getByRole('link', { name: 'Add relationships' }).click();
    await button('Create all 6').click();
    await page.getByText('Applied: Create 6 relationships').waitFor();
  });

  it('inserts and queries rows', async () => {
    const { page, write } = opened;
    await goTo('Explorer');
    await write('Query editor', ROWS);
    await button('Run').click();
    await page.getByText('"affected_rows": 2').waitFor();
    await write(
      'Query editor',
      '{ issue(where: {is_open: {_eq: true}}, order_by: {id: asc}) { title author { name } comments { body author { name } } } }',
    );
    await button('Run').click();
    await page.getByText('2 rows').waitFor();
    await page.getByText('"Not here"').waitFor();
  });

  it('lets members read public and own issues and insert issues as themselves', async () => {
    const { page } = opened;
    await goTo('Data');
    await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: 'issue' }).click();
    await page.getByRole('tab', { name: 'Permissions' }).click();
    await button('Add role').click();
    await page.getByRole('combobox', { name: 'Role name' }).fill('member');
    await button('Add').click();

    await button('Own rows (author_id)').click();
    await button('Add OR condition').click();
    await page.getByRole('combobox', { name: 'Column of condition, part 2' }).fill('is_public');
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Value of condition, part 2' }).fill('true');
    await page.keyboard.press('Enter');
    for (const column of ['is_public', 'author_id']) await page.getByRole('checkbox', { name: column, exact: true }).uncheck();
    await page.getByLabel('Row limit').fill('100');
    await page.getByLabel('X-Svc-User-Id for the preview').fill('1');
    await page.getByText('can read 1 of 2 rows').waitFor();
    await button('Review changes').click();
    await button('Apply').click();
    await page.getByText('Applied: select permission of member on public.issue').waitFor();

    await button('insert permission of member: none').click();
    await button('Any row').click();
    for (const column of ['id', 'is_open', 'author_id']) await page.getByRole('checkbox', { name: column, exact: true }).uncheck();
    await button('Add preset').click();
    await page.getByRole('menuitem', { name: 'author_id' }).click();
    await expect.poll(() => page.getByRole('combobox', { name: 'Preset for author_id' }).inputValue()).toBe('X-Svc-User-Id');
    await button('Review changes').click();
    await button('Apply').click();
    await page.getByText('Applied: insert permission of member on public.issue').waitFor();
    const { sources } = (await service.metadata('export_metadata', {})) as { sources: { tables: { table: { name: string } }[] }[] };
    expect(sources[0]?.tables.find(({ table }) => table.name === 'issue')).toMatchObject({
      select_permissions: [
        {
          role: 'member',
          permission: {
            columns: ['id', 'title', 'is_open'],
            limit: 100,
            filter: { _or: [{ author_id: { _eq: 'X-Svc-User-Id' } }, { is_public: { _eq: true } }] },
          },
        },
      ],
      insert_permissions: [
        { role: 'member', permission: { columns: ['title', 'is_public'], check: {}, set: { author_id: 'X-Svc-User-Id' } } },
      ],
    });
  });

  it('runs queries and mutations as a member', async () => {
    const { page, write } = opened;
    await button(/^as admin/).click();
    await page.getByRole('combobox', { name: 'Role' }).fill('member');
    await page.getByLabel('Variable name 1').fill('user-id');
    await page.getByLabel('Variable value 1').fill('1');
    await button('Use persona').click();
    await goTo('Explorer');
    await write('Query editor', '{ issue { id title } }');
    await button('Run').click();
    await page.getByText('1 row').waitFor();
    await write('Query editor', '{ issue { author_id } }');
    await button('Run').click();
    await page.getByText("field 'author_id' not found").first().waitFor();
    await write('Query editor', 'mutation { insert_issue_one(object: {title: "Too few tests"}) { id title } }');
    await button('Run').click();
    await page.getByText('"Too few tests"').nth(1).waitFor();
    await expect
      .poll(() => service.graphql('{ issue(where: {title: {_eq: "Too few tests"}}) { author { name } } }'), WAIT)
      .toEqual({
        data: { issue: [{ author: { name: 'Ann' } }] },
      });
    await button(/^as member/).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Back to admin' }).click();
  });

  it('counts open issues live', async () => {
    const { page, write } = opened;
    await write('Query editor', 'subscription { issue_aggregate(where: {is_open: {_eq: true}}) { aggregate { count } } }');
    await button('Run').click();
    await page.getByText('"count": 3').waitFor();
    await service.graphql('mutation { update_issue_by_pk(pk_columns: {id: 1}, _set: {is_open: false}) { id } }');
    await page.getByText('"count": 2').waitFor();
    await button('Stop').click();
  });

  it('calls a webhook for new issues', async () => {
    const { page } = opened;
    await goTo('Events');
    await button('New event trigger').first().click();
    await page.getByRole('combobox', { name: 'Table' }).fill('issue');
    await page.getByRole('option', { name: /public\.issue/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('opened');
    await dialog.getByLabel('Webhook').fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
    await dialog.getByLabel('Retries').fill('5');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'opened' }).waitFor();
    await service.graphql('mutation { insert_issue_one(object: {title: "No documentation", author_id: 2}) { id } }');
    await expect.poll(() => deliveries, WAIT).toEqual(['INSERT No documentation']);
    await expect
      .poll(async () => {
        await button('Refresh events').click();
        return page.getByRole('table').getByText('delivered', { exact: true }).count();
      })
      .toBe(1);
  });

  it('lists the changes as code and downloads the metadata', async () => {
    const { page, axe } = opened;
    await button(/^\d+ changes$/).click();
    await page.getByRole('dialog').getByText('Create event trigger opened').waitFor();
    await page.getByRole('dialog').getByText('pg_create_event_trigger').first().waitFor();
    expect(await axe()).toEqual([]);
    await page.keyboard.press('Escape');
    await goTo('Metadata');
    const [file] = await Promise.all([page.waitForEvent('download'), button('Download').click()]);
    expect(file.suggestedFilename()).toMatch(/\.json$/);
    await opened.close();
  });
});
