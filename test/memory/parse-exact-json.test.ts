import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { parseExactJson } from '../../src/model/parse-exact-json.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test.each([
  ['a string of medium length', `"${'x'.repeat(20)}"`],
  ['a long string', `"${'x'.repeat(200)}"`],
  ['a key', `{"${'k'.repeat(20)}":1}`],
  ['a number', '123456789012345678901234567890'],
])('keeps only %s of its text in memory', (_title, value) => {
  const kept: unknown[] = [];
  const before = heap();
  for (let i = 0; i < 20; i++) {
    const text = `{"kept":${value},"spaces":1.00${' '.repeat(1_000_000)}${i}}`.replace(/\d+\}$/, '}');
    kept.push((parseExactJson(text, (number) => number) as { kept: unknown }).kept);
  }
  expect(heap() - before).toBeLessThan(5_000_000);
  expect(kept).toHaveLength(20);
});
