/** A sleep that can be interrupted. */
export interface Waker {
  /** Ends the current sleep, or the next one at once. */
  wake(): void;
  wait(ms: number): Promise<void>;
  /** Discards earlier calls of `wake`. */
  reset(): void;
}

export function createWaker(): Waker {
  let isAwake = false;
  let end: (() => void) | undefined;
  return {
    wake() {
      isAwake = true;
      end?.();
    },
    async wait(ms) {
      if (!isAwake) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      end = undefined;
      isAwake = false;
    },
    reset() {
      isAwake = false;
    },
  };
}
