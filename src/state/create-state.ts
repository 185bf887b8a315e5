/**
 * Owner of the current snapshot and of the connections of the sources. Changes run one after the
 * other: edit the metadata, open and read sources, build the schema cache, judge it, store the
 * difference, and only then swap the snapshot. Whatever fails before the swap leaves everything as
 * it was; requests keep the snapshot that they began with.
 */
import { randomUUID } from 'node:crypto';
import type { Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { applyPieces, changedPieces } from '../metadata/pieces.ts';
import { shareUnchanged } from '../metadata/share.ts';
import type { RemoteIntrospectionStore } from '../metadata-store/remote-introspections.ts';
import type { Storage } from '../metadata-store/storage.ts';
import { Assembly, type AssemblyOptions, type Live } from './assembly.ts';
import { Draft, tryOut } from './draft.ts';
import { KeptIntrospections } from './kept-introspections.ts';
import { CaptureRepairs, type Confirmed } from './capture-repairs.ts';
import { carriedFailures, changedCaptures, doubtfulCaptures, isShown, withOtherFailures } from './event-captures.ts';
import type { LiveRemote } from './live-remote.ts';
import { isNamed, sameServer } from './live-remotes.ts';
import type { LiveSource } from './live-source.ts';
import { encodeRefresh, isEmpty, mergeNotices, mergeRefreshes } from './refresh.ts';
import type { Snapshot } from './snapshot.ts';
import { StateCounts } from './state-counts.ts';
import { type Outcome, sourcesTouchedBy, unavailable, UncertainChange } from './uncertain-change.ts';
import type { Wanted } from './wanted.ts';
import type {
  Change,
  ChangeResult,
  Preview,
  PreviewResult,
  Refresh,
  SnapshotListener,
  Snapshots,
  State,
  TogetherOptions,
} from './state.ts';
import type { Assembled, CaptureFailures } from './assembled.ts';

export interface StateOptions extends AssemblyOptions {
  readonly storage: Pick<Storage, 'load' | 'save' | 'changesSince' | 'currentVersion' | 'isAlive'>;
  readonly introspections: RemoteIntrospectionStore;
  readonly kinds: Kinds;
  /** Of this instance among others on the same metadata database. */
  readonly instanceId?: string;
  /** Pause before an unreachable source is tried again; doubles each time. */
  readonly retry?: { readonly firstMs: number; readonly maxMs: number };
  /** How long requests that began before a change may go on to use the connections that it removed. */
  readonly closeDelayMs?: number;
}

export interface RunningState extends State, Snapshots {
  readonly counts: StateCounts;
  /** How many schemas of roles are kept. */
  roleSchemas(): number;
  /** Takes over what other instances stored since; resolves when the snapshot shows it. */
  synchronize(): Promise<void>;
  /** Lets the running change finish and closes all connections. */
  stop(): Promise<void>;
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
/** Of the server of a remote schema while everything waits; a slow one is asked again in the background. */
const PATIENCE_MS = 5_000;

/** Messages of a change without an answer to its commit. */
const UNCONFIRMED: Readonly<Record<Exclude<Outcome, 'stored'>, string>> = {
  'not-stored': 'the change was not stored: try it again',
  unknown: 'it is not known whether the change was stored: compare the metadata with it before you try it again',
};

class QueuedState implements RunningState {
  readonly #options: StateOptions;
  readonly #assembly: Assembly;
  readonly #instanceId: string;
  readonly #kept: KeptIntrospections;
  readonly #repairs: CaptureRepairs;
  readonly #uncertain: UncertainChange;
  /** Parts of databases that SQL may have changed, and that were not read again for a stored version since. */
  #unread: Refresh = {};
  readonly counts = new StateCounts();
  #current: Assembled | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #stopped = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #retries = 0;
  /** Connections that no snapshot has any more, with the timer that closes them. */
  readonly #leaving = new Map<Source, NodeJS.Timeout>();
  /** By a token of their own: the same function may listen twice. */
  readonly #listeners = new Map<symbol, SnapshotListener>();

  constructor(options: StateOptions) {
    this.#options = options;
    this.#instanceId = options.instanceId ?? randomUUID();
    this.#assembly = new Assembly(options, this.counts);
    this.#kept = new KeptIntrospections(options.introspections);
    this.#repairs = new CaptureRepairs({
      captures: this.#assembly.captures,
      observe: options.observe,
      retry: options.retry ?? DEFAULT_RETRY,
      confirmed: () => this.#confirmed(),
      show: (source, failures, isCurrent) => this.#showFailures(source, failures, isCurrent),
    });
    this.#uncertain = new UncertainChange({
      instanceId: this.#instanceId,
      repairs: this.#repairs,
      now: () => this.#now(),
      synchronize: () => this.#synchronize(true),
      settle: (before, draft, outcome, onWarning) => this.#settle(before, this.#now(), draft, outcome, onWarning),
      undo: (draft) => this.#takeBack(draft),
      report: (error) => this.#report(error),
    });
  }

  current(): Snapshot {
    return this.#now().snapshot;
  }

  roleSchemas(): number {
    return this.#current?.roleSchemas.size ?? 0;
  }

  change(change: Change): Promise<ChangeResult> {
    return this.together((draft) => draft.change(change), { repeatable: true });
  }

  together<T>(run: (draft: State) => Promise<T>, how: TogetherOptions): Promise<T> {
    return this.#alone(async () => {
      const before = this.#now();
      const began = performance.now();
      try {
        const answer = await this.#together(run, how);
        if (this.#now() !== before) this.counts.ok += 1;
        return answer;
      } catch (error) {
        if (error instanceof SvcError && error.code === 'conflict') this.counts.conflict += 1;
        else this.counts.refused += 1;
        throw error;
      } finally {
        this.counts.changeTime.observe((performance.now() - began) / 1000);
      }
    });
  }

  trial<T>(run: (draft: State) => Promise<T>, wanted: Wanted = {}): Promise<T> {
    const base = this.#now();
    return tryOut(new Draft(this.#assembly, base, this.#options.storage, { wanted }), base, run);
  }

  preview(preview: Preview, wanted?: Wanted): Promise<PreviewResult> {
    return this.#draft().preview(preview, wanted);
  }

  isAlive(): Promise<boolean> {
    return this.#options.storage.isAlive();
  }

  onSnapshot(listener: SnapshotListener): () => void {
    const token = Symbol();
    this.#listeners.set(token, listener);
    return () => {
      this.#listeners.delete(token);
    };
  }

  async synchronize(): Promise<void> {
    await this.#alone<unknown>(() => (this.#uncertain.isPending ? this.#uncertain.settle() : this.#synchronize()));
  }

  async start(): Promise<void> {
    const { resourceVersion, metadata } = await this.#options.storage.load();
    const stored = await this.#kept.read(metadata);
    const [sources, remotes] = await Promise.all([
      this.#assembly.sourcesFor(metadata, undefined, {}),
      this.#assembly.remotesFor({
        metadata,
        before: undefined,
        refresh: undefined,
        stored,
        useStored: 'ask',
        patienceMs: PATIENCE_MS,
      }),
    ]);
    const assembled = await this.#assembly.assemble(resourceVersion, metadata, { sources, remotes });
    this.#swap(await this.#assembly.installCaptures(undefined, assembled, {}));
    this.#compare(undefined);
    // Where another instance was faster, what it did is taken over first, and this is stored with the next change.
    await this.#publish().catch((error: unknown) => {
      if (!(error instanceof SvcError && error.code === 'conflict')) this.#report(error);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retryTimer);
    await this.#queue;
    await this.#repairs.stop();
    await this.#uncertain.close();
    this.#listeners.clear();
    for (const timer of this.#leaving.values()) clearTimeout(timer);
    const open = [...this.#leaving.keys(), ...(this.#current?.snapshot.connections.values() ?? [])];
    await Promise.allSettled(open.map((connection) => connection.close()));
  }

  #now(): Assembled {
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

  #draft(): Draft {
    return new Draft(this.#assembly, this.#now(), this.#options.storage);
  }

  /**
   * A refusal counts only when it was said of the newest metadata: where another instance was
   * faster, the changes are made again on top of its own.
   */
  async #together<T>(run: (draft: State) => Promise<T>, { repeatable, onWarning }: TogetherOptions): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.#uncertain.isPending) await this.#uncertain.settle();
      const draft = this.#draft();
      let answer: T;
      try {
        answer = await run(draft);
      } catch (error) {
        const isBehind = await this.#discard(draft, error);
        if (!repeatable) await this.#readAgainSoon(draft.refresh);
        if (!repeatable || !isBehind || attempt === ATTEMPTS) throw error;
        continue;
      }
      try {
        await this.#commit(draft, onWarning);
        return answer;
      } catch (error) {
        if (error instanceof SvcError && error.isUncertain) {
          this.#beginUncertain(draft);
          const outcome = await this.#uncertain.settleSoon(onWarning);
          if (outcome === 'stored') return answer;
          throw unavailable(UNCONFIRMED[outcome], error);
        }
        const isBehind = await this.#discard(draft, error);
        if (!repeatable) await this.#readAgainSoon(draft.refresh);
        if (!repeatable || !isBehind || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /**
   * Takes back what a draft has installed that is not stored.
   * @returns whether another instance has changed the metadata meanwhile
   * @throws SvcError when that cannot be known: what an outdated instance refuses is not certain
   */
  async #discard(draft: Draft, error: unknown): Promise<boolean> {
    try {
      const author = error instanceof SvcError ? await this.#synchronize() : undefined;
      await this.#undo(draft);
      return author !== undefined;
    } catch (cause) {
      if (!(cause instanceof SvcError)) throw cause;
      this.#showDoubtful(draft);
      this.#addUnread(draft.refresh);
      this.#repairs.request(sourcesTouchedBy(draft, this.#now()), { ended: draft.id });
      throw unavailable('the metadata database cannot be reached: try it again', cause);
    } finally {
      await draft.close(this.#now());
    }
  }

  async #undo(draft: Draft): Promise<void> {
    const left = await this.#assembly.captures.undo(draft.touched, this.#now(), draft.id);
    if (left.length > 0) this.#repairs.request(left, { ended: draft.id });
  }

  /** The same for a change that was not confirmed: what it did to the databases is read again in the background. */
  async #takeBack(draft: Draft): Promise<void> {
    this.#addUnread(draft.refresh);
    await this.#undo(draft);
    this.#compare(this.#now());
  }

  #beginUncertain(draft: Draft): void {
    this.#uncertain.begin(draft);
    this.#showDoubtful(draft);
  }

  /** Reports event triggers that may be installed as a draft has them, until they are compared. */
  #showDoubtful(draft: Draft): void {
    const now = this.#now();
    const doubtful = doubtfulCaptures(now, draft.latest);
    if (doubtful.size > 0) this.#swap(withOtherFailures(now, new Map([...now.captureFailures, ...doubtful])));
  }

  /** Stores and shows what was drafted. */
  async #commit(draft: Draft, onWarning?: TogetherOptions['onWarning']): Promise<void> {
    const before = this.#now();
    const { latest, refresh } = draft;
    if (latest === before) return draft.close(before);
    await this.#save(before.snapshot.resourceVersion, before.snapshot.metadata, latest, refresh);
    this.#swap(latest);
    await this.#settle(before, latest, draft, 'stored', onWarning);
    await draft.close(latest);
  }

  /** Removes from the sources what a stored change does not need any more. */
  async #settle(
    before: Assembled,
    after: Assembled,
    { clearsEvents }: Draft,
    outcome: Outcome,
    onWarning?: TogetherOptions['onWarning'],
  ): Promise<void> {
    // Events are not cleared for a change that may not have been stored.
    const { warnings, left } = await this.#assembly.captures.settle(before, after, clearsEvents && outcome === 'stored');
    for (const warning of warnings) onWarning?.(warning);
    for (const [name, gone] of left) this.#repairs.request([name], { gone });
    this.#compare(before);
  }

  /** Compares sources whose event triggers are others than before with what is installed, in the background. */
  #compare(before: Assembled | undefined): void {
    const changed = changedCaptures(before, this.#now());
    const failing = [...this.#now().captureFailures.values()].map(({ source }) => source);
    if (changed.length + failing.length > 0) this.#repairs.request([...changed, ...failing]);
  }

  /** Returns the newest state, once the metadata database has confirmed it, and whether all that SQL changed was read again. */
  async #confirmed(): Promise<Confirmed> {
    if (this.#uncertain.isPending) await this.#alone(() => this.#uncertain.settle());
    else if ((await this.#options.storage.currentVersion()) !== this.#now().snapshot.resourceVersion) await this.synchronize();
    let isComplete = true;
    if (!isEmpty(this.#unread)) {
      isComplete = await this.#alone(() => this.#readAgain()).then(
        () => true,
        (error: unknown) => {
          // The first failure was reported, or the request that it belongs to has failed.
          if (!(error instanceof SvcError)) this.#report(error);
          return false;
        },
      );
    }
    return { now: this.#now(), isComplete };
  }

  /** @returns whether they are shown: those of a comparison before a change that ended in doubt are not */
  #showFailures(source: string, failures: CaptureFailures, isCurrent: () => boolean): Promise<boolean> {
    return this.#alone(async () => {
      if (!isCurrent() || this.#uncertain.isPending) return false;
      const now = this.#now();
      const others = [...now.captureFailures].filter(([, failure]) => failure.source !== source);
      const found = carriedFailures(failures, now.snapshot.cache);
      // Each new snapshot empties caches and may close websockets.
      if (!isShown(source, found, now.captureFailures)) this.#swap(withOtherFailures(now, new Map([...others, ...found])));
      return true;
    });
  }

  #addUnread(refresh: Refresh): void {
    this.#unread = mergeRefreshes([this.#unread, refresh]);
  }

  /** What was done to the databases stays when the metadata does not change with it. Never rejects: the repairs try it again. */
  async #readAgainSoon(refresh: Refresh): Promise<void> {
    if (isEmpty(refresh)) return;
    this.#addUnread(refresh);
    try {
      await this.#readAgain();
    } catch (error) {
      this.#report(error);
      this.#repairs.request([]);
    }
  }

  /** Reads parts of databases again and stores that as a version. What could not be stored stays unread. */
  async #readAgain(): Promise<void> {
    const refresh = this.#unread;
    this.#unread = {};
    const draft = this.#draft();
    try {
      await draft.change({ edit: (metadata) => metadata, refresh, inconsistencies: 'allow' });
      await this.#commit(draft);
    } catch (error) {
      if (error instanceof SvcError && error.isUncertain) this.#beginUncertain(draft);
      else {
        this.#addUnread(refresh);
        await this.#discard(draft, error);
      }
      throw error;
    }
  }

  async #save(expectedVersion: number, before: Metadata, { snapshot, remotes }: Assembled, refresh: Refresh): Promise<void> {
    const { storage, kinds } = this.#options;
    const write = await this.#kept.write(remotes);
    const told = write === null ? refresh : mergeRefreshes([refresh, { remoteSchemas: write.names }]);
    await storage.save({
      expectedVersion,
      changes: changedPieces(before, snapshot.metadata, kinds),
      instanceId: this.#instanceId,
      ...(isEmpty(told) ? {} : { refresh: encodeRefresh(told) }),
      ...(write === null ? {} : { inTransaction: (connection) => write.inTransaction(connection) }),
    });
    write?.done();
  }

  /** Stores what servers said outside of a change of the metadata, as a version, so that other instances hear of it. */
  async #publish(): Promise<void> {
    const before = this.#now();
    if (!this.#kept.hasNews(before.remotes)) return;
    const { metadata, resourceVersion } = before.snapshot;
    const next = await this.#assembly.assemble(resourceVersion + 1, metadata, before, before);
    await this.#save(resourceVersion, metadata, next, {});
    this.#swap(next);
  }

  /**
   * Gives the instance that made the version after this one's, `''` for an unknown one; undefined: there is none.
   * @param isSettled also of a change whose commit had no answer
   */
  async #synchronize(isSettled?: boolean): Promise<string | undefined> {
    const before = this.#now();
    const { snapshot } = before;
    const news = await this.#options.storage.changesSince(snapshot.resourceVersion, isSettled);
    if (news.resourceVersion === snapshot.resourceVersion) return undefined;
    let metadata: Metadata;
    let version = news.resourceVersion;
    let refresh: Refresh = {};
    if (news.kind === 'changes') {
      metadata = applyPieces(snapshot.metadata, news.changes, this.#options.kinds, (message) =>
        this.#options.observe({ kind: 'source', source: 'metadata', event: 'number-beyond-bounds', message }),
      );
      refresh = mergeNotices(news.notices.map((notice) => notice.refresh));
    } else {
      const stored = await this.#options.storage.load();
      metadata = shareUnchanged(snapshot.metadata, stored.metadata);
      version = stored.resourceVersion;
      refresh = { sources: 'all', remoteSchemas: 'all' };
    }
    const sources = await this.#assembly.sourcesFor(metadata, before, refresh, { withoutSilent: true });
    const remotes = await this.#remotesOfOthers(metadata, before, refresh);
    this.#swap(await this.#assembly.assemble(version, metadata, { sources, remotes }, before));
    this.#compare(before);
    return news.kind === 'changes' ? news.notices[0]?.instanceId : '';
  }

  /** Whoever changed a remote schema asked its server and stored the answer. */
  async #remotesOfOthers(metadata: Metadata, before: Assembled, { remoteSchemas: refresh }: Refresh): Promise<Live['remotes']> {
    const news = [...metadata.remoteSchemas.values()].filter(
      (remote) => isNamed(refresh, remote.name) || sameServer(before.remotes.get(remote.name), remote) === undefined,
    );
    const stored = await this.#kept.read(
      metadata,
      news.map(({ name }) => name),
    );
    return this.#assembly.remotesFor({
      metadata,
      before: before.remotes,
      refresh,
      stored,
      useStored: 'trust',
      patienceMs: PATIENCE_MS,
    });
  }

  #swap(next: Assembled): void {
    const before = this.#current;
    this.#current = next;
    const kept = new Set(next.snapshot.connections.values());
    for (const connection of before?.snapshot.connections.values() ?? []) if (!kept.has(connection)) this.#leave(connection);
    this.#scheduleRetry();
    if (before !== undefined) this.#tell(next.snapshot, before.snapshot);
  }

  #tell(shown: Snapshot, before: Snapshot): void {
    for (const listener of this.#listeners.values()) {
      try {
        listener(shown, before);
      } catch (error) {
        this.#report(error);
      }
    }
  }

  #leave(connection: Source): void {
    const timer = setTimeout(() => {
      this.#leaving.delete(connection);
      connection.close().catch((error: unknown) => this.#report(error));
    }, this.#options.closeDelayMs ?? DEFAULT_CLOSE_DELAY_MS);
    this.#leaving.set(connection, timer);
  }

  /** An unreachable source or remote schema is tried again until it is there, without a restart. */
  #scheduleRetry(): void {
    clearTimeout(this.#retryTimer);
    const { sources, remotes } = this.#now();
    const waiting =
      [...sources.values()].some(({ input }) => input.kind === 'failed') ||
      [...remotes.values()].some(({ input }) => input.failure !== null);
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
    const silent = [...metadata.remoteSchemas.values()].flatMap((remote) => {
      const live = before.remotes.get(remote.name);
      return live === undefined || live.input.failure === null ? [] : [{ remote, live }];
    });
    const [opened, answered] = await Promise.all([
      Promise.all(broken.map(async (source) => [source.name, await this.#assembly.open(source)] as const)),
      Promise.all(silent.map(async ({ remote, live }) => [remote.name, await this.#assembly.askAgain(remote, live, metadata)] as const)),
    ]);
    const back = opened.filter(([, { connection }]) => connection !== null);
    const all = new Map(back);
    const remotes = new Map(answered.filter(([, { input }]) => input.failure === null));
    try {
      if (all.size + remotes.size > 0) await this.#alone(() => this.#join(all, remotes));
    } finally {
      const current = new Set(this.#current?.snapshot.connections.values());
      const unused = [...all.values()].flatMap(({ connection }) => (connection === null || current.has(connection) ? [] : [connection]));
      await Promise.allSettled(unused.map((connection) => connection.close()));
      this.#scheduleRetry();
    }
  }

  /** Takes in sources and remote schemas that were opened meanwhile, unless a change has made them something else. */
  async #join(opened: ReadonlyMap<string, LiveSource>, answered: ReadonlyMap<string, LiveRemote>): Promise<void> {
    const before = this.#now();
    const { metadata, resourceVersion } = before.snapshot;
    const sources = new Map(before.sources);
    const remotes = new Map(before.remotes);
    let joined = false;
    for (const [name, live] of opened) {
      const known = sources.get(name);
      if (known?.input.kind !== 'failed' || known.configuration !== live.configuration || known.kind !== live.kind) continue;
      const source = metadata.sources.get(name);
      if (source === undefined) continue;
      sources.set(name, await this.#assembly.refreshed(source, live, {}));
      joined = true;
      this.#options.observe({ kind: 'source', source: name, event: 'available', message: 'the source can be used again' });
    }
    for (const [name, live] of answered) {
      const known = remotes.get(name);
      if (known === undefined || known.input.failure === null || known.definition !== live.definition) continue;
      remotes.set(name, live);
      joined = true;
      this.#options.observe({ kind: 'remote-schema', remoteSchema: name, event: 'available', message: 'the server answers again' });
    }
    if (!joined) return;
    const assembled = await this.#assembly.assemble(resourceVersion, metadata, { sources, remotes }, before);
    this.#swap(await this.#assembly.installCaptures(before, assembled, {}));
    this.#compare(before);
    await this.#publish();
  }

  #report(error: unknown): void {
    if (!this.#stopped) this.#options.observe({ kind: 'unexpected', message: 'background work of the state failed', error });
  }
}
