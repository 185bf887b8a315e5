/** What a database does for event triggers. */
import type { CatalogTable } from '../catalog/catalog.ts';
import type { EventTrigger } from '../metadata/event-trigger.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import type { MarkedFor, Settled } from './capture-mark.ts';
import type { CapturedEventStore } from './event-store.ts';
import type { Connection, RunOptions } from './connection.ts';

/** A trigger on a table that exists and has the columns that it names. */
export interface CapturedTrigger {
  readonly definition: EventTrigger;
  readonly table: CatalogTable;
}

/** A writer that holds a table for longer fails a change, not the other writers that queue up behind it. */
export const DEFAULT_LOCK_MS = 10_000;

export interface InstallOptions extends MarkedFor, Partial<Settled> {
  /** Maximum wait for the lock of a table, in ms. Default 10,000. */
  readonly lockMs?: number;
  /** Marks what is installed as this service's: of the metadata and the source in it. */
  readonly owner: string;
  /**
   * Repairs: what was made from the same definition stays, and so does what a change under way has installed for a version after
   * this one; its trigger is one of the failures. Absent: a change installs, and replaces whatever differs.
   */
  readonly settled?: number;
  /** Other owners whose captures a repair may take over: names that the source had in a change that is undone. */
  readonly formerOwners?: readonly string[];
  /** Repairs after the catalog has been read: what was made for other columns is replaced too. */
  readonly hasFreshColumns?: boolean;
  /** Names of captures, from `captureName`, that the metadata did not have before: their marks get the new version and the draft. */
  readonly added?: ReadonlySet<string>;
  /** Leaves what a draft of another instance has installed for the same version; its trigger is one of the failures. */
  readonly yields?: boolean;
  /** Also what is there already as it should be. */
  readonly again?: boolean;
  /** An open transaction that it becomes part of; absent: it has its own. */
  readonly within?: Connection;
}

export interface RetainOptions extends Pick<InstallOptions, 'lockMs'>, Settled {
  readonly owner: string;
  /** Names of triggers that are known to be gone: they may have nothing installed. */
  readonly gone: readonly string[];
}

export interface InstallFailure {
  /** Of the trigger. */
  readonly name: string;
  readonly error: SvcError;
}

/** Failure of a trigger whose capture another change has installed, which is not stored yet. */
export function underWay(): SvcError {
  return new SvcError('concurrent-update', 'its capture in the database belongs to a change of the metadata that is under way', {
    isPassing: true,
  });
}

/** Refuses to take over what another service has installed under the same name. @throws SvcError already-exists */
export function requireOwn(
  known: { readonly owner: string; readonly trigger: string },
  { owner, settled, hasFreshColumns, formerOwners = [] }: InstallOptions,
): void {
  const isRepair = settled !== undefined && hasFreshColumns !== true;
  if (!isRepair || known.owner === '' || known.owner === owner || formerOwners.includes(known.owner)) return;
  throw new SvcError('already-exists', `another service has an event trigger "${known.trigger}" in the database`);
}

/** Which events; an absent property excludes none. */
export interface EventFilter {
  readonly trigger?: string;
  readonly state: 'pending' | 'processed' | 'delivered' | 'error' | 'any';
  /** Made at this time or later, and before that time: texts that the database reads as times. */
  readonly from?: string;
  readonly to?: string;
  /** Also those of triggers that were removed. */
  readonly archived?: boolean;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** The id of a row: the page has what comes behind it in the list. */
  readonly after?: string;
}

/** Events of a trigger. Of very many, some are counted. */
export interface EventCounts {
  readonly delivered: number;
  readonly failed: number;
  /** Of any age. */
  readonly pending: number;
  /** ISO 8601; null: none is pending. */
  readonly oldestPending: string | null;
}

/** Events of one trigger and state that are counted at most. */
export const MOST_COUNTED = 100_000;

export interface Backlog {
  readonly pending: number;
  /** Since the oldest of them is due; 0 where none is. seconds */
  readonly oldestAge: number;
}

/** What a clean-up takes away. */
export interface CleanupSpec {
  readonly trigger: string;
  readonly batchSize: number;
  /** hours */
  readonly clearOlderThan: number;
  /** seconds for one statement */
  readonly timeout: number;
  readonly cleanInvocationLogs: boolean;
}

export interface CleanupCounts {
  readonly events: number;
  readonly invocations: number;
}

/** A planned run of an automatic clean-up. */
export interface PlannedCleanup {
  readonly id: string;
  readonly trigger: string;
}

/**
 * Changes of rows, written down in the database in the transaction that makes them. What that takes is made with the
 * first trigger. Everything throws `SvcError` when the database refuses or does not answer.
 */
export interface Captures {
  /** What is left to deliver. */
  readonly events: CapturedEventStore;
  /**
   * Installs those that are missing or different, each for itself: one that cannot be installed keeps none of the others
   * out. A trigger that is on another table is taken from it first. @returns those that failed; inside of a transaction the first failure is thrown
   */
  install(triggers: readonly CapturedTrigger[], options: InstallOptions): Promise<readonly InstallFailure[]>;
  /**
   * Removes the captures of `owner` that these definitions do not need; events of removed triggers that are not delivered never will be.
   * @returns whether nothing else is left: false while a change may be under way that has installed something
   */
  retain(definitions: readonly EventTrigger[], how: RetainOptions): Promise<boolean>;
  /** Takes away all that `owner` has installed and, unless others use them, the tables of events too. */
  uninstall(owner: string): Promise<void>;
  /** Whether somebody else has a trigger of the name on a table. */
  isTaken(name: string, owner: string): Promise<boolean>;

  /** Writes an event of an administrator down. @param payload JSON @param session the session variables as JSON @returns its id */
  invoke(trigger: CapturedTrigger, payload: Json, session: Json, traceContext: Json): Promise<string>;
  /** Makes an event be delivered as if it were new. `processing`: somebody is at it. */
  redeliver(id: string): Promise<'done' | 'missing' | 'processing'>;
  /** The same for many, but for those that are pending already. @returns how many */
  redeliverAll(filter: EventFilter, limit: number | null): Promise<number>;
  /** Rows of events, newest first, as JSON objects with the columns that are told. */
  list(filter: EventFilter, page: Page): Promise<readonly Json[]>;
  count(filter: EventFilter): Promise<number>;
  /** How many events of these triggers there are, without archived ones; delivered and failed ones made since a time, ISO 8601. */
  summary(triggers: readonly string[], since: string): Promise<ReadonlyMap<string, EventCounts>>;
  /** What waits for its delivery; absent where the kind does not tell. Of very many, only some are looked at. */
  backlog?(how: RunOptions): Promise<Backlog>;
  /** Attempts to deliver events of a trigger, newest first, as JSON objects. */
  invocations(trigger: string, page: Page): Promise<readonly Json[]>;
  /** An event and the attempts to deliver it; null when there is none. */
  event(id: string, page: Page): Promise<{ readonly event: Json; readonly invocations: readonly Json[] } | null>;

  /**
   * Removes old events that are delivered or given up, batch by batch. Ends when nothing is left, when `spec`, asked before
   * each batch, gives null, or when a batch takes too long, which is no error.
   */
  cleanUp(spec: () => CleanupSpec | null, how: RunOptions): Promise<CleanupCounts>;
  /** How many runs of automatic clean-ups are ahead, by trigger. */
  plannedCleanups(): Promise<ReadonlyMap<string, number>>;
  /** Times in ISO 8601; those that are planned already do no harm. */
  planCleanups(trigger: string, times: readonly string[]): Promise<void>;
  /** Forgets all that are ahead, of all triggers but these. */
  forgetCleanups(except: readonly string[]): Promise<void>;
  /** Forgets those of one trigger that are ahead. */
  replanCleanups(trigger: string, times: readonly string[]): Promise<void>;
  /**
   * Takes the latest one that is due of each trigger; older ones are given up, as are those that have been under way for longer than
   * `LONGEST_CLEANUP_S`. Of several instances one gets it. Forgets runs that are long over.
   */
  takeDueCleanups(): Promise<readonly PlannedCleanup[]>;
  endCleanup(id: string, status: 'completed' | 'paused' | 'dead', counts: CleanupCounts): Promise<void>;
}
