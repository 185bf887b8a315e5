/** The project files that pages show do what the pages say, in a project that `svc init` creates. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Ran } from '../support/command.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Block, blocksOf } from './blocks.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const VARIABLES = {
  HOOKS: 'http://127.0.0.1:9',
  HOOK_SECRET: 'a secret',
  HOOK_KEY: 'a key',
  HANDLERS: 'http://127.0.0.1:9',
  JOBS_URL: 'http://127.0.0.1:9',
};

let service: TestService;
let project: ProjectFolder;
beforeEach(async () => {
  service = await startTestService({}, VARIABLES);
  project = projectFolder(service);
});
afterEach(async () => {
  project.remove();
  await service.stop();
});

function pageOf(path: string): { text: string; blocks: readonly Block[] } {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return { text, blocks: blocksOf(text) };
}

const createProject = (): Promise<Ran> => project.svc('init', '.', '--yes');

/** Writes the files of a page over those of the project, and deploys it. */
async function deployFiles(blocks: readonly Block[], others: Readonly<Record<string, string>> = {}): Promise<void> {
  const files = blocks.flatMap(({ settings, text }): [string, string][] => {
    const file = settings.get('file');
    return file?.startsWith('metadata/') === true ? [[file, `${text}\n`]] : [];
  });
  expect(files.length).toBeGreaterThan(0);
  project.write({ ...Object.fromEntries(files), ...others });
  const { code, stderr } = await project.svc('deploy');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

it('how-to/event-triggers.md: the trigger captures an insert, and none of its seed', async () => {
  const { text, blocks } = pageOf('docs/how-to/event-triggers.md');
  await service.sql(/--up-sql "([^"]+)"/.exec(text)?.[1] ?? '');
  await createProject();
  await deployFiles(blocks);
  const quiet = blocks.find(({ language, kind }) => language === 'sql' && kind === 'shown');
  await service.sql(quiet?.text ?? '');
  await service.sql("insert into purchase (item) values ('table')");
  const events = (await service.metadata('pg_get_event_logs', { name: 'purchase_changed', source: 'default' })) as { payload: object }[];
  expect(events.map(({ payload }) => payload)).toMatchObject([{ op: 'INSERT', data: { new: { item: 'table' } } }]);
});

it('how-to/enums.md: the column has the enum type', async () => {
  const { blocks } = pageOf('docs/how-to/enums.md');
  await service.sql(blocks.find(({ kind }) => kind === 'setup')?.text ?? '');
  await createProject();
  await deployFiles(blocks);
  const query = '{ __type(name: "issue_state_enum") { enumValues { name } } }';
  expect(await service.graphql(query)).toEqual({ data: { __type: { enumValues: [{ name: 'closed' }, { name: 'open' }] } } });
});

/** Lists the table of a page that shows only its file, with a table that it refers to. */
const ARTICLE_TABLES = {
  'metadata/databases/default/tables/tables.yaml': '- "!include public_article.yaml"\n- table: {schema: public, name: author}\n',
};

it('permissions.md: the role writes and reads its own article', async () => {
  const { blocks } = pageOf('docs/permissions.md');
  await service.sql(blocks.find(({ kind }) => kind === 'setup')?.text ?? '');
  await service.sql("insert into author values (1, 'Ann'), (2, 'Bob')");
  await createProject();
  await deployFiles(blocks, ARTICLE_TABLES);
  const asUser = (id: string, query: string) => service.graphql(query, { role: 'user', session: { 'user-id': id } });
  expect(await asUser('1', 'mutation { insert_article_one(object: {title: "Locks"}) { author_id } }')).toEqual({
    data: { insert_article_one: { author_id: 1 } },
  });
  expect(await asUser('1', '{ article { title } }')).toEqual({ data: { article: [{ title: 'Locks' }] } });
  const others = 'mutation { update_article(where: {}, _set: {title: "x"}) { affected_rows } delete_article(where: {}) { affected_rows } }';
  expect(await asUser('2', others)).toEqual({ data: { update_article: { affected_rows: 0 }, delete_article: { affected_rows: 0 } } });
});

it('event-triggers.md: the trigger captures the columns that its file lists', async () => {
  const { blocks } = pageOf('docs/event-triggers.md');
  await service.sql('create table author (id int primary key)');
  await service.sql('create table article (id int primary key, title text, published text, views int)');
  await createProject();
  await deployFiles(blocks, ARTICLE_TABLES);
  await service.sql("insert into article values (1, 'Locks', null, 0)");
  await service.sql('update article set views = 1');
  await service.sql("update article set title = 'Types'");
  const events = (await service.metadata('pg_get_event_logs', { name: 'article_changed', source: 'default' })) as { payload: object }[];
  expect(events.map(({ payload }) => payload)).toMatchObject([
    { op: 'UPDATE', data: { new: { id: 1, title: 'Types' } } },
    { op: 'INSERT' },
  ]);
});

it('how-to/cron.md: the trigger has its events, and is a part of the metadata', async () => {
  const { blocks } = pageOf('docs/how-to/cron.md');
  await createProject();
  await deployFiles(blocks);
  const { cron_triggers: triggers } = (await service.metadata('export_metadata', {})) as { cron_triggers: object[] };
  expect(triggers).toEqual([
    {
      name: 'nightly',
      webhook: '{{JOBS_URL}}/nightly',
      schedule: '0 3 * * *',
      include_in_metadata: true,
      payload: { report: 'sales' },
      retry_conf: { num_retries: 3, retry_interval_seconds: 60, timeout_seconds: 60, tolerance_seconds: 21600 },
    },
  ]);
  const { events } = (await service.metadata('get_scheduled_events', { type: 'cron', trigger_name: 'nightly', limit: 1 })) as {
    events: object[];
  };
  expect(events).toMatchObject([{ status: 'scheduled', tries: 0 }]);
  expect((await project.svc('metadata', 'diff', '--exit-code')).code).toBe(0);
});

it('how-to/actions.md: the role may call the action that the command creates', async () => {
  const { text, blocks } = pageOf('docs/how-to/actions.md');
  await service.sql(blocks.find(({ kind }) => kind === 'setup')?.text ?? '');
  await createProject();
  project.write({ 'sign_up.graphql': blocks.find(({ language, kind }) => language === 'graphql' && kind === 'shown')?.text ?? '' });
  const [, args = ''] = /^svc (actions create .*)$/m.exec(text) ?? [];
  const { code, stderr } = await project.svc(...args.replaceAll("'", '').split(' '));
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('No role but admin may call sign_up yet') });
  await deployFiles(blocks);
  const query = '{ __type(name: "mutation_root") { fields { name } } }';
  expect(await service.graphql(query, { role: 'visitor' })).toEqual({ data: { __type: { fields: [{ name: 'sign_up' }] } } });
});
