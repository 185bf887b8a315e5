/** Runs the health checks that the metadata configures for sources. Each source has its own loop, which follows new snapshots. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HealthStatus } from '../backend/backend.ts';
import type { SourceMetadata } from '../metadata/metadata.ts';
import type { HealthCheck } from '../metadata/source.ts';
import type { Observer } from '../observability/observation.ts';
import { objectId } from '../schema-cache/object-id.ts';
import type { Json } from '../util/json.ts';
import type { Snapshot } from './snapshot.ts';
import type { Snapshots } from './state.ts';

export interface HealthReport {
  readonly status: HealthStatus['status'];
  /** `null` for `OK` and `TIMEOUT`, `{message, extra}` for `ERROR`, a text for `FAILED`. */
  readonly error: Json;
  /** UTC, ISO 8601 */
  readonly timestamp: string;
}

export interface SourceHealth {
  /** Returns the last reports by source, in the order of the metadata. Waits for first checks. */
  reports(): Promise<ReadonlyMap<string, HealthReport>>;
  stop(): void;
}

export interface SourceHealthOptions {
  readonly state: Snapshots;
  readonly observe: Observer;
}

const MAX_DELAY_MS = 2_147_483_647;

export function watchSourceHealth({ state, observe }: SourceHealthOptions): SourceHealth {
  const watches = new Map<string, Watch>();
  const update = ({ metadata: { sources } }: Snapshot): void => {
    for (const [name, watch] of watches) {
      if (watch.isOf(sources.get(name))) continue;
      watch.stop();
      watches.delete(name);
    }
    for (const [name, source] of sources) {
      if (source.healthCheck === undefined || watches.has(name)) continue;
      watches.set(name, new Watch(source, source.healthCheck, state, observe));
    }
  };
  update(state.current());
  const unsubscribe = state.onSnapshot((current, before) => {
    if (current.metadata.sources !== before.metadata.sources) update(current);
  });
  return {
    async reports() {
      const now = [...state.current().metadata.sources.keys()].flatMap((name) => {
        const watch = watches.get(name);
        return watch === undefined ? [] : [[name, watch] as const];
      });
      return new Map(await Promise.all(now.map(async ([name, watch]) => [name, await watch.report()] as const)));
    },
    stop() {
      unsubscribe();
      for (const watch of watches.values()) watch.stop();
    },
  };
}

/** Health checks of one source. */
class Watch {
  readonly #source: SourceMetadata;
  readonly #check: HealthCheck;
  readonly #state: Pick<Snapshots, 'current'>;
  readonly #observe: Observer;
  readonly #stopping = new AbortController();
  readonly #first: Promise<HealthReport>;
  #last: HealthReport | undefined;

  constructor(source: SourceMetadata, check: HealthCheck, state: Pick<Snapshots, 'current'>, observe: Observer) {
    this.#source = source;
    this.#check = check;
    this.#state = state;
    this.#observe = observe;
    this.#first = this.#attempt(0);
    void this.#run();
  }

  isOf(source: SourceMetadata | undefined): boolean {
    return source?.healthCheck === this.#check && source.configuration === this.#source.configuration && source.kind === this.#source.kind;
  }

  async report(): Promise<HealthReport> {
    return this.#last ?? this.#first;
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    const { interval, retries, retryInterval } = this.#check;
    let report = await this.#first;
    try {
      for (;;) {
        for (let attempt = 1; report.status !== 'OK' && attempt <= retries; attempt++) {
          await this.#pause(retryInterval);
          report = await this.#attempt(attempt);
        }
        await this.#pause(interval);
        report = await this.#attempt(0);
      }
    } catch {
      // stopped
    }
  }

  async #pause(seconds: number): Promise<void> {
    await sleep(Math.min(seconds * 1000, MAX_DELAY_MS), undefined, { signal: this.#stopping.signal, ref: false });
  }

  async #attempt(attempt: number): Promise<HealthReport> {
    const report: HealthReport = { ...(await this.#outcome()), timestamp: new Date().toISOString() };
    if (this.#stopping.signal.aborted) return report;
    const recovered = this.#last !== undefined && this.#last.status !== 'OK';
    this.#last = report;
    if (report.status !== 'OK' || recovered) {
      const { interval, retries, timeout } = this.#check;
      const { status, error, timestamp } = report;
      const check = { interval, retries, attempt, timeout };
      this.#observe({ kind: 'source-health', source: this.#source.name, status, timestamp, error, check });
    }
    return report;
  }

  async #outcome(): Promise<Pick<HealthReport, 'status' | 'error'>> {
    const snapshot = this.#state.current();
    const connection = snapshot.connections.get(this.#source.name);
    if (connection === undefined) return outcomeOfClosed(snapshot, this.#source.name);
    try {
      const health = await connection.health(this.#check.test.sql, Math.min(this.#check.timeout * 1000, MAX_DELAY_MS));
      switch (health.status) {
        case 'OK':
        case 'TIMEOUT':
          return { status: health.status, error: null };
        case 'ERROR':
          return { status: 'ERROR', error: { message: health.message, extra: null } };
        case 'FAILED':
          return { status: 'FAILED', error: health.message };
      }
    } catch (error) {
      return { status: 'ERROR', error: { message: error instanceof Error ? error.message : String(error), extra: null } };
    }
  }
}

/** An unreachable database is an `ERROR`; any other reason why a source is not open is a failure of its configuration, `FAILED`. */
function outcomeOfClosed(snapshot: Snapshot, name: string): Pick<HealthReport, 'status' | 'error'> {
  const id = objectId.source(name);
  const found = snapshot.cache.inconsistencies.find((inconsistency) => inconsistency.objectId === id);
  const reason = found?.reason ?? 'the source is not open';
  if (found !== undefined && found.isUnreachable !== true) return { status: 'FAILED', error: reason };
  return { status: 'ERROR', error: { message: reason, extra: found?.message ?? null } };
}
