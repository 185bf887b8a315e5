/** Changes whose commit was not confirmed, and background work that is repeated until it succeeds. */
import { expect, test, vi } from 'vitest';
import { add, database, key, opened, useRunningState, start, state, storage, track } from '../../test/support/running-state.ts';
import { runSql } from '../../test/support/postgres.ts';
import { WAIT } from '../../test/support/wait.ts';
import type { Source } from '../backend/backend.ts';
import type { Captures } from '../backend/captures.ts';
import { SvcError } from '../errors/svc-error.ts';
import { updateTable, withEntry } from '../metadata/edit.ts';
import type { EventTrigger } from '../metadata/event-trigger.ts';
import type { Save } from '../metadata-store/storage.ts';
import type { Observation } from '../observability/observation.ts';
import type { Change, State } from './state.ts';

useRunningState();

const lost = (): SvcError => new SvcError('unexpected', 'connection error', { isUncertain: true });

const TRIGGER: EventTrigger = {
  name: 'trg',
  insert: { columns: '*' },
  enableManual: false,
  webhook: { kind: 'template', text: 'http://127.0.0.1:9/' },
  retryConf: { numRetries: 0, intervalSec: 10 },
  headers: [],
};
const withTrigger = (trigger: EventTrigger): Change => ({
  edit: (m) => updateTable(m, 's', key('author'), (t) => ({ ...t, eventTriggers: withEntry(t.eventTriggers, trigger.name, trigger) })),
});
const createTrigger = withTrigger(TRIGGER);

/** Adds a column by SQL in one request with a change that opens the source again. */
const alter = (on: State): Promise<unknown> =>
  on.transaction(
    async (draft) => {
      await runSql(database.url, 'alter table author add column extra int');
      await draft.change({ edit: (m) => m, refresh: { sources: ['s'] }, inconsistencies: 'allow' });
    },
    { repeatable: false },
  );

async function expectReadAgain(failures: readonly (() => SvcError)[]): Promise<void> {
  await state.change(add(database.url));
  await state.change(track('author'));
  let saves = 0;
  const save = (how: Save): Promise<number> => {
    const failure = failures[saves++];
    return failure === undefined ? storage.save(how) : Promise.reject(failure());
  };
  const other = await start('two', { save });
  await expect(alter(other)).rejects.toBeInstanceOf(SvcError);
  await vi.waitFor(() => expect(other.current().cache.sources.get('s')?.tables.get(key('author'))?.columns.has('extra')).toBe(true), WAIT);
  expect(saves).toBeGreaterThan(failures.length);
  // The connection of `state` and that of the last attempt.
  await vi.waitFor(() => expect(opened.filter(({ closed }) => !closed)).toHaveLength(2), WAIT);
  await other.stop();
}

const away = (): SvcError => new SvcError('unexpected', 'the metadata database refuses');

test('reads the effects of SQL again after a lost change, although storing them fails several times', () =>
  expectReadAgain([lost, away, lost, away]));

test('reads the effects of SQL again after a refused change, although storing them fails at first', () => expectReadAgain([away, away]));

/** Makes the installation of the triggers with this name fail, by default that of all. */
function failCaptures(connection: Source | undefined, failing?: string): { readonly attempts: number } {
  const count = { attempts: 0 };
  const captures = connection?.captures as Captures;
  captures.install = async (triggers) => {
    count.attempts += 1;
    return triggers
      .map(({ definition: { name } }) => ({ name, error: new SvcError('postgres-error', 'must be owner of the table') }))
      .filter(({ name }) => name === (failing ?? name));
  };
  return count;
}

test('publishes and logs the repeated failure of an event trigger once', async () => {
  const logged: string[] = [];
  const observe = (observation: Observation): void => {
    if (observation.kind === 'source' && observation.event === 'event-trigger-failed') logged.push(observation.message);
  };
  const other = await start('two', {}, observe);
  await other.change(add(database.url));
  await other.change(track('author'));
  const count = failCaptures(other.current().connections.get('s'));
  const shown = vi.fn();
  await other.change({ ...createTrigger, inconsistencies: 'allow' });
  other.onSnapshot(shown);
  expect(other.current().cache.inconsistencies).toMatchObject([{ type: 'event_trigger', name: expect.stringContaining('trg') }]);
  await vi.waitFor(() => expect(count.attempts).toBeGreaterThan(5), WAIT);
  expect(shown).not.toHaveBeenCalled();
  expect(logged).toEqual(['trg: must be owner of the table']);
  await other.stop();
});

test('logs a failure once although a comparison that began before it ends after it', async () => {
  const logged: string[] = [];
  const observe = (observation: Observation): void => {
    if (observation.kind === 'source' && observation.event === 'event-trigger-failed') logged.push(observation.message);
  };
  const other = await start('two', {}, observe);
  await other.change(add(database.url));
  await other.change(track('author'));
  const source = other.current().connections.get('s');
  const captures = source?.captures as Captures;
  const retain = captures.retain.bind(captures);
  let isReached = false;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  captures.retain = async (...given) => {
    isReached = true;
    await released;
    return retain(...given);
  };
  await other.change(withTrigger({ ...TRIGGER, name: 'earlier' }));
  await vi.waitFor(() => expect(isReached).toBe(true), WAIT);
  const count = failCaptures(source, TRIGGER.name);
  await other.change({ ...createTrigger, inconsistencies: 'allow' });
  release();
  await vi.waitFor(() => expect(count.attempts).toBeGreaterThan(5), WAIT);
  expect(logged).toEqual(['trg: must be owner of the table']);
  await other.stop();
});

test('reports an unknown outcome if the notices of the version are deleted', async () => {
  const other = await start('two', {
    async save(save) {
      await storage.save(save);
      throw lost();
    },
    changesSince: async () => ({ kind: 'unknown', resourceVersion: await storage.currentVersion() }),
  });
  await expect(other.change(add(database.url))).rejects.toMatchObject({ status: 503, message: expect.stringContaining('is not known') });
  expect(other.current().metadata.sources.has('s')).toBe(true);
  await other.stop();
});

test('confirms a stored change although its warning listener fails', async () => {
  const other = await start('two', {
    async save(save) {
      await storage.save(save);
      throw lost();
    },
  });
  await other.change(add(database.url));
  await other.change(track('author'));
  await other.change(createTrigger);
  const captures = other.current().connections.get('s')?.captures as Captures;
  const { retain } = captures;
  // Comparisons in the background call it too.
  captures.retain = () => {
    throw new SvcError('postgres-error', 'must be owner of the table');
  };
  const without: Change = { edit: (m) => updateTable(m, 's', key('author'), (t) => ({ ...t, eventTriggers: new Map() })) };
  const onWarning = vi.fn(() => {
    throw new Error('a fault of the caller');
  });
  expect(await other.transaction((draft) => draft.change(without), { repeatable: true, onWarning })).toMatchObject({ resourceVersion: 5 });
  expect(onWarning).toHaveBeenCalledOnce();
  captures.retain = retain;
  await other.stop();
});
