/**
 * Keeps what event triggers need in their databases in step with the metadata. What is new is installed before the
 * metadata counts, so that a change fails when it cannot be; what is gone is taken away after it counts, so that a change that
 * is taken back loses no event. Marks say for which version and draft of the metadata something was installed: what belongs to a
 * later version may be of a change under way, and stays until its own draft ends.
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

/** Connections in which a draft has installed something, with the names of their sources in it. */
export type Touched = ReadonlyMap<Source, ReadonlySet<string>>;

/** Result of settling a stored change. */
export interface Settlement {
  readonly warnings: readonly Warning[];
  /** Sources in which something is left, with the names of removed triggers. */
  readonly left: ReadonlyMap<string, readonly string[]>;
}

/** Result of comparing a source with the metadata. */
export interface Repair {
  readonly failures: CaptureFailures;
  /** False where something has to be compared again later. */
  readonly isComplete: boolean;
}

export interface RepairOptions {
  /** Stored version; defaults to that of the metadata. What was installed for a later one stays. */
  readonly settled?: number;
  /** Ids of drafts that have ended: what was installed for them does not stay. */
  readonly ended?: ReadonlySet<string>;
  /** Id of the draft that the metadata is a step of; absent for stored metadata. */
  readonly draft?: string;
  /** Names of triggers that were removed. */
  readonly gone: readonly string[];
  /** Definitions that are also kept. */
  readonly kept?: readonly EventTrigger[];
  /** Other names of the source in a change that is undone. */
  readonly formerNames?: readonly string[];
}

/** Maximum wait for the lock of a table in the background: writers queue up behind it. */
const REPAIR_LOCK_MS = 1000;

/** Maximum wait for a change on another instance that has installed other definitions for the same version; then it counts as ended. */
const YIELD_MS = 2000;
const YIELD_PAUSE_MS = 50;

/** Key of failures to remove triggers; no trigger has such a name. */
const CLEANUP = '';

/** Draft that installs for a change. */
export interface InstallingDraft {
  readonly id: string;
  /** Rejects with a conflict if a version is stored that the draft does not begin with. */
  requireNewest(): Promise<void>;
}

/** Owner of what a source has for its triggers: two services may work on the same database. */
function captureOwner(metadataDatabase: string, source: string): string {
  return JSON.stringify([metadataDatabase, source]);
}

export class EventCaptures {
  readonly #metadataDatabase: string;
  readonly #observe: Observer;
  readonly #log = new FailureLog();

  /** @param metadataDatabase names the metadata among those of other services */
  constructor(metadataDatabase: string, observe: Observer) {
    this.#metadataDatabase = metadataDatabase;
    this.#observe = observe;
  }

  /**
   * Installs what `after` has and `before` has not; all of a source that is opened anew.
   * @param draft draft of a change, which may replace what is there; absent for metadata that counts
   * @returns those that could not be installed
   */
  async install(
    before: Assembled | undefined,
    after: Assembled,
    { eventTriggers: again }: Refresh,
    draft?: InstallingDraft,
  ): Promise<CaptureFailures> {
    const failures = new Map<EventTriggerInfo, CaptureFailure>();
    const installed = before === undefined ? new Set<EventTriggerInfo>() : triggersOf(before.snapshot.cache);
    const connections = new Set(before?.snapshot.connections.values());
    const { resourceVersion: version, cache } = after.snapshot;
    for (const [name, { eventTriggers }] of cache.sources) {
      const connection = after.snapshot.connections.get(name);
      if (connection?.captures === undefined) continue;
      const anew = again === 'all' || again?.includes(name) === true;
      const all = anew || !connections.has(connection);
      const wanted = [...eventTriggers.values()].filter((info) => all || !installed.has(info));
      if (wanted.length === 0) continue;
      const had = captureNames(definitionsOf(before?.snapshot.metadata.sources.get(name)));
      const added = new Set([...captureNames(wanted.map(({ definition }) => definition))].filter((each) => !had.has(each)));
      const how = draft === undefined ? { settled: version, hasFreshColumns: true } : { added, draft: draft.id };
      const found = await this.#installAfterOthers(
        connection.captures,
        wanted,
        { owner: this.owner(name), version, again: anew, ...how },
        draft,
      );
      for (const [info, error] of found) {
        this.#logs(connection.captures, name, info, error);
        failures.set(info, failureOf(cache, name, info, error));
      }
    }
    return failures;
  }

  /** Waits for drafts of other instances: one of a change that is refused must not replace what the stored one has installed. */
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

  /** Logs a failure of a trigger, unless an equal one was logged lately. */
  #logs(captures: Captures, source: string, { definition: { name } }: EventTriggerInfo, error: SvcError): void {
    const message = `${name}: ${describeFailure(error)}`;
    if (this.#log.isDue(captures, name, message)) this.#observe({ kind: 'source', source, event: 'event-trigger-failed', message });
  }

  owner(source: string): string {
    return captureOwner(this.#metadataDatabase, source);
  }

  /**
   * Takes away what `before` has and `after`, which is stored, has not. Never fails: a source that is out of reach is told of.
   * @param clearing the tables of events go too where nothing is left
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
        const message = `what event triggers had in the database of source "${source}" could not be removed: ${describeFailure(error)}`;
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
      const gone = definitionsOf(was).flatMap((each) => (names.has(each.name) ? [] : [each.name]));
      const needed = captureNames(definitions);
      const isLess = gone.length > 0 || [...captureNames(definitionsOf(was))].some((each) => !needed.has(each));
      const own = connections.get(now.name);
      const owner = this.owner(now.name);
      if (clearing && definitions.length === 0) await attempt(name, async () => required(own, was, name)?.uninstall(owner));
      else if (isLess && !(await attempt(name, async () => required(own, was, name)?.retain(definitions, { owner, settled, gone }))))
        left.set(now.name, gone);
    }
    return { warnings, left };
  }

  /** Compares what a source has with what the metadata says, and mends it. Never fails. */
  async repair({ snapshot }: Assembled, source: string, options: RepairOptions): Promise<Repair> {
    const { gone, kept = [], formerNames = [], draft, ended } = options;
    const { cache, metadata, connections, resourceVersion: version } = snapshot;
    const captures = connections.get(source)?.captures;
    if (captures === undefined) return { failures: NO_CAPTURE_FAILURES, isComplete: true };
    const how = { owner: this.owner(source), settled: options.settled ?? version, ended, lockMs: REPAIR_LOCK_MS };
    const triggers = [...(cache.sources.get(source)?.eventTriggers.values() ?? [])];
    const formerOwners = formerNames.map((name) => this.owner(name));
    const found = await this.#installIn(captures, triggers, { ...how, version, draft, formerOwners });
    const failures = new Map(found.map(([info, error]) => [info, failureOf(cache, source, info, error)]));
    this.#log.retain(captures, new Set([...found.map(([{ definition }]) => definition.name), CLEANUP]));
    for (const [info, error] of found) this.#logs(captures, source, info, error);
    const definitions = [...definitionsOf(metadata.sources.get(source)), ...kept];
    const names = new Set(definitions.map(({ name }) => name));
    try {
      const isComplete = await captures.retain(definitions, { ...how, gone: gone.filter((name) => !names.has(name)) });
      this.#log.retain(captures, new Set(found.map(([{ definition }]) => definition.name)));
      return { failures, isComplete: isComplete && failures.size === 0 };
    } catch (error) {
      const message = describeFailure(error);
      if (this.#log.isDue(captures, CLEANUP, message)) this.#observe({ kind: 'source', source, event: 'cleanup-failed', message });
      return { failures, isComplete: false };
    }
  }

  /**
   * Takes back what a draft has installed that does not count: `now` does. Never fails.
   * @param id of the draft
   * @param base set to undo steps of a draft that goes on: the stored metadata below it, all of which stays
   * @returns sources in which that is not done
   */
  async undo(touched: Touched, now: Assembled, id: string, base?: Assembled): Promise<readonly string[]> {
    const left: string[] = [];
    const how = { settled: (base ?? now).snapshot.resourceVersion, ended: new Set([id]), gone: [] };
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

/** Sources whose event triggers are others than before, or that are connected anew. */
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

/** What takes things away; undefined where nothing was ever put. @throws SvcError when the source is not open */
function required(connection: Source | undefined, was: SourceMetadata, name: string): Captures | undefined {
  if (connection !== undefined) return connection.captures;
  if (definitionsOf(was).length > 0) throw new SvcError('unexpected', `source with name "${name}" is inconsistent`);
  return undefined;
}

/** The source as it is now, maybe under another name. */
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
  const { backend, namingConvention } = cache.sources.get(source) as SourceInfo;
  const object = describeEventTrigger({ name: source, backend, namingConvention }, info.table.name, info.definition);
  return { source, error, inconsistency: inconsistent(object, error.message, error.internal) };
}

/** Failures of the event triggers that a change has changed which may be stored or not. */
export function doubtfulCaptures(now: Assembled, latest: Assembled): CaptureFailures {
  const error = new SvcError('unexpected', 'it is not known yet whether a change of it was stored, because the connection broke');
  const doubtful = new Map<EventTriggerInfo, CaptureFailure>();
  const sides = [now.snapshot.cache, latest.snapshot.cache];
  const both = sides.map(triggersOf);
  for (const cache of sides) {
    for (const [source, { eventTriggers }] of cache.sources)
      for (const info of eventTriggers.values())
        if (!both.every((each) => each.has(info))) doubtful.set(info, failureOf(cache, source, info, error));
  }
  return doubtful;
}

/** The failures of before that still are some, and new ones. */
export function carriedFailures(before: CaptureFailures, cache: SchemaCache): CaptureFailures {
  if (before.size === 0) return before;
  const now = triggersOf(cache);
  return new Map([...before].filter(([info]) => now.has(info)));
}

/** Whether `shown` has exactly these failures of a source, with the same messages. */
export function isShown(source: string, found: CaptureFailures, shown: CaptureFailures): boolean {
  const own = [...shown].filter(([, failure]) => failure.source === source);
  return own.length === found.size && own.every(([info, { error }]) => found.get(info)?.error.message === error.message);
}

/** The cache with what could not be installed: it is told of, and nothing is delivered for it. */
export function withCaptureFailures(cache: SchemaCache, failures: CaptureFailures): SchemaCache {
  if (failures.size === 0) return cache;
  return { ...cache, inconsistencies: [...cache.inconsistencies, ...[...failures.values()].map(({ inconsistency }) => inconsistency)] };
}

/** The same metadata with other failures of captures. */
export function withOtherFailures(of: Assembled, failures: CaptureFailures): Assembled {
  const before = new Set([...of.captureFailures.values()].map(({ inconsistency }) => inconsistency));
  const inconsistencies = of.snapshot.cache.inconsistencies.filter((each) => !before.has(each));
  const cache = withCaptureFailures({ ...of.snapshot.cache, inconsistencies }, failures);
  return { ...of, snapshot: { ...of.snapshot, cache }, captureFailures: failures };
}
