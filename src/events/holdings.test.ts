import { describe, expect, it } from 'vitest';
import { createHoldings, type Holding } from './holdings.ts';

const MOST = 1_000_000;
const PIECE = 60_000;

/** Reads so many pieces, each when there is room. @returns how many it has read */
function reader(of: Holding, pieces: number): { read: number } {
  const state = { read: 0 };
  void (async () => {
    while (state.read < pieces) {
      state.read += 1;
      await of.hold(PIECE);
    }
  })();
  return state;
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('what is read while events are worked on', () => {
  it('is bounded together, but for one that comes to its end and the first of each', async () => {
    const holdings = createHoldings(MOST);
    const opened = Array.from({ length: 5 }, () => holdings.open());
    const readers = opened.map((each) => reader(each, 30));
    await settled();
    const total = (): number => readers.reduce((sum, { read }) => sum + read, 0) * PIECE;
    expect(readers.filter(({ read }) => read === 30)).toHaveLength(1);
    expect(total()).toBeLessThanOrEqual(MOST + 30 * PIECE + opened.length * 2 * PIECE);
    const small = holdings.open();
    expect(small.hold(PIECE)).toBeNull();
    // Not before what the first one holds is given back does the next one come to its end.
    for (let ended = 1; ended <= 5; ended++) {
      expect(readers.filter(({ read }) => read === 30).length).toBeGreaterThanOrEqual(ended);
      for (const [i, each] of opened.entries()) if (readers[i]?.read === 30) each.end();
      await settled();
      if (readers.every(({ read }) => read === 30)) break;
    }
    expect(readers.map(({ read }) => read)).toEqual([30, 30, 30, 30, 30]);
  });

  it('waits no more once it has ended', async () => {
    const holdings = createHoldings(MOST);
    const [first, second] = [holdings.open(), holdings.open()];
    expect(first.hold(2 * MOST)).toBeNull();
    const room = second.hold(MOST);
    expect(room).not.toBeNull();
    second.end();
    await room;
    expect(second.hold(MOST)).toBeNull();
    first.end();
    // Both have given everything back.
    const third = holdings.open();
    expect(third.hold(MOST - 1)).toBeNull();
    expect(holdings.open().hold(PIECE + 10_000)).toBeNull();
  });
});
