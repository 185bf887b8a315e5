import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, HAS_FOCUS, openConsolePage, startBrowser } from '../support/browser.ts';
import { startConsoleService } from '../support/console-service.ts';
import { expectAccessible } from '../support/console-steps.ts';
import type { TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

/** Fragments that spread the next one twice: 2^40 paths lead to the last one. */
const REPEATED = Array.from({ length: 40 }, (_, index) => `fragment F${index} on album { ...F${index + 1} ...F${index + 1} }`).join(' ');

describe.skipIf(chromiumPath === undefined)('the explorer with the schema of the persona', () => {
  let service: TestService;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([startConsoleService(), startBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  it('checks a document and its variables while they are written', async () => {
    const { page, go, write, requests, axe, close } = await openConsolePage(browser, service.url, { route: '#/explorer' });
    await go('#/explorer');
    const editor = page.getByRole('textbox', { name: 'Query editor' });
    const marked = page.getByRole('textbox', { name: 'Query editor' }).locator('.cm-lintRange-error');
    for (const [text, word, message] of [
      ['{ album(limit: 1) { titel } }', 'titel', 'album has no field titel. Similar: title.'],
      ['{ album(limt: 1) { title } }', 'limt', 'album has no argument limt. Similar: limit.'],
      ['{ album(where: {titl: {_eq: "x"}}) { title } }', 'titl', 'album_bool_exp has no field titl. Similar: title.'],
      ['{ album(order_by: {title: acs}) { title } }', 'acs', 'order_by has no value acs. Similar: asc.'],
      ['{ album(where: {title: {_eq: 5}}) { title } }', '5', 'Expected a string for the type String.'],
      ['{ album(limit: $n) { title } }', '$n', 'Declare the variable: $n: Int'],
      ['query A($n: String) { album(limit: $n) { title } }', '$n', 'The variable has the type String, but Int is expected.'],
      ['{ album { artist } }', 'artist', 'Select at least one field of artist.'],
      ['{ album { title { x } } }', 'title', 'title is a String! and has no fields to select.'],
      ['{ album_by_pk { title } }', 'album_by_pk', 'album_by_pk needs the argument album_id: Int!.'],
      ['{ album { ...F } }', 'F', 'The fragment F is not defined.'],
      ['{ album { ...F } } fragment F on album { title artist { albums { ...F } } }', 'F', 'The fragment F contains itself.'],
      [`{ album { ...F0 } } ${REPEATED} fragment F40 on album { titel }`, 'titel', 'album has no field titel. Similar: title.'],
      ['{ album { title }', '}', 'Expected a field, but the document ends.'],
    ] as const) {
      await write('Query editor', text);
      await page.getByText(message).first().waitFor();
      await expect.poll(() => marked.last().textContent(), WAIT).toBe(word);
    }
    // What the service accepts has no mark: the request that follows confirms it.
    await write(
      'Query editor',
      `query A($ids: [Int!], $w: album_bool_exp!) {
        album(where: {_and: [{album_id: {_in: $ids}}, $w]}, order_by: {artist: {name: asc}}, limit: 2) { ...F __typename t: title @include(if: true) }
      }
      fragment F on album { artist { name } }`,
    );
    await page.getByText('Enter a value for the variable w: album_bool_exp!.').waitFor();
    expect(await marked.count()).toBe(0);
    for (const [variables, message] of [
      ['{"ids": [1, "x"], "w": {}}', 'Expected a whole number for the type Int!.'],
      ['{"w": {"titl": {}}}', 'album_bool_exp has no field titl. Similar: title.'],
      ['{"idz": []}', 'The operation does not declare the variable idz. Similar: ids.'],
    ] as const) {
      await write('Variables', variables);
      await page.getByText(message).first().waitFor();
      await page.getByRole('textbox', { name: 'Variables' }).locator('.cm-lintRange-error').first().waitFor();
    }
    expect(await axe()).toEqual([]);
    await write('Variables', '{"ids": [1, 2], "w": {"title": {"_neq": "x"}}}');
    await expect.poll(() => page.locator('.cm-lintRange-error').count(), WAIT).toBe(0);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('2 rows').waitFor();
    // The line of the first problem selects its place.
    await write('Query editor', 'query A {\n  album {\n    title\n    nothing\n  }\n}');
    await page.getByRole('button', { name: 'Line 4' }).click();
    expect(await editor.evaluate(HAS_FOCUS)).toBe(true);
    await page.keyboard.insertText('album_id');
    await expect.poll(() => marked.count(), WAIT).toBe(0);
    expect(await editor.textContent()).toContain('album_id');
    expect(requests.some(({ body }) => /__schema\s*\{\s*types/.test(body))).toBe(false);
    await close();
  });

  it('documents types, and follows references from type to type', async () => {
    const opened = await openConsolePage(browser, service.url, { route: '#/explorer' });
    const { page, close } = opened;
    await page.getByRole('button', { name: 'Docs', exact: true }).click();
    await page.getByRole('button', { name: 'query_root' }).click();
    const docs = page.getByRole('region', { name: /^Documentation of/ });
    await page.getByLabel('Filter query_root').fill('album_by');
    await docs.getByRole('button', { name: 'album', exact: true }).click();
    await page.getByRole('region', { name: 'Documentation of album', exact: true }).waitFor();
    await docs
      .getByRole('button', { name: /^artist!?$/ })
      .first()
      .click();
    await page.getByRole('region', { name: 'Documentation of artist', exact: true }).waitFor();
    await page.getByLabel('Filter artist').fill('albums');
    await docs.getByRole('button', { name: 'album_bool_exp' }).first().click();
    await docs.getByText('input', { exact: true }).waitFor();
    await expectAccessible(opened);
    for (const name of ['artist', 'album', 'query_root']) {
      await page.getByRole('button', { name: 'Previous type' }).click();
      await page.getByRole('region', { name: `Documentation of ${name}`, exact: true }).waitFor();
    }
    await page.getByRole('button', { name: 'Previous type' }).click();
    await page.getByLabel('Name of a type').fill('order_by');
    await page.keyboard.press('Enter');
    await docs.getByText('asc_nulls_first').waitFor();
    await close();
  });

  it('exports a request as code of clients, without secrets', async () => {
    const opened = await openConsolePage(browser, service.url, { route: '#/explorer' });
    const { page, go, write, close } = opened;
    await go('#/explorer');
    await write(
      'Query editor',
      'query Albums($limit: Int = 5, $w: album_bool_exp!) { album(limit: $limit, where: $w) { id: album_id title artist { name } } }',
    );
    await write('Variables', '{"w": {}}');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Code …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Code of the request' });
    const code = dialog.locator('pre');
    for (const [form, text] of [
      ['curl', 'X-Svc-Admin-Secret: $SVC_GRAPHQL_ADMIN_SECRET'],
      ['fetch', 'await fetch('],
      ['urql', "from '@urql/core'"],
      ['Apollo', 'new HttpLink({'],
      ['TypeScript', 'export interface AlbumsData {\n  album: ({\n    id: number;\n    title: string;\n    artist: {'],
    ] as const) {
      await dialog.getByRole('button', { name: form, exact: true }).click();
      await expect.poll(() => code.textContent(), WAIT).toContain(text);
      expect(await code.textContent()).not.toContain('the-secret-of-the-console-tests');
    }
    expect(await code.textContent()).toContain('  limit?: number | null;');
    await expectAccessible(opened);
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()'), WAIT).toContain('export interface AlbumsVariables {');
    await page.keyboard.press('Escape');
    await write(
      'Query editor',
      `query Merged { album { artist { name } ...F0 } } ${REPEATED} fragment F40 on album { ...F0 artist { artist_id } }`,
    );
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Code …' }).click();
    await dialog.getByRole('button', { name: 'TypeScript', exact: true }).click();
    await expect.poll(() => code.textContent(), WAIT).toContain('export interface MergedData {');
    expect(await code.textContent()).toMatch(/artist: \{\n +name: string[^;]*;\n +artist_id: number;\n/);
    await close();
  });

  it('shows nested objects as columns, and downloads them as CSV', async () => {
    const { page, go, write, close } = await openConsolePage(browser, service.url, { route: '#/explorer' });
    await go('#/explorer');
    await write('Query editor', '{ genre(limit: 1) { name } album(limit: 2, order_by: {album_id: asc}) { album_id artist { name } } }');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    await page.getByLabel('Rows of').selectOption('album');
    const grid = page.getByRole('grid', { name: 'Response as table' });
    await grid.getByRole('columnheader', { name: 'artist.name' }).waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'CSV' }).click()]);
    expect(download.suggestedFilename()).toBe('album.csv');
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toMatch(/^album_id,artist\.name\r\n1,.+\r\n2,.+$/);
    await close();
  });

  it('reads the schema for Relay on its endpoint', async () => {
    const { page, go, write, requests, close } = await openConsolePage(browser, service.url, { route: '#/explorer' });
    await go('#/explorer');
    await page.getByRole('button', { name: 'Relay', exact: true }).click();
    await page.getByLabel('Filter fields').fill('genre_conn');
    await page.getByRole('button', { name: 'Insert genre_connection' }).click();
    const editor = page.getByRole('textbox', { name: 'Query editor' });
    await expect.poll(() => editor.textContent(), WAIT).toMatch(/genre_connection\(first: 10\) \{\s*edges \{\s*node \{\s*genre_id/);
    await write('Query editor', '{ genre_connection(first: 1) { edges { node { id name } } } album { title } }');
    await page.getByText('query_root has no field album.').waitFor();
    await write('Query editor', '{ genre_connection(first: 1) { edges { node { id name } } } }');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText(/^200 ·/).waitFor();
    expect(requests.some(({ url }) => url.endsWith('/v1/relay'))).toBe(true);
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByRole('heading', { name: 'genre_connection' }).waitFor();
    await close();
  });
});
