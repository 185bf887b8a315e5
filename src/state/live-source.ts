/**
 * A source as the state holds it: its connections and what was read from it. Values are never
 * edited: reading something anew gives another value, so a change that fails leaves no trace.
 */
import type { Backend, ConnectContext, Source } from '../backend/backend.ts';
import { type Catalog, type CatalogScope, nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { SourceMetadata } from '../metadata/metadata.ts';
import { shareInSlices, shareUnchanged } from '../metadata/share.ts';
import type { SourceInput } from '../schema-cache/build.ts';
import type { EnumValue } from '../schema-cache/schema-cache.ts';
import { inSlices, type Sliced } from '../util/sliced.ts';
import { readEnumValues } from './enum-values.ts';
import { type Lateness, latenessOf, unlessLate } from '../util/unless-late.ts';
import type { Wanted } from './wanted.ts';

export interface LiveSource {
  readonly kind: string;
  /** The metadata's own object: another one means that the source must be opened anew. */
  readonly configuration: unknown;
  readonly input: SourceInput;
  /** null while the source cannot be reached. */
  readonly connection: Source | null;
}

export type OpenContext = Omit<ConnectContext, 'sourceName' | 'onEvent'> & {
  readonly backend: (kind: string) => Backend | undefined;
  readonly onEvent: (source: string, event: string, message: string) => void;
};

type OpenInput = Extract<SourceInput, { kind: 'open' }>;

/** ms that reading a catalog may take where nobody says less: a change that waits holds up all others. */
const LONGEST_READ_MS = 300_000;

function readingWithin({ signal, deadline = Date.now() + LONGEST_READ_MS }: Wanted): Wanted {
  return { signal, deadline };
}

const late = (reason: Lateness): Error =>
  new SvcError('timeout', reason === 'abort' ? 'the request was cancelled' : 'the database did not answer in time');

/** Never rejects: a source that cannot be opened or read is a failed one. */
export async function openSource(
  metadata: SourceMetadata,
  context: OpenContext,
  previous?: LiveSource,
  wanted: Wanted = {},
): Promise<LiveSource> {
  const { kind, configuration, name } = metadata;
  const backend = context.backend(kind);
  if (backend === undefined) return failedSource(metadata, new SvcError('not-supported', `sources of kind "${kind}" are not supported`));
  const reading = readingWithin(wanted);
  let connection: Source | undefined;
  try {
    const { backend: _, onEvent: tell, ...settings } = context;
    const onEvent = (event: { readonly kind: string; readonly message: string }): void => tell(name, event.kind, event.message);
    connection = await backend.connect(configuration, { ...settings, sourceName: name, onEvent }, reading);
    // A server that says nothing also takes a while until a statement that it was told to end is given up.
    const found = await unlessLate(reading, connection.introspect(undefined, reading), late, () => undefined);
    const before = previous?.input.kind === 'open' ? previous.input : undefined;
    const catalog = before === undefined ? found : await inSlices(shareInSlices(before.catalog, found));
    const known = before?.enumValues ?? new Map<string, readonly EnumValue[]>();
    const enumValues = await readEnums({ metadata, backend, connection, catalog, known, again: () => true, reading });
    return { kind, configuration, connection, input: { kind: 'open', backend: namedAs(backend, catalog, before), catalog, enumValues } };
  } catch (error) {
    const closed = connection?.close();
    // What is not answered any more is waited for by nobody.
    if (latenessOf(reading) === null) await closed;
    else closed?.catch(() => undefined);
    context.onEvent(name, 'unavailable', describeFailure(error));
    return failedSource(metadata, error, backend);
  }
}

/** Returns the backend with the names of the opened source; the one of `before` where these are the same. */
function namedAs(backend: Backend, { unnamedSchema }: Catalog, before: OpenInput | undefined): Backend {
  if (unnamedSchema === undefined || backend.namedWithin === undefined) return backend;
  return before?.catalog.unnamedSchema === unnamedSchema ? before.backend : backend.namedWithin(unnamedSchema);
}

/** A source that could not be opened. */
export function failedSource({ kind, configuration }: SourceMetadata, error: unknown, backend?: Backend): LiveSource {
  const known = error instanceof SvcError;
  const reason = known ? error.message : 'connection error';
  const message = known ? error.internal : error instanceof Error ? error.message : String(error);
  return {
    kind,
    configuration,
    connection: null,
    input: { kind: 'failed', reason, ...(message === undefined ? {} : { message }), ...(backend === undefined ? {} : { backend }) },
  };
}

/** What a change wants read again in one source. */
export interface RefreshScope {
  readonly tables: readonly QualifiedName[];
  readonly functions: readonly QualifiedName[];
}

/**
 * Reads the catalog entries in `scope`, and the rows of enum tables that were never read or are in it.
 * @throws SvcError when the source does not answer
 */
export async function refreshSource(
  metadata: SourceMetadata,
  live: LiveSource,
  scope: RefreshScope,
  wanted: Wanted = {},
): Promise<LiveSource> {
  const { connection, input } = live;
  if (connection === null || input.kind === 'failed') return live;
  const reading = readingWithin(wanted);
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

/** An open source as it would be with another catalog; the rows of renamed enum tables are what they were. */
export function* withCatalog(input: OpenInput, catalog: Catalog, renamedTables: ReadonlyMap<string, QualifiedName>): Sliced<SourceInput> {
  const enumValues = new Map(
    [...input.enumValues].map(([key, values]) => {
      const name = renamedTables.get(key);
      return [name === undefined ? key : nameKey(name), values] as const;
    }),
  );
  return { ...input, catalog: yield* shareInSlices(input.catalog, catalog), enumValues: shareUnchanged(input.enumValues, enumValues) };
}

/** The catalog with the entries in `scope` replaced; what is equal stays the same object. */
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
  readonly reading: Wanted;
}

/** Rows of the tables that the metadata calls enums. */
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
      const values = await unlessLate(reading, readOne(backend, connection, table, reading), late, () => undefined);
      return values === null ? null : [key, before === undefined ? values : shareUnchanged(before, values)];
    }),
  );
  return shareUnchanged(known, new Map(entries.filter((entry) => entry !== null)));
}

/**
 * Without the privilege to read it, say, a table is no enum; that must not take the whole source away.
 * @throws SvcError when the source does not answer: what the rows are is not known then
 */
async function readOne(
  backend: Backend,
  connection: Source,
  table: Parameters<typeof readEnumValues>[2],
  reading: Wanted,
): Promise<readonly EnumValue[] | null> {
  try {
    return await readEnumValues(connection, backend, table, reading);
  } catch (error) {
    const isAboutTable = error instanceof SvcError && !error.isPassing && error.code !== 'timeout';
    if (isAboutTable) return null;
    throw error;
  }
}
