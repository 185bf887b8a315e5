/** What migrations and metadata would do: tried in transactions that are rolled back, and nothing of it is ever current. */
import { ADMIN_ROLE } from '../auth/session.ts';
import type { Source, TransactionOptions } from '../backend/backend.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import { anyJson, between, bool, defaulted, list, nonEmptyText, object, optional, required, text } from '../metadata/codec.ts';
import { decodeTables } from '../metadata/decoded-tables.ts';
import { decodeDocument } from '../metadata/document.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { shareInSlices } from '../metadata/share.ts';
import { codecsOf } from '../metadata/source.ts';
import { recordsOf } from '../schema-cache/inconsistency.ts';
import { objectId } from '../schema-cache/object-id.ts';
import { serverOf } from '../state/live-remote.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { State } from '../state/state.ts';
import { type Wanted, whileWanted } from '../state/wanted.ts';
import { isJsonObject, type Json, jsonEqual, type JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { inSlices } from '../util/sliced.ts';
import { differingSchemas } from './differing-schemas.ts';
import { ErrorPlace } from './error-place.ts';
import { define, operation, type OperationContext, type OperationGroup } from '../metadata-api/operation.ts';
import { refused, SOURCE_ERRORS } from '../metadata-api/operation-error.ts';
import type { DecodedTables } from '../metadata/table-caches.ts';
import type { Connection } from '../backend/connection.ts';
import type { SqlText } from '../backend/sql-text.ts';

interface PlannedMigration {
  readonly source: string;
  /** Told again in the answer. */
  readonly version: string;
  readonly sql: string;
}

interface PlanChanges {
  readonly metadata: Json | undefined;
  /** Sources to open for the trial: entries of a metadata document. */
  readonly addSources: readonly Json[];
  /** Whether inconsistencies and the schemas of roles are compared. */
  readonly compare: boolean;
  readonly migrations: readonly PlannedMigration[];
  /** SQL that is run first in each transaction, such as limits of time. */
  readonly prelude: string;
  /** SQL that is asked behind each migration, in its transaction; '' asks nothing. */
  readonly probe: string;
  /** All of the trial. */
  readonly timeoutSeconds: number;
}

const DEFAULT_TIMEOUT_SECONDS = 300;
const LONGEST_TIMEOUT_SECONDS = 3600;

/** Roles whose schemas are compared; each takes memory and time. */
const MOST_ROLES = 100;
/** Of all their texts together. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

const migration = object('PlannedMigration', { source: required(nonEmptyText), version: required(nonEmptyText), sql: required(text) });

function hasSql({ migrations, prelude, probe }: PlanChanges): boolean {
  return migrations.length > 0 || prelude !== '' || probe !== '';
}

/** SQL may do what no transaction takes back, and sources that are opened have addresses that the service connects to. */
function isGuarded(args: PlanChanges): boolean {
  return hasSql(args) || args.addSources.length > 0;
}

const planChanges: OperationGroup = () => [
  operation({
    type: 'plan_changes',
    ...define<PlanChanges>({
      args: object('PlanChanges', {
        metadata: optional(anyJson),
        addSources: defaulted(list(anyJson), () => []),
        compare: defaulted(bool, () => true),
        migrations: defaulted(list(migration), () => []),
        prelude: defaulted(text, () => ''),
        probe: defaulted(text, () => ''),
        timeoutSeconds: defaulted(between('timeout_seconds', 1, LONGEST_TIMEOUT_SECONDS), () => DEFAULT_TIMEOUT_SECONDS),
      }),
      changes: 'nothing',
      errors: [
        ...SOURCE_ERRORS,
        refused('not-supported', 'the source cannot undo definitions, so that its migrations cannot be tried'),
        refused('bad-request', 'the SQL begins or ends transactions, so that what it does could not be rolled back'),
        refused('timeout', 'the time limit passed'),
      ],
      documentation: {
        summary:
          'Tries migrations and a document of metadata: runs the SQL in a transaction of each source that is rolled back, and tells which of it failed, what would be inconsistent before and after, and what differs of the schemas of roles. What is locked by the SQL is locked until it is rolled back, and sequences advance. What the SQL of `probe` gives behind a migration, such as the locks that are held, stands at it as `probed`. All of it is to be done within `timeout_seconds` (300).',
        details: `\`schemas\` have of each role whose schema differs the definitions of the types that differ, \`before\` and \`after\`; types that are the same in both, and to which these refer, stand there without their fields. They are those of at most ${MOST_ROLES} roles, and ${MOST_CHARACTERS / 2 ** 20} MiB of text in all; \`roles_not_compared\` are others whose schemas may differ.

Sources in \`add_sources\`, each an entry of a metadata document, are opened for the trial and closed after it; one that the service has is opened with the configuration given there. Nothing else is opened: \`untried_sources\` are other sources that the document adds or configures in another way, \`untried_remote_schemas\` remote schemas that it adds or that get another address or other headers. The comparison leaves out those that are new, so that what refers to them counts as inconsistent, and takes the others as they are known. With \`compare: false\` the SQL is tried and nothing is compared.`,
        example: { metadata: { version: 3, sources: [] }, migrations: [] },
      },
      isGuarded,
      runsSql: hasSql,
      run: (args, context) => plan(args, context),
    }),
  }),
];

class RolledBack extends Error {}

async function plan(args: PlanChanges, context: OperationContext): Promise<Json> {
  const { services, signal, path } = context;
  const wanted: Wanted = { signal, deadline: Date.now() + args.timeoutSeconds * 1000 };
  const document = args.metadata === undefined ? undefined : await decoded(args.metadata, at(path, 'metadata'), context, wanted);
  if (args.addSources.length === 0) return tryAll(args, document, services.state, context, wanted);
  const { sources } = await decoded({ version: 3, sources: [...args.addSources] }, at(path, 'add_sources'), context, wanted);
  return services.state.trial(async (draft) => {
    await draft.change({
      edit: (metadata) => ({ ...metadata, sources: new Map([...metadata.sources, ...opened(sources, metadata.sources)]) }),
      inconsistencies: 'allow',
    });
    return tryAll(args, document, draft, context, wanted);
  }, wanted);
}

function namesOf(sources: readonly Json[]): ReadonlySet<string> {
  return new Set(sources.flatMap((source) => (isJsonObject(source) && typeof source['name'] === 'string' ? [source['name']] : [])));
}

/** A source that is there keeps what is tracked in it, and is opened with the configuration of the trial. */
function opened(added: Metadata['sources'], there: Metadata['sources']): Metadata['sources'] {
  return new Map(
    [...added].map(([name, source]) => {
      const known = there.get(name);
      return [name, known === undefined ? source : { ...known, kind: source.kind, configuration: source.configuration }];
    }),
  );
}

/** @param state the sources that are there, and those that were opened for the trial */
async function tryAll(
  args: PlanChanges,
  document: Metadata | undefined,
  state: State,
  context: OperationContext,
  wanted: Wanted,
): Promise<Json> {
  const snapshot = state.current();
  const results: JsonObject[] = [];
  const catalogs = new Map<string, Catalog>();
  const bySource = new Map<string, PlannedMigration[]>();
  for (const each of args.migrations) bySource.set(each.source, [...(bySource.get(each.source) ?? []), each]);
  let answer: JsonObject | undefined;
  const inside = async (): Promise<void> => {
    const hasFailed = results.some(({ ok }) => ok === false);
    answer =
      hasFailed || !args.compare ? {} : await compared({ document, tried: namesOf(args.addSources) }, catalogs, state, context, wanted);
  };
  const sources = [...bySource].map(([name, migrations]): Trial => ({ ...transactionalSource(name, snapshot), name, migrations }));
  for (const { sqlText, migrations } of sources)
    for (const sql of [args.prelude, args.probe, ...migrations.map((each) => each.sql)]) requireUndoable(sql, sqlText);
  await nested(
    sources,
    wanted,
    async ({ name, sqlText, migrations }, connection) => {
      if (args.prelude !== '') await connection.runSql(args.prelude, { ...wanted, standardStrings: true });
      for (const each of migrations) {
        const result = await attempt(each, sqlText, connection, wanted);
        const isTold = result['ok'] === true && args.probe !== '';
        results.push(
          isTold ? { ...result, probed: (await connection.runSql(args.probe, { ...wanted, standardStrings: true })).rows } : result,
        );
        if (result['ok'] === false) return false;
      }
      if (args.compare) catalogs.set(name, await connection.introspect(undefined, wanted));
      return true;
    },
    inside,
  );
  return { migrations: results, ...answer };
}

/** The document, sharing with what is current all that is the same. @throws SvcError */
async function decoded(json: Json, path: Path, { snapshot, services }: OperationContext, wanted: Wanted): Promise<Metadata> {
  const { metadata } = snapshot;
  const goOn = whileWanted(wanted, 'the document was read');
  const tables: DecodedTables = new WeakMap();
  await inSlices(decodeTables(json, services.kinds, metadata, tables), goOn);
  return inSlices(shareInSlices(metadata, decodeDocument(json, path, services.kinds, metadata, tables)), goOn);
}

/** @throws SvcError bad-request: what comes behind the end of the transaction would stand */
function requireUndoable(sql: string, { transactionControl }: SqlText): void {
  const found = transactionControl?.(sql);
  if (found === undefined) return;
  throw new SvcError(
    'bad-request',
    `SQL is tried in a transaction that is rolled back, so that it cannot have the statement "${found.word}"`,
  );
}

interface Trial {
  readonly name: string;
  readonly source: Source;
  readonly sqlText: SqlText;
  readonly migrations: readonly PlannedMigration[];
}

/** A transaction for each, one inside the other; all are rolled back. */
/** Lets the server end a transaction at the deadline of the trial: it may pause while migrations of other sources are tried. */
function endingWith({ deadline }: Wanted): Partial<Pick<TransactionOptions, 'idleMs'>> {
  return deadline === undefined ? {} : { idleMs: Math.max(1, deadline - Date.now()) };
}

async function nested(
  [first, ...others]: readonly Trial[],
  wanted: Wanted,
  run: (trial: Trial, connection: Connection) => Promise<boolean>,
  inside: () => Promise<void>,
): Promise<void> {
  if (first === undefined) return inside();
  try {
    await first.source.transaction({ ...wanted, ...endingWith(wanted) }, async (connection) => {
      // The transaction of one that failed can do no more.
      if (await run(first, connection)) await nested(others, wanted, run, inside);
      else await inside();
      throw new RolledBack();
    });
  } catch (thrown) {
    if (!(thrown instanceof RolledBack)) throw thrown;
  }
}

/** @throws SvcError not-exists, not-supported */
function transactionalSource(name: string, { metadata, cache, connections }: Snapshot): Pick<Trial, 'source' | 'sqlText'> {
  const found = cache.sources.get(name);
  const connection = connections.get(name);
  if (!metadata.sources.has(name)) throw new SvcError('not-exists', `source with name "${name}" does not exist`);
  if (found === undefined || connection === undefined) {
    const reason = cache.inconsistencies.find((each) => each.objectId === objectId.source(name))?.reason;
    throw new SvcError('unexpected', `source with name "${name}" is inconsistent${reason === undefined ? '' : `: ${reason}`}`, {
      status: 400,
    });
  }
  const { sqlText } = found.backend;
  if (sqlText.transactionControl === undefined)
    throw new SvcError('not-supported', `what migrations of the source "${name}" define cannot be undone, so that they cannot be tried`);
  return { source: connection, sqlText };
}

async function attempt(
  { source, version, sql }: PlannedMigration,
  sqlText: SqlText,
  connection: Connection,
  wanted: Wanted,
): Promise<JsonObject> {
  const place = new ErrorPlace(sql, sqlText);
  try {
    await connection.runSql(sql, { ...wanted, standardStrings: true, onFailure: (failure) => place.set(failure) });
    return { source, version, ok: true };
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    const cause = thrown.cause as { readonly message?: string; readonly code?: string } | undefined;
    return {
      source,
      version,
      ok: false,
      message: cause?.message ?? thrown.message,
      code: cause?.code ?? thrown.code,
      position: place.position ?? null,
    };
  }
}

/** The candidate beside what is current. */
async function compared(
  { document, tried }: { readonly document: Metadata | undefined; readonly tried: ReadonlySet<string> },
  changed: ReadonlyMap<string, Catalog>,
  state: State,
  { snapshot, services }: OperationContext,
  wanted: Wanted,
): Promise<JsonObject> {
  const before = snapshot.cache.inconsistencies;
  const { metadata: current, connections } = state.current();
  const metadata = document ?? snapshot.metadata;
  const untried = [...metadata.sources.keys()].filter((name) => !current.sources.has(name));
  const newRemotes = [...metadata.remoteSchemas.keys()].filter((name) => !current.remoteSchemas.has(name));
  const known: Metadata = {
    ...metadata,
    sources: without(metadata.sources, untried),
    remoteSchemas: without(metadata.remoteSchemas, newRemotes),
  };
  const catalogs = new Map(changed);
  for (const [name, connection] of connections)
    if (!catalogs.has(name) && known.sources.has(name) && known.sources.get(name) !== current.sources.get(name))
      catalogs.set(name, await connection.introspect(undefined, wanted));
  const [first, ...others] = catalogs;
  const after = await state.preview(
    {
      edit: () => known,
      source: first?.[0] ?? '',
      catalog: first?.[1] ?? { tables: new Map(), functions: new Map(), version: 0 },
      renamedTables: new Map(),
      others: new Map(others),
    },
    wanted,
  );
  return {
    inconsistencies: { before: [...recordsOf(before)], after: [...recordsOf(after.inconsistencies)] },
    untried_sources: [...untried, ...reconnected(metadata, snapshot.metadata, services.kinds)].filter((name) => !tried.has(name)),
    untried_remote_schemas: [...metadata.remoteSchemas.keys()].filter((name) => isUntried(name, metadata, current)),
    ...(await changedSchemas(snapshot, after.snapshot, wanted)),
  };
}

/** Sources that are there and would be opened anew. */
function reconnected(after: Metadata, before: Metadata, kinds: Kinds): readonly string[] {
  return [...after.sources.values()].flatMap(({ name, kind, configuration }) => {
    const was = before.sources.get(name);
    if (was === undefined || (was.kind === kind && was.configuration === configuration)) return [];
    const codec = codecsOf(kinds, kind).configuration;
    // What a document says of itself may be what it means without it.
    const isSame = was.kind === kind && jsonEqual(codec.encode(was.configuration), codec.encode(configuration));
    return isSame ? [] : [name];
  });
}

/** The same map where all of it stays. */
function without<T>(map: ReadonlyMap<string, T>, names: readonly string[]): ReadonlyMap<string, T> {
  return names.length === 0 ? map : new Map([...map].filter(([name]) => !names.includes(name)));
}

/** Whether a remote schema is of another server, or is asked in another way, than the one that has been asked. */
function isUntried(name: string, after: Metadata, before: Metadata): boolean {
  const [now, was] = [after.remoteSchemas.get(name), before.remoteSchemas.get(name)];
  return (
    now !== undefined && (was === undefined || (was.definition !== now.definition && serverOf(was.definition) !== serverOf(now.definition)))
  );
}

/** What differs of the schemas of roles, as far as there is room for the texts. @throws SvcError timeout */
async function changedSchemas(before: Snapshot, after: Snapshot, wanted: Wanted): Promise<JsonObject> {
  const roles = [...new Set([ADMIN_ROLE, ...before.cache.roles, ...after.cache.roles])].sort();
  const differing = differingSchemas({ before, after, roles, most: MOST_ROLES, goOn: whileWanted(wanted, 'schemas were compared') });
  const schemas: JsonObject[] = [];
  const withoutRoom: string[] = [];
  let room = MOST_CHARACTERS;
  for (;;) {
    const next = await differing.next();
    if (next.done === true) return { schemas, roles_not_compared: [...withoutRoom, ...next.value] };
    const { role, ...texts } = next.value;
    const size = texts.before.length + texts.after.length;
    if (size > room) withoutRoom.push(role);
    else {
      room -= size;
      schemas.push({ role, ...texts });
    }
  }
}

export const planOperations: readonly OperationGroup[] = [planChanges];
