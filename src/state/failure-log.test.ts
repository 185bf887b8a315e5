import { expect, test } from 'vitest';
import { FailureLog } from './failure-log.ts';

test('logs equal failures of a connection after pauses that double up to an hour', () => {
  const log = new FailureLog();
  const connection = {};
  const due: number[] = [];
  for (let minute = 0; minute <= 300; minute += 1) if (log.isDue(connection, 'trg', 'no right', minute * 60_000)) due.push(minute);
  expect(due).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
});

test('logs a failure at once if it is different, of another connection, or new after a recovery', () => {
  const log = new FailureLog();
  const connection = {};
  const due = (of: object, key: string, message: string): boolean => log.isDue(of, key, message, 0);
  expect([due(connection, 'trg', 'a'), due(connection, 'trg', 'a'), due(connection, 'trg', 'b')]).toEqual([true, false, true]);
  expect([due(connection, 'other', 'b'), due({}, 'trg', 'b')]).toEqual([true, true]);
  log.retain(connection, new Set(['other']), 0);
  expect(due(connection, 'trg', 'b')).toBe(false);
  log.retain(connection, new Set(['other']), 1);
  expect([due(connection, 'trg', 'b'), due(connection, 'other', 'b')]).toEqual([true, false]);
});
