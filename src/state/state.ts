import type { MarkedFor } from '../backend/capture-mark.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { EventTriggerInfo, Inconsistency } from '../schema-cache/schema-cache.ts';
import type { Catalog, QualifiedName } from '../catalog/catalog.ts';
import type { Snapshot } from './snapshot.ts';
import type { Wanted } from './wanted.ts';

/** What a change must read anew from the databases before stages run. */
export interface Refresh {
  /** Sources to reconnect and introspect whole; `'all'` for reload_metadata. */
  readonly sources?: readonly string[] | 'all';
  /** Tables and functions whose catalog entries (and enum values) are read again. */
  readonly tables?: readonly { readonly source: string; readonly name: QualifiedName }[];
  readonly functions?: readonly { readonly source: string; readonly name: QualifiedName }[];
  /** Remote schemas that are asked again. */
  readonly remoteSchemas?: readonly string[] | 'all';
  /** Sources in which all that event triggers need is made again. Other instances need not do it too. */
  readonly eventTriggers?: readonly string[] | 'all';
}

/** What did not work although the change counts. */
export interface Warning {
  readonly code: string;
  /** Of the object of the metadata. */
  readonly type: string;
  readonly name: string;
  readonly message: string;
}

export type InconsistencyRule = 'reject' | 'reject-all' | 'allow';

export interface Change {
  /** Pure: metadata in, metadata out. Throws `SvcError` to refuse. */
  edit(metadata: Metadata, snapshot: Snapshot): Metadata;
  readonly refresh?: Refresh;
  /**
   * `reject`: newly inconsistent objects fail the change (the default); `reject-all`: those that were
   * inconsistent before do too; `allow`: they are recorded.
   * `edited` names the objects the command is about (their ids in the schema cache), so that
   * their own inconsistency is `invalid-configuration` with their reasons.
   */
  readonly inconsistencies?: InconsistencyRule;
  readonly edited?: readonly string[];
  /** Also the tables of events go from databases in which nothing captures any more. */
  readonly clearsEvents?: boolean;
}

export interface Preview extends Pick<Change, 'edit'> {
  readonly source: string;
  readonly catalog: Catalog;
  /** Tables that have another name in the catalog than before, by the `nameKey` of the old one. */
  readonly renamedTables: ReadonlyMap<string, QualifiedName>;
  /** Catalogs of further sources, by name. */
  readonly others?: ReadonlyMap<string, Catalog>;
}

export interface PreviewResult {
  readonly inconsistencies: readonly Inconsistency[];
  /** Of the source, by name. */
  readonly eventTriggers: ReadonlyMap<string, EventTriggerInfo>;
  /** What would be current; it never is. */
  readonly snapshot: Snapshot;
}

export interface ChangeResult {
  readonly resourceVersion: number;
  readonly inconsistencies: readonly Inconsistency[];
}

export interface TogetherOptions {
  /** Nothing but changes happens, so that all of it may be done again when another instance was faster. */
  readonly repeatable: boolean;
  /** Hears what did not work although the changes count. */
  readonly onWarning?: (warning: Warning) => void;
}

/** What is shown, and word of what is shown next: for whoever keeps working between requests. */
export interface Snapshots {
  current(): Snapshot;
  /**
   * Calls the listener for every snapshot that is shown from now on, right after it became the current one, in the order in which the
   * listeners came. What a listener throws is reported and hurts nobody; it must not take long, and must not wait for a change.
   * @returns ends it: the listener is not called any more
   */
  onSnapshot(listener: SnapshotListener): () => void;
}

export type SnapshotListener = (shown: Snapshot, before: Snapshot) => void;

/** Owner of the current snapshot; every change runs alone, in a queue. */
export interface State {
  current(): Snapshot;
  /** Mark of what a change installs in databases by itself; absent outside of a draft. */
  readonly markedFor?: MarkedFor;
  change(change: Change): Promise<ChangeResult>;
  /**
   * Changes that are stored and shown together when `run` is done, as one version, or not at all.
   * In the draft that it gets they are current as soon as they are made. In a draft, what `run` does is
   * forgotten alone when it fails. Nothing else changes meanwhile: `run` must not wait for another change of the state itself.
   */
  together<T>(run: (draft: State) => Promise<T>, how: TogetherOptions): Promise<T>;
  /**
   * Changes that nobody else ever sees: nothing is stored, shown or installed, and all is forgotten when `run` is done. Others go on
   * meanwhile.
   * @param wanted how long databases and servers are waited for
   */
  trial<T>(run: (draft: State) => Promise<T>, wanted?: Wanted): Promise<T>;
  /**
   * What would be inconsistent after an edit if a source had this catalog, which a transaction sees
   * that is still open. Changes nothing and reads nothing. @throws SvcError of the edit, timeout
   */
  preview(preview: Preview, wanted?: Wanted): Promise<PreviewResult>;
  /** Whether the metadata database answers. */
  isAlive(): Promise<boolean>;
}
