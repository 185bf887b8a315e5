import { expect, test } from 'vitest';
import type { Source } from '../backend/backend.ts';
import { createActionLog } from './action-log.ts';
import type { RunOptions } from '../backend/connection.ts';

test('gives every statement of the action log a deadline', async () => {
  const asked: (RunOptions | undefined)[] = [];
  const log = createActionLog({
    query: async (_text: string, _values: readonly (string | null)[], how?: RunOptions) => {
      asked.push(how);
      return { kind: 'TuplesOk', columns: [], rows: [], command: '' };
    },
  } as unknown as Source);
  const lease = { holder: 'us', seconds: 45 };
  await log.write({ action: 'make', input: {}, headers: {}, sessionVariables: new Map() });
  await log.read('make', 'an id', null);
  await log.state('make', 'an id', null);
  await log.stillWaiting(['an id']);
  await log.clear('make');
  await log.removeOlder(1);
  await log.store.fetch({ lease, limit: 1, queues: [{ name: 'make', limit: 1 }] });
  await log.store.renew(lease, ['1']);
  await log.store.record(lease, [{ id: '1', result: { kind: 'retry', seconds: 1 }, tries: 0 }]);
  await log.store.release(lease, ['1']);
  expect(asked.filter((how) => how?.deadline !== undefined)).toHaveLength(10);
});
