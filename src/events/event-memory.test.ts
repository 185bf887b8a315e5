import { describe, expect, it } from 'vitest';
import { createEventMemory, type EventReservation } from './event-memory.ts';

const MOST = 1_000_000;
const PIECE = 60_000;

/** Reads a number of pieces, each when there is memory. @returns the number read so far */
function reader(of: EventReservation, pieces: number): { read: number } {
  const state = { read: 0 };
  void (async () => {
    while (state.read < pieces) {
      state.read += 1;
      await of.reserve(PIECE);
    }
  })();
  return state;
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the memory of events', () => {
  it('is limited in total, except for one event and the first bytes of each', async () => {
    const memory = createEventMemory(MOST);
    const opened = Array.from({ length: 5 }, () => memory.open());
    const readers = opened.map((each) => reader(each, 30));
    await settled();
    const total = (): number => readers.reduce((sum, { read }) => sum + read, 0) * PIECE;
    expect(readers.filter(({ read }) => read === 30)).toHaveLength(1);
    expect(total()).toBeLessThanOrEqual(MOST + 30 * PIECE + opened.length * 2 * PIECE);
    const small = memory.open();
    expect(small.reserve(PIECE)).toBeNull();
    // The next event finishes only after the first has released its memory.
    for (let ended = 1; ended <= 5; ended++) {
      expect(readers.filter(({ read }) => read === 30).length).toBeGreaterThanOrEqual(ended);
      for (const [i, each] of opened.entries()) if (readers[i]?.read === 30) each.end();
      await settled();
      if (readers.every(({ read }) => read === 30)) break;
    }
    expect(readers.map(({ read }) => read)).toEqual([30, 30, 30, 30, 30]);
  });

  it('does not wait after the end of the event', async () => {
    const memory = createEventMemory(MOST);
    const [first, second] = [memory.open(), memory.open()];
    expect(first.reserve(2 * MOST)).toBeNull();
    const room = second.reserve(MOST);
    expect(room).not.toBeNull();
    second.end();
    await room;
    expect(second.reserve(MOST)).toBeNull();
    first.end();
    // Both have released their memory.
    const third = memory.open();
    expect(third.reserve(MOST - 1)).toBeNull();
    expect(memory.open().reserve(PIECE + 10_000)).toBeNull();
  });
});
