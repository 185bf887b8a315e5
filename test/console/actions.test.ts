/** Actions as somebody makes, permits, tries and deletes them. */
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

describe.skipIf(chromiumPath === undefined)('the page of actions', () => {
  beforeAll(async () => {
    handler = await startHandlerServer();
    handler.answer = ({ json }) =>
      json.input?.['username'] === 'nobody'
        ? { status: 400, body: { message: 'nobody of this name', code: 'no-user' } }
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
  const saved = async (): Promise<Json> => service.metadata('export_metadata', { only: { sections: ['actions', 'custom_types'] } });

  it('makes an action with its types in one request, and takes it back', async () => {
    const opened = await open('#/');
    const { page, write, requests } = opened;
    await page.getByText('consistent').first().waitFor();
    await chord(page, 'ga', '#/actions');
    await page.getByText('No action').waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'New action' }).click();
    await page.getByLabel('URL').fill('{{HANDLERS}}/login');
    await write('Signature and types', 'type Mutation { login(username: String!): Login! } type Login { token: String!');
    await page.getByText('} is expected here').waitFor();
    await expectAccessible(opened);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await write(
      'Signature and types',
      `type Mutation { "Gives a token." login(username: String!, way: Way): Login! }
       type Login { token: String! person_id: Int } enum Way { SHORT LONG }`,
    );
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { name: 'login', exact: true }).waitFor();
    const [sent] = requests.filter(({ body }) => body.includes('create_action'));
    expect((JSON.parse(sent?.body ?? '{}') as { args: { type: string }[] }).args.map(({ type }) => type)).toEqual([
      'set_custom_types',
      'create_action',
    ]);
    const made = await saved();
    expect(made).toMatchObject({ actions: [{ name: 'login', comment: 'Gives a token.' }], custom_types: { objects: [{ name: 'Login' }] } });
    await undo(page, 'Action login');
    await page.getByText('There is no action login').waitFor();
    await expect.poll(() => saved(), WAIT).toEqual({ version: 3 });
    await opened.close();
    await service.metadata('bulk', [
      { type: 'set_custom_types', args: (made as { custom_types: Json }).custom_types },
      { type: 'create_action', args: (made as { actions: Json[] }).actions[0] ?? null },
    ]);
  });

  it('edits the signature, keeps what it does not show, and says who changed it meanwhile', async () => {
    const opened = await open('#/actions/login');
    const { page, write } = opened;
    await page.getByRole('textbox', { name: 'Signature and types' }).getByText('person_id').waitFor();
    await page.getByLabel('Time limit, seconds').fill('5');
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Header 1', { exact: true }).fill('x-key');
    await page.getByLabel('Where the value of header 1 is').selectOption('variable');
    await page.getByLabel('Variable of header 1').fill('HANDLERS');
    await page.getByLabel('The handler gets the headers').check();
    await page.getByLabel('Headers that it does not get').fill('cookie, x-own');
    await page.getByLabel('Variable with the secret').fill('HANDLERS');
    // What is written stays while another tab is seen.
    await page.getByRole('tab', { name: 'Code' }).click();
    await page.getByText("type Way = 'SHORT' | 'LONG';").waitFor();
    await page.getByRole('tab', { name: 'Definition' }).click();
    await write('Signature and types', 'type Mutation { login(username: String!): Login! } type Login { token: String! person_id: Int }');
    const {
      actions: [action],
    } = (await saved()) as { actions: { definition: { [key: string]: Json } }[] };
    await service.metadata('update_action', { name: 'login', comment: 'Theirs.', definition: { ...action?.definition, timeout: 9 } });
    const before = await saved();
    // The page has seen the other version, and kept what is written.
    const { resource_version: version } = (await service.metadata('get_overview', {})) as { resource_version: number };
    await page.getByText(`v${version} · consistent`).waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Somebody else has changed the same objects').waitFor();
    await page.getByLabel('Their change').getByText('"timeout": 9').waitFor();
    await page.getByRole('button', { name: /^Overwrite theirs/ }).click();
    await page.getByText('Applied: Action login').waitFor();
    await expect
      .poll(() => saved(), WAIT)
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
    expect(JSON.stringify(await saved())).not.toContain('Way');
    await service.metadata('create_action_permission', { action: 'login', role: 'reader' });
    await undo(page, 'Action login');
    await page.getByText('have been changed since').waitFor();
    await service.metadata('drop_action_permission', { action: 'login', role: 'reader' });
    await page.getByRole('button', { name: /changes?$/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).first().click();
    await expect.poll(saved, WAIT).toEqual(before);
    await opened.close();
  });

  it('lets roles call it, and calls it as one of them', async () => {
    const opened = await open('#/actions/login?tab=permissions');
    const { page } = opened;
    await page.getByRole('checkbox', { name: 'reader may call it' }).click();
    await expect.poll(async () => JSON.stringify(await saved()), WAIT).toContain('"permissions":[{"role":"reader"}]');
    await expect.poll(() => page.getByRole('checkbox', { name: 'reader may call it' }).isChecked(), WAIT).toBe(true);
    await page.getByLabel('Another role').fill('guest');
    await page.getByRole('button', { name: 'Permit it' }).click();
    await page.getByRole('row', { name: /guest/ }).waitFor();
    await page.getByRole('tab', { name: 'Call' }).click();
    await page.getByRole('button', { name: 'as admin', exact: true }).click();
    await page.getByRole('combobox', { name: 'Role' }).fill('reader');
    await page.getByRole('button', { name: 'Use this persona' }).click();
    await page.getByLabel(/username/).fill('ann');
    await page.getByRole('button', { name: 'Call as reader' }).click();
    await page.getByText('for ann as reader').waitFor();
    await page.getByLabel(/username/).fill('nobody');
    await page.getByRole('button', { name: 'Call as reader' }).click();
    await page.getByText('nobody of this name').waitFor();
    await expectAccessible(opened);
    await opened.close();
  });

  it('shows the call that a transform makes before it is saved', async () => {
    const opened = await open('#/actions/login?tab=transforms');
    const { page, write } = opened;
    const call = page.getByRole('region', { name: 'The call', exact: true });
    await call.getByText('POST http://localhost:3000/login').waitFor();
    await page.getByLabel('Method').selectOption('PUT');
    await page.getByLabel('URL template').fill('{{$base_url}}/{{$body.input.username}}');
    await page.getByRole('button', { name: 'Template' }).first().click();
    await write('Template of the body', '{"who": {{$body.input.username}}');
    await page.getByText('request transform validation failed').waitFor();
    await expectAccessible(opened);
    await write('Template of the body', '{"who": {{$body.input.username}}}');
    await call.getByText('PUT http://localhost:3000/login/text').waitFor();
    await call.getByText('"who": "text"').waitFor();
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Header', { exact: true }).fill('x-role');
    await page.getByLabel('Its template').fill("{{$session_variables['x-svc-role']}}");
    await call.getByText('x-role: user').waitFor();
    await page.getByRole('group', { name: 'Body of the answer' }).getByRole('button', { name: 'Template' }).click();
    await write('Template of the body of the answer', '{"token": {{$body.short}}}');
    await write('Sample of the answer', '{"short": "abc"}');
    await page.getByRole('region', { name: 'The answer', exact: true }).getByText('"token": "abc"').waitFor();
    await page.getByRole('group', { name: 'Body of the answer' }).getByRole('button', { name: 'As it is' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Applied: Transforms of login').waitFor();
    handler.requests.length = 0;
    await service.graphql('mutation { login(username: "ann") { token } }');
    expect(handler.requests[0]).toMatchObject({ method: 'PUT', path: '/login/ann', body: '{"who":"ann"}' });
    await undo(page, 'Transforms of login');
    await expect.poll(async () => JSON.stringify(await saved()), WAIT).not.toContain('request_transform');
    await opened.close();
  });

  it('waits for the answer to an asynchronous call', async () => {
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
    await page.getByText('answered', { exact: true }).waitFor();
    await service.metadata('drop_action', { name: 'report' });
    await opened.close();
  });

  it('relates types to tables, names those that nothing uses, and drops them', async () => {
    const opened = await open('#/actions?tab=types');
    const { page, write } = opened;
    const types = 'type Login { token: String! person_id: Int }';
    await page.getByRole('textbox', { name: 'Types of actions' }).getByText('person_id').waitFor();
    await write('Types of actions', `${types} enum Way { SHORT } scalar Spare`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('No action uses').waitFor();
    await page.getByRole('button', { name: 'Relate a type' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('person');
    await dialog.getByRole('combobox', { name: 'Table' }).fill('person');
    await dialog.getByRole('option', { name: /public\.person/ }).click();
    await dialog.getByRole('combobox', { name: 'Field' }).fill('person_id');
    await dialog.getByRole('option', { name: /person_id/ }).click();
    await dialog.getByRole('combobox', { name: 'Column there' }).fill('id');
    await dialog.getByRole('option', { name: /^id/ }).click();
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Login\.person/ }).waitFor();
    await expect
      .poll(() => service.graphql('mutation { login(username: "ann") { person { name } } }'), WAIT)
      .toEqual({
        data: { login: { person: { name: 'Ann' } } },
      });
    const before = await saved();
    await page.getByRole('button', { name: 'Drop it …' }).click();
    await apply(page);
    await page.getByText('No action uses').waitFor({ state: 'detached' });
    expect(JSON.stringify(await saved())).not.toContain('Spare');
    await undo(page, 'Drop unused types');
    await expect.poll(saved, WAIT).toEqual(before);
    await write('Types of actions', 'type Login { token: Nothing! }');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.locator('.cm-lintRange-error', { hasText: 'Nothing' }).waitFor();
    await opened.close();
  });

  it('deletes it with its permissions, and brings all of it back', async () => {
    const opened = await open('#/actions/login');
    const { page } = opened;
    const before = await saved();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete this action …' }).click();
    await page.getByRole('dialog').getByText('consistent afterwards').waitFor();
    await expectAccessible(opened);
    await apply(page);
    await page.getByText('No action', { exact: true }).waitFor();
    await undo(page, 'Delete the action login');
    await page.getByRole('row', { name: /login/ }).waitFor();
    await expect.poll(() => saved(), WAIT).toEqual(before);
    await opened.close();
  });
});
