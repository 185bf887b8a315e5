/**
 * Owner of the current snapshot and of the connections of the sources. Changes run one after the
 * other: edit the metadata, open and read sources, build the schema cache, judge it, store the
 * difference, and only then swap the snapshot. Whatever fails before the swap leaves everything as
 * it was; requests keep the snapshot that they began with.
 */
import { randomUUID } from 'node:crypto';
import { ADMIN_ROLE } from '../auth/session.ts';
import type { Backend, ConnectContext, Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import { applyPieces, diffPieces } from '../metadata/pieces.ts';
import { shareUnchanged } from '../metadata/share.ts';
import type { Observer } from '../observability/observation.ts';
import { resolveStoredOperations } from '../schema/stored/stored-operations.ts';
import { createRoleSchemas, type RoleSchemas, type RoleSchemasOptions } from '../schema/role-schemas.ts';
import { type Build, type BuildOptions, buildSchemaCache } from '../schema-cache/build.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import type { Storage } from '../storage/storage.ts';
import { failedSource, type LiveSource, type OpenContext, openSource, refreshSource, type SourceScope, withCatalog } from './live-source.ts';
import { distinct, encodeRefresh, isEmpty, mergeNotices, named } from './refresh.ts';
import type { Snapshot } from './snapshot.ts';
import type { Change, ChangeResult, Preview, Refresh, State } from './state.ts';
import { judge } from './verdict.ts';

export interface StateOptions {
  readonly storage: Pick<Storage, 'load' | 'save' | 'changesSince' | 'isAlive'>;
  readonly backends: readonly Backend[];
  readonly kinds: Kinds;
  readonly cache: BuildOptions;
  /** Always the same object: role schemas are kept while it is. */
  readonly roleSchemas: RoleSchemasOptions;
  readonly connect: Omit<ConnectContext, 'sourceName' | 'onEvent'>;
  readonly observe: Observer;
  /** Of this instance among others on the same metadata database. */
  readonly instanceId?: string;
  /** Pause before an unreachable source is tried again; doubles each time. */
  readonly retry?: { readonly firstMs: number; readonly maxMs: number };
  /** How long requests that began before a change may go on to use the connections that it removed. */
  readonly closeDelayMs?: number;
}

export interface RunningState extends State {
  /** Takes over what other instances stored since; resolves when the snapshot shows it. */
  synchronize(): Promise<void>;
  /** Lets the running change finish and closes all connections. */
  stop(): Promise<void>;
}

interface Current {
  readonly snapshot: Snapshot;
  readonly build: Build;
  readonly sources: ReadonlyMap<string, LiveSource>;
  readonly roleSchemas: RoleSchemas;
}

/**
 * Loads the metadata and opens its sources. Inconsistent metadata and unreachable sources are no
 * reason to fail; the storage is.
 */
export async function createState(options: StateOptions): Promise<RunningState> {
  const state = new QueuedState(options);
  await state.start();
  return state;
}

const DEFAULT_RETRY = { firstMs: 1_000, maxMs: 30_000 };
const DEFAULT_CLOSE_DELAY_MS = 5_000;
/** How often a change is made on top of others' before the client is told that it came too late. */
const ATTEMPTS = 10;

class QueuedState implements RunningState {
  readonly #options: StateOptions;
  readonly #open: OpenContext;
  readonly #instanceId: string;
  #current: Current | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #stopped = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #retries = 0;
  /** Connections that no snapshot has any more, with the timer that closes them. */
  readonly #leaving = new Map<Source, NodeJS.Timeout>();

  constructor(options: StateOptions) {
    this.#options = options;
    this.#instanceId = options.instanceId ?? randomUUID();
    this.#open = {
      ...options.connect,
      backend: (kind) => options.backends.find((backend) => backend.kind === kind),
      onEvent: (source, event, message) => options.observe({ kind: 'source', source, event, message }),
    };
  }

  current(): Snapshot {
    return this.#now().snapshot;
  }

  change(change: Change): Promise<ChangeResult> {
    return this.#alone(() => this.#change(change));
  }

  preview({ edit, source, catalog, renamedTables }: Preview): readonly Inconsistency[] {
    const before = this.#now();
    const metadata = edit(before.snapshot.metadata, before.snapshot);
    const sources = new Map(before.sources);
    const live = sources.get(source);
    if (live?.input.kind === 'open') sources.set(source, { ...live, input: withCatalog(live.input, catalog, renamedTables) });
    return this.#assemble(before.snapshot.resourceVersion, metadata, sources, before).snapshot.cache.inconsistencies;
  }

  isAlive(): Promise<boolean> {
    return this.#options.storage.isAlive();
  }

  async synchronize(): Promise<void> {
    await this.#alone(() => this.#synchronize());
  }

  async start(): Promise<void> {
    const { resourceVersion, metadata } = await this.#options.storage.load();
    const sources = await this.#sourcesFor(metadata, undefined, {});
    this.#swap(this.#assemble(resourceVersion, metadata, sources, undefined));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retryTimer);
    await this.#queue;
    for (const timer of this.#leaving.values()) clearTimeout(timer);
    const open = [...this.#leaving.keys(), ...(this.#current?.snapshot.connections.values() ?? [])];
    await Promise.allSettled(open.map((connection) => connection.close()));
  }

  #now(): Current {
    if (this.#current === undefined) throw new Error('invariant: the state has been started');
    return this.#current;
  }

  #alone<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(() => {
      if (this.#stopped) throw new SvcError('unexpected', 'the service is shutting down');
      return task();
    });
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /**
   * A refusal counts only when it was said of the newest metadata: where another instance was
   * faster, the edit is made again on top of the other change. It also settles whether a change
   * was stored whose connection broke at the end.
   */
  async #change(change: Change): Promise<ChangeResult> {
    for (let attempt = 1; ; attempt += 1) {
      const { resourceVersion: version } = this.current();
      try {
        return await this.#attempt(change);
      } catch (error) {
        if (!(error instanceof SvcError) || attempt === ATTEMPTS) throw error;
        const author = await this.#synchronize().catch(() => undefined);
        if (author === undefined) throw error;
        if (author !== this.#instanceId) continue;
        return { resourceVersion: version + 1, inconsistencies: this.current().cache.inconsistencies };
      }
    }
  }

  async #attempt(change: Change): Promise<ChangeResult> {
    const before = this.#now();
    const version = before.snapshot.resourceVersion;
    if (change.expectedVersion !== undefined && change.expectedVersion !== version) {
      throw new SvcError('conflict', `metadata resource version referenced (${change.expectedVersion}) did not match current version`);
    }
    const metadata = change.edit(before.snapshot.metadata, before.snapshot);
    const refresh = change.refresh ?? {};
    const sources = await this.#sourcesFor(metadata, before, refresh);
    try {
      const candidate = this.#assemble(version + 1, metadata, sources, before);
      const { inconsistencies } = candidate.snapshot.cache;
      if (change.inconsistencies !== 'allow') judge(before.snapshot.cache.inconsistencies, inconsistencies, change.edited ?? []);
      const stored = await this.#save(version, before.snapshot.metadata, metadata, refresh);
      this.#swap(candidate);
      return { resourceVersion: stored, inconsistencies };
    } catch (error) {
      await this.#discard(sources, before.sources);
      throw error;
    }
  }

  #save(expectedVersion: number, before: Metadata, after: Metadata, refresh: Refresh): Promise<number> {
    const { storage, kinds } = this.#options;
    return storage.save({
      expectedVersion,
      changes: diffPieces(before, after, kinds),
      instanceId: this.#instanceId,
      ...(isEmpty(refresh) ? {} : { refresh: encodeRefresh(refresh) }),
    });
  }

  /** Gives the instance that made the version after this one's, `''` for an unknown one; undefined: there is none. */
  async #synchronize(): Promise<string | undefined> {
    const before = this.#now();
    const { snapshot } = before;
    const news = await this.#options.storage.changesSince(snapshot.resourceVersion);
    if (news.resourceVersion === snapshot.resourceVersion) return undefined;
    let metadata: Metadata;
    let version = news.resourceVersion;
    let refresh: Refresh = {};
    if (news.kind === 'changes') {
      metadata = applyPieces(snapshot.metadata, news.changes, this.#options.kinds);
      refresh = mergeNotices(news.notices.map((notice) => notice.refresh));
    } else {
      const stored = await this.#options.storage.load();
      metadata = shareUnchanged(snapshot.metadata, stored.metadata);
      version = stored.resourceVersion;
      refresh = { sources: 'all' };
    }
    this.#swap(this.#assemble(version, metadata, await this.#sourcesFor(metadata, before, refresh, true), before));
    return news.kind === 'changes' ? news.notices[0]?.instanceId : '';
  }

  /**
   * The sources of `metadata`, those of `before` taken over where they still fit. One that is open
   * and does not answer fails the whole, or with `withoutSilent` is missing until it is back.
   */
  async #sourcesFor(
    metadata: Metadata,
    before: Current | undefined,
    refresh: Refresh,
    withoutSilent = false,
  ): Promise<ReadonlyMap<string, LiveSource>> {
    const outcomes = await Promise.allSettled(
      [...metadata.sources.values()].map(async (source): Promise<readonly [string, LiveSource]> => {
        const known = before === undefined ? undefined : takeOver(source, metadata, before.sources);
        const anew = refresh.sources === 'all' || refresh.sources?.includes(source.name) === true;
        if (known === undefined || anew) return [source.name, await openSource(source, this.#open, known)];
        try {
          return [source.name, await this.#refreshed(source, known, refresh, before?.snapshot.metadata.sources.get(source.name))];
        } catch (error) {
          if (!withoutSilent) throw error;
          return [source.name, failedSource(source, error)];
        }
      }),
    );
    const entries = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) {
      await this.#discard(new Map(entries), before?.sources ?? new Map());
      throw failure.reason;
    }
    return new Map(entries);
  }

  async #refreshed(source: SourceMetadata, live: LiveSource, refresh: Refresh, before?: SourceMetadata): Promise<LiveSource> {
    if (live.input.kind === 'failed') return live;
    const { tables, functions } = live.input.catalog;
    const scope: SourceScope = {
      tables: distinct([...named(refresh.tables, source.name), ...unseen(source.tables, before?.tables, tables).map(({ table }) => table)]),
      functions: distinct([
        ...named(refresh.functions, source.name),
        ...unseen(source.functions, before?.functions, functions).map((entry) => entry.function),
      ]),
    };
    return refreshSource(source, live, scope);
  }

  #assemble(resourceVersion: number, metadata: Metadata, sources: ReadonlyMap<string, LiveSource>, before: Current | undefined): Current {
    const inputs = new Map([...sources].map(([name, { input }]) => [name, input]));
    const build = buildSchemaCache({ metadata, sources: inputs, options: this.#options.cache }, before?.build);
    const roleSchemas = createRoleSchemas(build.cache, this.#options.roleSchemas, before?.roleSchemas);
    const connections = new Map(
      [...sources].flatMap(([name, { connection }]) => (connection === null ? [] : [[name, connection] as const])),
    );
    const storedOperations = resolveStoredOperations(
      metadata,
      () => roleSchemas.get(ADMIN_ROLE, 'backend').roots,
      this.#options.roleSchemas.engine.limits,
      before?.snapshot.storedOperations,
    );
    const found = storedOperations.inconsistencies;
    const snapshot: Snapshot = {
      resourceVersion,
      metadata,
      cache: found.length === 0 ? build.cache : { ...build.cache, inconsistencies: [...build.cache.inconsistencies, ...found] },
      storedOperations,
      connections,
      roleSchema: (role, variant) => roleSchemas.get(role, variant),
    };
    return { snapshot, build, sources, roleSchemas };
  }

  #swap(next: Current): void {
    const before = this.#current;
    this.#current = next;
    const kept = new Set(next.snapshot.connections.values());
    for (const connection of before?.snapshot.connections.values() ?? []) if (!kept.has(connection)) this.#leave(connection);
    this.#scheduleRetry();
  }

  /** Closes what only a change that failed has opened. */
  async #discard(sources: ReadonlyMap<string, LiveSource>, kept: ReadonlyMap<string, LiveSource>): Promise<void> {
    const connections = new Set([...kept.values()].map(({ connection }) => connection));
    const own = [...sources.values()].flatMap(({ connection }) => (connection === null || connections.has(connection) ? [] : [connection]));
    await Promise.allSettled(own.map((connection) => connection.close()));
  }

  #leave(connection: Source): void {
    const timer = setTimeout(() => {
      this.#leaving.delete(connection);
      connection.close().catch((error: unknown) => this.#report(error));
    }, this.#options.closeDelayMs ?? DEFAULT_CLOSE_DELAY_MS);
    this.#leaving.set(connection, timer);
  }

  /** An unreachable source is tried again until it is there, without a restart. */
  #scheduleRetry(): void {
    clearTimeout(this.#retryTimer);
    const waiting = [...this.#now().sources.values()].some(({ input }) => input.kind === 'failed');
    if (!waiting || this.#stopped) {
      this.#retries = 0;
      return;
    }
    const { firstMs, maxMs } = this.#options.retry ?? DEFAULT_RETRY;
    this.#retryTimer = setTimeout(
      () => {
        this.#retries += 1;
        this.#retry().catch((error: unknown) => this.#report(error));
      },
      Math.min(maxMs, firstMs * 2 ** this.#retries),
    );
    this.#retryTimer.unref();
  }

  async #retry(): Promise<void> {
    const before = this.#now();
    const { metadata } = before.snapshot;
    const broken = [...metadata.sources.values()].filter(({ name }) => before.sources.get(name)?.input.kind === 'failed');
    const opened = await Promise.all(broken.map(async (source) => [source.name, await openSource(source, this.#open)] as const));
    const back = opened.filter(([, { connection }]) => connection !== null);
    const all = new Map(back);
    try {
      await this.#alone(() => this.#join(all));
    } finally {
      const current = new Set(this.#current?.snapshot.connections.values());
      const unused = [...all.values()].flatMap(({ connection }) => (connection === null || current.has(connection) ? [] : [connection]));
      await Promise.allSettled(unused.map((connection) => connection.close()));
      this.#scheduleRetry();
    }
  }

  /** Takes in sources that were opened meanwhile, unless a change has made them something else. */
  async #join(opened: ReadonlyMap<string, LiveSource>): Promise<void> {
    const before = this.#now();
    const { metadata, resourceVersion } = before.snapshot;
    const sources = new Map(before.sources);
    let joined = false;
    for (const [name, live] of opened) {
      const known = sources.get(name);
      if (known?.input.kind !== 'failed' || known.configuration !== live.configuration || known.kind !== live.kind) continue;
      const source = metadata.sources.get(name);
      if (source === undefined) continue;
      sources.set(name, await this.#refreshed(source, live, {}));
      joined = true;
      this.#options.observe({ kind: 'source', source: name, event: 'available', message: 'the source can be used again' });
    }
    if (joined) this.#swap(this.#assemble(resourceVersion, metadata, sources, before));
  }

  #report(error: unknown): void {
    if (!this.#stopped) this.#options.observe({ kind: 'unexpected', message: 'background work of the state failed', error });
  }
}

/** The open source that has this configuration: of this name, or of a name that is gone (a renamed source). */
function takeOver(source: SourceMetadata, metadata: Metadata, before: ReadonlyMap<string, LiveSource>): LiveSource | undefined {
  const fits = (live: LiveSource | undefined): boolean =>
    live !== undefined && live.configuration === source.configuration && live.kind === source.kind;
  const own = before.get(source.name);
  if (fits(own)) return own;
  for (const [name, live] of before) if (!metadata.sources.has(name) && fits(live)) return live;
  return undefined;
}

/** What is newly tracked and not in the catalog: it may have been made after the catalog was read. */
function unseen<T>(
  tracked: ReadonlyMap<string, T>,
  before: ReadonlyMap<string, T> | undefined,
  seen: ReadonlyMap<string, unknown>,
): readonly T[] {
  if (tracked === before) return [];
  return [...tracked].filter(([key]) => !seen.has(key) && before?.has(key) !== true).map(([, item]) => item);
}
