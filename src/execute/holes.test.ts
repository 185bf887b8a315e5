import { describe, expect, test } from 'vitest';
import type { JoinStep } from '../plan/plan.ts';
import { type Bytes, bytesOfText, textOfBytes } from '../util/bytes.ts';
import { ROOT } from '../util/path.ts';
import { Holes, holeText, type Key, newHoleName } from './holes.ts';

const NAME = newHoleName();
const steps = ['null', '[]', 'ask'].map((withoutKey) => ({ kind: 'remote', path: ROOT, target: { withoutKey } }) as unknown as JoinStep);
const BOUNDS = { maxKeys: 10_000, maxBytes: 10_000_000 };

/** Answers keys with what they are. */
async function filled(
  text: string,
  answer = (key: Key): string => JSON.stringify(key),
): Promise<{ pieces: readonly Bytes[]; asked: Key[] }> {
  const asked: Key[] = [];
  const ask = async (_step: JoinStep, keys: readonly Key[]): Promise<readonly Bytes[]> => {
    asked.push(...keys);
    return keys.map((key) => bytesOfText(answer(key)));
  };
  const [pieces = []] = await new Holes(steps, NAME, ask, BOUNDS).fill([bytesOfText(text)]);
  return { pieces, asked };
}

test('no two requests have the same name', () => {
  const names = Array.from({ length: 2000 }, newHoleName);
  expect(new Set(names).size).toBe(2000);
  expect(names.every((name) => /^[\w-]{22}$/.test(name))).toBe(true);
});

describe('a hole', () => {
  test.each<[string, Key]>([
    ['of a number', ['12']],
    ['of a text that looks like a hole', ['";["\\\\"]:0;']],
    ['of letters beyond ASCII', ['ünï 🎈']],
    ['of nothing', ['']],
    ['of several parts', ['a"]', 'b;', null]],
    ['of no part', []],
  ])('%s is found, whoever writes it, and its key is what it was', async (_, key) => {
    const list = JSON.stringify([`${NAME}:2`, ...key]);
    for (const hole of [holeText(NAME, 2, key), list, list.replaceAll('","', '", "')]) {
      const { pieces, asked } = await filled(`{"a":${hole},"b":[1]}`);
      expect(asked).toEqual([key]);
      expect(textOfBytes(pieces)).toBe(`{"a":${JSON.stringify(key)},"b":[1]}`);
    }
  });

  test('without a key is what stands for it, or is asked for', async () => {
    const { pieces, asked } = await filled(
      `[{"a":${holeText(NAME, 0, [null])},"b":${holeText(NAME, 1, [null])},"c":${holeText(NAME, 2, [null])}}]`,
    );
    expect(textOfBytes(pieces)).toBe('[{"a":null,"b":[],"c":[null]}]');
    expect(asked).toEqual([[null]]);
  });

  test('is asked for once, however often its key is there', async () => {
    const { asked } = await filled(`[${Array.from({ length: 50 }, (_, i) => `{"a":${holeText(NAME, 2, [String(i % 3)])}}`).join()}]`);
    expect(asked).toEqual([['0'], ['1'], ['2']]);
  });
});

test('what is put together comes in few pieces, and long pieces are left as they are', async () => {
  const long = `"${'x'.repeat(100_000)}"`;
  const row = (key: string): string => `{"a":${holeText(NAME, 2, [key])}}`;
  const rows = Array.from({ length: 2000 }, (_, i) => row(i === 1000 ? 'long' : String(i)));
  const { pieces } = await filled(`[${rows.join()}]`, ([key = '']) => (key === 'long' ? long : `"${key as string}"`));
  expect(pieces).toHaveLength(3);
  expect(pieces[1]).toBe(long);
  expect(JSON.parse(textOfBytes(pieces))).toHaveLength(2000);
});
