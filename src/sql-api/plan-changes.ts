/** `plan_changes`: a trial run of migrations and metadata, in transactions that are rolled back and on a draft that is discarded. */
import { ADMIN_ROLE } from '../auth/session.ts';
import type { Backend, Source, TransactionOptions } from '../backend/backend.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import { isAboutVariables, SET_VARIABLES } from '../metadata/environment-template.ts';
import { anyJson, intBetween, bool, defaulted, list, nonEmptyText, object, optional, required, text } from '../metadata/codec.ts';
import { decodeTables } from '../metadata/decoded-tables.ts';
import { decodeDocument } from '../metadata/document.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { shareCooperatively } from '../metadata/share.ts';
import { codecsOf } from '../metadata/source.ts';
import { recordsOf } from '../schema-cache/inconsistency.ts';
import { objectId } from '../schema-cache/object-id.ts';
import type { EnumValue } from '../schema-cache/schema-cache.ts';
import { enumValuesWithin } from '../state/enum-values.ts';
import { serverOf } from '../state/live-remote.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { State } from '../state/state.ts';
import { deadlineCheck } from '../state/deadline-check.ts';
import type { CallOptions } from '../util/deadline.ts';
import { isJsonObject, type Json, jsonEqual, type JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { runCooperatively } from '../util/cooperative.ts';
import { differingSchemas } from './differing-schemas.ts';
import { ErrorPlace } from './error-place.ts';
import { define, operation, type OperationContext, type OperationGroup } from '../metadata-api/operation.ts';
import { refused, SOURCE_ERRORS } from '../metadata-api/operation-error.ts';
import type { DecodedTables } from '../metadata/table-caches.ts';
import type { Connection } from '../backend/connection.ts';
import type { SqlText } from '../backend/sql-text.ts';

interface PlannedMigration {
  readonly source: string;
  /** Repeated in the answer. */
  readonly version: string;
  readonly sql: string;
}

interface PlanChanges {
  readonly metadata: Json | undefined;
  /** Sources to open for the trial: entries of a metadata document. */
  readonly addSources: readonly Json[];
  /** Compares inconsistencies and, with `schemas`, the schemas of roles. */
  readonly compare: boolean;
  readonly schemas: boolean;
  readonly migrations: readonly PlannedMigration[];
  /** SQL that runs first in each transaction, such as settings of timeouts. */
  readonly prelude: string;
  /** Query that runs after each migration in its transaction; `''` for none. */
  readonly probe: string;
  /** Timeout of the whole trial. */
  readonly timeoutSeconds: number;
}

const DEFAULT_TIMEOUT_SECONDS = 300;
const MAX_TIMEOUT_SECONDS = 3600;

/** Maximum number of roles whose schemas are compared; each takes memory and time. */
const MAX_ROLES = 100;
/** Maximum length of all schema texts together. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

const migration = object('PlannedMigration', { source: required(nonEmptyText), version: required(nonEmptyText), sql: required(text) });

function hasSql({ migrations, prelude, probe }: PlanChanges): boolean {
  return migrations.length > 0 || prelude !== '' || probe !== '';
}

/** Guarded, because SQL may have effects that a rollback does not undo, and added sources have addresses that the service connects to. */
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
        schemas: defaulted(bool, () => true),
        migrations: defaulted(list(migration), () => []),
        prelude: defaulted(text, () => ''),
        probe: defaulted(text, () => ''),
        timeoutSeconds: defaulted(intBetween('timeout_seconds', 1, MAX_TIMEOUT_SECONDS), () => DEFAULT_TIMEOUT_SECONDS),
      }),
      changes: 'nothing',
      errors: [
        ...SOURCE_ERRORS,
        refused('not-supported', 'the source cannot roll back DDL, so its migrations cannot be tried'),
        refused('bad-request', 'the SQL begins or ends a transaction, so it could not be rolled back'),
        refused('timeout', 'the timeout passed'),
        refused('access-denied', 'the metadata is read-only (`--metadata-read-only`), and there are sources to add, or SQL'),
      ],
      documentation: {
        summary:
          'Tries migrations and a metadata document without applying them: which migrations fail, which objects would be inconsistent, and how the GraphQL schemas of roles would change.',
        details: `The SQL runs in one transaction per source, which is rolled back. Until then, its locks are held, and sequences advance for good. \`probe\` is a query that runs after each migration in its transaction, for example for the locks that are held; its rows are \`probed\` in the result of the migration. The whole trial must end within \`timeout_seconds\` (default ${DEFAULT_TIMEOUT_SECONDS}, maximum ${MAX_TIMEOUT_SECONDS}).

\`inconsistencies\` has the records \`before\` and \`after\`. \`schemas\` has, for each role whose schema differs, the definitions of the types that differ, \`before\` and \`after\`; types that they refer to and that do not differ are listed without their fields. At most ${MAX_ROLES} roles and ${MAX_CHARACTERS / 2 ** 20} MiB of text are compared; \`roles_not_compared\` lists the other roles whose schemas may differ.

\`add_sources\` are entries of a metadata document. These sources are opened for the trial and closed after it, existing ones with the configuration given there. No other source or remote server is contacted: \`untried_sources\` lists other sources that the document adds or reconfigures, \`untried_remote_schemas\` remote schemas that it adds or whose address or headers it changes. The comparison leaves out the new ones, so that objects that refer to them count as inconsistent, and uses what the service knows of the others. Environment variables are checked everywhere, also in event triggers on tables that do not exist yet and in the addresses and headers of remote schemas that are not called. With \`compare: false\`, the SQL is tried and nothing is compared. With \`schemas: false\`, only inconsistencies are compared.`,
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
  const callOptions: CallOptions = { signal, deadline: Date.now() + args.timeoutSeconds * 1000 };
  const document = args.metadata === undefined ? undefined : await decoded(args.metadata, at(path, 'metadata'), context, callOptions);
  if (args.addSources.length === 0) return tryAll(args, document, services.state, context, callOptions);
  const { sources } = await decoded({ version: 3, sources: [...args.addSources] }, at(path, 'add_sources'), context, callOptions);
  return services.state.trial(async (draft) => {
    await draft.change({
      edit: (metadata) => ({ ...metadata, sources: new Map([...metadata.sources, ...opened(sources, metadata.sources)]) }),
      inconsistencies: 'allow',
    });
    return tryAll(args, document, draft, context, callOptions);
  }, callOptions);
}

function namesOf(sources: readonly Json[]): ReadonlySet<string> {
  return new Set(sources.flatMap((source) => (isJsonObject(source) && typeof source['name'] === 'string' ? [source['name']] : [])));
}

/** Returns the sources to open. An existing one keeps its tracked objects and takes the configuration of the trial. */
function opened(added: Metadata['sources'], existing: Metadata['sources']): Metadata['sources'] {
  return new Map(
    [...added].map(([name, source]) => {
      const known = existing.get(name);
      return [name, known === undefined ? source : { ...known, kind: source.kind, configuration: source.configuration }];
    }),
  );
}

/** @param state state with the existing sources and those opened for the trial */
async function tryAll(
  args: PlanChanges,
  document: Metadata | undefined,
  state: State,
  context: OperationContext,
  callOptions: CallOptions,
): Promise<Json> {
  const snapshot = state.current();
  const results: JsonObject[] = [];
  const catalogs = new Map<string, Catalog>();
  const enumValues = new Map<string, ReadonlyMap<string, readonly EnumValue[]>>();
  const bySource = new Map<string, PlannedMigration[]>();
  for (const each of args.migrations) bySource.set(each.source, [...(bySource.get(each.source) ?? []), each]);
  let answer: JsonObject | undefined;
  const inside = async (): Promise<void> => {
    const hasFailed = results.some(({ ok }) => ok === false);
    answer =
      hasFailed || !args.compare
        ? {}
        : await compared(
            { document, tried: namesOf(args.addSources), schemas: args.schemas, catalogs, enumValues },
            state,
            context,
            callOptions,
          );
  };
  const sources = [...bySource].map(([name, migrations]): Trial => ({ ...transactionalSource(name, snapshot), name, migrations }));
  for (const { backend, migrations } of sources)
    for (const sql of [args.prelude, args.probe, ...migrations.map((each) => each.sql)]) requireOneTransaction(sql, backend.sqlText);
  await nested(
    sources,
    callOptions,
    async ({ name, backend, migrations }, connection) => {
      const { sqlText } = backend;
      if (args.prelude !== '') await connection.runSql(args.prelude, { ...callOptions, standardStrings: true });
      for (const each of migrations) {
        const result = await attempt(each, sqlText, connection, callOptions);
        const isProbed = result['ok'] === true && args.probe !== '';
        results.push(
          isProbed ? { ...result, probed: (await connection.runSql(args.probe, { ...callOptions, standardStrings: true })).rows } : result,
        );
        if (result['ok'] === false) return false;
      }
      if (!args.compare) return true;
      const catalog = await connection.introspect(undefined, callOptions);
      catalogs.set(name, catalog);
      const metadata = (document ?? snapshot.metadata).sources.get(name);
      if (metadata !== undefined) enumValues.set(name, await enumValuesWithin(connection, backend, metadata, catalog, callOptions));
      return true;
    },
    inside,
  );
  return { migrations: results, ...answer };
}

/** Decodes the document. Equal parts are shared with the current metadata. @throws SvcError */
async function decoded(json: Json, path: Path, { snapshot, services }: OperationContext, callOptions: CallOptions): Promise<Metadata> {
  const { metadata } = snapshot;
  const goOn = deadlineCheck(callOptions, 'the document was read');
  const tables: DecodedTables = new WeakMap();
  await runCooperatively(decodeTables(json, services.kinds, metadata, tables), goOn);
  return runCooperatively(shareCooperatively(metadata, decodeDocument(json, path, services.kinds, metadata, tables)), goOn);
}

/** @throws SvcError bad-request if the SQL ends its transaction: statements after that could not be rolled back */
function requireOneTransaction(sql: string, { transactionControl }: SqlText): void {
  const found = transactionControl?.(sql);
  if (found === undefined) return;
  throw new SvcError('bad-request', `SQL is tried in a transaction that is rolled back, so the statement "${found.word}" is not allowed`);
}

interface Trial {
  readonly name: string;
  readonly source: Source;
  readonly backend: Backend;
  readonly migrations: readonly PlannedMigration[];
}

/** Sets the idle timeout to the deadline of the trial: a transaction may be idle while migrations of other sources are tried. */
function endingWith({ deadline }: CallOptions): Partial<Pick<TransactionOptions, 'idleMs'>> {
  return deadline === undefined ? {} : { idleMs: Math.max(1, deadline - Date.now()) };
}

/** Opens a transaction for each source, one inside the other, and rolls all of them back. */
async function nested(
  [first, ...others]: readonly Trial[],
  callOptions: CallOptions,
  run: (trial: Trial, connection: Connection) => Promise<boolean>,
  inside: () => Promise<void>,
): Promise<void> {
  if (first === undefined) return inside();
  try {
    await first.source.transaction({ ...callOptions, ...endingWith(callOptions) }, async (connection) => {
      // A failed transaction accepts no more statements.
      if (await run(first, connection)) await nested(others, callOptions, run, inside);
      else await inside();
      throw new RolledBack();
    });
  } catch (thrown) {
    if (!(thrown instanceof RolledBack)) throw thrown;
  }
}

/** @throws SvcError not-exists, not-supported */
function transactionalSource(name: string, { metadata, cache, connections }: Snapshot): Pick<Trial, 'source' | 'backend'> {
  const found = cache.sources.get(name);
  const connection = connections.get(name);
  if (!metadata.sources.has(name)) throw new SvcError('not-exists', `source with name "${name}" does not exist`);
  if (found === undefined || connection === undefined) {
    const reason = cache.inconsistencies.find((each) => each.objectId === objectId.source(name))?.reason;
    throw new SvcError('unexpected', `source with name "${name}" is inconsistent${reason === undefined ? '' : `: ${reason}`}`, {
      status: 400,
      ...(reason !== undefined && isAboutVariables(reason) && { remedies: [SET_VARIABLES] }),
    });
  }
  const { backend } = found;
  if (backend.sqlText.transactionControl === undefined)
    throw new SvcError('not-supported', `the source "${name}" cannot roll back DDL, so its migrations cannot be tried`);
  return { source: connection, backend };
}

async function attempt(
  { source, version, sql }: PlannedMigration,
  sqlText: SqlText,
  connection: Connection,
  callOptions: CallOptions,
): Promise<JsonObject> {
  const place = new ErrorPlace(sql, sqlText);
  try {
    await connection.runSql(sql, { ...callOptions, standardStrings: true, onFailure: (failure) => place.set(failure) });
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

interface Comparison extends Pick<PlanChanges, 'schemas'> {
  readonly document: Metadata | undefined;
  /** Names of the sources that were opened for the trial. */
  readonly tried: ReadonlySet<string>;
  /** Catalogs after the migrations, by source. */
  readonly catalogs: ReadonlyMap<string, Catalog>;
  /** Rows of enum tables after the migrations, by source and table. */
  readonly enumValues: ReadonlyMap<string, ReadonlyMap<string, readonly EnumValue[]>>;
}

/** Compares the document on the changed catalogs with the current snapshot. */
async function compared(
  { document, tried, schemas, catalogs: changed, enumValues }: Comparison,
  state: State,
  { snapshot, services }: OperationContext,
  callOptions: CallOptions,
): Promise<JsonObject> {
  const before = snapshot.cache.inconsistencies;
  const { metadata: current, connections } = state.current();
  const metadata = document ?? snapshot.metadata;
  const untried = [...metadata.sources.keys()].filter((name) => !current.sources.has(name));
  const newRemotes = [...metadata.remoteSchemas.keys()].filter((name) => !current.remoteSchemas.has(name));
  const untriedRemotes = [...metadata.remoteSchemas.values()].filter(({ name }) => isUntried(name, metadata, current));
  const known: Metadata = {
    ...metadata,
    sources: without(metadata.sources, untried),
    remoteSchemas: without(metadata.remoteSchemas, newRemotes),
  };
  const catalogs = new Map(changed);
  for (const [name, connection] of connections)
    if (!catalogs.has(name) && known.sources.has(name) && known.sources.get(name) !== current.sources.get(name))
      catalogs.set(name, await connection.introspect(undefined, callOptions));
  const [first, ...others] = catalogs;
  const after = await state.preview(
    {
      edit: () => known,
      source: first?.[0] ?? '',
      catalog: first?.[1] ?? { tables: new Map(), functions: new Map(), version: 0 },
      renamedTables: new Map(),
      others: new Map(others),
      enumValues,
      declared: metadata,
    },
    callOptions,
  );
  return {
    inconsistencies: { before: [...recordsOf(before)], after: [...recordsOf(after.inconsistencies)] },
    untried_sources: [...untried, ...reconnected(metadata, snapshot.metadata, services.kinds)].filter((name) => !tried.has(name)),
    untried_remote_schemas: untriedRemotes.map(({ name }) => name),
    ...(schemas ? await changedSchemas(snapshot, after.snapshot, callOptions) : {}),
  };
}

/** Returns the existing sources whose connection settings would change. */
function reconnected(after: Metadata, before: Metadata, kinds: Kinds): readonly string[] {
  return [...after.sources.values()].flatMap(({ name, kind, configuration }) => {
    const was = before.sources.get(name);
    if (was === undefined || (was.kind === kind && was.configuration === configuration)) return [];
    const codec = codecsOf(kinds, kind).configuration;
    // A key with its default value equals an absent key.
    const isSame = was.kind === kind && jsonEqual(codec.encode(was.configuration), codec.encode(configuration));
    return isSame ? [] : [name];
  });
}

/** Returns the same map if `names` is empty. */
function without<T>(map: ReadonlyMap<string, T>, names: readonly string[]): ReadonlyMap<string, T> {
  return names.length === 0 ? map : new Map([...map].filter(([name]) => !names.includes(name)));
}

/** Returns whether a remote schema is new, or its address or headers differ from those that were introspected. */
function isUntried(name: string, after: Metadata, before: Metadata): boolean {
  const [now, was] = [after.remoteSchemas.get(name), before.remoteSchemas.get(name)];
  return (
    now !== undefined && (was === undefined || (was.definition !== now.definition && serverOf(was.definition) !== serverOf(now.definition)))
  );
}

/** Returns the differing schemas within the limits. @throws SvcError timeout */
async function changedSchemas(before: Snapshot, after: Snapshot, callOptions: CallOptions): Promise<JsonObject> {
  const roles = [...new Set([ADMIN_ROLE, ...before.cache.roles, ...after.cache.roles])].sort();
  const differing = differingSchemas({
    before,
    after,
    roles,
    maxRoles: MAX_ROLES,
    goOn: deadlineCheck(callOptions, 'schemas were compared'),
  });
  const schemas: JsonObject[] = [];
  const tooLarge: string[] = [];
  let charactersLeft = MAX_CHARACTERS;
  for (;;) {
    const next = await differing.next();
    if (next.done === true) return { schemas, roles_not_compared: [...tooLarge, ...next.value] };
    const { role, ...texts } = next.value;
    const size = texts.before.length + texts.after.length;
    if (size > charactersLeft) tooLarge.push(role);
    else {
      charactersLeft -= size;
      schemas.push({ role, ...texts });
    }
  }
}

export const planOperations: readonly OperationGroup[] = [planChanges];
