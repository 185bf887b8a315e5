import { expect, test } from 'vitest';
import type { ActionAnswer } from '../ir/action.ts';
import { textOfBytes } from '../util/bytes.ts';
import type { Json } from '../util/json.ts';
import { writeActionAnswer } from './action-answer.ts';
import { AnswerText } from './answer-text.ts';
import { noJoinUsage } from './placeholders.ts';

const NAMES = 50;

test('prints a long value under many names once, cooperatively and without copies', () => {
  let reads = 0;
  const items = Array.from({ length: 20_000 }, (_, i) => ({
    get text(): string {
      reads += 1;
      return `item ${i}`;
    },
  }));
  const fields = Array.from({ length: NAMES }, (_, i) => ({ kind: 'field' as const, responseKey: `a${i}`, name: 'any', fields: null }));
  const answer = { type: { kind: 'named', name: 'Found', nonNull: false }, expects: { kind: 'anything' }, fields } as ActionAnswer;
  const text = new AnswerText({ maxKeys: 0, maxBytes: 1e9, usage: noJoinUsage() });
  const work = writeActionAnswer({ any: items as Json }, answer, { text, placeholderName: '' });
  let pauses = 0;
  while (work.next().done !== true) pauses += 1;
  const pieces = text.take();
  // Each item is measured once or twice and printed once, not once per name.
  expect(reads).toBeLessThan(3 * items.length);
  expect(pauses).toBeGreaterThan(20);
  // Each piece of the value is one string, however often it is printed.
  expect(new Set(pieces.filter(({ length }) => length > 10_000)).size).toBeLessThan(pieces.length / NAMES + 10);
  const printed = JSON.parse(textOfBytes(pieces)) as Record<string, unknown>;
  expect(Object.keys(printed)).toHaveLength(NAMES);
  expect(printed[`a${NAMES - 1}`]).toEqual(items.map(({ text: own }) => ({ text: own })));
});
