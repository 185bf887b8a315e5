import { expect, test } from 'vitest';
import type { Source } from '../../../backend/backend.ts';
import { PostgresqlEventQueue } from './queue.ts';
import type { Connection, RunOptions } from '../../../backend/connection.ts';

test('runs every statement of the queue with a deadline', async () => {
  const options: (RunOptions | undefined)[] = [];
  const connection = {
    query: async (_text: string, _values: readonly (string | null)[], runOptions?: RunOptions) => {
      options.push(runOptions);
      return { kind: 'TuplesOk', columns: [], rows: [], command: '' };
    },
  } as unknown as Connection;
  const source = {
    query: connection.query,
    transaction: (_options: object, run: (within: Connection) => Promise<unknown>) => run(connection),
    listen: async () => ({ stop: async () => undefined }),
  } as unknown as Source;
  const queue = new PostgresqlEventQueue(source, { notify: true });
  const lease = { holder: 'us', seconds: 45 };
  await queue.listen?.(() => undefined);
  await queue.fetch({ lease, limit: 1, queues: [{ name: 'a', limit: 1, overall: 1 }] });
  await queue.renew(lease, ['1']);
  await queue.record(lease, [{ id: '1', result: { kind: 'delivered' }, invocation: null, tries: 0 }]);
  await queue.release(lease, ['1']);
  expect(options.length).toBeGreaterThan(6);
  expect(options.filter((each) => each?.deadline === undefined)).toEqual([]);
});
