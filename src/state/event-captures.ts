/**
 * Keeps what event triggers need in their databases in step with the metadata. What is new is installed before the
 * metadata counts, so that a change fails when it cannot be; what is gone is taken away after it counts, so that a change that
 * is taken back loses no event.
 */
import type { Source } from '../backend/backend.ts';
import type { Captures } from '../backend/captures.ts';
import { SvcError } from '../errors/svc-error.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import type { SourceMetadata } from '../metadata/metadata.ts';
import type { Observer } from '../observability/observation.ts';
import { inconsistent } from '../schema-cache/inconsistency.ts';
import type { EventTriggerInfo, Inconsistency, SchemaCache } from '../schema-cache/schema-cache.ts';
import { describeEventTrigger } from '../schema-cache/stages/describe.ts';
import type { Assembled } from './assembly.ts';
import type { Snapshot } from './snapshot.ts';
import type { Refresh, Warning } from './state.ts';

/** The triggers that could not be installed, with what is said of them. */
export type CaptureFailures = ReadonlyMap<EventTriggerInfo, CaptureFailure>;

export interface CaptureFailure {
  readonly error: SvcError;
  readonly inconsistency: Inconsistency;
}

export const NO_CAPTURE_FAILURES: CaptureFailures = new Map();

/** Who has installed what a source has for its triggers: two services may work on the same database. */
function captureOwner(metadataDatabase: string, source: string): string {
  return JSON.stringify([metadataDatabase, source]);
}

export class EventCaptures {
  readonly #metadataDatabase: string;
  readonly #observe: Observer;

  /** @param metadataDatabase names the metadata among those of other services */
  constructor(metadataDatabase: string, observe: Observer) {
    this.#metadataDatabase = metadataDatabase;
    this.#observe = observe;
  }

  /**
   * Installs what `after` has and `before` has not; all of a source that is opened anew.
   * @returns those that could not be installed
   */
  async install(before: Assembled | undefined, after: Assembled, { eventTriggers: again }: Refresh): Promise<CaptureFailures> {
    const failures = new Map<EventTriggerInfo, CaptureFailure>();
    const installed = before === undefined ? new Set<EventTriggerInfo>() : triggersOf(before.snapshot.cache);
    const connections = new Set(before?.snapshot.connections.values());
    for (const [name, { eventTriggers, backend, namingConvention }] of after.snapshot.cache.sources) {
      const connection = after.snapshot.connections.get(name);
      if (connection?.captures === undefined) continue;
      const anew = again === 'all' || again?.includes(name) === true;
      const all = anew || !connections.has(connection);
      const wanted = [...eventTriggers.values()].filter((info) => all || !installed.has(info));
      if (wanted.length === 0) continue;
      const context = { name, backend, namingConvention };
      for (const { name: failed, error } of await this.#installIn(connection.captures, wanted, name, anew)) {
        const info = eventTriggers.get(failed);
        if (info === undefined) continue;
        const object = describeEventTrigger(context, info.table.name, info.definition);
        failures.set(info, { error, inconsistency: inconsistent(object, error.message, error.internal) });
        this.#observe({ kind: 'source', source: name, event: 'event-trigger-failed', message: `${failed}: ${describeFailure(error)}` });
      }
    }
    return failures;
  }

  async #installIn(
    captures: Captures,
    triggers: readonly EventTriggerInfo[],
    source: string,
    again: boolean,
  ): Promise<readonly { readonly name: string; readonly error: SvcError }[]> {
    try {
      return await captures.install(triggers, { owner: this.owner(source), again });
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      return triggers.map(({ definition }) => ({ name: definition.name, error }));
    }
  }

  owner(source: string): string {
    return captureOwner(this.#metadataDatabase, source);
  }

  /**
   * Takes away what `before` has and `after` has not. Never fails: a source that is out of reach is told of.
   * @param clearing the tables of events go too where nothing is left
   */
  async settle(before: Assembled | undefined, after: Assembled, clearing: boolean): Promise<readonly Warning[]> {
    const warnings: Warning[] = [];
    const { metadata, connections, cache } = after.snapshot;
    const attempt = async (source: string, task: () => Promise<unknown>): Promise<void> => {
      try {
        await task();
      } catch (error) {
        const message = `what event triggers had in the database of source "${source}" could not be removed: ${describeFailure(error)}`;
        warnings.push({ code: 'source-cleanup-failed', type: 'source', name: `source ${source}`, message });
        this.#observe({ kind: 'source', source, event: 'cleanup-failed', message });
      }
    };
    for (const [name, was] of before?.snapshot.metadata.sources ?? []) {
      if (before === undefined || metadata.sources === before.snapshot.metadata.sources) break;
      const connection = before.snapshot.connections.get(name);
      const now = successorOf(before.snapshot, name, after.snapshot);
      if (now === undefined) {
        await attempt(name, () => required(connection, was, name)?.uninstall(this.owner(name)) ?? Promise.resolve());
        continue;
      }
      if (now === was) continue;
      const left = triggerNames(now);
      const gone = triggerNames(was).filter((each) => !left.includes(each));
      const own = connections.get(now.name);
      if (clearing && left.length === 0) await attempt(name, async () => required(own, was, name)?.uninstall(this.owner(now.name)));
      else if (gone.length > 0) await attempt(name, async () => required(own, was, name)?.retain(left, this.owner(now.name), gone));
    }
    const known = new Set(before?.snapshot.connections.values());
    for (const name of cache.sources.keys()) {
      const source = metadata.sources.get(name);
      const connection = connections.get(name);
      if (source === undefined || connection?.captures === undefined || known.has(connection)) continue;
      // What was not in reach when it went.
      await attempt(name, async () => connection.captures?.retain(triggerNames(source), this.owner(name), []));
    }
    return warnings;
  }

  /** Takes back what changes have installed that do not count: `latest` was to be, `current` is. Never fails. */
  async undo(latest: Assembled, current: Assembled): Promise<void> {
    if (latest === current || triggersOf(latest.snapshot.cache).size === 0) return;
    await this.install(latest, current, {});
    for (const [name, was] of latest.snapshot.metadata.sources) {
      const connection = latest.snapshot.connections.get(name);
      const now = successorOf(latest.snapshot, name, current.snapshot);
      const left = now === undefined ? [] : triggerNames(now);
      const gone = triggerNames(was).filter((each) => !left.includes(each));
      if (gone.length === 0 || connection?.captures === undefined) continue;
      try {
        await connection.captures.retain(left, this.owner(name), gone);
      } catch (error) {
        this.#observe({ kind: 'source', source: name, event: 'cleanup-failed', message: describeFailure(error) });
      }
    }
  }
}

/** What takes things away; undefined where nothing was ever put. @throws SvcError when the source is not open */
function required(connection: Source | undefined, was: SourceMetadata, name: string): Captures | undefined {
  if (connection !== undefined) return connection.captures;
  if (triggerNames(was).length > 0) throw new SvcError('unexpected', `source with name "${name}" is inconsistent`);
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

function triggerNames({ tables }: SourceMetadata): readonly string[] {
  return [...tables.values()].flatMap(({ eventTriggers }) => [...eventTriggers.keys()]);
}

function triggersOf(cache: SchemaCache): Set<EventTriggerInfo> {
  return new Set([...cache.sources.values()].flatMap(({ eventTriggers }) => [...eventTriggers.values()]));
}

/** The failures of before that still are some, and new ones. */
export function carriedFailures(before: CaptureFailures, cache: SchemaCache): CaptureFailures {
  if (before.size === 0) return before;
  const now = triggersOf(cache);
  return new Map([...before].filter(([info]) => now.has(info)));
}

/** The cache with what could not be installed: it is told of, and nothing is delivered for it. */
export function withCaptureFailures(cache: SchemaCache, failures: CaptureFailures): SchemaCache {
  if (failures.size === 0) return cache;
  return { ...cache, inconsistencies: [...cache.inconsistencies, ...[...failures.values()].map(({ inconsistency }) => inconsistency)] };
}
