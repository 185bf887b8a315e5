/** Transactions of several changes, and changes of several instances. */
import { expect, test, vi } from 'vitest';
import { runSql, testDatabase } from '../../test/support/postgres.ts';
import { SvcError } from '../errors/svc-error.ts';
import { withoutSource, withSource, withTable } from '../metadata/edit.ts';
import { newTable } from '../metadata/table.ts';
import {
  add,
  database,
  key,
  name,
  opened,
  useRunningState,
  source,
  start,
  state,
  storage,
  track,
} from '../../test/support/running-state.ts';
import { WAIT } from '../../test/support/wait.ts';
import { requireVersion } from './require-version.ts';
import type { Change, ChangeResult, State } from './state.ts';

useRunningState();

test('reads the changes of another instance', async () => {
  const second = await start('two');
  await state.change(add(database.url));
  await state.change(track('author'));
  await second.synchronize();
  expect(second.current().resourceVersion).toBe(3);
  expect(second.current().cache.sources.get('s')?.tables.has(key('author'))).toBe(true);
  await second.stop();
});

test('makes a change of an outdated instance on top of the changes of others', async () => {
  const second = await start('two');
  await state.change(add(database.url));
  await state.change(track('author'));
  expect(await second.change(track('article'))).toMatchObject({ resourceVersion: 4 });
  expect([...(second.current().metadata.sources.get('s')?.tables.keys() ?? [])]).toEqual([key('author'), key('article')]);
  await second.stop();
});

const changeOn = (on: State, version: number, change: Change): Promise<ChangeResult> =>
  on.transaction(
    async (draft) => {
      requireVersion(draft.current(), version);
      return draft.change(change);
    },
    { repeatable: true },
  );

test('fails with a conflict if another instance has stored the version, and accepts a version that this instance has not read yet', async () => {
  const second = await start('two');
  await state.change(add(database.url));
  await expect(changeOn(second, 1, add(database.url))).rejects.toMatchObject({
    code: 'conflict',
    message: 'metadata resource version referenced (1) did not match current version',
  });
  expect(second.current().resourceVersion).toBe(2);
  await state.change(track('author'));
  expect(await changeOn(second, 3, track('article'))).toMatchObject({ resourceVersion: 4 });
  await expect(changeOn(second, 9, { edit: (m) => m })).rejects.toMatchObject({ code: 'conflict' });
  await second.stop();
});

test('accepts a change whose connection broke after it was stored', async () => {
  const second = await start('two', {
    async save(save) {
      await storage.save(save);
      throw new SvcError('unexpected', 'connection error', { isUncertain: true });
    },
  });
  expect(await second.change(add(database.url))).toEqual({ resourceVersion: 2, inconsistencies: [] });
  expect(await second.change(track('author'))).toEqual({ resourceVersion: 3, inconsistencies: [] });
  expect(second.current().cache.sources.get('s')?.tables.has(key('author'))).toBe(true);
  await second.stop();
});

test("reads another instance's change although a source does not respond, and adds the source when it does", async () => {
  const other = await testDatabase();
  await runSql(other.url, 'create table far ()');
  await state.change(add(other.url));
  const second = await start('two');
  await state.change({
    edit: (m) => withTable(withSource(m, source('t', database.url)), 't', newTable(name('author'))),
  });
  await state.change({ ...track('far'), refresh: { tables: [{ source: 's', name: name('far') }] } });
  const otherName = new URL(other.url).pathname.slice(1);
  const connections = (allowed: boolean) => runSql(database.url, `alter database ${otherName} allow_connections ${allowed}`);
  await connections(false);
  await runSql(database.url, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${otherName}'`);
  await second.synchronize();
  expect(second.current().resourceVersion).toBe(4);
  expect(second.current().cache.sources.get('t')?.tables.has(key('author'))).toBe(true);
  expect(second.current().cache.inconsistencies).toMatchObject([{ type: 'source', name: 'source s' }]);
  await connections(true);
  await vi.waitFor(() => expect(second.current().cache.sources.get('s')?.tables.has(key('far'))).toBe(true), WAIT);
  await second.stop();
  await state.change({ edit: (m) => withoutSource(m, 's') });
  await other.drop();
});

test('stores a transaction as one version that is visible only when it is complete', async () => {
  await state.change(add(database.url));
  const before = state.current();
  const versions = await state.transaction(
    async (draft) => {
      await draft.change(track('author'));
      expect(draft.current().cache.sources.get('s')?.tables.has(key('author'))).toBe(true);
      expect(state.current()).toBe(before);
      expect(await storage.currentVersion()).toBe(2);
      const { resourceVersion } = await draft.change(track('article'));
      return [draft.current().resourceVersion, resourceVersion];
    },
    { repeatable: true },
  );
  expect(versions).toEqual([3, 3]);
  expect(await storage.currentVersion()).toBe(3);
  expect([...(state.current().cache.sources.get('s')?.tables.keys() ?? [])]).toEqual([key('author'), key('article')]);
});

test('discards all changes of a transaction if one fails', async () => {
  await state.change(add(database.url));
  const before = state.current();
  const failing = state.transaction(
    async (draft) => {
      await draft.change({ edit: (m) => withSource(m, source('t', database.url)) });
      await draft.change(track('author'));
      await draft.change(track('nothing'));
    },
    { repeatable: true },
  );
  await expect(failing).rejects.toMatchObject({ code: 'invalid-configuration' });
  expect(state.current()).toBe(before);
  expect(await storage.currentVersion()).toBe(2);
  expect(opened.map(({ closed }) => closed)).toEqual([false, true]);
});

test('closes a source that was opened and removed within a transaction, and keeps one that stays', async () => {
  await state.transaction(
    async (draft) => {
      await draft.change(add(database.url));
      await draft.change({ edit: (m) => withSource(m, source('t', database.url)) });
      await draft.change({ edit: (m) => withoutSource(m, 't') });
    },
    { repeatable: true },
  );
  expect(opened.map(({ closed }) => closed)).toEqual([false, true]);
  await state.change(track('author'));
});

test('reads a changed database again although the metadata change failed', async () => {
  await state.change(add(database.url));
  await state.change(track('author'));
  const failing = state.transaction(
    async (draft) => {
      await runSql(database.url, 'alter table author add column age int');
      await draft.change({ edit: (m) => m, refresh: { tables: [{ source: 's', name: name('author') }] } });
      throw new SvcError('bad-request', 'no more');
    },
    { repeatable: false },
  );
  await expect(failing).rejects.toMatchObject({ message: 'no more' });
  expect(state.current().cache.sources.get('s')?.tables.get(key('author'))?.catalog.columns).toHaveLength(3);
  expect(state.current().resourceVersion).toBe(4);
});

test('repeats a transaction on top of changes of another instance only if it is repeatable', async () => {
  const second = await start('two');
  await state.change(add(database.url));
  let runs = 0;
  const both = (repeatable: boolean, table: string) =>
    second.transaction(
      async (draft) => {
        runs += 1;
        if (runs % 2 === 1) await state.change({ edit: (m) => m });
        return draft.change(track(table));
      },
      { repeatable },
    );
  expect(await both(true, 'author')).toMatchObject({ resourceVersion: 4 });
  expect(runs).toBe(2);
  await expect(both(false, 'article')).rejects.toMatchObject({ code: 'conflict' });
  expect(runs).toBe(3);
  expect(second.current().resourceVersion).toBe(5);
  await second.stop();
});

test('applies concurrent changes one after the other', async () => {
  await state.change(add(database.url));
  const results = await Promise.all(['author', 'article', 'color'].map((table) => state.change(track(table))));
  expect(results.map(({ resourceVersion }) => resourceVersion)).toEqual([3, 4, 5]);
  expect(state.current().cache.sources.get('s')?.tables.size).toBe(3);
});
