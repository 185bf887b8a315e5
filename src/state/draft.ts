/**
 * Uncommitted changes on top of a snapshot. Each is checked by itself; nothing is stored or published. The owner of the state makes the
 * result current, or discards it.
 */
import { randomUUID } from 'node:crypto';
import type { Source } from '../backend/backend.ts';
import type { CaptureVersion } from '../backend/capture-label.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { Storage } from '../metadata-store/storage.ts';
import { objectId } from '../schema-cache/object-id.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import { runCooperatively } from '../util/cooperative.ts';
import { type Assembly, closeOthers } from './assembly.ts';
import { withConnectedNames } from './connected-names.ts';
import { changedCaptures, type Touched } from './event-captures.ts';
import { sameServer } from './live-remotes.ts';
import { type OtherCatalog, withCatalog } from './live-source.ts';
import { mergeRefreshes } from './refresh.ts';
import { requireVersion } from './require-version.ts';
import type { Snapshot } from './snapshot.ts';
import type { Change, ChangeResult, Preview, PreviewResult, Refresh, State } from './state.ts';
import { withRenamedSources } from './renamed-sources.ts';
import { checkConsistency } from './consistency-check.ts';
import { deadlineCheck } from './deadline-check.ts';
import type { CallOptions } from '../util/deadline.ts';
import type { Assembled } from './assembled.ts';

const WORK = 'changes were tried';

interface Trial {
  readonly callOptions: CallOptions;
}

type DraftStorage = Pick<Storage, 'isAlive' | 'currentVersion'>;

export class MetadataDraft implements State {
  /** Label of installed event triggers: drafts of other instances may have the same version. */
  readonly id = randomUUID();
  readonly #assembly: Assembly;
  readonly #base: Assembled;
  readonly #storage: DraftStorage;
  /** `null` if the draft may be committed. */
  readonly #trial: Trial | null;
  #latest: Assembled;
  /** Results of all changes so far. */
  readonly #steps: Assembled[] = [];
  #refresh: Refresh = {};
  #clearsEvents = false;
  readonly #touched = new Map<Source, ReadonlySet<string>>();

  /** @param trial set if the draft will be discarded, so that databases do not change */
  constructor(assembly: Assembly, base: Assembled, storage: DraftStorage, trial: Trial | null = null) {
    this.#assembly = assembly;
    this.#base = base;
    this.#latest = base;
    this.#storage = storage;
    this.#trial = trial;
  }

  /** Result of the last change; the base before the first one. */
  get latest(): Assembled {
    return this.#latest;
  }

  get refresh(): Refresh {
    return this.#refresh;
  }

  get clearsEvents(): boolean {
    return this.#clearsEvents;
  }

  /** Resource version of the changes. */
  get version(): number {
    return this.#base.snapshot.resourceVersion + 1;
  }

  /** Connections in which event triggers may have been installed. */
  get touched(): Touched {
    return this.#touched;
  }

  get markedFor(): CaptureVersion {
    return { version: this.version, draft: this.id };
  }

  current(): Snapshot {
    return this.#latest.snapshot;
  }

  async change(change: Change): Promise<ChangeResult> {
    const before = this.#latest;
    const edited = withConnectedNames(change.edit(before.snapshot.metadata, before.snapshot), before.sources);
    const refresh = change.refresh ?? {};
    // All changes of a draft have one version.
    const { version } = this;
    this.#refresh = mergeRefreshes([this.#refresh, refresh]);
    const callOptions = this.#trial?.callOptions ?? {};
    const goOn = deadlineCheck(callOptions, WORK);
    const sources = await this.#assembly.sourcesFor(edited, before, refresh, { callOptions });
    // Connected names of sources that the change opens are known only now.
    const metadata = withConnectedNames(edited, sources);
    try {
      const remotes = await this.#assembly.remotesFor({
        metadata,
        before: before.remotes,
        refresh: refresh.remoteSchemas,
        stored: new Map(),
        useStored: 'ask',
        timeoutMs: null,
        callOptions,
      });
      // After the deadline, databases that did not respond in time must not count as inconsistent.
      goOn();
      const candidate = await this.#assembly.assemble(version, metadata, { sources, remotes }, before, goOn);
      const { inconsistencies } = candidate.snapshot.cache;
      if (change.inconsistencies !== 'allow') {
        const known = change.inconsistencies === 'reject-all' ? null : withRenamedSources(before.snapshot, metadata);
        checkConsistency(known, inconsistencies, change.edited ?? []);
      }
      const installed = this.#trial !== null ? candidate : await this.#install(before, candidate, refresh, change);
      this.#steps.push(installed);
      this.#latest = installed;
      this.#clearsEvents ||= change.clearsEvents === true;
      return { resourceVersion: version, inconsistencies: installed.snapshot.cache.inconsistencies };
    } catch (error) {
      await closeOthers(sources, before.sources);
      throw error;
    }
  }

  async #install(before: Assembled, candidate: Assembled, refresh: Refresh, { inconsistencies }: Change): Promise<Assembled> {
    for (const name of changedCaptures(before, candidate)) {
      const connection = candidate.snapshot.connections.get(name);
      if (connection !== undefined) this.#touched.set(connection, new Set([...(this.#touched.get(connection) ?? []), name]));
    }
    try {
      return await this.#assembly.installCaptures(before, candidate, refresh, { refuse: inconsistencies !== 'allow', draft: this });
    } catch (error) {
      await this.#restore(before);
      throw error;
    }
  }

  async requireNewest(): Promise<void> {
    requireVersion({ resourceVersion: await this.#storage.currentVersion() }, this.#base.snapshot.resourceVersion);
  }

  /** Removes event triggers that were installed after a step. Those of the base stay until the changes are stored. */
  async #restore(step: Assembled): Promise<void> {
    await this.#assembly.captures.undo(this.#touched, step, this.id, this.#base);
  }

  async preview(
    { edit, source, catalog, renamedTables, others = new Map(), enumValues = new Map(), declared }: Preview,
    callOptions: CallOptions = this.#trial?.callOptions ?? {},
  ): Promise<PreviewResult> {
    const goOn = deadlineCheck(callOptions, WORK);
    const before = this.#latest;
    const metadata = edit(before.snapshot.metadata, before.snapshot);
    const sources = new Map(before.sources);
    const setCatalog = async (name: string, changed: Pick<OtherCatalog, 'catalog' | 'renamedTables'>): Promise<void> => {
      const live = sources.get(name);
      if (live?.input.kind !== 'open') return;
      const input = await runCooperatively(withCatalog(live.input, { ...changed, enumValues: enumValues.get(name) }), goOn);
      sources.set(name, { ...live, input });
    };
    await setCatalog(source, { catalog, renamedTables });
    for (const [name, other] of others) await setCatalog(name, { catalog: other, renamedTables: new Map() });
    const { snapshot } = await this.#assembly.assemble(
      before.snapshot.resourceVersion,
      metadata,
      { sources, remotes: before.remotes },
      before,
      goOn,
    );
    return {
      snapshot,
      inconsistencies: declared === undefined ? snapshot.cache.inconsistencies : this.#withDeclared(snapshot, declared),
      eventTriggers: snapshot.cache.sources.get(source)?.eventTriggers ?? new Map(),
    };
  }

  /** Returns the inconsistencies of a snapshot and those of declared metadata, one of each object. */
  #withDeclared({ cache }: Snapshot, declared: Metadata): readonly Inconsistency[] {
    const { remotes } = this.#latest;
    const changed = [...declared.remoteSchemas.values()].filter((remote) => sameServer(remotes.get(remote.name), remote) === undefined);
    // The snapshot has the state of their former servers.
    const former = new Set(changed.map(({ name }) => objectId.remoteSchema(name)));
    const found = cache.inconsistencies.filter((each) => !former.has(each.objectId));
    const known = new Set(found.map((each) => each.objectId));
    return [...found, ...this.#assembly.declaredDefects(declared, changed).filter((each) => !known.has(each.objectId))];
  }

  /** Nested transaction: if `run` fails, only its changes are discarded. */
  async transaction<T>(run: (draft: State) => Promise<T>): Promise<T> {
    const before = this.#latest;
    try {
      return await run(this);
    } catch (thrown) {
      this.#latest = before;
      if (this.#trial === null) await this.#restore(before);
      throw thrown;
    }
  }

  trial<T>(run: (draft: State) => Promise<T>, callOptions: CallOptions = this.#trial?.callOptions ?? {}): Promise<T> {
    return runAndDiscard(new MetadataDraft(this.#assembly, this.#latest, this.#storage, { callOptions }), this.#latest, run);
  }

  isAlive(): Promise<boolean> {
    return this.#storage.isAlive();
  }

  /** Closes connections that the changes opened, except those of `kept`, which is the base or the latest result. */
  async close(kept: Assembled): Promise<void> {
    const needed = new Map([...this.#base.sources, ...kept.sources].map(([name, live], i) => [`${i} ${name}`, live]));
    for (const { sources } of this.#steps) await closeOthers(sources, needed);
  }
}

/** Runs a function on a draft, then discards the draft. @param kept state whose connections stay open */
export async function runAndDiscard<T>(draft: MetadataDraft, kept: Assembled, run: (draft: State) => Promise<T>): Promise<T> {
  try {
    return await run(draft);
  } finally {
    await draft.close(kept);
  }
}
