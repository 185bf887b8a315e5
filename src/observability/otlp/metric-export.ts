/** Exports all metrics at an interval. */
import { within } from './batch-queue.ts';
import { encodeMetrics, type ExportedMetric } from './metrics.ts';
import type { TelemetryResource } from './wire.ts';

export interface MetricExportOptions {
  /** In ms. */
  readonly interval: number;
  readonly collect: () => Promise<readonly ExportedMetric[]>;
  readonly resource: TelemetryResource;
  /** Never throws. @returns false if the request was not accepted */
  readonly send: (request: Buffer) => Promise<boolean>;
  /** Called if the metrics cannot be collected. */
  readonly onFault: (error: unknown) => void;
}

export class MetricExport {
  readonly #options: MetricExportOptions;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: MetricExportOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Exports once more, for at most `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const last = async (): Promise<void> => {
      await this.#sending;
      await this.#export();
    };
    await within(last(), limitMs);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#sending = this.#export().finally(() => {
        this.#sending = null;
        if (!this.#isStopped) this.#wait();
      });
    }, this.#options.interval).unref();
  }

  /** Stops at the first part that is not accepted; the next export contains all metrics again. */
  async #export(): Promise<void> {
    const { collect, resource, send, onFault } = this.#options;
    try {
      const metrics = await collect();
      for (const request of encodeMetrics(metrics, Date.now(), resource)) if (!(await send(request))) return;
    } catch (error) {
      onFault(error);
    }
  }
}
