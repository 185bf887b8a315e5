/** Scenarios of the forms of remote schemas, cron triggers and sources. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type BigQuery, hasBigQuery, startBigQuery } from '../support/bigquery-emulator/index.ts';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { apply, expectAccessible, undo } from '../support/console-steps.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

let service: TestService;
let browser: Browser;
let remote: GraphqlServer;

describe.skipIf(chromiumPath === undefined)('operations forms', () => {
  beforeAll(async () => {
    remote = await startGraphqlServer('type Query { country(code: ID!): Country } type Country { code: ID! name: String }', {
      country: ({ code }: { code: string }) => ({ code, name: `Country ${code}` }),
    });
    [service, browser] = await Promise.all([
      startTestService({ ENABLE_CONSOLE: 'true' }, { COUNTRIES: remote.url, KEY: 'secret', HOOKS: 'http://127.0.0.1:9' }),
      startBrowser(),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await remote?.close();
  });

  const open = (route: string): Promise<ConsolePage> => openConsolePage(browser, service.url, { secret: null, route });
  const exported = async (): Promise<Json> => service.metadata('export_metadata', {});
  const section = async (name: string): Promise<unknown> => ((await exported()) as JsonObject)[name];

  it('test a remote schema before saving it with its whole definition', async () => {
    const opened = await open('#/remote-schemas');
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'New remote schema' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('countries');
    await dialog.getByRole('button', { name: 'URL', exact: true }).click();
    await dialog.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:9/unreachable');
    await dialog.getByRole('button', { name: 'Test call' }).click();
    await dialog.getByRole('alert').waitFor();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Environment variable' }).click();
    await dialog.getByLabel('Environment variable').fill('COUNTRIES');
    await dialog.getByLabel('Timeout (seconds)').fill('7');
    await dialog.getByRole('button', { name: 'Add header' }).click();
    await dialog.getByLabel('Header 1', { exact: true }).fill('x-plain');
    await dialog.getByLabel('Value of header 1', { exact: true }).fill('plain');
    await dialog.getByRole('button', { name: 'Add header' }).click();
    await dialog.getByLabel('Header 2', { exact: true }).fill('x-key');
    await dialog.getByLabel('Type of header 2').selectOption('variable');
    await dialog.getByLabel('Variable of header 2').fill('KEY');
    await dialog.getByLabel('Forward client headers').check();
    await dialog.locator('summary', { hasText: 'Customize names' }).click();
    await dialog.getByLabel('Namespace').fill('world');
    await dialog.getByLabel('Type name prefix').fill('World');
    await dialog.getByRole('button', { name: 'Rename fields of a type' }).click();
    await dialog.getByLabel('Type on the server').fill('Country');
    await dialog.getByRole('button', { name: 'Rename field', exact: true }).click();
    await dialog.getByLabel('Field', { exact: true }).fill('name');
    await dialog.getByLabel('New name').fill('label');
    remote.requests.length = 0;
    await dialog.getByRole('button', { name: 'Test call' }).click();
    await dialog.getByText('server reachable').waitFor();
    await dialog
      .getByRole('region', { name: 'Changes of the admin schema' })
      .getByText(/WorldCountry/)
      .first()
      .waitFor();
    expect(remote.requests[0]?.headers).toMatchObject({ 'x-plain': 'plain', 'x-key': 'secret' });
    expect(await section('remote_schemas')).toBeUndefined();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('heading', { name: 'countries' }).waitFor();
    await expect
      .poll(() => section('remote_schemas'), WAIT)
      .toEqual([
        {
          name: 'countries',
          definition: {
            url_from_env: 'COUNTRIES',
            timeout_seconds: 7,
            headers: [
              { name: 'x-plain', value: 'plain' },
              { name: 'x-key', value_from_env: 'KEY' },
            ],
            forward_client_headers: true,
            customization: {
              root_fields_namespace: 'world',
              type_names: { prefix: 'World' },
              field_names: [{ parent_type: 'Country', mapping: { name: 'label' } }],
            },
          },
        },
      ]);
    await expect
      .poll(() => service.graphql('{ world { country(code: "X") { label } } }'), WAIT)
      .toEqual({
        data: { world: { country: { label: 'Country X' } } },
      });
    await opened.close();
  });

  it('edit a remote schema, show a conflicting change and undo', async () => {
    const opened = await open('#/remote-schemas');
    const { page, requests } = opened;
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await expect.poll(() => dialog.getByLabel('Name', { exact: true }).inputValue(), WAIT).toBe('countries');
    await expect.poll(() => dialog.getByRole('button', { name: 'Save' }).getAttribute('title'), WAIT).toBe('No changes');
    await dialog.getByLabel('Comment').fill('Mine.');
    await expect.poll(() => dialog.getByRole('button', { name: 'Test call' }).getAttribute('aria-disabled'), WAIT).toBe('true');
    const [entry] = (await section('remote_schemas')) as JsonObject[];
    await service.metadata('update_remote_schema', { ...entry, comment: 'By another client.' });
    const before = await exported();
    await dialog.getByRole('button', { name: 'Save' }).click();
    const review = page.getByRole('dialog', { name: 'Remote schema countries' }).last();
    await review.getByText('Another administrator has changed the same objects').waitFor();
    await review.getByLabel('Their change').getByText('By another client.').waitFor();
    await review.getByText('Metadata stays consistent').waitFor();
    // The request equals the code shown in the review.
    const code = JSON.parse((await review.locator('pre.code-block').last().textContent()) ?? '{}') as JsonObject;
    await review.getByRole('button', { name: 'Overwrite their change' }).click();
    await page.getByText('Mine.', { exact: true }).waitFor();
    expect(code).toMatchObject({ type: 'update_remote_schema', args: { name: 'countries', comment: 'Mine.' } });
    expect(requests.map(({ body }) => body).filter((body) => body.startsWith('{"type":"update_remote_schema"'))).toEqual([
      JSON.stringify(code),
    ]);
    await undo(page, 'Remote schema countries');
    await expect.poll(exported, WAIT).toEqual(before);
    await opened.close();
  });

  it('create a cron trigger with its next times, edit it and undo', async () => {
    const opened = await open('#/events/cron');
    const { page, write } = opened;
    const dialog = page.getByRole('dialog');
    const triggers = async (): Promise<Json> =>
      ((await service.metadata('get_cron_triggers', {})) as { readonly cron_triggers: Json }).cron_triggers;
    await page.getByRole('button', { name: 'New cron trigger' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('yearly');
    await dialog.getByLabel('Webhook').fill('{{HOOKS}}/yearly');
    await dialog.getByLabel('Schedule').fill('0 0 29 2');
    await dialog.getByText('A schedule has five fields').waitFor();
    await expectAccessible(opened);
    await dialog.getByLabel('Schedule').fill('30 12 29 2 *');
    const times = dialog.getByRole('status', { name: 'Next times' }).locator('time');
    await times.nth(4).waitFor();
    const shown = await times.evaluateAll((all) => all.map((each) => String(each.getAttribute('datetime'))));
    expect(shown).toHaveLength(5);
    for (const time of shown) expect(time).toMatch(/^\d{4}-02-29T12:30:00\.000Z$/);
    await write('Payload', '{"job": ');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Payload: invalid JSON').waitFor();
    await write('Payload', '{"job": "report", "size": 9007199254740993}');
    await dialog.getByRole('button', { name: 'Add header' }).click();
    await dialog.getByLabel('Header 1', { exact: true }).fill('x-key');
    await dialog.getByLabel('Type of header 1').selectOption('variable');
    await dialog.getByLabel('Variable of header 1').fill('KEY');
    await dialog.getByLabel('Retries').fill('2');
    await dialog.getByLabel('Retry interval').fill('15');
    await dialog.getByLabel('Timeout').fill('20');
    await dialog.getByLabel('Tolerance').fill('600');
    await dialog.getByLabel('Comment').fill('Of leap years.');
    await dialog.getByLabel('Include in exported metadata').uncheck();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: /yearly/ }).waitFor();
    const created = await triggers();
    expect(created).toEqual([
      {
        name: 'yearly',
        webhook: '{{HOOKS}}/yearly',
        schedule: '30 12 29 2 *',
        payload: { job: 'report', size: expect.anything() },
        headers: [{ name: 'x-key', value_from_env: 'KEY' }],
        retry_conf: { num_retries: 2, retry_interval_seconds: 15, timeout_seconds: 20, tolerance_seconds: 600 },
        include_in_metadata: false,
        comment: 'Of leap years.',
      },
    ]);
    const { text } = await service.send('/v1/metadata', { method: 'POST', body: '{"type":"get_cron_triggers","args":{}}' });
    expect(text).toContain('9007199254740993');
    // The service schedules the times that the form showed.
    const planned = (await service.metadata('get_scheduled_events', {
      type: 'cron',
      trigger_name: 'yearly',
      limit: 5,
    })) as { readonly events: readonly { readonly scheduled_time: string }[] };
    expect(planned.events.map(({ scheduled_time: time }) => new Date(time).toISOString())).toEqual(shown);

    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await expect.poll(() => dialog.getByRole('button', { name: 'Save' }).getAttribute('title'), WAIT).toBe('No changes');
    await dialog.getByLabel('Schedule').fill('0 3 * * 1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: /0 3 \* \* 1/ }).waitFor();
    await undo(page, 'Cron trigger yearly');
    await expect.poll(triggers, WAIT).toEqual(created);
    await page.getByRole('button', { name: 'New cron trigger' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('yearly');
    await dialog.getByLabel('Webhook').fill('{{HOOKS}}/other');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('A cron trigger yearly already exists.').waitFor();
    await opened.close();
    await expect.poll(() => triggers(), WAIT).toEqual(created);
  });

  it('remove a source and restore it with its objects and the relationships into it', async () => {
    await service.sql(
      'create table person (id int primary key, name text); create table visit (id int primary key, person_id int references person)',
    );
    await service.sql('create function people_like(pattern text) returns setof person language sql stable as $$ select * from person $$');
    await service.metadata('bulk', [
      {
        type: 'pg_add_source',
        args: {
          name: 'second',
          configuration: { connection_info: { database_url: service.databaseUrl } },
          customization: { root_fields: { prefix: 'second_' }, type_names: { prefix: 'second_' } },
        },
      },
      { type: 'pg_track_table', args: { table: 'person' } },
      { type: 'pg_track_table', args: { source: 'second', table: 'visit', configuration: { custom_name: 'stay' } } },
      { type: 'pg_track_table', args: { source: 'second', table: 'person' } },
      { type: 'pg_track_function', args: { source: 'second', function: 'people_like' } },
      {
        type: 'pg_create_object_relationship',
        args: { source: 'second', table: 'visit', name: 'who', using: { foreign_key_constraint_on: 'person_id' } },
      },
      {
        type: 'pg_create_select_permission',
        args: { source: 'second', table: 'visit', role: 'reader', permission: { columns: '*', filter: { who: { name: { _eq: 'Ann' } } } } },
      },
      {
        type: 'pg_create_event_trigger',
        args: { source: 'second', table: 'visit', name: 'visited', webhook: '{{HOOKS}}/visited', insert: { columns: '*' } },
      },
      {
        type: 'pg_create_remote_relationship',
        args: {
          table: 'person',
          name: 'visits',
          definition: { to_source: { source: 'second', table: 'visit', relationship_type: 'array', field_mapping: { id: 'person_id' } } },
        },
      },
      {
        type: 'create_remote_schema_remote_relationship',
        args: {
          remote_schema: 'countries',
          type_name: 'Country',
          name: 'people',
          definition: { to_source: { source: 'second', table: 'person', relationship_type: 'array', field_mapping: { code: 'name' } } },
        },
      },
    ]);
    const before = await exported();
    const opened = await open('#/data/second');
    const { page } = opened;
    const removeSource = async (source: string): Promise<void> => {
      await page.getByRole('heading', { name: source, exact: true }).waitFor();
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: 'Remove source …' }).click();
      await page.getByRole('dialog').getByText('Metadata stays consistent').waitFor();
      await apply(page);
      await page.getByText('Source not found').waitFor();
    };
    await removeSource('second');
    expect(JSON.stringify(await exported())).not.toContain('"second"');
    await undo(page, 'Remove source second');
    await page.getByRole('heading', { name: 'second', exact: true }).waitFor();
    expect(sorted(await exported())).toEqual(sorted(before));
    // An unreachable source can be removed too.
    await service.metadata(
      'replace_metadata',
      {
        allow_inconsistent_metadata: true,
        metadata: {
          version: 3,
          sources: [
            {
              name: 'offline',
              kind: 'pg',
              tables: [{ table: { schema: 'public', name: 'person' } }],
              configuration: { connection_info: { database_url: 'postgres://user:password@127.0.0.1:9/none' } },
            },
          ],
        },
      },
      { version: 2 },
    );
    await opened.go('#/data/offline');
    await page.getByRole('heading', { name: 'offline', exact: true }).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Remove source …' }).click();
    await apply(page);
    await page.getByRole('heading', { name: 'Connect a database' }).waitFor();
    await opened.close();
    await service.metadata('replace_metadata', before);
  });

  describe.skipIf(!hasBigQuery())('for BigQuery', () => {
    let bigquery: BigQuery;
    beforeAll(async () => {
      bigquery = await startBigQuery({
        datasets: { shop: {} },
        sql: 'create table shop.item (id int64 not null, name string); insert into shop.item (id, name) values (1, "pen"), (2, "ink");',
      });
    });
    afterAll(() => bigquery?.stop());

    it('connect a project, track a table and delete its permission', async () => {
      const opened = await open('#/data/+');
      const { page } = opened;
      await page.getByLabel('Name', { exact: true }).fill('warehouse');
      await page.getByLabel('Database type').selectOption('dwh');
      await page.getByRole('button', { name: 'Service account key' }).click();
      await page.getByLabel('Service account key', { exact: true }).fill(JSON.stringify(bigquery.serviceAccount));
      await page.getByLabel('Project ID').fill(bigquery.project);
      await page.getByLabel('Datasets').fill('shop');
      await page.getByLabel('Location').fill(bigquery.location);
      await page.getByLabel('Maximum bytes billed per query').fill('10000000000');
      await page.getByLabel('Row limit').fill('100');
      await page.getByLabel('API endpoint').fill(bigquery.url);
      await expectAccessible(opened);
      await page.getByRole('button', { name: 'Connect' }).click();
      await page.getByRole('heading', { name: 'warehouse', exact: true }).waitFor();
      const sources = (await section('sources')) as JsonObject[];
      expect(sources.find(({ name }) => name === 'warehouse')).toMatchObject({
        kind: 'dwh',
        configuration: { project_id: bigquery.project, datasets: ['shop'], global_select_limit: 100, maximum_bytes_billed: 10_000_000_000 },
      });
      await page.getByRole('button', { name: 'Track 1 table' }).click();
      await page.getByRole('link', { name: 'shop.item' }).first().click();
      await page.getByRole('gridcell', { name: 'pen' }).waitFor();
      await page.getByRole('tab', { name: 'JSON' }).click();
      await page.getByRole('textbox', { name: 'Metadata of shop.item' }).getByText('"dataset"').waitFor();
      await service.metadata('dwh_create_select_permission', {
        source: 'warehouse',
        table: { dataset: 'shop', name: 'item' },
        role: 'analyst',
        permission: { columns: ['id'], filter: {} },
      });
      await opened.go('#/data/warehouse/shop.item?tab=permissions&role=analyst&operation=select');
      await page.getByRole('button', { name: 'Delete permission …' }).click();
      await apply(page);
      await expect.poll(async () => JSON.stringify(await exported()), WAIT).not.toContain('"analyst"');
      await opened.close();
    });
  });
});

/** The metadata with its lists sorted: re-added objects come last in them. */
function sorted(json: Json): Json {
  if (Array.isArray(json)) {
    const items = (json as readonly Json[]).map(sorted);
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (json === null || typeof json !== 'object') return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, sorted(value as Json)]));
}
