import type { CaptureVersion } from '../backend/capture-label.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { ChangeOrigin } from '../metadata-store/metadata-history.ts';
import type { EnumValue, EventTriggerInfo, Inconsistency } from '../schema-cache/schema-cache.ts';
import type { Catalog, QualifiedName } from '../catalog/catalog.ts';
import type { Snapshot } from './snapshot.ts';
import type { CallOptions } from '../util/deadline.ts';

/** Parts of databases and remote servers that a change reads again before the schema cache is built. */
export interface Refresh {
  /** Sources to reconnect and introspect completely; `'all'` for reload_metadata. */
  readonly sources?: readonly string[] | 'all';
  /** Tables and functions whose catalog entries (and enum values) are read again. */
  readonly tables?: readonly { readonly source: string; readonly name: QualifiedName }[];
  readonly functions?: readonly { readonly source: string; readonly name: QualifiedName }[];
  /** Remote schemas to introspect again. */
  readonly remoteSchemas?: readonly string[] | 'all';
  /** Sources in which all event triggers are installed again, by this instance only. */
  readonly eventTriggers?: readonly string[] | 'all';
}

/** A failure that did not prevent the change. */
export interface Warning {
  readonly code: string;
  /** Type of the metadata object. */
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
   * `reject` (default): newly inconsistent objects fail the change. `reject-all`: objects that were inconsistent before fail it, too.
   * `allow`: inconsistent objects are only recorded.
   */
  readonly inconsistencies?: InconsistencyRule;
  /** Ids of the edited objects: their own inconsistency fails the change with `invalid-configuration` and their reasons. */
  readonly edited?: readonly string[];
  /** Also drops the event tables of databases without event triggers. */
  readonly clearsEvents?: boolean;
  /** Author for the history. Ignored within a transaction, which has its own. */
  readonly origin?: () => ChangeOrigin;
}

export interface Preview extends Pick<Change, 'edit'> {
  readonly source: string;
  readonly catalog: Catalog;
  /** New names of renamed tables, by the `nameKey` of the old ones. */
  readonly renamedTables: ReadonlyMap<string, QualifiedName>;
  /** Catalogs of further sources, by name. */
  readonly others?: ReadonlyMap<string, Catalog>;
  /** Rows of enum tables that differ from those that were read, by the name of the source and the `nameKey` of the table. */
  readonly enumValues?: ReadonlyMap<string, ReadonlyMap<string, readonly EnumValue[]>>;
  /** Metadata whose webhooks and new addresses of remote schemas are checked as well; `edit` may leave out parts of it. */
  readonly declared?: Metadata;
}

export interface PreviewResult {
  readonly inconsistencies: readonly Inconsistency[];
  /** Event triggers of the source, by name. */
  readonly eventTriggers: ReadonlyMap<string, EventTriggerInfo>;
  /** Snapshot after the edit, which never becomes current. */
  readonly snapshot: Snapshot;
}

export interface ChangeResult {
  readonly resourceVersion: number;
  readonly inconsistencies: readonly Inconsistency[];
}

export interface StateTransactionOptions {
  /** True if `run` has no other effects than its changes, so that it may be repeated after a change of another instance. */
  readonly repeatable: boolean;
  /** Called after `run`, for the author and the operations of the change in the history. */
  readonly origin?: () => ChangeOrigin;
  /** Called for each failure that does not prevent the changes. */
  readonly onWarning?: (warning: Warning) => void;
}

/** Current snapshot, with notifications for work that continues between requests. */
export interface Snapshots {
  current(): Snapshot;
  /**
   * Calls the listener for every new snapshot, right after it becomes current, in the order of registration. An error of a listener is
   * reported and does not affect others. A listener must return quickly and must not wait for a change.
   * @returns function that removes the listener
   */
  onSnapshot(listener: SnapshotListener): () => void;
}

export type SnapshotListener = (current: Snapshot, before: Snapshot) => void;

/** Owner of the current snapshot. Changes run one at a time. */
export interface State {
  current(): Snapshot;
  /** Label for event triggers that a change installs directly in a database; absent outside of a draft. */
  readonly markedFor?: CaptureVersion;
  change(change: Change): Promise<ChangeResult>;
  /**
   * Stores and publishes the changes of `run` together, as one version, or none of them if it fails. They are visible in the draft at
   * once. Within a draft, a failing `run` discards only its own changes. No other change runs meanwhile, so `run` must not wait for a
   * change of the state itself.
   */
  transaction<T>(run: (draft: State) => Promise<T>, how: StateTransactionOptions): Promise<T>;
  /**
   * Runs changes on a draft that is discarded: nothing is stored, published or installed. Other changes may run meanwhile.
   * @param callOptions cancellation and deadline for databases and servers
   */
  trial<T>(run: (draft: State) => Promise<T>, callOptions?: CallOptions): Promise<T>;
  /**
   * Returns the inconsistencies after an edit with a catalog that an open transaction sees. Changes nothing and reads nothing.
   * @throws SvcError of the edit, timeout
   */
  preview(preview: Preview, callOptions?: CallOptions): Promise<PreviewResult>;
  /** Returns whether the metadata database responds. */
  isAlive(): Promise<boolean>;
}
