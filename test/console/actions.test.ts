/** Scenarios of the Actions pages: create, permit, call, transform and delete. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { type ConsolePage, chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { apply, chord, expectAccessible, undo } from '../support/console-steps.ts';
import { type HandlerServer, startHandlerServer } from '../support/handler-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

let service: TestService;
let browser: Browser;
let handler: HandlerServer;

describe.skipIf(chromiumPath === undefined)('Actions page', () => {
  beforeAll(async () => {
    handler = await startHandlerServer();
    handler.answer = ({ json }) =>
      json.input?.['username'] === 'unknown'
        ? { status: 400, body: { message: 'unknown user', code: 'no-user' } }
        : { body: { token: `for ${String(json.input?.['username'])} as ${json.session_variables?.['x-svc-role']}`, person_id: 1 } };
    [service, browser] = await Promise.all([
      startTestService({ ENABLE_CONSOLE: 'true', ASYNC_ACTIONS_FETCH_INTERVAL: '100' }, { HANDLERS: handler.url }),
      startBrowser(),
    ]);
    await service.sql("create table person (id int primary key, name text); insert into person values (1, 'Ann')");
    await service.metadata('pg_track_table', { table: 'person' });
    await service.metadata('pg_create_select_permission', { table: 'person', role: 'reader', permission: { columns: '*', filter: {} } });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await handler?.close();
  });

  const open = (route: string): Promise<ConsolePage> => openConsolePage(browser, service.url, { secret: null, route });
  const exported = async (): Promise<Json> => service.metadata('export_metadata', { only: { sections: ['actions', 'custom_types'] } });

  it('creates an action and its types in one request and undoes it', async () => {
    const opened = await open('#/');
    const { page, write, requests } = opened;
    await page.getByText('consistent').first().waitFor();
    await chord(page, 'ga', '#/actions');
    await page.getByText('No actions').waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'New action' }).click();
    await page.getByLabel('URL').fill('{{HANDLERS}}/login');
    await write('Signature and types', 'type Mutation { login(username: String!): Login! } type Login { token: String!');
    await page.getByText('expected }').waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await write(
      'Signature and types',
      `type Mutation { "Returns a token." login(username: String!, format: TokenFormat): Login! }
       type Login { token: String! person_id: Int } enum TokenFormat { SHORT LONG }`,
    );
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'login', exact: true }).waitFor();
    const [sent] = requests.filter(({ body }) => body.includes('create_action'));
    expect((JSON.parse(sent?.body ?? '{}') as { args: { type: string }[] }).args.map(({ type }) => type)).toEqual([
      'set_custom_types',
      'create_action',
    ]);
    const created = await exported();
    expect(created).toMatchObject({
      actions: [{ name: 'login', comment: 'Returns a token.' }],
      custom_types: { objects: [{ name: 'Login' }] },
    });
    await undo(page, 'Action login');
    await page.getByText('Action login not found').waitFor();
    await expect.poll(() => exported(), WAIT).toEqual({ version: 3 });
    await opened.close();
    await service.metadata('bulk', [
      { type: 'set_custom_types', args: (created as { custom_types: Json }).custom_types },
      { type: 'create_action', args: (created as { actions: Json[] }).actions[0] ?? null },
    ]);
  });

  it('edits the signature, keeps keys without a field and shows a conflicting change', async () => {
    const opened = await open('#/actions/login');
    const { page, write } = opened;
    await page.getByRole('textbox', { name: 'Signature and types' }).getByText('person_id').waitFor();
    await page.getByLabel('Timeout (seconds)').fill('5');
    await page.getByRole('button', { name: 'Add header' }).click();
    await page.getByLabel('Header 1', { exact: true }).fill('x-key');
    await page.getByLabel('Type of header 1').selectOption('variable');
    await page.getByLabel('Variable of header 1').fill('HANDLERS');
    await page.getByLabel('Forward client headers').check();
    await page.getByLabel('Headers not forwarded').fill('cookie, x-own');
    await page.getByLabel('Signing secret').fill('HANDLERS');
    // Unsaved input survives a visit to another tab.
    await page.getByRole('tab', { name: 'Code' }).click();
    await page.getByText("type TokenFormat = 'SHORT' | 'LONG';").waitFor();
    await page.getByRole('tab', { name: 'Definition' }).click();
    await write('Signature and types', 'type Mutation { login(username: String!): Login! } type Login { token: String! person_id: Int }');
    const {
      actions: [action],
    } = (await exported()) as { actions: { definition: { [key: string]: Json } }[] };
    await service.metadata('update_action', {
      name: 'login',
      comment: 'By another client.',
      definition: { ...action?.definition, timeout: 9 },
    });
    const before = await exported();
    // The page has read the new version and kept the draft.
    const { resource_version: version } = (await service.metadata('get_overview', {})) as { resource_version: number };
    await page.getByText(`v${version} · consistent`).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Another administrator has changed the same objects').waitFor();
    await page.getByLabel('Their change').getByText('"timeout": 9').waitFor();
    await page.getByRole('button', { name: /^Overwrite their change/ }).click();
    await page.getByText('Applied: Action login').waitFor();
    await expect
      .poll(() => exported(), WAIT)
      .toMatchObject({
        actions: [
          {
            definition: {
              timeout: 5,
              headers: [{ name: 'x-key', value_from_env: 'HANDLERS' }],
              forward_client_headers: true,
              ignored_client_headers: ['cookie', 'x-own'],
              signature: { secret_from_env: 'HANDLERS' },
              arguments: [{ name: 'username' }],
            },
          },
        ],
        custom_types: { objects: [{ name: 'Login' }] },
      });
    expect(JSON.stringify(await exported())).not.toContain('TokenFormat');
    await service.metadata('create_action_permission', { action: 'login', role: 'reader' });
    await undo(page, 'Action login');
    await page.getByText('These objects have changed since').waitFor();
    await service.metadata('drop_action_permission', { action: 'login', role: 'reader' });
    await page.getByRole('button', { name: /changes?$/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).first().click();
    await expect.poll(exported, WAIT).toEqual(before);
    await opened.close();
  });

  it('grants roles the action and calls it as one of them', async () => {
    const opened = await open('#/actions/login?tab=permissions');
    const { page } = opened;
    await page.getByRole('checkbox', { name: 'reader can call' }).click();
    await expect.poll(async () => JSON.stringify(await exported()), WAIT).toContain('"permissions":[{"role":"reader"}]');
    await expect.poll(() => page.getByRole('checkbox', { name: 'reader can call' }).isChecked(), WAIT).toBe(true);
    await page.getByLabel('Another role').fill('guest');
    await page.getByRole('button', { name: 'Grant' }).click();
    await page.getByRole('row', { name: /guest/ }).waitFor();
    await page.getByRole('tab', { name: 'Call' }).click();
    await page.getByRole('button', { name: 'as admin', exact: true }).click();
    await page.getByRole('combobox', { name: 'Role' }).fill('reader');
    await page.getByRole('button', { name: 'Use persona' }).click();
    await page.getByLabel(/username/).fill('ann');
    await page.getByRole('button', { name: 'Call as reader' }).click();
    await page.getByText('for ann as reader').waitFor();
    await page.getByLabel(/username/).fill('unknown');
    await page.getByRole('button', { name: 'Call as reader' }).click();
    await page.getByText('unknown user').waitFor();
    await expectAccessible(opened);
    await opened.close();
  });

  it('previews the request of a transform before it is saved', async () => {
    const opened = await open('#/actions/login?tab=transforms');
    const { page, write } = opened;
    const call = page.getByRole('region', { name: 'Request', exact: true });
    await call.getByText('POST http://localhost:3000/login').waitFor();
    await page.getByLabel('Method').selectOption('PUT');
    await page.getByLabel('URL template').fill('{{$base_url}}/{{$body.input.username}}');
    await page.getByRole('button', { name: 'Template' }).first().click();
    await write('Request body template', '{"user": {{$body.input.username}}');
    await page.getByText('request transform validation failed').waitFor();
    await expectAccessible(opened);
    await write('Request body template', '{"user": {{$body.input.username}}}');
    await call.getByText('PUT http://localhost:3000/login/text').waitFor();
    await call.getByText('"user": "text"').waitFor();
    await page.getByRole('button', { name: 'Add header' }).click();
    await page.getByLabel('Header', { exact: true }).fill('x-role');
    await page.getByLabel('Template', { exact: true }).fill("{{$session_variables['x-svc-role']}}");
    await call.getByText('x-role: user').waitFor();
    await page.getByRole('group', { name: 'Response body' }).getByRole('button', { name: 'Template' }).click();
    await write('Response body template', '{"token": {{$body.short}}}');
    await write('Sample response', '{"short": "abc"}');
    await page.getByRole('region', { name: 'Response', exact: true }).getByText('"token": "abc"').waitFor();
    await page.getByRole('group', { name: 'Response body' }).getByRole('button', { name: 'Unchanged' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Applied: Transforms of login').waitFor();
    handler.requests.length = 0;
    await service.graphql('mutation { login(username: "ann") { token } }');
    expect(handler.requests[0]).toMatchObject({ method: 'PUT', path: '/login/ann', body: '{"user":"ann"}' });
    await undo(page, 'Transforms of login');
    await expect.poll(async () => JSON.stringify(await exported()), WAIT).not.toContain('request_transform');
    await opened.close();
  });

  it('polls for the result of an asynchronous action', async () => {
    await service.metadata('create_action', {
      name: 'report',
      definition: {
        kind: 'asynchronous',
        handler: '{{HANDLERS}}/report',
        arguments: [{ name: 'username', type: 'String' }],
        output_type: 'Login',
      },
    });
    const opened = await open('#/actions/report?tab=call');
    const { page } = opened;
    await page.getByLabel(/username/).fill('bob');
    await page.getByRole('button', { name: 'Call as admin' }).click();
    await page.getByText('for bob as admin').waitFor();
    await page.getByText('success', { exact: true }).waitFor();
    await service.metadata('drop_action', { name: 'report' });
    await opened.close();
  });

  it('adds a relationship to a type, lists unused types and deletes them', async () => {
    const opened = await open('#/actions?tab=types');
    const { page, write } = opened;
    const types = 'type Login { token: String! person_id: Int }';
    await page.getByRole('textbox', { name: 'Custom types' }).getByText('person_id').waitFor();
    await write('Custom types', `${types} enum TokenFormat { SHORT } scalar Unused`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Unused type:').waitFor();
    await page.getByRole('button', { name: 'Add relationship' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('person');
    await dialog.getByRole('combobox', { name: 'Table' }).fill('person');
    await dialog.getByRole('option', { name: /public\.person/ }).click();
    await dialog.getByRole('combobox', { name: 'Field' }).fill('person_id');
    await dialog.getByRole('option', { name: /person_id/ }).click();
    await dialog.getByRole('combobox', { name: 'To column' }).fill('id');
    await dialog.getByRole('option', { name: /^id/ }).click();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Login\.person/ }).waitFor();
    await expect
      .poll(() => service.graphql('mutation { login(username: "ann") { person { name } } }'), WAIT)
      .toEqual({
        data: { login: { person: { name: 'Ann' } } },
      });
    const before = await exported();
    await page.getByRole('button', { name: 'Delete type …' }).click();
    await apply(page);
    await page.getByText('Unused type:').waitFor({ state: 'detached' });
    expect(JSON.stringify(await exported())).not.toContain('Unused');
    await undo(page, 'Delete unused types');
    await expect.poll(exported, WAIT).toEqual(before);
    await write('Custom types', 'type Login { token: Missing! }');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.locator('.cm-lintRange-error', { hasText: 'Missing' }).waitFor();
    await opened.close();
  });

  it('deletes an action with its permissions and restores both', async () => {
    const opened = await open('#/actions/login');
    const { page } = opened;
    const before = await exported();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete action …' }).click();
    await page.getByRole('dialog').getByText('Metadata stays consistent').waitFor();
    await expectAccessible(opened);
    await apply(page);
    await page.getByText('No actions', { exact: true }).waitFor();
    await undo(page, 'Delete action login');
    await page.getByRole('row', { name: /login/ }).waitFor();
    await expect.poll(() => exported(), WAIT).toEqual(before);
    await opened.close();
  });
});
