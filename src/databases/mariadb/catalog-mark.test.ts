import { expect, it } from 'vitest';
import type { CatalogMark } from '../../backend/backend.ts';
import { readMark } from './catalog-mark.ts';

const SECOND = 1000;

it('looks at definitions while there are more statements of definition, a while after, and once in a while', async () => {
  let [count, looks] = [5, 0];
  const query = async (text: string) => {
    const isCount = text.includes('global_status');
    if (!isCount) looks += 1;
    return { kind: 'TuplesOk', columns: [], rows: [[isCount ? String(count) : 'all']], command: '' } as const;
  };
  let known: CatalogMark | null = null;
  const looked = async (seconds: number): Promise<boolean> => {
    const before = looks;
    known = await readMark(query, known, seconds * SECOND);
    expect(known.definitions).toBe('all');
    return looks > before;
  };
  expect(await looked(0)).toBe(true);
  expect([await looked(4), await looked(9), await looked(12), await looked(40)]).toEqual([true, true, false, false]);
  count = 6;
  expect([await looked(42), await looked(50), await looked(53), await looked(100)]).toEqual([true, true, false, false]);
  expect([await looked(111), await looked(113)]).toEqual([true, false]);
});
