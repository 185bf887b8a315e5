/**
 * Owner of the current snapshot and of the connections of the sources. Changes run one at a time: edit the metadata, open and read sources,
 * build the schema cache, check its consistency, store the difference, and only then swap the snapshot. A failure before the swap
 * changes nothing, or is undone. Requests keep the snapshot with which they began.
 */
import { randomUUID } from 'node:crypto';
import { SvcError } from '../errors/svc-error.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { applyPieces, changedPieces } from '../metadata/pieces.ts';
import { shareUnchanged } from '../metadata/share.ts';
import type { RemoteIntrospectionStore } from '../metadata-store/remote-introspections.ts';
import type { ChangeOrigin } from '../metadata-store/metadata-history.ts';
import type { Storage } from '../metadata-store/storage.ts';
import { Assembly, type AssemblyOptions, type Live } from './assembly.ts';
import { ClosingConnections } from './closing-connections.ts';
import { MetadataDraft, runAndDiscard } from './draft.ts';
import { StoredIntrospections } from './stored-introspections.ts';
import { CaptureRepairs, type ConfirmedState } from './capture-repairs.ts';
import { carriedFailures, changedCaptures, uncertainCaptures, isShown, withOtherFailures } from './event-captures.ts';
import { isNamed, sameServer } from './live-remotes.ts';
import { Reconnection } from './reconnection.ts';
import { encodeRefresh, isEmptyRefresh, mergeNotices, mergeRefreshes } from './refresh.ts';
import type { Snapshot } from './snapshot.ts';
import { SnapshotListeners } from './snapshot-listeners.ts';
import { StateCounts } from './state-counts.ts';
import { type CommitOutcome, sourcesTouchedBy, unavailable, unconfirmed, UncertainChange } from './uncertain-change.ts';
import type { CallOptions } from '../util/deadline.ts';
import type {
  Change,
  ChangeResult,
  Preview,
  PreviewResult,
  Refresh,
  SnapshotListener,
  Snapshots,
  State,
  StateTransactionOptions,
} from './state.ts';
import type { Assembled, CaptureFailures } from './assembled.ts';

export interface StateOptions extends AssemblyOptions {
  readonly storage: Pick<Storage, 'load' | 'save' | 'changesSince' | 'currentVersion' | 'isAlive'>;
  readonly introspections: RemoteIntrospectionStore;
  readonly kinds: Kinds;
  /** Id of this instance among those on the same metadata database. */
  readonly instanceId?: string;
  /** Pause before an unreachable source is tried again; doubles up to the maximum. */
  readonly retry?: { readonly firstMs: number; readonly maxMs: number };
  /** Time for which older requests may use the connections that a change removed, in ms. Default 5000. */
  readonly closeDelayMs?: number;
}

export interface RunningState extends State, Snapshots {
  readonly counts: StateCounts;
  /** Returns the number of cached role schemas. */
  roleSchemas(): number;
  /** Reads the changes of other instances. Resolves when they are in the current snapshot. */
  synchronize(): Promise<void>;
  /** Lets the running change finish and closes all connections. */
  stop(): Promise<void>;
}

/** Loads the metadata and opens its sources. Fails if the metadata database fails, but not for unreachable sources. */
export async function createState(options: StateOptions): Promise<RunningState> {
  const state = new QueuedState(options);
  await state.start();
  return state;
}

const DEFAULT_RETRY = { firstMs: 1_000, maxMs: 30_000 };
const DEFAULT_CLOSE_DELAY_MS = 5_000;
/** Maximum number of attempts to make a change on top of those of other instances, before it fails with a conflict. */
const MAX_ATTEMPTS = 10;
/** Timeout for remote schemas while changes wait for them, in ms; slow servers are introspected again in the background. */
const INTROSPECTION_TIMEOUT_MS = 5_000;

class QueuedState implements RunningState {
  readonly #options: StateOptions;
  readonly #assembly: Assembly;
  readonly #instanceId: string;
  readonly #introspections: StoredIntrospections;
  readonly #repairs: CaptureRepairs;
  readonly #uncertain: UncertainChange;
  readonly #reconnection: Reconnection;
  /** Parts of databases that SQL may have changed, and that were not read again for a stored version. */
  #unread: Refresh = {};
  readonly counts = new StateCounts();
  #current: Assembled | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #stopped = false;
  readonly #closing: ClosingConnections;
  readonly #listeners = new SnapshotListeners();

  constructor(options: StateOptions) {
    this.#options = options;
    this.#instanceId = options.instanceId ?? randomUUID();
    this.#assembly = new Assembly(options, this.counts);
    this.#introspections = new StoredIntrospections(options.introspections);
    this.#closing = new ClosingConnections(options.closeDelayMs ?? DEFAULT_CLOSE_DELAY_MS, (error) => this.#report(error));
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
      undo: (draft) => this.#undoUncertain(draft),
      report: (error) => this.#report(error),
    });
    this.#reconnection = new Reconnection({
      assembly: this.#assembly,
      observe: options.observe,
      retry: options.retry ?? DEFAULT_RETRY,
      now: () => this.#now(),
      join: (merge) => this.#enqueue(() => this.#join(merge)),
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
    const { origin } = change;
    return this.transaction((draft) => draft.change(change), { repeatable: true, ...(origin && { origin }) });
  }

  transaction<T>(run: (draft: State) => Promise<T>, how: StateTransactionOptions): Promise<T> {
    return this.#enqueue(async () => {
      const before = this.#now();
      const began = performance.now();
      try {
        const answer = await this.#transaction(run, how);
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

  trial<T>(run: (draft: State) => Promise<T>, callOptions: CallOptions = {}): Promise<T> {
    const base = this.#now();
    return runAndDiscard(new MetadataDraft(this.#assembly, base, this.#options.storage, { callOptions }), base, run);
  }

  preview(preview: Preview, callOptions?: CallOptions): Promise<PreviewResult> {
    return this.#draft().preview(preview, callOptions);
  }

  isAlive(): Promise<boolean> {
    return this.#options.storage.isAlive();
  }

  onSnapshot(listener: SnapshotListener): () => void {
    return this.#listeners.add(listener);
  }

  async synchronize(): Promise<void> {
    await this.#enqueue<unknown>(() => (this.#uncertain.isPending ? this.#uncertain.settle() : this.#synchronize()));
  }

  async start(): Promise<void> {
    const { resourceVersion, metadata } = await this.#options.storage.load();
    const stored = await this.#introspections.read(metadata);
    const [sources, remotes] = await Promise.all([
      this.#assembly.sourcesFor(metadata, undefined, {}),
      this.#assembly.remotesFor({
        metadata,
        before: undefined,
        refresh: undefined,
        stored,
        useStored: 'ask',
        timeoutMs: INTROSPECTION_TIMEOUT_MS,
      }),
    ]);
    const assembled = await this.#assembly.assemble(resourceVersion, metadata, { sources, remotes });
    this.#swap(await this.#assembly.installCaptures(undefined, assembled, {}));
    this.#compare(undefined);
    // After a conflict, the introspections are stored with the next change.
    await this.#publish().catch((error: unknown) => {
      if (!(error instanceof SvcError && error.code === 'conflict')) this.#report(error);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#reconnection.stop();
    await this.#queue;
    await this.#repairs.stop();
    await this.#uncertain.close();
    this.#listeners.clear();
    await this.#closing.closeAll(this.#current?.snapshot.connections.values() ?? []);
  }

  #now(): Assembled {
    if (this.#current === undefined) throw new Error('invariant: the state has been started');
    return this.#current;
  }

  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(() => {
      if (this.#stopped) throw new SvcError('unexpected', 'the service is shutting down');
      return task();
    });
    this.#queue = result.catch(() => undefined);
    return result;
  }

  #draft(): MetadataDraft {
    return new MetadataDraft(this.#assembly, this.#now(), this.#options.storage);
  }

  /**
   * Runs a transaction. If another instance has changed the metadata meanwhile, a repeatable one runs again on the newest metadata, because
   * an error on outdated metadata proves nothing.
   */
  async #transaction<T>(run: (draft: State) => Promise<T>, how: StateTransactionOptions): Promise<T> {
    const { repeatable, onWarning } = how;
    for (let attempt = 1; ; attempt += 1) {
      if (this.#uncertain.isPending) await this.#uncertain.settle();
      const draft = this.#draft();
      let done: { readonly answer: T } | undefined;
      try {
        done = { answer: await run(draft) };
        await this.#commit(draft, how);
        return done.answer;
      } catch (error) {
        if (done !== undefined && error instanceof SvcError && error.isUncertain) {
          this.#beginUncertain(draft);
          const outcome = await this.#uncertain.settleSoon(onWarning);
          if (outcome === 'stored') return done.answer;
          throw unconfirmed(outcome, error);
        }
        const isBehind = await this.#discard(draft, error);
        if (!repeatable) await this.#readAgainSoon(draft.refresh);
        if (!repeatable || !isBehind || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /**
   * Undoes what a draft has installed in databases.
   * @returns whether another instance has changed the metadata meanwhile
   * @throws SvcError if that cannot be determined: the error of the draft may result from outdated metadata
   */
  async #discard(draft: MetadataDraft, error: unknown): Promise<boolean> {
    try {
      const author = error instanceof SvcError ? await this.#synchronize() : undefined;
      await this.#undo(draft);
      return author !== undefined;
    } catch (cause) {
      if (!(cause instanceof SvcError)) throw cause;
      this.#showUncertain(draft);
      this.#addUnread(draft.refresh);
      this.#repairs.request(sourcesTouchedBy(draft, this.#now()), { ended: draft.id });
      throw unavailable('the metadata database cannot be reached: try it again', cause);
    } finally {
      await draft.close(this.#now());
    }
  }

  async #undo(draft: MetadataDraft): Promise<void> {
    const left = await this.#assembly.captures.undo(draft.touched, this.#now(), draft.id);
    if (left.length > 0) this.#repairs.request(left, { ended: draft.id });
  }

  /** Undoes a change that was not confirmed, and reads its effects on the databases again in the background. */
  async #undoUncertain(draft: MetadataDraft): Promise<void> {
    this.#addUnread(draft.refresh);
    await this.#undo(draft);
    this.#compare(this.#now());
  }

  #beginUncertain(draft: MetadataDraft): void {
    this.#uncertain.begin(draft);
    this.#showUncertain(draft);
  }

  /** Reports event triggers whose installed state is uncertain, until they are compared. */
  #showUncertain(draft: MetadataDraft): void {
    const now = this.#now();
    const uncertain = uncertainCaptures(now, draft.latest);
    if (uncertain.size > 0) this.#swap(withOtherFailures(now, new Map([...now.captureFailures, ...uncertain])));
  }

  /** Stores and publishes a draft. */
  async #commit(draft: MetadataDraft, { onWarning, origin }: Partial<StateTransactionOptions> = {}): Promise<void> {
    const before = this.#now();
    const { latest, refresh } = draft;
    if (latest === before) return draft.close(before);
    await this.#save(before, latest, refresh, origin?.());
    this.#swap(latest);
    await this.#settle(before, latest, draft, 'stored', onWarning);
    await draft.close(latest);
  }

  /** Removes event triggers from the sources that a stored change no longer needs. */
  async #settle(
    before: Assembled,
    after: Assembled,
    { clearsEvents }: MetadataDraft,
    outcome: CommitOutcome,
    onWarning?: StateTransactionOptions['onWarning'],
  ): Promise<void> {
    // Events are not cleared for a change that may not have been stored.
    const { warnings, left } = await this.#assembly.captures.settle(before, after, clearsEvents && outcome === 'stored');
    for (const warning of warnings) onWarning?.(warning);
    for (const [name, removed] of left) this.#repairs.request([name], { removed });
    this.#compare(before);
  }

  /** Compares sources with changed or failing event triggers in the background. */
  #compare(before: Assembled | undefined): void {
    const changed = changedCaptures(before, this.#now());
    const failing = [...this.#now().captureFailures.values()].map(({ source }) => source);
    if (changed.length + failing.length > 0) this.#repairs.request([...changed, ...failing]);
  }

  /** Returns the newest state once the metadata database has confirmed it, and whether all effects of SQL were read again. */
  async #confirmed(): Promise<ConfirmedState> {
    if (this.#uncertain.isPending) await this.#enqueue(() => this.#uncertain.settle());
    else if ((await this.#options.storage.currentVersion()) !== this.#now().snapshot.resourceVersion) await this.synchronize();
    let isComplete = true;
    if (!isEmptyRefresh(this.#unread)) {
      isComplete = await this.#enqueue(() => this.#readAgain()).then(
        () => true,
        (error: unknown) => {
          // The first failure was reported, or its request has failed.
          if (!(error instanceof SvcError)) this.#report(error);
          return false;
        },
      );
    }
    return { now: this.#now(), isComplete };
  }

  /** @returns whether the failures were published; false if the comparison began before an unconfirmed change */
  #showFailures(source: string, failures: CaptureFailures, isCurrent: () => boolean): Promise<boolean> {
    return this.#enqueue(async () => {
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

  /** Reads the databases again that a failed metadata change has changed. Never rejects: repairs try again. */
  async #readAgainSoon(refresh: Refresh): Promise<void> {
    if (isEmptyRefresh(refresh)) return;
    this.#addUnread(refresh);
    try {
      await this.#readAgain();
    } catch (error) {
      this.#report(error);
      this.#repairs.request([]);
    }
  }

  /** Reads the unread parts again and stores the result as a version. If that fails, they stay unread. */
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

  async #save({ snapshot: before }: Assembled, { snapshot, remotes }: Assembled, refresh: Refresh, origin?: ChangeOrigin): Promise<void> {
    const { storage, kinds } = this.#options;
    const write = await this.#introspections.write(remotes);
    const notice = write === null ? refresh : mergeRefreshes([refresh, { remoteSchemas: write.names }]);
    await storage.save({
      expectedVersion: before.resourceVersion,
      changes: changedPieces(before.metadata, snapshot.metadata, kinds),
      instanceId: this.#instanceId,
      ...(isEmptyRefresh(notice) ? {} : { refresh: encodeRefresh(notice) }),
      ...(origin && { origin }),
      ...(write === null ? {} : { inTransaction: (connection) => write.inTransaction(connection) }),
    });
    write?.done();
  }

  /** Stores introspections that do not belong to a metadata change under a new version, so that other instances are notified. */
  async #publish(): Promise<void> {
    const before = this.#now();
    if (!this.#introspections.hasNews(before.remotes)) return;
    const { metadata, resourceVersion } = before.snapshot;
    const next = await this.#assembly.assemble(resourceVersion + 1, metadata, before, before);
    await this.#save(before, next, {});
    this.#swap(next);
  }

  /**
   * Reads and publishes the newest metadata.
   * @param isSettled whether to wait for the end of a commit that was not confirmed
   * @returns id of the instance that made the version after this one's; `''` if that is unknown, `undefined` if there is no such version
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

  /** Opens changed remote schemas with the introspections that other instances have stored. */
  async #remotesOfOthers(metadata: Metadata, before: Assembled, { remoteSchemas: refresh }: Refresh): Promise<Live['remotes']> {
    const news = [...metadata.remoteSchemas.values()].filter(
      (remote) => isNamed(refresh, remote.name) || sameServer(before.remotes.get(remote.name), remote) === undefined,
    );
    const stored = await this.#introspections.read(
      metadata,
      news.map(({ name }) => name),
    );
    return this.#assembly.remotesFor({
      metadata,
      before: before.remotes,
      refresh,
      stored,
      useStored: 'trust',
      timeoutMs: INTROSPECTION_TIMEOUT_MS,
    });
  }

  #swap(next: Assembled): void {
    const before = this.#current;
    this.#current = next;
    const kept = new Set(next.snapshot.connections.values());
    for (const connection of before?.snapshot.connections.values() ?? []) if (!kept.has(connection)) this.#closing.add(connection);
    this.#reconnection.schedule();
    if (before !== undefined) this.#listeners.notify(next.snapshot, before.snapshot, (error) => this.#report(error));
  }

  /** Publishes reconnected sources and remote schemas. */
  async #join(merge: (before: Assembled) => Promise<Live | null>): Promise<void> {
    const before = this.#now();
    const live = await merge(before);
    if (live === null) return;
    const { metadata, resourceVersion } = before.snapshot;
    const assembled = await this.#assembly.assemble(resourceVersion, metadata, live, before);
    this.#swap(await this.#assembly.installCaptures(before, assembled, {}));
    this.#compare(before);
    await this.#publish();
  }

  #report(error: unknown): void {
    if (!this.#stopped) this.#options.observe({ kind: 'unexpected', message: 'background work of the state failed', error });
  }
}
