import { expect, test } from 'vitest';
import type { Source, TransactionOptions } from '../../../backend/backend.ts';
import { postgresqlCaptures } from './captures.ts';
import type { RunOptions } from '../../../backend/connection.ts';

test('runs every statement about events with a deadline', async () => {
  const unlimited: string[] = [];
  const statements: string[] = [];
  const source = {
    query: async (text: string, _values: unknown, options: RunOptions = {}) => answer(text, options),
    runSql: async (text: string, options: RunOptions) => answer(text, options),
    transaction: async (options: TransactionOptions, run: (within: unknown) => Promise<unknown>) => {
      if (options.deadline === undefined) unlimited.push('a transaction');
      return run(source);
    },
  };
  function answer(text: string, { deadline }: RunOptions): object {
    statements.push(text);
    if (deadline === undefined) unlimited.push(text);
    // The event tables exist.
    const value = text.includes('count(*)') || text.includes('version') ? '10' : text.includes('relname') ? 'x' : null;
    return { kind: 'TuplesOk', columns: [], rows: value === null ? [] : [[value]], command: 'UPDATE 0' };
  }
  const captures = postgresqlCaptures(source as unknown as Source, {
    extensionsSchema: 'public',
    stringifyNumericTypes: false,
    notify: true,
  });
  const filter = { state: 'any' } as const;
  const specs = [{ trigger: 't', batchSize: 1, clearOlderThan: 1, timeout: 1, cleanInvocationLogs: false }];
  const page = { limit: 1, offset: 0 };
  const calls = [
    captures.isTaken('t', 'us'),
    captures.retain([], { owner: 'us', settled: 1, removed: ['u'] }),
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
  await Promise.allSettled(calls);
  expect(statements.length).toBeGreaterThan(calls.length);
  expect(unlimited).toEqual([]);
});
