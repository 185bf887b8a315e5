/** The structure forms of the console with `svc dev`: what they run becomes a migration of the project. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, openConsolePage, startBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { testDatabase } from '../support/postgres.ts';
import { OWN_DATABASE, projectFolder } from '../support/project-folder.ts';
import { WAIT } from '../support/wait.ts';

const FILES = {
  'config.yaml': 'version: 3\n',
  'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables: []\n`,
};

describe.skipIf(chromiumPath === undefined)('structure forms with svc dev', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  it('write a migration for a new table', async () => {
    const [port, database] = await Promise.all([freePort(), testDatabase('ready')]);
    const url = `http://127.0.0.1:${port}`;
    const project = projectFolder({ url }, { SVC_GRAPHQL_DATABASE_URL: database.url });
    project.write(FILES);
    const dev = project.start('dev', '--port', String(port));
    const migrations = (): readonly string[] => {
      const folder = join(project.root, 'migrations/default');
      return existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(join(folder, name, 'down.sql'))) : [];
    };
    try {
      const ready = (): Promise<number> =>
        fetch(`${url}/healthz`).then(
          ({ status }) => status,
          () => 0,
        );
      await expect.poll(ready, WAIT).toBe(200);
      const { page, close } = await openConsolePage(browser, url, { secret: null, route: '#/data/default' });
      await page.getByRole('button', { name: 'New table' }).click();
      const dialog = page.getByRole('dialog', { name: 'New table' });
      await dialog.getByLabel('Name', { exact: true }).first().fill('tag');
      const sql = dialog.getByRole('region', { name: 'SQL' }).locator('pre');
      await sql.waitFor();
      const shown = await sql.textContent();
      await dialog.getByRole('button', { name: 'Create table' }).click();
      await page.getByRole('heading', { name: 'public.tag' }).waitFor();
      await expect.poll(migrations, WAIT).toEqual([expect.stringMatching(/^\d+_create_table/)]);
      expect(project.read(`migrations/default/${migrations()[0]}/up.sql`)).toBe(shown);
      await close();
    } finally {
      dev.kill();
      await dev.ended;
      project.remove();
      await database.drop();
    }
  });
});
