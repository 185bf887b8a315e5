import { expect, test } from 'vitest';
import { WaitingLines } from './waiting-line.ts';

const lines = (...items: readonly string[]) => {
  const waiting = new WaitingLines<{ readonly turn: string; readonly name: string }>();
  for (const name of items) waiting.push({ turn: name[0] as string, name });
  return waiting;
};
const served = (waiting: ReturnType<typeof lines>, take: (name: string) => boolean = () => true): string[] => {
  const names: string[] = [];
  while (waiting.serveOne(({ name }) => take(name) && names.push(name) > 0));
  return names;
};

test('lines take turns, and within a line the first comes first', () => {
  const waiting = lines('a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2');
  expect([waiting.size, waiting.sizeOf('a'), waiting.sizeOf('x')]).toEqual([7, 4, 0]);
  expect(served(waiting)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  expect(waiting.size).toBe(0);
});

test('who cannot be served does not hold up the other lines', () => {
  const waiting = lines('a1', 'a2', 'b1', 'b2');
  expect(served(waiting, (name) => name !== 'a1')).toEqual(['b1', 'b2']);
  expect([...waiting].map(({ name }) => name)).toEqual(['a1', 'a2']);
});

test('some leave', () => {
  const waiting = lines('a1', 'a2', 'b1', 'a3');
  expect(waiting.remove(({ name }) => name.endsWith('1')).map(({ name }) => name)).toEqual(['a1', 'b1']);
  expect(served(waiting)).toEqual(['a2', 'a3']);
  expect(waiting.size).toBe(0);
});
