/** An open source: its connection, its catalog and its enum values. Immutable, so that a change that fails leaves no trace. */
import type { Backend, ConnectContext, Source } from '../backend/backend.ts';
import { type Catalog, type CatalogScope, nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { SourceMetadata } from '../metadata/metadata.ts';
import { shareCooperatively, shareUnchanged } from '../metadata/share.ts';
import type { SourceInput } from '../schema-cache/build.ts';
import type { EnumValue } from '../schema-cache/schema-cache.ts';
import { runCooperatively, type Cooperative } from '../util/cooperative.ts';
import { isAboutTable, readEnumValues } from './enum-values.ts';
import { type StopReason, stopReasonOf, withDeadline } from '../util/deadline.ts';
import type { CallOptions } from '../util/deadline.ts';

export interface LiveSource {
  readonly kind: string;
  /** The object in the metadata. If that is replaced, the source must be opened again. */
  readonly configuration: unknown;
  readonly input: SourceInput;
  /** `null` while the source cannot be reached. */
  readonly connection: Source | null;
}

export type OpenContext = Omit<ConnectContext, 'sourceName' | 'onEvent'> & {
  readonly backend: (kind: string) => Backend | undefined;
  readonly onEvent: (source: string, event: string, message: string) => void;
};

type OpenInput = Extract<SourceInput, { kind: 'open' }>;

/** Default timeout for reading a catalog, in ms: a change that waits blocks all others. */
const READ_TIMEOUT_MS = 300_000;

function readingWithin({ signal, deadline = Date.now() + READ_TIMEOUT_MS }: CallOptions): CallOptions {
  return { signal, deadline };
}

const late = (reason: StopReason): Error =>
  new SvcError('timeout', reason === 'abort' ? 'the request was cancelled' : 'the database did not answer in time');

/** Opens and reads a source. Never rejects: the result is a failed source if that is impossible. */
export async function openSource(
  metadata: SourceMetadata,
  context: OpenContext,
  previous?: LiveSource,
  callOptions: CallOptions = {},
): Promise<LiveSource> {
  const { kind, configuration, name } = metadata;
  const backend = context.backend(kind);
  if (backend === undefined) return failedSource(metadata, new SvcError('not-supported', `sources of kind "${kind}" are not supported`));
  const reading = readingWithin(callOptions);
  let connection: Source | undefined;
  try {
    const { backend: _, onEvent: notify, ...settings } = context;
    const onEvent = (event: { readonly kind: string; readonly message: string }): void => notify(name, event.kind, event.message);
    connection = await backend.connect(configuration, { ...settings, sourceName: name, onEvent }, reading);
    // A server that does not respond also delays the cancellation of a statement, so the deadline is enforced here.
    const found = await withDeadline(reading, connection.introspect(undefined, reading), late, () => undefined);
    const before = previous?.input.kind === 'open' ? previous.input : undefined;
    const catalog = before === undefined ? found : await runCooperatively(shareCooperatively(before.catalog, found));
    const known = before?.enumValues ?? new Map<string, readonly EnumValue[]>();
    const enumValues = await readEnums({ metadata, backend, connection, catalog, known, again: () => true, reading });
    return { kind, configuration, connection, input: { kind: 'open', backend: namedAs(backend, catalog, before), catalog, enumValues } };
  } catch (error) {
    const closed = connection?.close();
    // After the deadline, do not wait for a connection that does not respond.
    if (stopReasonOf(reading) === null) await closed;
    else closed?.catch(() => undefined);
    context.onEvent(name, 'unavailable', describeFailure(error));
    return failedSource(metadata, error, backend);
  }
}

/** Returns the backend for the names of the opened source; reuses that of `before` if they are the same. */
function namedAs(backend: Backend, { unnamedSchema }: Catalog, before: OpenInput | undefined): Backend {
  if (unnamedSchema === undefined || backend.namedWithin === undefined) return backend;
  return before?.catalog.unnamedSchema === unnamedSchema ? before.backend : backend.namedWithin(unnamedSchema);
}

export function failedSource({ kind, configuration }: SourceMetadata, error: unknown, backend?: Backend): LiveSource {
  const known = error instanceof SvcError;
  const reason = known ? error.message : 'connection error';
  const message = known ? error.internal : error instanceof Error ? error.message : String(error);
  return {
    kind,
    configuration,
    connection: null,
    input: {
      ...{ kind: 'failed', reason, isUnreachable: !known || error.isUnreachable },
      ...(message === undefined ? {} : { message }),
      ...(backend === undefined ? {} : { backend }),
    },
  };
}

/** Parts of one source that a change reads again. */
export interface RefreshScope {
  readonly tables: readonly QualifiedName[];
  readonly functions: readonly QualifiedName[];
}

/**
 * Reads the catalog entries in `scope`, and the rows of enum tables that are in it or were never read.
 * @throws SvcError if the source does not respond
 */
export async function refreshSource(
  metadata: SourceMetadata,
  live: LiveSource,
  scope: RefreshScope,
  callOptions: CallOptions = {},
): Promise<LiveSource> {
  const { connection, input } = live;
  if (connection === null || input.kind === 'failed') return live;
  const reading = readingWithin(callOptions);
  const inScope = new Set(scope.tables.map(nameKey));
  const catalog =
    inScope.size + scope.functions.length === 0 ? input.catalog : merge(input.catalog, scope, await connection.introspect(scope, reading));
  const enumValues = await readEnums({
    ...{ metadata, backend: input.backend, connection, catalog, known: input.enumValues, reading },
    again: (key) => inScope.has(key),
  });
  if (catalog === input.catalog && enumValues === input.enumValues) return live;
  return { ...live, input: { ...input, catalog, enumValues } };
}

export interface OtherCatalog {
  readonly catalog: Catalog;
  readonly renamedTables: ReadonlyMap<string, QualifiedName>;
  /** Rows of enum tables that differ. */
  readonly enumValues: ReadonlyMap<string, readonly EnumValue[]> | undefined;
}

/** Returns an open source with another catalog. Enum values follow renamed tables. */
export function* withCatalog(input: OpenInput, { catalog, renamedTables, enumValues: differing }: OtherCatalog): Cooperative<SourceInput> {
  const known = [...input.enumValues].map(([key, values]) => {
    const name = renamedTables.get(key);
    return [name === undefined ? key : nameKey(name), values] as const;
  });
  const enumValues = new Map([...known, ...(differing ?? [])]);
  return { ...input, catalog: yield* shareCooperatively(input.catalog, catalog), enumValues: shareUnchanged(input.enumValues, enumValues) };
}

/** Replaces the entries in `scope`. Equal parts stay the same objects. */
function merge(catalog: Catalog, scope: CatalogScope, found: Catalog): Catalog {
  const tables = replaced(catalog.tables, scope.tables ?? [], found.tables);
  const functions = replaced(catalog.functions, scope.functions ?? [], found.functions);
  return tables === catalog.tables && functions === catalog.functions ? catalog : { ...catalog, tables, functions };
}

function replaced<T>(
  before: ReadonlyMap<string, T>,
  names: readonly QualifiedName[],
  found: ReadonlyMap<string, T>,
): ReadonlyMap<string, T> {
  let after: Map<string, T> | undefined;
  for (const name of names) {
    const key = nameKey(name);
    const known = before.get(key);
    const now = found.get(key);
    const shared = known !== undefined && now !== undefined ? shareUnchanged(known, now) : now;
    if (shared === known) continue;
    after ??= new Map(before);
    if (shared === undefined) after.delete(key);
    else after.set(key, shared);
  }
  return after ?? before;
}

interface EnumsOf {
  readonly metadata: SourceMetadata;
  readonly backend: Backend;
  readonly connection: Source;
  readonly catalog: Catalog;
  readonly known: ReadonlyMap<string, readonly EnumValue[]>;
  readonly again: (key: string) => boolean;
  readonly reading: CallOptions;
}

async function readEnums({
  metadata,
  backend,
  connection,
  catalog,
  known,
  again,
  reading,
}: EnumsOf): Promise<ReadonlyMap<string, readonly EnumValue[]>> {
  const keys: string[] = [];
  for (const [key, table] of metadata.tables) if (table.isEnum) keys.push(key);
  if (keys.length === 0 && known.size === 0) return known;
  const entries = await Promise.all(
    keys.map(async (key): Promise<readonly [string, readonly EnumValue[]] | null> => {
      const before = known.get(key);
      if (before !== undefined && !again(key)) return [key, before];
      const table = catalog.tables.get(key);
      if (table === undefined) return null;
      const values = await withDeadline(reading, readOne(backend, connection, table, reading), late, () => undefined);
      return values === null ? null : [key, before === undefined ? values : shareUnchanged(before, values)];
    }),
  );
  return shareUnchanged(known, new Map(entries.filter((entry) => entry !== null)));
}

/**
 * Reads the values of an enum table; `null` if it cannot be read, for example without the privilege, which must not make the whole source
 * fail.
 * @throws SvcError if the source does not respond
 */
async function readOne(
  backend: Backend,
  connection: Source,
  table: Parameters<typeof readEnumValues>[2],
  reading: CallOptions,
): Promise<readonly EnumValue[] | null> {
  try {
    return await readEnumValues(connection, backend, table, reading);
  } catch (error) {
    if (isAboutTable(error)) return null;
    throw error;
  }
}
