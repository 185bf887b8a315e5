export interface Stoppable {
  /** Ends everything in order. */
  stop(): Promise<void>;
  /** Called in place of waiting any longer, just before the process ends. */
  abandon(): void;
  failed(message: string, error: unknown): void;
}

/** npm passes on to its script the Ctrl-C that the terminal has sent to both of them. */
const SAME_SIGNAL_MS = 500;

/**
 * Stops the service at the first SIGINT or SIGTERM (exit code 0) and ends the process at the second. An error that
 * nobody caught leaves unknown state behind, so that stops it as well (exit code 1).
 * @returns what takes the handlers away again
 */
export function stopOnSignals(service: Stoppable): () => void {
  let stoppingSince: number | undefined;
  const finish = (code: number): void => {
    stoppingSince = Date.now();
    service.stop().then(
      () => process.exit(code),
      (error: unknown) => {
        service.failed('the service did not stop in order', error);
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
    service.failed('an error that nobody caught', error);
    if (stoppingSince === undefined) finish(1);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('uncaughtException', onDefect);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
    process.off('uncaughtException', onDefect);
  };
}
