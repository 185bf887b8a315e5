import { describe, expect, test } from 'vitest';
import type { JoinStep } from '../plan/plan.ts';
import { type Bytes, bytesOfText, textOfBytes } from '../util/bytes.ts';
import { ROOT } from '../util/path.ts';
import { PlaceholderFiller, placeholderText, type Key, newPlaceholderName } from './placeholders.ts';

const NAME = newPlaceholderName();
const steps = ['null', '[]', 'ask'].map((withoutKey) => ({ kind: 'remote', path: ROOT, target: { withoutKey } }) as unknown as JoinStep);
const BOUNDS = { maxKeys: 10_000, maxBytes: 10_000_000 };

/** Returns each key as its result. */
async function filled(
  text: string,
  answer = (key: Key): string => JSON.stringify(key),
): Promise<{ pieces: readonly Bytes[]; requested: Key[] }> {
  const requested: Key[] = [];
  const ask = async (_step: JoinStep, keys: readonly Key[]): Promise<readonly Bytes[]> => {
    requested.push(...keys);
    return keys.map((key) => bytesOfText(answer(key)));
  };
  const [pieces = []] = await new PlaceholderFiller(steps, NAME, ask, BOUNDS).fill([bytesOfText(text)]);
  return { pieces, requested };
}

test('gives each request its own placeholder name', () => {
  const names = Array.from({ length: 2000 }, newPlaceholderName);
  expect(new Set(names).size).toBe(2000);
  expect(names.every((name) => /^[\w-]{22}$/.test(name))).toBe(true);
});

describe('a placeholder', () => {
  test.each<[string, Key]>([
    ['of a number', ['12']],
    ['of a text that looks like a placeholder', ['";["\\\\"]:0;']],
    ['of letters beyond ASCII', ['ünï 🎈']],
    ['of nothing', ['']],
    ['of several parts', ['a"]', 'b;', null]],
    ['of no part', []],
  ])('is found with its key: %s', async (_, key) => {
    const list = JSON.stringify([`${NAME}:2`, ...key]);
    for (const placeholder of [placeholderText(NAME, 2, key), list, list.replaceAll('","', '", "')]) {
      const { pieces, requested } = await filled(`{"a":${placeholder},"b":[1]}`);
      expect(requested).toEqual([key]);
      expect(textOfBytes(pieces)).toBe(`{"a":${JSON.stringify(key)},"b":[1]}`);
    }
  });

  test('without a key is a fixed text, or is fetched', async () => {
    const { pieces, requested } = await filled(
      `[{"a":${placeholderText(NAME, 0, [null])},"b":${placeholderText(NAME, 1, [null])},"c":${placeholderText(NAME, 2, [null])}}]`,
    );
    expect(textOfBytes(pieces)).toBe('[{"a":null,"b":[],"c":[null]}]');
    expect(requested).toEqual([[null]]);
  });

  test('is fetched once per distinct key', async () => {
    const { requested } = await filled(
      `[${Array.from({ length: 50 }, (_, i) => `{"a":${placeholderText(NAME, 2, [String(i % 3)])}}`).join()}]`,
    );
    expect(requested).toEqual([['0'], ['1'], ['2']]);
  });
});

test('joins short pieces and leaves long ones unchanged', async () => {
  const long = `"${'x'.repeat(100_000)}"`;
  const row = (key: string): string => `{"a":${placeholderText(NAME, 2, [key])}}`;
  const rows = Array.from({ length: 2000 }, (_, i) => row(i === 1000 ? 'long' : String(i)));
  const { pieces } = await filled(`[${rows.join()}]`, ([key = '']) => (key === 'long' ? long : `"${key as string}"`));
  expect(pieces).toHaveLength(3);
  expect(pieces[1]).toBe(long);
  expect(JSON.parse(textOfBytes(pieces))).toHaveLength(2000);
});
