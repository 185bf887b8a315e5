import { expect, test } from 'vitest';
import { MemoryReservation, ResultMemory } from './result-memory.ts';

const MIB = 1_048_576;

/** Runs tasks that end on demand. */
function running(
  memory: ResultMemory,
  role: string,
  expected: number,
): { readonly reservation: MemoryReservation; end(): Promise<void>; isBegun(): boolean } {
  const reservation = new MemoryReservation(memory);
  let isBegun = false;
  let resolve = (): void => undefined;
  const promise = new Promise<void>((end) => {
    resolve = end;
  });
  const run = reservation.run({}, expected, { role }, () => {
    isBegun = true;
    return promise;
  });
  return {
    reservation,
    isBegun: () => isBegun,
    async end() {
      resolve();
      await run;
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('marks a refusal as transient unless changes were committed', () => {
  expect(new ResultMemory(1).refusal().isTransient).toBe(true);
  expect(new ResultMemory(1).refusal(true)).toMatchObject({ isTransient: false, message: expect.stringContaining('was committed') });
});

test("reserves the size of a plan's earlier results, even after a small one", async () => {
  const memory = new ResultMemory(256 * MIB);
  const plan = {};
  const run = async (bytes: number): Promise<number> => {
    const reservation = new MemoryReservation(memory);
    let expected = 0;
    await reservation.run(plan, 0, { role: 'user' }, async () => {
      expected = memory.reserved;
      reservation.take(bytes);
    });
    reservation.release();
    return expected;
  };
  expect(await run(4 * MIB)).toBe(0);
  expect(await run(200)).toBe(4 * MIB);
  expect(await run(200)).toBeGreaterThan(3.9 * MIB);
  expect(memory).toMatchObject({ used: 0, reserved: 0 });
});

test("reserves at least the size that the plan's text implies", async () => {
  const memory = new ResultMemory(256 * MIB);
  const plan = {};
  for (let i = 0; i < 1000; i++) await new MemoryReservation(memory).run(plan, 64 * MIB, { role: 'user' }, async () => undefined);
  await new MemoryReservation(memory).run(plan, 64 * MIB, { role: 'user' }, async () => expect(memory.reserved).toBe(64 * MIB));
});

test('leaves half of the memory to other roles, and never delays small results', async () => {
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
  expect(memory).toMatchObject({ used: 0, reserved: 0 });
});

test('serves roles with large results in turn', async () => {
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
  expect(memory).toMatchObject({ used: 0, reserved: 0 });
});

test('rejects a request that holds memory instead of letting it wait', async () => {
  const memory = new ResultMemory(64 * MIB);
  const large = running(memory, 'user', 32 * MIB);
  const reservation = new MemoryReservation(memory);
  reservation.take(10);
  await expect(reservation.run({}, 2 * 32 * MIB, { role: 'user' }, async () => undefined)).rejects.toMatchObject({ status: 503 });
  reservation.release();
  await large.end();
  expect(memory).toMatchObject({ used: 0, reserved: 0 });
});

test('lets small results exceed the limit by an eighth', () => {
  const memory = new ResultMemory(64 * MIB);
  const large = new MemoryReservation(memory);
  expect(large.take(63.5 * MIB)).toBe(true);
  expect(large.take(MIB)).toBe(false);
  const small = Array.from({ length: 20 }, () => new MemoryReservation(memory));
  expect(small.filter((reservation) => reservation.take(MIB / 2))).toHaveLength(17);
  for (const reservation of [large, ...small]) reservation.release();
  expect(memory.used).toBe(0);
});

test('releases the reservation after a timeout or a cancellation', async () => {
  const memory = new ResultMemory(64 * MIB);
  const large = running(memory, 'user', 32 * MIB);
  const late = new MemoryReservation(memory).run({}, 32 * MIB, { role: 'user', deadline: Date.now() }, async () => undefined);
  await expect(late).rejects.toMatchObject({ status: 503 });
  const gone = running(memory, 'user', 32 * MIB);
  gone.reservation.release();
  await large.end();
  await expect(gone.end()).rejects.toMatchObject({ status: 503 });
  expect(gone.isBegun()).toBe(false);
  const failing = new MemoryReservation(memory).run({}, 32 * MIB, { role: 'user' }, () => Promise.reject(new Error('away')));
  await expect(failing).rejects.toThrow('away');
  expect(memory).toMatchObject({ used: 0, reserved: 0 });
});
