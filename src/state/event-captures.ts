/**
 * Keeps the event triggers that are installed in databases in step with the metadata. New ones are installed before the metadata is
 * stored, so that a change fails if that is impossible. Removed ones are uninstalled after it, so that a change that is undone loses no
 * event. Labels name the version and the draft for which a trigger was installed: one of a later version may belong to a pending change,
 * and stays until that draft ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Source } from '../backend/backend.ts';
import { captureNames } from '../backend/capture-names.ts';
import type { Captures, InstallOptions } from '../backend/captures.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { EventTrigger } from '../metadata/event-trigger.ts';
import type { SourceMetadata } from '../metadata/metadata.ts';
import type { Observer } from '../observability/observation.ts';
import { inconsistent } from '../schema-cache/inconsistency.ts';
import type { EventTriggerInfo, SchemaCache, SourceInfo } from '../schema-cache/schema-cache.ts';
import { describeEventTrigger } from '../schema-cache/stages/describe.ts';
import { FailureLog } from './failure-log.ts';
import type { Snapshot } from './snapshot.ts';
import type { Refresh, Warning } from './state.ts';
import type { Assembled, CaptureFailure, CaptureFailures } from './assembled.ts';

export const NO_CAPTURE_FAILURES: CaptureFailures = new Map();

/** Connections in which a draft has installed event triggers, with the names of their sources in it. */
export type Touched = ReadonlyMap<Source, ReadonlySet<string>>;

/** Result of the cleanup after a stored change. */
export interface Settlement {
  readonly warnings: readonly Warning[];
  /** Sources whose cleanup is incomplete, with the names of removed triggers. */
  readonly left: ReadonlyMap<string, readonly string[]>;
}

/** Result of comparing a source with the metadata. */
export interface Repair {
  readonly failures: CaptureFailures;
  /** False if the source has to be compared again later. */
  readonly isComplete: boolean;
}

export interface RepairOptions {
  /** Stored version. Defaults to that of the metadata. Triggers of a later one stay. */
  readonly settled?: number;
  /** Ids of drafts that have ended: their triggers do not stay. */
  readonly ended?: ReadonlySet<string>;
  /** Id of the draft to which the metadata belongs; absent for stored metadata. */
  readonly draft?: string;
  /** Names of removed triggers. */
  readonly removed: readonly string[];
  /** Further definitions whose triggers stay. */
  readonly kept?: readonly EventTrigger[];
  /** Other names of the source in a change that is undone. */
  readonly formerNames?: readonly string[];
}

/** Lock timeout of background repairs, in ms: writers queue up behind the wait. */
const REPAIR_LOCK_MS = 1000;

/**
 * Maximum wait for a change of another instance that has installed other definitions for the same version, in ms. After that, the other
 * change counts as ended.
 */
const YIELD_MS = 2000;
const YIELD_PAUSE_MS = 50;

/** Log key of failures to remove triggers; no trigger has this name. */
const CLEANUP = '';

export interface InstallingDraft {
  readonly id: string;
  /** Rejects with a conflict if a newer version than the base of the draft is stored. */
  requireNewest(): Promise<void>;
}

/** Returns the owner label of a source's triggers: several services may use the same database. */
function captureOwner(metadataDatabase: string, source: string): string {
  return JSON.stringify([metadataDatabase, source]);
}

export class EventCaptures {
  readonly #metadataDatabase: string;
  readonly #observe: Observer;
  readonly #log = new FailureLog();

  /** @param metadataDatabase distinguishes this metadata from that of other services */
  constructor(metadataDatabase: string, observe: Observer) {
    this.#metadataDatabase = metadataDatabase;
    this.#observe = observe;
  }

  /**
   * Installs the triggers that are new in `after`, and all triggers of newly opened sources.
   * @param draft draft of a change, which may replace existing triggers; absent for stored metadata
   * @returns failures by trigger
   */
  async install(
    before: Assembled | undefined,
    after: Assembled,
    { eventTriggers: refresh }: Refresh,
    draft?: InstallingDraft,
  ): Promise<CaptureFailures> {
    const failures = new Map<EventTriggerInfo, CaptureFailure>();
    const installed = before === undefined ? new Set<EventTriggerInfo>() : triggersOf(before.snapshot.cache);
    const connections = new Set(before?.snapshot.connections.values());
    const { resourceVersion: version, cache } = after.snapshot;
    for (const [name, { eventTriggers }] of cache.sources) {
      const connection = after.snapshot.connections.get(name);
      if (connection?.captures === undefined) continue;
      const reinstall = refresh === 'all' || refresh?.includes(name) === true;
      const all = reinstall || !connections.has(connection);
      const missing = [...eventTriggers.values()].filter((info) => all || !installed.has(info));
      if (missing.length === 0) continue;
      const existing = captureNames(definitionsOf(before?.snapshot.metadata.sources.get(name)));
      const added = new Set([...captureNames(missing.map(({ definition }) => definition))].filter((each) => !existing.has(each)));
      const how = draft === undefined ? { settled: version, hasFreshColumns: true } : { added, draft: draft.id };
      const found = await this.#installAfterOthers(
        connection.captures,
        missing,
        { owner: this.owner(name), version, reinstall, ...how },
        draft,
      );
      for (const [info, error] of found) {
        this.#logs(connection.captures, name, info, error);
        failures.set(info, failureOf(cache, name, info, error));
      }
    }
    return failures;
  }

  /** Waits for drafts of other instances: a draft that will be refused must not replace triggers of one that will be stored. */
  async #installAfterOthers(
    captures: Captures,
    triggers: readonly EventTriggerInfo[],
    how: InstallOptions,
    draft: InstallingDraft | undefined,
  ): Promise<readonly (readonly [EventTriggerInfo, SvcError])[]> {
    const until = Date.now() + YIELD_MS;
    for (let yields = draft !== undefined; ; yields = Date.now() < until) {
      const found = await this.#installIn(captures, triggers, { ...how, yields });
      if (!yields || !found.some(([, { code }]) => code === 'concurrent-update')) return found;
      await draft?.requireNewest();
      await sleep(YIELD_PAUSE_MS);
    }
  }

  async #installIn(
    captures: Captures,
    triggers: readonly EventTriggerInfo[],
    how: InstallOptions,
  ): Promise<readonly (readonly [EventTriggerInfo, SvcError])[]> {
    try {
      const failed = new Map((await captures.install(triggers, how)).map(({ name, error }) => [name, error]));
      return triggers.flatMap((info) => {
        const error = failed.get(info.definition.name);
        return error === undefined ? [] : [[info, error] as const];
      });
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      return triggers.map((info) => [info, error]);
    }
  }

  /** Logs a failure of a trigger, unless an equal one was logged recently. */
  #logs(captures: Captures, source: string, { definition: { name } }: EventTriggerInfo, error: SvcError): void {
    const message = `${name}: ${describeFailure(error)}`;
    if (this.#log.isDue(captures, name, message)) this.#observe({ kind: 'source', source, event: 'event-trigger-failed', message });
  }

  owner(source: string): string {
    return captureOwner(this.#metadataDatabase, source);
  }

  /**
   * Removes the triggers of `before` that `after`, which is stored, does not have. Never fails: an unreachable source gives a warning.
   * @param clearing whether event tables are dropped in sources without triggers
   */
  async settle(before: Assembled, after: Assembled, clearing: boolean): Promise<Settlement> {
    const warnings: Warning[] = [];
    const left = new Map<string, readonly string[]>();
    const { metadata, connections, resourceVersion: settled } = after.snapshot;
    const attempt = async (source: string, task: () => Promise<unknown>): Promise<boolean> => {
      try {
        await task();
        return true;
      } catch (error) {
        const message = `the event triggers in the database of source "${source}" could not be removed: ${describeFailure(error)}`;
        warnings.push({ code: 'source-cleanup-failed', type: 'source', name: `source ${source}`, message });
        this.#observe({ kind: 'source', source, event: 'cleanup-failed', message });
        return false;
      }
    };
    if (metadata.sources === before.snapshot.metadata.sources) return { warnings, left };
    for (const [name, was] of before.snapshot.metadata.sources) {
      const connection = before.snapshot.connections.get(name);
      const now = successorOf(before.snapshot, name, after.snapshot);
      if (now === undefined) {
        await attempt(name, () => required(connection, was, name)?.uninstall(this.owner(name)) ?? Promise.resolve());
        continue;
      }
      if (now === was) continue;
      const definitions = definitionsOf(now);
      const names = new Set(definitions.map((each) => each.name));
      const removed = definitionsOf(was).flatMap((each) => (names.has(each.name) ? [] : [each.name]));
      const needed = captureNames(definitions);
      const isLess = removed.length > 0 || [...captureNames(definitionsOf(was))].some((each) => !needed.has(each));
      const own = connections.get(now.name);
      const owner = this.owner(now.name);
      if (clearing && definitions.length === 0) await attempt(name, async () => required(own, was, name)?.uninstall(owner));
      else if (isLess && !(await attempt(name, async () => required(own, was, name)?.retain(definitions, { owner, settled, removed }))))
        left.set(now.name, removed);
    }
    return { warnings, left };
  }

  /** Compares the installed triggers of a source with the metadata, and corrects them. Never fails. */
  async repair({ snapshot }: Assembled, source: string, options: RepairOptions): Promise<Repair> {
    const { removed, kept = [], formerNames = [], draft, ended } = options;
    const { cache, metadata, connections, resourceVersion: version } = snapshot;
    const captures = connections.get(source)?.captures;
    if (captures === undefined) return { failures: NO_CAPTURE_FAILURES, isComplete: true };
    const began = performance.now();
    const how = { owner: this.owner(source), settled: options.settled ?? version, ended, lockMs: REPAIR_LOCK_MS };
    const triggers = [...(cache.sources.get(source)?.eventTriggers.values() ?? [])];
    const formerOwners = formerNames.map((name) => this.owner(name));
    const found = await this.#installIn(captures, triggers, { ...how, version, draft, formerOwners });
    const failures = new Map(found.map(([info, error]) => [info, failureOf(cache, source, info, error)]));
    this.#log.retain(captures, new Set([...found.map(([{ definition }]) => definition.name), CLEANUP]), began);
    for (const [info, error] of found) this.#logs(captures, source, info, error);
    const definitions = [...definitionsOf(metadata.sources.get(source)), ...kept];
    const names = new Set(definitions.map(({ name }) => name));
    try {
      const isComplete = await captures.retain(definitions, { ...how, removed: removed.filter((name) => !names.has(name)) });
      this.#log.retain(captures, new Set(found.map(([{ definition }]) => definition.name)), began);
      return { failures, isComplete: isComplete && failures.size === 0 };
    } catch (error) {
      const message = describeFailure(error);
      if (this.#log.isDue(captures, CLEANUP, message)) this.#observe({ kind: 'source', source, event: 'cleanup-failed', message });
      return { failures, isComplete: false };
    }
  }

  /**
   * Removes the triggers that a draft has installed, in favor of `now`. Never fails.
   * @param id id of the draft
   * @param base stored metadata below the draft, whose triggers stay; set to undo single changes of a draft that continues
   * @returns names of the sources in which triggers may remain
   */
  async undo(touched: Touched, now: Assembled, id: string, base?: Assembled): Promise<readonly string[]> {
    const left: string[] = [];
    const how = { settled: (base ?? now).snapshot.resourceVersion, ended: new Set([id]), removed: [] };
    for (const [connection, names] of touched) {
      const own = [...now.snapshot.connections].find(([, each]) => each === connection)?.[0];
      if (own !== undefined) {
        const others = definitionsOf(base?.snapshot.metadata.sources.get(own));
        const ofDraft = base === undefined ? {} : { draft: id };
        const { isComplete } = await this.repair(now, own, { ...how, ...ofDraft, kept: others, formerNames: [...names] });
        if (!isComplete) left.push(own);
      }
      for (const name of names) {
        if (name === own) continue;
        await connection.captures?.retain([], { owner: this.owner(name), ...how }).catch((error: unknown) => {
          this.#observe({ kind: 'source', source: name, event: 'cleanup-failed', message: describeFailure(error) });
        });
      }
    }
    return left;
  }
}

/** Returns the names of sources whose event triggers have changed, or that have a new connection. */
export function changedCaptures(before: Assembled | undefined, { snapshot }: Assembled): readonly string[] {
  const { metadata, connections, cache } = snapshot;
  return [...connections].flatMap(([name, connection]) => {
    if (connection.captures === undefined) return [];
    const was = before?.snapshot.metadata.sources.get(name);
    const is = metadata.sources.get(name);
    if (before === undefined || before.snapshot.connections.get(name) !== connection) return [name];
    const infos = (of: SchemaCache): readonly object[] => [...(of.sources.get(name)?.eventTriggers.values() ?? [])];
    const isSame = (one: readonly object[], other: readonly object[]): boolean =>
      one.length === other.length && one.every((each, i) => each === other[i]);
    if (isSame(infos(before.snapshot.cache), infos(cache)) && (was === is || isSame(definitionsOf(was), definitionsOf(is)))) return [];
    return [name];
  });
}

/** Returns the captures of a source; `undefined` if it never had triggers. @throws SvcError if the source is not open */
function required(connection: Source | undefined, was: SourceMetadata, name: string): Captures | undefined {
  if (connection !== undefined) return connection.captures;
  if (definitionsOf(was).length > 0) throw new SvcError('unexpected', `source with name "${name}" is inconsistent`, { status: 400 });
  return undefined;
}

/** Returns the source in the new snapshot, where it may have another name. */
function successorOf(before: Snapshot, name: string, after: Snapshot): SourceMetadata | undefined {
  const own = after.metadata.sources.get(name);
  if (own !== undefined) return own;
  const connection = before.connections.get(name);
  if (connection === undefined) return undefined;
  for (const [other, each] of after.connections) if (each === connection) return after.metadata.sources.get(other);
  return undefined;
}

function definitionsOf(source: SourceMetadata | undefined): readonly EventTrigger[] {
  return [...(source?.tables.values() ?? [])].flatMap(({ eventTriggers }) => [...eventTriggers.values()]);
}

function triggersOf(cache: SchemaCache): Set<EventTriggerInfo> {
  return new Set([...cache.sources.values()].flatMap(({ eventTriggers }) => [...eventTriggers.values()]));
}

function failureOf(cache: SchemaCache, source: string, info: EventTriggerInfo, error: SvcError): CaptureFailure {
  const { backend } = cache.sources.get(source) as SourceInfo;
  const object = describeEventTrigger({ name: source, backend }, info.table.name, info.definition);
  return { source, error, inconsistency: inconsistent(object, error.message, error.internal) };
}

/** Returns a failure for each event trigger that an unconfirmed change adds, changes or removes. */
export function uncertainCaptures(now: Assembled, latest: Assembled): CaptureFailures {
  const error = new SvcError('unexpected', 'it is not known yet whether its last change was stored, because the connection broke');
  const uncertain = new Map<EventTriggerInfo, CaptureFailure>();
  const sides = [now.snapshot.cache, latest.snapshot.cache];
  const both = sides.map(triggersOf);
  for (const cache of sides) {
    for (const [source, { eventTriggers }] of cache.sources)
      for (const info of eventTriggers.values())
        if (!both.every((each) => each.has(info))) uncertain.set(info, failureOf(cache, source, info, error));
  }
  return uncertain;
}

/** Returns the failures whose triggers still exist. */
export function carriedFailures(before: CaptureFailures, cache: SchemaCache): CaptureFailures {
  if (before.size === 0) return before;
  const now = triggersOf(cache);
  return new Map([...before].filter(([info]) => now.has(info)));
}

/** Returns whether `shown` has exactly these failures of a source, with the same messages. */
export function isShown(source: string, found: CaptureFailures, shown: CaptureFailures): boolean {
  const own = [...shown].filter(([, failure]) => failure.source === source);
  return own.length === found.size && own.every(([info, { error }]) => found.get(info)?.error.message === error.message);
}

/** Returns the cache with the failures as inconsistencies. Events that were captured earlier are still delivered. */
export function withCaptureFailures(cache: SchemaCache, failures: CaptureFailures): SchemaCache {
  if (failures.size === 0) return cache;
  return { ...cache, inconsistencies: [...cache.inconsistencies, ...[...failures.values()].map(({ inconsistency }) => inconsistency)] };
}

export function withOtherFailures(of: Assembled, failures: CaptureFailures): Assembled {
  const before = new Set([...of.captureFailures.values()].map(({ inconsistency }) => inconsistency));
  const inconsistencies = of.snapshot.cache.inconsistencies.filter((each) => !before.has(each));
  const cache = withCaptureFailures({ ...of.snapshot.cache, inconsistencies }, failures);
  return { ...of, snapshot: { ...of.snapshot, cache }, captureFailures: failures };
}
