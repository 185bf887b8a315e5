import { expect, test } from 'vitest';
import type { Source } from '../backend/backend.ts';
import { createRemoteIntrospectionStore } from './remote-introspections.ts';
import type { RunOptions } from '../backend/connection.ts';

test('gives every statement about introspections a deadline', async () => {
  const asked: (RunOptions | undefined)[] = [];
  const database = {
    query: async (_text: string, _values: readonly (string | null)[], how?: RunOptions) => {
      asked.push(how);
      return { kind: 'TuplesOk', columns: [], rows: [], command: '' };
    },
  } as unknown as Source;
  const store = createRemoteIntrospectionStore(database);
  await store.read(['r']);
  await store.write(database, [{ name: 'r', server: '', text: '{}' }], ['q']);
  expect(asked.map((how) => how?.deadline)).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
});
