import { expect, it } from 'vitest';
import type { CatalogFingerprint } from '../../backend/backend.ts';
import { readCatalogFingerprint } from './catalog-fingerprint.ts';

const SECOND = 1000;

it('reads definitions while the count of DDL statements changes, for a while after that, and at intervals', async () => {
  let [count, looks] = [5, 0];
  const query = async (text: string) => {
    const isCount = text.includes('global_status');
    if (!isCount) looks += 1;
    return { kind: 'TuplesOk', columns: [], rows: [[isCount ? String(count) : 'all']], command: '' } as const;
  };
  let known: CatalogFingerprint | null = null;
  const looked = async (seconds: number): Promise<boolean> => {
    const before = looks;
    known = await readCatalogFingerprint(query, known, seconds * SECOND);
    expect(known.definitions).toBe('all');
    return looks > before;
  };
  expect(await looked(0)).toBe(true);
  expect([await looked(4), await looked(9), await looked(12), await looked(40)]).toEqual([true, true, false, false]);
  count = 6;
  expect([await looked(42), await looked(50), await looked(53), await looked(100)]).toEqual([true, true, false, false]);
  expect([await looked(111), await looked(113)]).toEqual([true, false]);
});
