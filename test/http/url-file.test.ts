/** Database URLs that are read from files: new content takes effect at the next connection. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { runSql, type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

let folder: string;
let file: string;
let databases: readonly TestDatabase[];
let service: TestService;

const names = () => service.graphql('{ place { name } }');
const from = (name: string) => ({ data: { place: [{ name }] } });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
  file = join(folder, 'url');
  databases = await Promise.all([testDatabase(), testDatabase()]);
  for (const [i, { url }] of databases.entries()) await runSql(url, `create table place (name text); insert into place values ('${i}')`);
  service = await startTestService({ DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX: folder });
});
afterAll(async () => {
  await service.stop();
  for (const database of databases) await database.drop();
  rmSync(folder, { recursive: true });
});

const add = (name: string, path: string) =>
  service.metadata('pg_add_source', { name, configuration: { connection_info: { database_url: { dynamic_from_file: path } } } });

test('follows the file of a source URL', async () => {
  const [first, second] = databases as readonly [TestDatabase, TestDatabase];
  writeFileSync(file, `${first.url}\n`);
  await add('main', file);
  await service.metadata('pg_track_table', { source: 'main', table: 'place' });
  expect(await names()).toEqual(from('0'));
  writeFileSync(file, second.url);
  // Open connections are unaffected.
  expect(await names()).toEqual(from('0'));
  await runSql(
    second.url,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${new URL(first.url).pathname.slice(1)}'`,
  );
  await expect.poll(names, WAIT).toEqual(from('1'));
  expect(await service.metadata('export_metadata', {})).toMatchObject({
    sources: [{}, { configuration: { connection_info: { database_url: { dynamic_from_file: file } } } }],
  });
});

test('rejects files in other folders, files without a URL and missing files without revealing their content', async () => {
  const text = 'a secret that is no URL';
  writeFileSync(join(folder, 'wrong'), text);
  for (const [path, message] of [
    ['/etc/hostname', 'is not below the allowed folder'],
    [join(folder, '../x'), 'is not below the allowed folder'],
    [join(folder, 'missing'), 'ENOENT'],
    [join(folder, 'wrong'), 'the database URL is not valid'],
  ] as const) {
    const failure = await add('other', path).then(
      () => 'done',
      (error: unknown) => String(error),
    );
    expect(failure).toContain(message);
    expect(failure).not.toContain(text);
  }
  await expect(
    service.metadata('pg_add_source', {
      name: 'other',
      configuration: { connection_info: { database_url: { dynamic_from_file: file, from_env: 'X' } } },
    }),
  ).rejects.toThrow('\\"dynamic_from_file\\" stands alone');
});

test.runIf(DEEP)("supports files for the service's own databases", async () => {
  const [first] = databases as readonly [TestDatabase];
  const own = join(folder, 'own');
  writeFileSync(own, first.url);
  const other = await startTestService({ DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX: folder, DATABASE_URL: `dynamic-from-file://${own}` });
  await other.metadata('pg_track_table', { table: 'place' });
  expect(await other.graphql('{ place { name } }')).toEqual(from('0'));
  await other.stop();
});
