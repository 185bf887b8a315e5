/**
 * Limits the memory for data that is read while events are processed, mostly responses of handlers, over all events of an instance.
 * Reading beyond the limit waits. One event never waits, so that it always finishes and releases its memory.
 */

/** Default limit in bytes; the event that never waits, and the free bytes of each event, may exceed it. */
const MAX_SIZE = 32 * 1024 * 1024;
/** Number of bytes that each event may read without waiting; most responses are smaller. */
const FREE_SIZE = 64 * 1024;

/** Called with the size of data that was read. Returns a promise if reading must pause until it resolves. */
export type ReserveMemory = (bytes: number) => Promise<void> | null;

/** The memory of one event. */
export interface EventReservation {
  readonly reserve: ReserveMemory;
  /** Releases the memory. Later reservations do not count and do not wait. */
  end(): void;
}

export interface EventMemory {
  open(): EventReservation;
}

interface Waiter {
  readonly of: EventReservation;
  readonly resolve: () => void;
}

/** @param limit in bytes */
export function createEventMemory(limit: number = MAX_SIZE): EventMemory {
  let used = 0;
  /** The event that never waits. */
  let first: EventReservation | undefined;
  /** First in, first out. */
  let waiters: Waiter[] = [];

  function resume(): void {
    if (first === undefined && waiters[0] !== undefined) first = waiters[0].of;
    const isFull = used >= limit;
    const ready = waiters.filter(({ of }) => !isFull || of === first);
    waiters = waiters.filter((each) => !ready.includes(each));
    for (const { resolve } of ready) resolve();
  }

  return {
    open() {
      let own = 0;
      let hasEnded = false;
      const reservation: EventReservation = {
        reserve(bytes) {
          if (hasEnded) return null;
          own += bytes;
          used += bytes;
          if (used < limit || own <= FREE_SIZE) return null;
          first ??= reservation;
          if (first === reservation) return null;
          return new Promise((resolve) => waiters.push({ of: reservation, resolve }));
        },
        end() {
          if (hasEnded) return;
          hasEnded = true;
          used -= own;
          if (first === reservation) first = undefined;
          const ready = waiters.filter(({ of }) => of === reservation);
          waiters = waiters.filter(({ of }) => of !== reservation);
          for (const { resolve } of ready) resolve();
          resume();
        },
      };
      return reservation;
    },
  };
}
