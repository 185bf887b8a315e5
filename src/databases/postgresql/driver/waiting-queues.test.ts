import { expect, test } from 'vitest';
import { WaitingQueues } from './waiting-queues.ts';

const queuesOf = (...items: readonly string[]) => {
  const waiting = new WaitingQueues<{ readonly role: string; readonly name: string }>();
  for (const name of items) waiting.push({ role: name[0] as string, name });
  return waiting;
};
const served = (waiting: ReturnType<typeof queuesOf>, canServe: (name: string) => boolean = () => true): string[] => {
  const names: string[] = [];
  while (waiting.serveOne(({ name }) => canServe(name) && names.push(name) > 0));
  return names;
};

test('serves queues alternately and each queue in order', () => {
  const waiting = queuesOf('a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2');
  expect([waiting.size, waiting.sizeOf('a'), waiting.sizeOf('x')]).toEqual([7, 4, 0]);
  expect(served(waiting)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  expect(waiting.size).toBe(0);
});

test('serves other queues while the first item of one cannot be served', () => {
  const waiting = queuesOf('a1', 'a2', 'b1', 'b2');
  expect(served(waiting, (name) => name !== 'a1')).toEqual(['b1', 'b2']);
  expect([...waiting].map(({ name }) => name)).toEqual(['a1', 'a2']);
});

test('removes items that match a condition', () => {
  const waiting = queuesOf('a1', 'a2', 'b1', 'a3');
  expect(waiting.remove(({ name }) => name.endsWith('1')).map(({ name }) => name)).toEqual(['a1', 'b1']);
  expect(served(waiting)).toEqual(['a2', 'a3']);
  expect(waiting.size).toBe(0);
});
