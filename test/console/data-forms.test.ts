/** Scenarios of the forms of the Data pages: computed fields, functions and remote relationships. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { apply, discardDialog, expectAccessible, undo } from '../support/console-steps.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const TABLES = `
create table person (id int primary key, name text, country text);
create table visit (id int primary key, person_id int);
insert into person values (1, 'Ann', 'AT'), (2, 'Bob', 'BE');
insert into visit values (10, 1), (11, 1);
create function person_greeting(person_row person, hello text) returns text language sql stable as $$ select hello || ' ' || person_row.name $$;
create function people_of(session json, country_code text) returns setof person language sql stable as $$ select * from person where country = country_code $$;
`;

let service: TestService;
let browser: Browser;
let remote: GraphqlServer;

describe.skipIf(chromiumPath === undefined)('forms of the Data pages', () => {
  beforeAll(async () => {
    [service, browser, remote] = await Promise.all([
      startTestService({ ENABLE_CONSOLE: 'true' }),
      startBrowser(),
      startGraphqlServer('type Query { country(code: ID!): Country } type Country { code: ID! name: String }', {
        country: ({ code }: { code: string }) => ({ code, name: `Country ${code}` }),
      }),
    ]);
    await service.sql(TABLES);
    await service.metadata('pg_add_source', {
      name: 'second',
      configuration: { connection_info: { database_url: service.databaseUrl } },
      customization: { root_fields: { prefix: 'second_' }, type_names: { prefix: 'second_' } },
    });
    await service.metadata('bulk', [
      { type: 'pg_track_table', args: { table: 'person' } },
      { type: 'pg_track_table', args: { table: 'visit', source: 'second' } },
      {
        type: 'pg_create_select_permission',
        args: { table: 'person', role: 'reader', permission: { columns: ['id', 'name'], filter: {} } },
      },
      { type: 'add_remote_schema', args: { name: 'countries', definition: { url: remote.url } } },
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await remote?.close();
  });

  const open = (route: string): Promise<ConsolePage> => openConsolePage(browser, service.url, { secret: null, route });
  const exported = async (): Promise<Json> => service.metadata('export_metadata', { only: { sections: ['sources'] } });
  const choose = async (page: Page, field: string, option: string): Promise<void> => {
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: field, exact: true }).fill(option);
    await dialog
      .getByRole('option', { name: new RegExp(`^${option.replaceAll('.', '\\.')}`) })
      .first()
      .click();
  };

  it('adds a computed field and deletes it together with its permissions', async () => {
    const opened = await open('#/data/default/public.person?tab=fields');
    const { page } = opened;
    const initial = await exported();
    await page.getByText('No computed fields').waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Add computed field' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('greeting');
    await choose(page, 'Function', 'public.person_greeting');
    await choose(page, 'Row argument', 'person_row');
    await dialog.getByLabel('Comment').fill('Says hello.');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('row', { name: /greeting.*person_greeting/ }).waitFor();
    await expect
      .poll(() => service.graphql('{ person(where: {id: {_eq: 1}}) { greeting(args: {hello: "Servus"}) } }'), WAIT)
      .toEqual({
        data: { person: [{ greeting: 'Servus Ann' }] },
      });
    // A duplicate name is refused.
    const withField = await exported();
    await page.getByRole('button', { name: 'Add computed field' }).click();
    await dialog.getByLabel('Name').fill('greeting');
    await choose(page, 'Function', 'public.person_greeting');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('A computed field greeting already exists.').waitFor();
    await discardDialog(page);
    await expect.poll(() => exported(), WAIT).toEqual(withField);
    await undo(page, 'Computed field greeting');
    await expect.poll(exported, WAIT).toEqual(initial);

    await service.metadata('bulk', [
      { type: 'pg_add_computed_field', args: { table: 'person', name: 'greeting', definition: { function: 'person_greeting' } } },
      { type: 'pg_drop_select_permission', args: { table: 'person', role: 'reader' } },
      {
        type: 'pg_create_select_permission',
        args: { table: 'person', role: 'reader', permission: { columns: ['id'], computed_fields: ['greeting'], filter: {} } },
      },
    ]);
    const before = await exported();
    await page.getByRole('button', { name: 'Delete greeting' }).click();
    await page.getByRole('dialog').getByText('Metadata stays consistent').waitFor();
    await apply(page);
    await page.getByText('No computed fields').waitFor();
    await undo(page, 'Delete computed field');
    await expect.poll(exported, WAIT).toEqual(before);
    await page.getByRole('button', { name: 'Edit greeting' }).click();
    await dialog.getByLabel('Comment').fill('Says hello again.');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByText('Metadata stays consistent').waitFor();
    await apply(page);
    // The review shows the text as well. An edit started before the page has the new state would conflict.
    await expect.poll(() => page.getByRole('dialog').count(), WAIT).toBe(0);
    await page.getByRole('row', { name: /Says hello again/ }).waitFor();
    await page.getByRole('button', { name: 'Edit greeting' }).click();
    await dialog.getByLabel('Comment').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByText('Metadata stays consistent').waitFor();
    await apply(page);
    await page.getByText('Says hello again.').waitFor({ state: 'detached' });
    await opened.close();
  });

  it('tracks a function with its session argument, grants it to a role and untracks it', async () => {
    const opened = await open('#/data/default?tab=functions');
    const { page } = opened;
    const initial = await exported();
    await page.getByRole('row', { name: /people_of/ }).waitFor();
    await page.getByRole('button', { name: 'Track public.people_of' }).click();
    await page.getByRole('button', { name: 'Edit public.people_of' }).waitFor();
    await undo(page, 'Track function');
    await expect.poll(exported, WAIT).toEqual(initial);
    await page.getByRole('button', { name: 'Track by name' }).click();
    await choose(page, 'Function', 'public.people_of');
    await choose(page, 'Session argument', 'session');
    await page.getByRole('dialog').getByLabel('GraphQL name').fill('people');
    await expectAccessible(opened);
    await page.getByRole('dialog').getByRole('button', { name: 'Track', exact: true }).click();
    await page.getByRole('button', { name: 'Edit public.people_of' }).waitFor();
    await expect
      .poll(() => service.graphql('{ people(args: {country_code: "BE"}) { name } }'), WAIT)
      .toEqual({ data: { people: [{ name: 'Bob' }] } });

    await page.getByRole('button', { name: 'Roles of public.people_of' }).click();
    await page.getByRole('checkbox', { name: 'reader can call' }).click();
    await expect.poll(async () => JSON.stringify(await exported()), WAIT).toContain('"permissions":[{"role":"reader"}]');
    await expectAccessible(opened);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

    const before = await exported();
    await page.getByRole('button', { name: 'Edit public.people_of' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Query' }).click();
    await page.getByRole('dialog').getByLabel('GraphQL name').fill('');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => JSON.stringify(await exported()))
      .toContain('"configuration":{"session_argument":"session","exposed_as":"query"}');
    await undo(page, 'Edit function public.people_of');
    await expect.poll(exported, WAIT).toEqual(before);

    await page.getByRole('button', { name: 'Untrack public.people_of' }).click();
    await apply(page);
    await page.getByText('No tracked functions').waitFor();
    await undo(page, 'Untrack function');
    await expect.poll(exported, WAIT).toEqual(before);
    await opened.close();
  });

  it('shows that the list of functions is incomplete', async () => {
    const parameters = `select string_agg('a' || n || ' int', ', ') from generate_series(1, 100) n`;
    await service.sql(`create schema a_lot; do $$ begin for i in 1..51 loop
      execute format('create function a_lot.f%s(%s) returns int language sql as ''select 1''', i, (${parameters})); end loop; end $$`);
    const opened = await open('#/data/default?tab=functions');
    const { page } = opened;
    await page.getByText('Only the first 49 functions of the database are listed').waitFor();
    await expectAccessible(opened);
    await opened.close();
    const fields = await open('#/data/default/public.person?tab=fields');
    await fields.page.getByRole('button', { name: 'Add computed field' }).click();
    await fields.page.getByText('Suggestions come from the first 49 functions').waitFor();
    await fields.close();
    await service.sql('drop schema a_lot cascade');
  }, 60_000);

  it('adds remote relationships to another source and to a remote schema', async () => {
    const opened = await open('#/data/default/public.person?tab=relationships');
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Add remote relationship' }).click();
    await dialog.getByLabel('Name').fill('visits');
    await dialog.getByRole('button', { name: 'Array (many rows)' }).click();
    await choose(page, 'Source', 'second');
    await choose(page, 'Table', 'public.visit');
    await choose(page, 'From column', 'id');
    await choose(page, 'To column', 'person_id');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('row', { name: /visits.*second public\.visit.*id = person_id/ }).waitFor();
    await expect
      .poll(() => service.graphql('{ person(where: {id: {_eq: 1}}) { visits(order_by: {id: asc}) { id } } }'), WAIT)
      .toEqual({
        data: { person: [{ visits: [{ id: 10 }, { id: 11 }] }] },
      });

    await page.getByRole('button', { name: 'Add remote relationship' }).click();
    await dialog.getByLabel('Name').fill('origin');
    await dialog.getByRole('button', { name: 'Remote schema' }).click();
    await choose(page, 'Remote schema', 'countries');
    await dialog.getByLabel('Field').fill('country(code: $country');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    await expectAccessible(opened);
    await dialog.getByLabel('Field').fill('country(code: $country)');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('row', { name: /origin.*countries.*country\(code: \$country\)/ }).waitFor();
    const before = await exported();
    await expect
      .poll(() => service.graphql('{ person(where: {id: {_eq: 2}}) { origin { name } } }'), WAIT)
      .toEqual({
        data: { person: [{ origin: { name: 'Country BE' } }] },
      });

    await page.getByRole('button', { name: 'Add remote relationship' }).click();
    await dialog.getByLabel('Name').fill('origin');
    await dialog.getByRole('button', { name: 'Remote schema' }).click();
    await choose(page, 'Remote schema', 'countries');
    await dialog.getByLabel('Field').fill('country(code: "YY")');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.getByText('A relationship origin already exists.').waitFor();
    await discardDialog(page);
    await expect.poll(() => exported(), WAIT).toEqual(before);

    await page
      .getByRole('row', { name: /origin/ })
      .getByRole('button', { name: 'Edit' })
      .click();
    await dialog.getByLabel('Field').fill('country(code: "XX")');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /country\(code: "XX"\)/ }).waitFor();
    await undo(page, 'Relationship origin');
    await expect.poll(exported, WAIT).toEqual(before);
    await page
      .getByRole('row', { name: /visits/ })
      .getByRole('button', { name: 'Delete …' })
      .click();
    await apply(page);
    await page.getByRole('row', { name: /visits/ }).waitFor({ state: 'detached' });
    await undo(page, 'Delete relationship visits');
    await expect.poll(exported, WAIT).toEqual(before);
    await opened.close();
  });
});
