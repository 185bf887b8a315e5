/**
 * What is read while events are worked on, answers of handlers above all, within a bound over all events of an instance: whoever
 * reads more waits. One of them need not, so that there is always one that comes to its end and gives back what it has.
 */

/** Bytes that all may hold; besides them one may hold what it needs, and each the first few. */
const MOST_HELD = 32 * 1024 * 1024;
/** Bytes that never wait: answers are small, mostly. */
const FREE = 64 * 1024;

/** Hears of bytes that were read; a promise: no more should be read until it resolves. */
export type Hold = (bytes: number) => Promise<void> | null;

/** Of one event. */
export interface Holding {
  readonly hold: Hold;
  /** Gives all of it back. What is held afterwards counts nothing and waits for nothing. */
  end(): void;
}

export interface Holdings {
  open(): Holding;
}

interface Waiting {
  readonly of: Holding;
  readonly go: () => void;
}

/** @param most bytes */
export function createHoldings(most: number = MOST_HELD): Holdings {
  let held = 0;
  /** Need not wait. */
  let first: Holding | undefined;
  /** In the order in which they came. */
  let waiting: Waiting[] = [];

  function goOn(): void {
    if (first === undefined && waiting[0] !== undefined) first = waiting[0].of;
    const isFull = held >= most;
    const going = waiting.filter(({ of }) => !isFull || of === first);
    waiting = waiting.filter((each) => !going.includes(each));
    for (const { go } of going) go();
  }

  return {
    open() {
      let own = 0;
      let hasEnded = false;
      const holding: Holding = {
        hold(bytes) {
          if (hasEnded) return null;
          own += bytes;
          held += bytes;
          if (held < most || own <= FREE) return null;
          first ??= holding;
          if (first === holding) return null;
          return new Promise((go) => waiting.push({ of: holding, go }));
        },
        end() {
          if (hasEnded) return;
          hasEnded = true;
          held -= own;
          if (first === holding) first = undefined;
          const mine = waiting.filter(({ of }) => of === holding);
          waiting = waiting.filter(({ of }) => of !== holding);
          for (const { go } of mine) go();
          goOn();
        },
      };
      return holding;
    },
  };
}
