import { expect, test } from 'vitest';
import { MemoryHold, ResultMemory } from './result-memory.ts';

const MIB = 1_048_576;

/** Runs tasks that end when they are let go. */
function running(
  memory: ResultMemory,
  role: string,
  expected: number,
): { readonly hold: MemoryHold; end(): Promise<void>; isBegun(): boolean } {
  const hold = new MemoryHold(memory);
  let isBegun = false;
  let resolve = (): void => undefined;
  const promise = new Promise<void>((end) => {
    resolve = end;
  });
  const run = hold.run({}, expected, { role }, () => {
    isBegun = true;
    return promise;
  });
  return {
    hold,
    isBegun: () => isBegun,
    async end() {
      resolve();
      await run;
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a refusal is passing, unless changes were made: live queries try again before they report it', () => {
  expect(new ResultMemory(1).refusal().isPassing).toBe(true);
  expect(new ResultMemory(1).refusal(true)).toMatchObject({ isPassing: false, message: expect.stringContaining('was committed') });
});

test('expects of a plan what it once answered, after a small answer too', async () => {
  const memory = new ResultMemory(256 * MIB);
  const plan = {};
  const run = async (bytes: number): Promise<number> => {
    const hold = new MemoryHold(memory);
    let expected = 0;
    await hold.run(plan, 0, { role: 'user' }, async () => {
      expected = memory.expected;
      hold.take(bytes);
    });
    hold.release();
    return expected;
  };
  expect(await run(4 * MIB)).toBe(0);
  expect(await run(200)).toBe(4 * MIB);
  expect(await run(200)).toBeGreaterThan(3.9 * MIB);
  expect(memory).toMatchObject({ held: 0, expected: 0 });
});

test('expects of a plan no less than its text shows, whatever it answered', async () => {
  const memory = new ResultMemory(256 * MIB);
  const plan = {};
  for (let i = 0; i < 1000; i++) await new MemoryHold(memory).run(plan, 64 * MIB, { role: 'user' }, async () => undefined);
  await new MemoryHold(memory).run(plan, 64 * MIB, { role: 'user' }, async () => expect(memory.expected).toBe(64 * MIB));
});

test('large answers of one role leave half to other roles, and small ones wait for none', async () => {
  const memory = new ResultMemory(64 * MIB);
  const greedy = [running(memory, 'greedy', 1000 * MIB), running(memory, 'greedy', 10 * MIB)];
  const other = running(memory, 'other', 30 * MIB);
  const small = running(memory, 'greedy', MIB / 2);
  await settled();
  expect([...greedy, other, small].map((each) => each.isBegun())).toEqual([true, false, true, true]);
  await greedy[0]?.end();
  await settled();
  expect(greedy[1]?.isBegun()).toBe(true);
  for (const each of [greedy[1], other, small]) await each?.end();
  expect(memory).toMatchObject({ held: 0, expected: 0 });
});

test('roles with large answers take turns', async () => {
  const memory = new ResultMemory(64 * MIB);
  const first = running(memory, 'a', 32 * MIB);
  const second = running(memory, 'b', 32 * MIB);
  const waiting = ['a', 'a', 'c'].map((role) => running(memory, role, 32 * MIB));
  await first.end();
  await settled();
  expect(waiting.map((each) => each.isBegun())).toEqual([true, false, false]);
  await waiting[0]?.end();
  await settled();
  expect(waiting.map((each) => each.isBegun())).toEqual([true, false, true]);
  await second.end();
  for (const each of [waiting[2], waiting[1]]) await each?.end();
  expect(memory).toMatchObject({ held: 0, expected: 0 });
});

test('a request that holds budget is refused in place of waiting', async () => {
  const memory = new ResultMemory(64 * MIB);
  const large = running(memory, 'user', 32 * MIB);
  const hold = new MemoryHold(memory);
  hold.take(10);
  await expect(hold.run({}, 2 * 32 * MIB, { role: 'user' }, async () => undefined)).rejects.toMatchObject({ status: 503 });
  hold.release();
  await large.end();
  expect(memory).toMatchObject({ held: 0, expected: 0 });
});

test('small answers have an eighth of their own', () => {
  const memory = new ResultMemory(64 * MIB);
  const large = new MemoryHold(memory);
  expect(large.take(63.5 * MIB)).toBe(true);
  expect(large.take(MIB)).toBe(false);
  const small = Array.from({ length: 20 }, () => new MemoryHold(memory));
  expect(small.filter((hold) => hold.take(MIB / 2))).toHaveLength(17);
  for (const hold of [large, ...small]) hold.release();
  expect(memory.held).toBe(0);
});

test('a wait that is over, or of a request that is gone, holds nothing', async () => {
  const memory = new ResultMemory(64 * MIB);
  const large = running(memory, 'user', 32 * MIB);
  const late = new MemoryHold(memory).run({}, 32 * MIB, { role: 'user', deadline: Date.now() }, async () => undefined);
  await expect(late).rejects.toMatchObject({ status: 503 });
  const gone = running(memory, 'user', 32 * MIB);
  gone.hold.release();
  await large.end();
  await expect(gone.end()).rejects.toMatchObject({ status: 503 });
  expect(gone.isBegun()).toBe(false);
  const failing = new MemoryHold(memory).run({}, 32 * MIB, { role: 'user' }, () => Promise.reject(new Error('away')));
  await expect(failing).rejects.toThrow('away');
  expect(memory).toMatchObject({ held: 0, expected: 0 });
});
