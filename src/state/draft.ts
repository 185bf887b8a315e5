/**
 * Changes on top of a snapshot that only their maker sees: each is checked as if it stood alone,
 * nothing is stored or shown. The owner of the state makes the result current, or discards it.
 */
import { randomUUID } from 'node:crypto';
import type { Source } from '../backend/backend.ts';
import type { MarkedFor } from '../backend/capture-mark.ts';
import type { Storage } from '../metadata-store/storage.ts';
import { inSlices } from '../util/sliced.ts';
import { type Assembly, closeOthers } from './assembly.ts';
import { withConnectedNames } from './connected-names.ts';
import { changedCaptures, type Touched } from './event-captures.ts';
import { withCatalog } from './live-source.ts';
import { mergeRefreshes } from './refresh.ts';
import { requireVersion } from './require-version.ts';
import type { Snapshot } from './snapshot.ts';
import type { Change, ChangeResult, Preview, PreviewResult, Refresh, State } from './state.ts';
import { underNewNames } from './renamed-sources.ts';
import { judge } from './verdict.ts';
import { type Wanted, whileWanted } from './wanted.ts';
import type { Assembled } from './assembled.ts';

/** As messages call it. */
const WORK = 'changes were tried';

interface Trial {
  readonly wanted: Wanted;
}

type DraftStorage = Pick<Storage, 'isAlive' | 'currentVersion'>;

export class Draft implements State {
  /** Marks what was installed: drafts of other instances may have the same version. */
  readonly id = randomUUID();
  readonly #assembly: Assembly;
  readonly #base: Assembled;
  readonly #storage: DraftStorage;
  /** null: the changes may come to count. */
  readonly #trial: Trial | null;
  #latest: Assembled;
  /** All that was assembled on the way. */
  readonly #steps: Assembled[] = [];
  #refresh: Refresh = {};
  #clearsEvents = false;
  readonly #touched = new Map<Source, ReadonlySet<string>>();

  /** @param trial the databases are left as they are, because the changes will never count */
  constructor(assembly: Assembly, base: Assembled, storage: DraftStorage, trial: Trial | null = null) {
    this.#assembly = assembly;
    this.#base = base;
    this.#latest = base;
    this.#storage = storage;
    this.#trial = trial;
  }

  /** The last change's outcome; the base when there was none. */
  get latest(): Assembled {
    return this.#latest;
  }

  /** What the changes read anew. */
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

  /** Connections in which something may have been installed. */
  get touched(): Touched {
    return this.#touched;
  }

  get markedFor(): MarkedFor {
    return { version: this.version, draft: this.id };
  }

  current(): Snapshot {
    return this.#latest.snapshot;
  }

  async change(change: Change): Promise<ChangeResult> {
    const before = this.#latest;
    const edited = withConnectedNames(change.edit(before.snapshot.metadata, before.snapshot), before.sources);
    const refresh = change.refresh ?? {};
    // One version for all of the draft.
    const { version } = this;
    this.#refresh = mergeRefreshes([this.#refresh, refresh]);
    const wanted = this.#trial?.wanted ?? {};
    const goOn = whileWanted(wanted, WORK);
    const sources = await this.#assembly.sourcesFor(edited, before, refresh, { wanted });
    // Sources that the change opens are connected only now.
    const metadata = withConnectedNames(edited, sources);
    try {
      const remotes = await this.#assembly.remotesFor({
        metadata,
        before: before.remotes,
        refresh: refresh.remoteSchemas,
        stored: new Map(),
        useStored: 'ask',
        patienceMs: null,
        wanted,
      });
      // Databases that were not waited for to the end count for nothing.
      goOn();
      const candidate = await this.#assembly.assemble(version, metadata, { sources, remotes }, before, goOn);
      const { inconsistencies } = candidate.snapshot.cache;
      if (change.inconsistencies !== 'allow') {
        const known = change.inconsistencies === 'reject-all' ? null : underNewNames(before.snapshot, metadata);
        judge(known, inconsistencies, change.edited ?? []);
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

  /** Takes back what was installed after a step; what the base has stays until the changes are stored. */
  async #restore(step: Assembled): Promise<void> {
    await this.#assembly.captures.undo(this.#touched, step, this.id, this.#base);
  }

  async preview(
    { edit, source, catalog, renamedTables, others = new Map() }: Preview,
    wanted: Wanted = this.#trial?.wanted ?? {},
  ): Promise<PreviewResult> {
    const goOn = whileWanted(wanted, WORK);
    const before = this.#latest;
    const metadata = edit(before.snapshot.metadata, before.snapshot);
    const sources = new Map(before.sources);
    const live = sources.get(source);
    if (live?.input.kind === 'open')
      sources.set(source, { ...live, input: await inSlices(withCatalog(live.input, catalog, renamedTables), goOn) });
    for (const [name, other] of others) {
      const known = sources.get(name);
      if (known?.input.kind === 'open')
        sources.set(name, { ...known, input: await inSlices(withCatalog(known.input, other, new Map()), goOn) });
    }
    const { snapshot } = await this.#assembly.assemble(
      before.snapshot.resourceVersion,
      metadata,
      { sources, remotes: before.remotes },
      before,
      goOn,
    );
    return {
      snapshot,
      inconsistencies: snapshot.cache.inconsistencies,
      eventTriggers: snapshot.cache.sources.get(source)?.eventTriggers ?? new Map(),
    };
  }

  /** Changes within these changes: when `run` fails, those that it made are forgotten. */
  async together<T>(run: (draft: State) => Promise<T>): Promise<T> {
    const before = this.#latest;
    try {
      return await run(this);
    } catch (thrown) {
      this.#latest = before;
      if (this.#trial === null) await this.#restore(before);
      throw thrown;
    }
  }

  trial<T>(run: (draft: State) => Promise<T>, wanted: Wanted = this.#trial?.wanted ?? {}): Promise<T> {
    return tryOut(new Draft(this.#assembly, this.#latest, this.#storage, { wanted }), this.#latest, run);
  }

  isAlive(): Promise<boolean> {
    return this.#storage.isAlive();
  }

  /** Closes what the changes opened and `kept`, the base or the latest, does not have. */
  async close(kept: Assembled): Promise<void> {
    const needed = new Map([...this.#base.sources, ...kept.sources].map(([name, live], i) => [`${i} ${name}`, live]));
    for (const { sources } of this.#steps) await closeOthers(sources, needed);
  }
}

/** Runs something on a draft that is forgotten then. @param kept what stays open */
export async function tryOut<T>(draft: Draft, kept: Assembled, run: (draft: State) => Promise<T>): Promise<T> {
  try {
    return await run(draft);
  } finally {
    await draft.close(kept);
  }
}
