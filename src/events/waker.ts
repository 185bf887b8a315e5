/** A sleep that can be ended. */
export interface Waker {
  /** Ends the sleep, or the next one before it begins. */
  wake(): void;
  wait(ms: number): Promise<void>;
  /** Forgets that it was woken. */
  rest(): void;
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
    rest() {
      isAwake = false;
    },
  };
}
