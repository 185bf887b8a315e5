export interface Stoppable {
  /** Stops everything in order. */
  stop(): Promise<void>;
  /** Called instead of waiting any longer, right before the process exits. */
  abandon(): void;
  failed(message: string, error: unknown): void;
}

/** Signals within this time count as one, in ms: npm forwards the Ctrl-C that the terminal has sent to npm and to its script. */
export const SAME_SIGNAL_MS = 500;

/**
 * Stops the service on the first SIGINT, SIGTERM or SIGHUP (a terminal that is closed) with exit code 0, and exits on the second with 130.
 * An uncaught error leaves unknown state behind, so it also stops the service (exit code 1).
 * @returns a function that removes the handlers
 */
export function stopOnSignals(service: Stoppable): () => void {
  let stoppingSince: number | undefined;
  const finish = (code: number): void => {
    stoppingSince = Date.now();
    service.stop().then(
      () => process.exit(code),
      (error: unknown) => {
        service.failed('the service did not stop cleanly', error);
        service.abandon();
        process.exit(1);
      },
    );
  };
  const onSignal = (): void => {
    if (stoppingSince === undefined) {
      finish(0);
    } else if (Date.now() - stoppingSince >= SAME_SIGNAL_MS) {
      service.abandon();
      process.exit(130);
    }
  };
  const onDefect = (error: unknown): void => {
    service.failed('uncaught error', error);
    if (stoppingSince === undefined) finish(1);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onSignal);
  process.on('uncaughtException', onDefect);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('SIGHUP', onSignal);
    process.off('uncaughtException', onDefect);
  };
}
