import { expect, test } from 'vitest';
import type { Source, TransactionOptions } from '../../../backend/backend.ts';
import { postgresqlCaptures } from './captures.ts';
import type { RunOptions } from '../../../backend/connection.ts';

test('no statement about events waits for ever', async () => {
  const open: string[] = [];
  const asked: string[] = [];
  const source = {
    query: async (text: string, _values: unknown, how: RunOptions = {}) => heard(text, how),
    runSql: async (text: string, how: RunOptions) => heard(text, how),
    transaction: async (options: TransactionOptions, run: (within: unknown) => Promise<unknown>) => {
      if (options.deadline === undefined) open.push('a transaction');
      return run(source);
    },
  };
  function heard(text: string, { deadline }: RunOptions): object {
    asked.push(text);
    if (deadline === undefined) open.push(text);
    // Tables of events are there.
    const answer = text.includes('count(*)') || text.includes('version') ? '10' : text.includes('relname') ? 'x' : null;
    return { kind: 'TuplesOk', columns: [], rows: answer === null ? [] : [[answer]], command: 'UPDATE 0' };
  }
  const captures = postgresqlCaptures(source as unknown as Source, {
    extensionsSchema: 'public',
    stringifyNumericTypes: false,
    notify: true,
  });
  const filter = { state: 'any' } as const;
  const specs = [{ trigger: 't', batchSize: 1, clearOlderThan: 1, timeout: 1, cleanInvocationLogs: false }];
  const page = { limit: 1, offset: 0 };
  const tried = [
    captures.isTaken('t', 'us'),
    captures.retain([], { owner: 'us', settled: 1, gone: ['u'] }),
    captures.uninstall('us'),
    captures.redeliver('an id'),
    captures.redeliverAll(filter, null),
    captures.list(filter, page),
    captures.count(filter),
    captures.invocations('t', page),
    captures.event('an id', page),
    captures.plannedCleanups(),
    captures.planCleanups('t', []),
    captures.forgetCleanups([]),
    captures.replanCleanups('t', []),
    captures.takeDueCleanups(),
    captures.endCleanup('an id', 'dead', { events: 0, invocations: 0 }),
    captures.cleanUp(() => specs.pop() ?? null, {}),
  ];
  await Promise.allSettled(tried);
  expect(asked.length).toBeGreaterThan(tried.length);
  expect(open).toEqual([]);
});
