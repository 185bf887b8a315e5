/** Retries unreachable sources and remote schemas in the background, with pauses that double, so that no restart is needed. */
import type { Observer } from '../observability/observation.ts';
import type { Assembled } from './assembled.ts';
import type { Assembly, Live } from './assembly.ts';
import type { LiveRemote } from './live-remote.ts';
import type { LiveSource } from './live-source.ts';

export interface ReconnectionOptions {
  readonly assembly: Assembly;
  readonly observe: Observer;
  /** Pause before the first attempt; doubles up to the maximum. */
  readonly retry: { readonly firstMs: number; readonly maxMs: number };
  now(): Assembled;
  /** Publishes the result of `merge`, unless it is `null`, while no change runs. */
  join(merge: (before: Assembled) => Promise<Live | null>): Promise<void>;
  report(error: unknown): void;
}

export class Reconnection {
  readonly #options: ReconnectionOptions;
  #timer: NodeJS.Timeout | undefined;
  #attempts = 0;
  #isStopped = false;

  constructor(options: ReconnectionOptions) {
    this.#options = options;
  }

  /** Starts the pause before the next attempt, if anything is unreachable. */
  schedule(): void {
    clearTimeout(this.#timer);
    const { now, report, retry } = this.#options;
    const { sources, remotes } = now();
    const isNeeded =
      [...sources.values()].some(({ input }) => input.kind === 'failed') ||
      [...remotes.values()].some(({ input }) => input.failure !== null);
    if (!isNeeded || this.#isStopped) {
      this.#attempts = 0;
      return;
    }
    this.#timer = setTimeout(
      () => {
        this.#attempts += 1;
        this.#attempt().catch(report);
      },
      Math.min(retry.maxMs, retry.firstMs * 2 ** this.#attempts),
    );
    this.#timer.unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #attempt(): Promise<void> {
    const { assembly, now, join } = this.#options;
    const before = now();
    const { metadata } = before.snapshot;
    const failedSources = [...metadata.sources.values()].filter(({ name }) => before.sources.get(name)?.input.kind === 'failed');
    const failedRemotes = [...metadata.remoteSchemas.values()].flatMap((remote) => {
      const live = before.remotes.get(remote.name);
      return live === undefined || live.input.failure === null ? [] : [{ remote, live }];
    });
    const [opened, introspected] = await Promise.all([
      Promise.all(failedSources.map(async (source) => [source.name, await assembly.open(source)] as const)),
      Promise.all(
        failedRemotes.map(async ({ remote, live }) => [remote.name, await assembly.retryRemote(remote, live, metadata)] as const),
      ),
    ]);
    const sources = new Map(opened.filter(([, { connection }]) => connection !== null));
    const remotes = new Map(introspected.filter(([, { input }]) => input.failure === null));
    try {
      if (sources.size + remotes.size > 0) await join((current) => this.#merge(current, sources, remotes));
    } finally {
      const used = new Set(now().snapshot.connections.values());
      const unused = [...sources.values()].flatMap(({ connection }) => (connection === null || used.has(connection) ? [] : [connection]));
      await Promise.allSettled(unused.map((connection) => connection.close()));
      this.schedule();
    }
  }

  /** Adds reconnected sources and remote schemas that no change has redefined meanwhile. @returns `null` if there are none */
  async #merge(
    { snapshot: { metadata }, ...before }: Assembled,
    opened: ReadonlyMap<string, LiveSource>,
    introspected: ReadonlyMap<string, LiveRemote>,
  ): Promise<Live | null> {
    const { assembly, observe } = this.#options;
    const sources = new Map(before.sources);
    const remotes = new Map(before.remotes);
    let hasJoined = false;
    for (const [name, live] of opened) {
      const known = sources.get(name);
      if (known?.input.kind !== 'failed' || known.configuration !== live.configuration || known.kind !== live.kind) continue;
      const source = metadata.sources.get(name);
      if (source === undefined) continue;
      sources.set(name, await assembly.refreshedSource(source, live, {}));
      hasJoined = true;
      observe({ kind: 'source', source: name, event: 'available', message: 'the source can be used again' });
    }
    for (const [name, live] of introspected) {
      const known = remotes.get(name);
      if (known === undefined || known.input.failure === null || known.definition !== live.definition) continue;
      remotes.set(name, live);
      hasJoined = true;
      observe({ kind: 'remote-schema', remoteSchema: name, event: 'available', message: 'the server responds again' });
    }
    return hasJoined ? { sources, remotes } : null;
  }
}
