import type { Observer } from '../observability/observation.ts';
import type { RunningState } from '../state/create-state.ts';
import type { Storage } from '../storage/storage.ts';

/**
 * Follows what other instances on the same metadata database change, by polling its version.
 * @param interval ms between looks; 0 never looks
 */
export function keepInStep(state: RunningState, storage: Storage, interval: number, observe: Observer): { stop(): void } {
  let stopped = interval === 0;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;
  const look = async (): Promise<void> => {
    try {
      if ((await storage.currentVersion()) !== state.current().resourceVersion) await state.synchronize();
      failing = false;
    } catch (error) {
      if (!failing && !stopped) {
        observe({
          kind: 'source',
          source: 'metadata',
          event: 'unreachable',
          message: error instanceof Error ? error.message : String(error),
        });
      }
      failing = true;
    }
    schedule();
  };
  const schedule = (): void => {
    if (stopped) return;
    timer = setTimeout(() => void look(), interval);
    timer.unref();
  };
  schedule();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
