/**
 * Builds snapshots: opens and reads the sources that a change needs, and builds the schema cache and the role schemas on top of the
 * previous ones. Stateless; the owner of the state decides which result becomes current.
 */
import { ADMIN_ROLE } from '../auth/session.ts';
import type { Backend, ConnectContext } from '../backend/backend.ts';
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import type { RemoteSchema } from '../metadata/remote-schema.ts';
import type { Observer } from '../observability/observation.ts';
import { roleSchemas, type RoleSchemasOptions } from '../schema/role-schemas.ts';
import { resolveStoredOperations } from '../schema/stored/stored-operations.ts';
import { type BuildOptions, schemaCacheBuild } from '../schema-cache/build.ts';
import { inconsistent } from '../schema-cache/inconsistency.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import { describeRemoteSchema } from '../schema-cache/stages/describe.ts';
import { webhookDefects } from '../schema-cache/webhook-defects.ts';
import { runCooperatively } from '../util/cooperative.ts';
import {
  carriedFailures,
  EventCaptures,
  type InstallingDraft,
  NO_CAPTURE_FAILURES,
  withCaptureFailures,
  withOtherFailures,
} from './event-captures.ts';
import { failedSource, type LiveSource, type OpenContext, openSource, refreshSource, type RefreshScope } from './live-source.ts';
import { addressFailure, introspectionText, type LiveRemote, openRemote, type RemoteContext } from './live-remote.ts';
import { type RemotesFor, remotesFor } from './live-remotes.ts';
import { distinct, namesInSource } from './refresh.ts';
import type { Snapshot } from './snapshot.ts';
import type { StateCounts } from './state-counts.ts';
import type { Refresh } from './state.ts';
import type { CallOptions } from '../util/deadline.ts';
import type { Assembled } from './assembled.ts';

export interface AssemblyOptions {
  readonly backends: readonly Backend[];
  readonly cache: BuildOptions;
  /** Must always be the same object: another one discards all role schemas. */
  readonly roleSchemas: RoleSchemasOptions;
  readonly connect: Omit<ConnectContext, 'sourceName' | 'onEvent'>;
  readonly remotes: RemoteContext;
  /** Called with the network settings of a change before its sources are opened, and with `null` afterwards. */
  readonly onOpening?: (network: Metadata['network'] | null) => void;
  readonly observe: Observer;
  /** Distinguishes this metadata from that of other services in the databases of sources. */
  readonly metadataDatabase?: string;
}

/** Sources and remote schemas of the metadata. */
export interface Live {
  readonly sources: ReadonlyMap<string, LiveSource>;
  readonly remotes: ReadonlyMap<string, LiveRemote>;
}

export class Assembly {
  readonly #options: AssemblyOptions;
  readonly #open: OpenContext;
  readonly captures: EventCaptures;
  readonly #counts: StateCounts;

  constructor(options: AssemblyOptions, counts: StateCounts) {
    this.#options = options;
    this.#counts = counts;
    this.captures = new EventCaptures(options.metadataDatabase ?? '', options.observe);
    this.#open = {
      ...options.connect,
      backend: (kind) => options.backends.find((backend) => backend.kind === kind),
      onEvent: (source, event, message) => options.observe({ kind: 'source', source, event, message }),
    };
  }

  open(source: SourceMetadata, previous?: LiveSource, callOptions?: CallOptions): Promise<LiveSource> {
    return openSource(source, this.#open, previous, callOptions);
  }

  /**
   * Opens the sources of `metadata`, and reuses those of `before` if possible.
   * @param withoutSilent if true, an open source that does not respond becomes a failed source; otherwise the call fails
   */
  async sourcesFor(
    metadata: Metadata,
    before: Assembled | undefined,
    refresh: Refresh,
    { withoutSilent = false, callOptions = {} }: { readonly withoutSilent?: boolean; readonly callOptions?: CallOptions } = {},
  ): Promise<ReadonlyMap<string, LiveSource>> {
    this.#options.onOpening?.(metadata.network);
    const outcomes = await Promise.allSettled(
      [...metadata.sources.values()].map(async (source): Promise<readonly [string, LiveSource]> => {
        const known = before === undefined ? undefined : takeOver(source, metadata, before.sources);
        const reopen = refresh.sources === 'all' || refresh.sources?.includes(source.name) === true;
        if (known === undefined || reopen) return [source.name, await this.open(source, known, callOptions)];
        try {
          const was = before?.snapshot.metadata.sources.get(source.name);
          return [source.name, await this.refreshedSource(source, known, refresh, was, callOptions)];
        } catch (error) {
          if (!withoutSilent) throw error;
          this.#options.observe({ kind: 'source', source: source.name, event: 'unavailable', message: describeFailure(error) });
          return [source.name, failedSource(source, error, this.#open.backend(source.kind))];
        }
      }),
    );
    this.#options.onOpening?.(null);
    const entries = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) {
      await closeOthers(new Map(entries), before?.sources ?? new Map());
      throw failure.reason;
    }
    return new Map(entries);
  }

  /** Opens the remote schemas of the metadata. Never rejects. */
  remotesFor(what: Omit<RemotesFor, keyof RemoteContext | 'onFailure'>): Promise<ReadonlyMap<string, LiveRemote>> {
    return remotesFor({
      ...this.#options.remotes,
      onFailure: (remoteSchema, message) => this.#options.observe({ kind: 'remote-schema', remoteSchema, event: 'unavailable', message }),
      ...what,
    });
  }

  /**
   * Returns inconsistencies of metadata that are found without databases and servers: webhooks that cannot be called, and those of
   * `remotes` to which no request can be made, for example because an environment variable is not set.
   */
  declaredDefects(metadata: Metadata, remotes: readonly RemoteSchema[]): readonly Inconsistency[] {
    const { cache, backends, remotes: context } = this.#options;
    return [
      ...webhookDefects(metadata, cache.environment ?? {}, backends),
      ...remotes.flatMap((remote) => {
        const failure = addressFailure(remote, context.environment);
        return failure === null ? [] : [inconsistent(describeRemoteSchema(remote), failure.reason)];
      }),
    ];
  }

  retryRemote(remote: RemoteSchema, live: LiveRemote, { network }: Metadata): Promise<LiveRemote> {
    return openRemote(remote, { ...this.#options.remotes, network, before: live.introspection, timeoutMs: null });
  }

  /** Reads the tables and functions of `refresh`, and newly tracked ones, again. @throws SvcError */
  async refreshedSource(
    source: SourceMetadata,
    live: LiveSource,
    refresh: Refresh,
    before?: SourceMetadata,
    callOptions?: CallOptions,
  ): Promise<LiveSource> {
    if (live.input.kind === 'failed') return live;
    const { tables, functions } = live.input.catalog;
    const scope: RefreshScope = {
      tables: distinct([
        ...namesInSource(refresh.tables, source.name),
        ...unseen(source.tables, before?.tables, tables).map(({ table }) => table),
      ]),
      functions: distinct([
        ...namesInSource(refresh.functions, source.name),
        ...unseen(source.functions, before?.functions, functions).map((entry) => entry.function),
        ...unseenOfComputedFields(source, before, functions),
      ]),
    };
    return refreshSource(source, live, scope, callOptions);
  }

  /**
   * Builds a snapshot cooperatively: meanwhile, requests use the previous snapshot.
   * @param goOn called at pauses; ends the work by throwing
   */
  async assemble(
    resourceVersion: number,
    metadata: Metadata,
    { sources, remotes }: Live,
    before?: Assembled,
    goOn?: () => void,
  ): Promise<Assembled> {
    const began = performance.now();
    const inputs = new Map([...sources].map(([name, { input }]) => [name, input]));
    const remoteSchemas = new Map([...remotes].map(([name, { input }]) => [name, input]));
    const build = await runCooperatively(
      schemaCacheBuild({ metadata, sources: inputs, remoteSchemas, options: this.#options.cache }, before?.build),
      goOn,
    );
    const made = await runCooperatively(roleSchemas(build.cache, this.#options.roleSchemas, before?.roleSchemas), goOn);
    const connections = new Map(
      [...sources].flatMap(([name, { connection }]) => (connection === null ? [] : [[name, connection] as const])),
    );
    const storedOperations = await runCooperatively(
      resolveStoredOperations(
        metadata,
        {
          graphql: () => made.get(ADMIN_ROLE, 'backend').roots,
          relay: this.#options.roleSchemas.relay ? () => made.get(ADMIN_ROLE, 'backend', 'relay').roots : null,
        },
        this.#options.roleSchemas.engine.limits,
        before?.snapshot.storedOperations,
      ),
      goOn,
    );
    const found = storedOperations.inconsistencies;
    const captureFailures = carriedFailures(before?.captureFailures ?? NO_CAPTURE_FAILURES, build.cache);
    const cache = found.length === 0 ? build.cache : { ...build.cache, inconsistencies: [...build.cache.inconsistencies, ...found] };
    const snapshot: Snapshot = {
      resourceVersion,
      metadata,
      cache: withCaptureFailures(cache, captureFailures),
      captureOwner: (name) => this.captures.owner(name),
      storedOperations,
      connections,
      remotes: new Map([...remotes].flatMap(([name, { connection }]) => (connection === null ? [] : [[name, connection] as const]))),
      introspectionOf: (name) => {
        const said = remotes.get(name)?.introspection ?? null;
        return said === null ? null : introspectionText(said);
      },
      roleSchema: (role, variant, api) => made.get(role, variant, api),
      wholeRoots: (role, variant, api) => made.wholeRoots(role, variant, api),
      roleTables: (role, variant, source) => made.tables(role, variant, source),
    };
    this.#counts.buildTime.observe((performance.now() - began) / 1000);
    return { snapshot, build, sources, remotes, roleSchemas: made, captureFailures };
  }

  /**
   * Installs event triggers in the databases.
   * @param change absent for stored metadata. With `refuse`, a trigger that cannot be installed is an error; without, it is inconsistent
   * @throws SvcError
   */
  async installCaptures(
    before: Assembled | undefined,
    after: Assembled,
    refresh: Refresh,
    change?: { readonly refuse: boolean; readonly draft: InstallingDraft },
  ): Promise<Assembled> {
    const failures = await this.captures.install(before, after, refresh, change?.draft);
    const [first] = failures.values();
    if (first === undefined) return after;
    if (change?.refuse === true) throw first.error;
    return withOtherFailures(after, new Map([...after.captureFailures, ...failures]));
  }
}

/** Closes the connections of `sources` that are not in `kept`. */
export async function closeOthers(sources: ReadonlyMap<string, LiveSource>, kept: ReadonlyMap<string, LiveSource>): Promise<void> {
  const connections = new Set([...kept.values()].map(({ connection }) => connection));
  const own = [...sources.values()].flatMap(({ connection }) => (connection === null || connections.has(connection) ? [] : [connection]));
  await Promise.allSettled(own.map((connection) => connection.close()));
}

/** Returns the open source with this configuration, under the same name or a removed one (a renamed source). */
function takeOver(source: SourceMetadata, metadata: Metadata, before: ReadonlyMap<string, LiveSource>): LiveSource | undefined {
  const fits = (live: LiveSource | undefined): boolean =>
    live !== undefined && live.configuration === source.configuration && live.kind === source.kind;
  const own = before.get(source.name);
  if (fits(own)) return own;
  for (const [name, live] of before) if (!metadata.sources.has(name) && fits(live)) return live;
  return undefined;
}

/** Returns newly tracked objects that are not in the catalog: they may have been created after it was read. */
function unseen<T>(
  tracked: ReadonlyMap<string, T>,
  before: ReadonlyMap<string, T> | undefined,
  seen: ReadonlyMap<string, unknown>,
): readonly T[] {
  if (tracked === before) return [];
  return [...tracked].filter(([key]) => !seen.has(key) && before?.has(key) !== true).map(([, item]) => item);
}

function unseenOfComputedFields(
  { tables }: SourceMetadata,
  before: SourceMetadata | undefined,
  seen: ReadonlyMap<string, unknown>,
): readonly QualifiedName[] {
  if (tables === before?.tables) return [];
  const names: QualifiedName[] = [];
  for (const [key, { computedFields }] of tables) {
    if (computedFields.size === 0 || computedFields === before?.tables.get(key)?.computedFields) continue;
    for (const field of computedFields.values()) if (!seen.has(nameKey(field.function))) names.push(field.function);
  }
  return names;
}
