/** Drafts based on an older state than the stored one, and editors that must start from the stored state. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { apply, discardDialog, expectAccessible, undo } from '../support/console-steps.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const NARROW = { artist_id: { _eq: 'X-Svc-User-Id' } };

describe.skipIf(chromiumPath === undefined)('drafts', () => {
  let service: TestService;
  let browser: Browser;
  let remote: GraphqlServer;
  beforeAll(async () => {
    [service, browser, remote] = await Promise.all([
      startConsoleService({ ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' }),
      startBrowser(),
      startGraphqlServer('type Query { country(code: ID!): Country } type Country { code: ID! name: String }', {}),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await remote?.close();
  });

  const section = async (name: string): Promise<Json> =>
    ((await service.metadata('export_metadata', { only: { sections: [name] } })) as JsonObject)[name] ?? null;
  const permissionOf = async (table: string, role: string): Promise<Json> => {
    const { sources } = (await service.metadata('export_metadata', {})) as {
      sources: { tables: { table: JsonObject; select_permissions?: JsonObject[] }[] }[];
    };
    const entry = sources[0]?.tables.find((each) => each.table['name'] === table);
    return entry?.select_permissions?.find((each) => each['role'] === role)?.['permission'] ?? null;
  };
  const permit = (role: string, permission: JsonObject) =>
    service.metadata('bulk', [
      { type: 'pg_drop_select_permission', args: { table: 'album', role } },
      { type: 'pg_create_select_permission', args: { table: 'album', role, permission } },
    ]);
  /** Waits for the conflict in the review, with `theirs` in the other change, and discards the draft. */
  const expectConflict = async (page: Page, theirs: string): Promise<void> => {
    await page.getByText('Another administrator has changed the same objects').waitFor();
    await page.getByLabel('Their change').getByText(theirs).first().waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^Apply/ }).count(), WAIT).toBe(0);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: /^(Discard my draft|Back to draft)$/ }).click();
  };

  it('conflict when a narrower row filter was stored after the draft began', async () => {
    await service.metadata('pg_create_select_permission', {
      table: 'album',
      role: 'reader',
      permission: { columns: ['title'], filter: {} },
    });
    const opened = await openConsolePage(browser, service.url);
    const { page, go } = opened;
    await go('#/data/default/public.album?tab=permissions&role=reader&operation=select');
    await page.getByLabel('artist_id', { exact: true }).check();
    await permit('reader', { columns: ['title'], filter: NARROW });
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByText('Wider row filter').waitFor();
    await page.getByText(/draft from v\d+, current version v\d+/).waitFor();
    await expectAccessible(opened);
    await expectConflict(page, 'X-Svc-User-Id');
    expect(await permissionOf('album', 'reader')).toEqual({ columns: ['title'], filter: NARROW });
    // The next draft starts from the stored permission.
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const editor = page.getByRole('textbox', { name: 'select permission of reader as JSON' });
    await expect.poll(() => editor.textContent(), WAIT).toContain('X-Svc-User-Id');
    await page.getByRole('button', { name: 'Tree', exact: true }).click();
    expect(await page.getByLabel('artist_id', { exact: true }).isChecked()).toBe(false);
    await page.getByLabel('artist_id', { exact: true }).check();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByLabel('Change of columns').waitFor();
    expect(await page.getByText('Wider row filter').count()).toBe(0);
    await apply(page);
    await page.getByText('Applied: select permission of reader on public.album').waitFor();
    expect(await permissionOf('album', 'reader')).toEqual({ columns: ['title', 'artist_id'], filter: NARROW });
    await opened.close();
  });

  it('are not applied over a change stored during the review', async () => {
    await service.metadata('pg_create_select_permission', { table: 'album', role: 'late', permission: { columns: ['title'], filter: {} } });
    const { page, go, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.album?tab=permissions&role=late&operation=select');
    await page.getByLabel('artist_id', { exact: true }).check();
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('button', { name: /^Apply/ }).waitFor();
    await permit('late', { columns: ['title'], filter: NARROW });
    await apply(page);
    await expectConflict(page, 'X-Svc-User-Id');
    expect(await permissionOf('album', 'late')).toEqual({ columns: ['title'], filter: NARROW });
    await close();
  });

  it('are reviewed with old and new rules, a wider row filter first', async () => {
    const permission = { columns: ['title'], filter: { ...NARROW, title: { _like: 'A%' } }, limit: 5 };
    await service.metadata('pg_create_select_permission', { table: 'album', role: 'wide', permission });
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    await go('#/data/default/public.album?tab=permissions&role=wide&operation=select');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await write('select permission of wide as JSON', JSON.stringify({ ...permission, columns: ['title', 'album_id'], filter: NARROW }));
    await page.getByRole('button', { name: 'Review changes' }).click();
    const review = page.getByRole('dialog');
    await review.getByText('Wider row filter').waitFor();
    // First line of the review.
    expect((await review.locator('.body').textContent())?.trim()).toMatch(/^Wider row filter: select permission of wide on public\.album/);
    expect(await review.getByLabel('Change of filter').innerText()).toBe(
      `− ${JSON.stringify(permission.filter)}\n+ ${JSON.stringify(NARROW)}`,
    );
    expect(await review.getByLabel('Change of columns').innerText()).toBe('− ["title"]\n+ ["title","album_id"]');
    expect(await review.locator('dt').allInnerTexts()).toEqual(['filter wider', 'columns wider']);
    await review.getByRole('button', { name: 'curl', exact: true }).click();
    const code = await review.locator('pre').last().innerText();
    expect(code).toMatch(/^curl -s .*"resource_version":\d+/s);
    await page.getByRole('button', { name: 'Discard' }).click();
    await close();
  });

  it('conflict in the editors of event triggers, actions, remote schemas, GraphQL names and limits', async () => {
    const webhook = 'http://127.0.0.1:9/hook';
    const trigger = { name: 'album_hook', table: 'album', webhook, insert: { columns: '*' } };
    await service.metadata('pg_create_event_trigger', trigger);
    await service.metadata('set_custom_types', { objects: [{ name: 'Done', fields: [{ name: 'ok', type: 'Boolean!' }] }] });
    const definition = { handler: webhook, output_type: 'Done!', type: 'mutation' };
    await service.metadata('create_action', { name: 'finish', definition });
    await service.metadata('add_remote_schema', { name: 'countries', definition: { url: remote.url } });
    const sdl = (fields: string) => ({
      remote_schema: 'countries',
      role: 'reader',
      definition: { schema: `type Query { country(code: ID!): Country } type Country { ${fields} }` },
    });
    await service.metadata('add_remote_schema_permissions', sdl('code: ID! name: String'));
    await service.metadata('set_api_limits', { depth_limit: { global: 9, per_role: {} } });
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    const dialog = page.getByRole('dialog').first();

    await go('#/events/triggers/default/album_hook');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Edit as JSON …' }).click();
    const save = dialog.getByRole('button', { name: 'Save' });
    await expect.poll(() => save.getAttribute('title'), WAIT).toBe('No changes');
    await write(
      'Event trigger album_hook',
      '{"name": "album_hook", "definition": {"delete": {"columns": "*"}}, "webhook": "http://127.0.0.1:9/mine"}',
    );
    await service.metadata('pg_create_event_trigger', { ...trigger, replace: true, webhook: 'http://127.0.0.1:9/theirs' });
    await save.click();
    await expectConflict(page, '9/theirs');
    await discardDialog(page);

    await go('#/actions/finish');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Edit as JSON …' }).click();
    await write('Action finish', JSON.stringify({ definition: { ...definition, timeout: 3 } }));
    await service.metadata('update_action', { name: 'finish', definition: { ...definition, timeout: 77 } });
    await save.click();
    await expectConflict(page, '77');
    await discardDialog(page);

    await go('#/remote-schemas');
    await page.getByRole('button', { name: 'reader', exact: true }).click();
    await dialog.getByRole('button', { name: 'SDL' }).click();
    await write('Permission SDL', 'type Query { country(code: ID!): Country } type Country { code: ID! }');
    await service.metadata('bulk', [
      { type: 'drop_remote_schema_permissions', args: { remote_schema: 'countries', role: 'reader' } },
      { type: 'add_remote_schema_permissions', args: sdl('name: String') },
    ]);
    await save.click();
    await expectConflict(page, 'Country { name: String }');
    await discardDialog(page);

    await go('#/data/default/public.genre?tab=structure');
    await page.getByLabel('GraphQL name of name').fill('title');
    await service.metadata('pg_set_table_customization', {
      table: 'genre',
      configuration: { column_config: { name: { custom_name: 'label' } } },
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await expectConflict(page, 'label');

    await go('#/data/default/public.genre?tab=json');
    await write('Metadata of public.genre', '{"table": {"schema": "public", "name": "genre"}}');
    await service.metadata('pg_set_table_customization', { table: 'genre', configuration: { custom_name: 'kind' } });
    await page.getByRole('button', { name: 'Review changes', exact: true }).click();
    await expectConflict(page, 'kind');

    await go('#/settings?tab=limits');
    await write('API limits', '{"depth_limit": {"global": 5, "per_role": {}}}');
    await service.metadata('set_api_limits', { depth_limit: { global: 7, per_role: {} } });
    await page.getByRole('button', { name: 'Save' }).click();
    await expectConflict(page, '"global": 7');
    expect(await section('api_limits')).toMatchObject({ depth_limit: { global: 7 } });

    // A list of roles changes by the ticked role only.
    await go('#/settings?tab=outside');
    await page.getByLabel('reader').waitFor();
    await service.metadata('set_graphql_schema_introspection_options', { disabled_for_roles: ['customer'] });
    await page.getByLabel('reader').click();
    await expect.poll(() => section('graphql_schema_introspection'), WAIT).toEqual({ disabled_for_roles: ['customer', 'reader'] });
    expect(JSON.stringify(await service.metadata('export_metadata', {}))).not.toContain('mine');
    await service.metadata('remove_api_limits', {});
    await close();
  });

  it('of a metadata import are not applied over a change stored after the comparison', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url);
    await go('#/metadata');
    await write('Metadata to import', '{"version": 3, "sources": []}');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('button', { name: /^Apply \d+ …/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Apply/ })
      .waitFor();
    await service.metadata('set_api_limits', { depth_limit: { global: 6, per_role: {} } });
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Apply/ })
      .click();
    await page.getByRole('dialog').getByText('The metadata has changed since the comparison').waitFor();
    expect(await section('api_limits')).toMatchObject({ depth_limit: { global: 6 } });
    await page.getByRole('button', { name: 'Discard' }).click();
    await service.metadata('remove_api_limits', {});
    await close();
  });

  it('start from the stored value, never from an example, and cannot be saved unchanged', async () => {
    const opened = await openConsolePage(browser, service.url);
    const { page, go, write } = opened;
    await go('#/settings?tab=limits');
    await page.getByText('none').waitFor();
    const editor = page.getByRole('textbox', { name: 'API limits' });
    await expect.poll(async () => (await editor.textContent())?.trim(), WAIT).toBe('');
    const save = page.getByRole('button', { name: 'Save' });
    expect(await save.getAttribute('aria-disabled')).toBe('true');
    await save.click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await section('api_limits')).toBeNull();
    await write('API limits', '{"node_limit": {"global": 500, "per_role": {}}}');
    await save.click();
    await page.getByRole('dialog', { name: 'Set API limits' }).waitFor();
    expect(await section('api_limits')).toBeNull();
    await apply(page);
    await page.getByText('Applied: Set API limits').waitFor();
    expect(await section('api_limits')).toMatchObject({ node_limit: { global: 500 } });
    await undo(page, 'Set API limits');
    await expect.poll(() => section('api_limits'), WAIT).toBeNull();
    await expectAccessible(opened);

    // Editors of new objects start empty, with their button disabled.
    await go('#/settings?tab=allow-list');
    await page.getByRole('button', { name: 'New collection' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Create' }).getAttribute('title'), WAIT).toBe('Enter JSON');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await go('#/actions/+');
    await page.getByLabel('URL').fill('http://127.0.0.1:9/login');
    await expect.poll(() => page.getByRole('button', { name: 'Create' }).getAttribute('title'), WAIT).toBe('Enter a signature');
    await opened.close();
  });

  it('track tables with only their own relationships, in one change with one undo', async () => {
    await service.sql(`
      create schema shop;
      create table shop.maker (id int primary key, name text);
      create table shop.part (id int primary key, maker_id int references shop.maker, album_id int references album);
      create table shop.other (id int primary key, maker_id int references shop.maker)`);
    await service.metadata('pg_track_table', { table: { schema: 'shop', name: 'other' } });
    const before = await service.metadata('export_metadata', {});
    const { page, go, requests, close } = await openConsolePage(browser, service.url);
    await go('#/data/default');
    await page.getByRole('button', { name: 'Track 2 tables' }).click();
    await page.getByText('Applied: Track 2 tables with 4 relationships').waitFor();
    const changes = requests
      .map(({ body }) => body)
      .filter((body) => /"type":"(?:bulk|pg_track_tables|pg_create_\w+_relationship)"/.test(body));
    expect(changes).toHaveLength(1);
    await page.getByRole('button', { name: '1 change', exact: true }).waitFor();
    const { sources } = (await service.metadata('export_metadata', {})) as { sources: { tables: JsonObject[] }[] };
    const known = new Set(
      ((before as { sources: { tables: JsonObject[] }[] }).sources[0]?.tables ?? []).map((each) => JSON.stringify(each)),
    );
    const added = (sources[0]?.tables ?? []).filter((each) => !known.has(JSON.stringify(each)));
    expect(added).toMatchObject([
      { table: { name: 'maker' }, array_relationships: [{ name: 'others' }, { name: 'parts' }] },
      { table: { name: 'part' }, object_relationships: [{ name: 'album' }, { name: 'maker' }] },
    ]);
    await undo(page, 'Track 2 tables');
    await expect.poll(() => service.metadata('export_metadata', {}), WAIT).toEqual(before);
    await close();
  });
});

describe.skipIf(chromiumPath === undefined)('request headers in the explorer', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('set the role and session variables of queries, subscriptions and Explain', async () => {
    const { page, go, write, requests, close } = await openConsolePage(browser, service.url);
    await go('#/explorer');
    await write('Query editor', '{ invoice { customer_id } }');
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await write('Request headers', '{"x-svc-role": "customer", "X-Svc-User-Id": "4", "X-Trace": "abc"}');
    await page.keyboard.press('Control+Enter');
    const response = page.getByRole('region', { name: 'Response for customer user-id=4' });
    await response.getByText(/200 · .* rows/).waitFor();
    const sent = requests.filter(({ body }) => body.includes('{ invoice { customer_id } }')).at(-1);
    expect(sent?.headers).toMatchObject({ 'x-svc-role': 'customer', 'x-svc-user-id': '4', 'x-trace': 'abc' });
    expect(await response.getByRole('textbox').textContent()).not.toMatch(/"customer_id": (?!4)/);

    await page.getByRole('button', { name: 'More' }).last().click();
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
    await page.getByText('Copied as curl').waitFor();
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(copied).toBe(
      [
        `curl -s '${service.url}/v1/graphql'`,
        `-H 'Content-Type: application/json'`,
        '-H "X-Svc-Admin-Secret: $SVC_GRAPHQL_ADMIN_SECRET"',
        `-H 'x-svc-role: customer'`,
        `-H 'X-Svc-User-Id: 4'`,
        `-H 'X-Trace: abc'`,
        `-d '{"query":"{ invoice { customer_id } }"}'`,
      ].join(' \\\n  '),
    );

    // Explain and subscriptions use the same role.
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    const explained = (): readonly Json[] =>
      requests.filter(({ url }) => url.endsWith('/explain')).map(({ body }) => (JSON.parse(body) as JsonObject)['user'] ?? null);
    await expect.poll(explained, WAIT).toEqual([{ 'x-svc-role': 'customer', 'x-svc-user-id': '4' }]);
    await write('Query editor', 'subscription { invoice { customer_id } }');
    await page.keyboard.press('Control+Enter');
    await page.getByText('live · 1').waitFor();
    expect(await response.getByRole('textbox').textContent()).not.toMatch(/"customer_id": (?!4)/);
    await page.getByRole('button', { name: 'Stop' }).click();
    await close();
  });

  it('are rejected when invalid or not sent by browsers', async () => {
    const { page, go, write, requests, close } = await openConsolePage(browser, service.url);
    await go('#/explorer');
    await write('Query editor', '{ album(limit: 1) { title } }');
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await write('Request headers', '[]');
    await page.getByRole('button', { name: 'More' }).last().click();
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
    await page.getByRole('alert').getByText('expected a JSON object').waitFor();
    for (const [text, message] of [
      ['{"Cookie": "a=b"}', 'browsers do not send the header Cookie'],
      ['["X-Svc-Role"]', 'expected a JSON object'],
      ['{"a b": "c"}', 'a b is not a valid header'],
      ['{"X-Svc-Role": null}', 'the value of X-Svc-Role must be a string'],
      ['{"X-Svc-Role": "a", "x-svc-role": "b"}', 'is set twice'],
    ] as const) {
      await write('Request headers', text);
      await page.keyboard.press('Control+Enter');
      await page.getByRole('alert').getByText(message).waitFor();
    }
    // The Explorer reads types meanwhile.
    expect(requests.filter(({ body }) => body.includes('album(limit: 1)'))).toEqual([]);
    await close();
  });
});
