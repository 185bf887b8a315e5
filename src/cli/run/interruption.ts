/** Interruption of `svc permissions test` by a signal: time for the teardown, and an end at once by a second signal. */
import { EXIT, type ExitCode, failure } from '../../project/failure.ts';
import type { TestSuite } from '../../project/permissions/test-files.ts';
import { SAME_SIGNAL_MS } from '../signals.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type Signal = (typeof SIGNALS)[number];

const EXITS: Readonly<Record<Signal, ExitCode>> = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated };

/** Time for the setup or the test that runs when the signal arrives, in ms. */
const TEST_MS = 3_000;
/** Time until the end of the teardown, in ms. Containers are killed 10 s after SIGTERM. */
const TEARDOWN_MS = 8_000;

export class Interruption {
  readonly #progress: (message: string) => void;
  readonly #tests = new AbortController();
  readonly #teardown = new AbortController();
  /** Resolves when the signal arrives. */
  readonly arrival: Promise<void>;
  #onArrival: () => void = () => undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  #isListening = false;
  #arrived: { readonly signal: Signal; readonly at: number } | undefined;
  #running: TestSuite | undefined;

  constructor(progress: (message: string) => void) {
    this.#progress = progress;
    this.arrival = new Promise((resolve) => {
      this.#onArrival = resolve;
    });
  }

  /** Reason for tests that do not run; `undefined` before the signal. */
  get reason(): string | undefined {
    return this.#arrived && `interrupted by ${this.#arrived.signal}`;
  }

  /** Exit code of the command; `undefined` before the signal. */
  get exit(): ExitCode | undefined {
    return this.#arrived && EXITS[this.#arrived.signal];
  }

  /** Cancels requests of setup and tests, some time after the signal. */
  get forTests(): AbortSignal {
    return this.#tests.signal;
  }

  /** Cancels requests of a teardown, some time after the signal. */
  get forTeardown(): AbortSignal {
    return this.#teardown.signal;
  }

  /** Runs work during which signals do not end the process. May be nested. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isListening) return work();
    this.#isListening = true;
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    try {
      return await work();
    } finally {
      for (const signal of SIGNALS) process.off(signal, this.#onSignal);
      for (const timer of this.#timers) clearTimeout(timer);
      this.#isListening = false;
    }
  }

  /** Runs the tests of a file, which messages about the signal name. */
  async runs<T>(suite: TestSuite, work: () => Promise<T>): Promise<T> {
    this.#running = suite;
    try {
      return await work();
    } finally {
      this.#running = undefined;
    }
  }

  readonly #onSignal = (signal: Signal): void => {
    const teardown = this.#running?.teardown && `the teardown of ${this.#running.file}`;
    if (this.#arrived === undefined) {
      this.#arrived = { signal, at: Date.now() };
      if (this.#running !== undefined)
        this.#progress(
          `${signal}: no further test starts${teardown === undefined ? '' : `, and ${teardown} follows`}. Another signal ends the command at once`,
        );
      for (const [controller, ms] of [
        [this.#tests, TEST_MS],
        [this.#teardown, TEARDOWN_MS],
      ] as const)
        this.#timers.push(setTimeout(() => controller.abort(failure('interrupted', `interrupted by ${signal}, no answer`)), ms));
      this.#onArrival();
    } else if (Date.now() - this.#arrived.at >= SAME_SIGNAL_MS) {
      const left = teardown === undefined ? '' : `: ${teardown} did not end, and what its setup and tests wrote may stay`;
      process.stderr.write(`error: ended by a second signal${left}\n`);
      process.exit(EXITS[signal]);
    }
  };
}
