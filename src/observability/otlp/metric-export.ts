/** Sends all metrics, time and again. */
import { within } from './batch-queue.ts';
import { encodeMetrics, type ExportedMetric } from './metrics.ts';
import type { TelemetryResource } from './wire.ts';

export interface MetricExportOptions {
  /** ms */
  readonly interval: number;
  readonly collect: () => Promise<readonly ExportedMetric[]>;
  readonly resource: TelemetryResource;
  /** Never throws. @returns whether it was taken */
  readonly send: (request: Buffer) => Promise<boolean>;
  /** The metrics cannot be collected. */
  readonly onFault: (error: unknown) => void;
}

export class MetricExport {
  readonly #options: MetricExportOptions;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | null = null;
  #isOver = false;

  constructor(options: MetricExportOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Sends them once more, as far as that can be done in so many ms. */
  async stop(limit: number): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    const last = async (): Promise<void> => {
      await this.#sending;
      await this.#export();
    };
    await within(last(), limit);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#sending = this.#export().finally(() => {
        this.#sending = null;
        if (!this.#isOver) this.#wait();
      });
    }, this.#options.interval).unref();
  }

  /** Where a part is not taken, the rest is not tried: they are all there again the next time. */
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
