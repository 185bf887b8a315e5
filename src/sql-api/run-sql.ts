import type { Backend, Source } from '../backend/backend.ts';
import { type Catalog, nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import { bool, nonNegativeInt, defaulted, object, optional, required, text } from '../metadata/codec.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { Change, PreviewResult, Refresh } from '../state/state.ts';
import { TRACE_SETTING, USER_SETTING, userText } from '../execute/run-mutation.ts';
import { bytesOfText } from '../util/bytes.ts';
import { type JsonObject, printJson } from '../util/json.ts';
import { runCooperatively, type Cooperative } from '../util/cooperative.ts';
import { traceContextOf } from '../webhooks/trace-context.ts';
import { type OperationAnswer, PrintedJson } from '../metadata-api/answer.ts';
import {
  define,
  everyKind,
  operation,
  type OperationContext,
  type OperationDefinition,
  type OperationGroup,
  perKind,
} from '../metadata-api/operation.ts';
import { databaseErrors, refused, SOURCE_ERRORS, STALE_VERSION } from '../metadata-api/operation-error.ts';
import { requireOpenSource, sourceArgument } from '../metadata-api/target.ts';
import { type CatalogChanges, catalogChanges } from './catalog-changes.ts';
import { type Affected, followChanges } from './follow-changes.ts';
import { ErrorPlace } from './error-place.ts';
import { refuseInconsistent } from './refuse-inconsistent.ts';
import type { SqlStatement, SqlText } from '../backend/sql-text.ts';
import type { Connection, RunSqlOptions, RunSqlResult, SessionSettings, SqlFailure } from '../backend/connection.ts';

/** Maximum idle time in the transaction, in ms: its locks must not outlast an instance that hangs. */
const IDLE_MS = 60_000;

/** Maximum of `max_rows`; no page shows more. */
const MAX_ROWS = 1_000_000;

interface RunSql {
  readonly sql: string;
  readonly source: string;
  readonly cascade: boolean;
  readonly checkMetadataConsistency: boolean | undefined;
  readonly readOnly: boolean;
  readonly noTransaction: boolean;
  readonly locateErrors: boolean;
  readonly maxRows: number | undefined;
}

/** `run_sql` of every kind. */
export const runSqlOperations: OperationGroup = perKind('run_sql', everyKind, (backend) => definition([backend]));

/** `run_sql` of `/v2/query`, for sources of any kind. */
export const runSqlOfAnyKind: OperationGroup = (backends) => [operation({ ...definition(backends), type: 'run_sql' }, 'run_sql')];

/** @param backends kinds of the source */
function definition(backends: readonly Backend[]): OperationDefinition<RunSql> {
  return define<RunSql>({
    args: object('RunSQL', {
      sql: required(text),
      source: sourceArgument,
      cascade: defaulted(bool, () => false),
      checkMetadataConsistency: optional(bool),
      readOnly: defaulted(bool, () => false),
      noTransaction: defaulted(bool, () => false),
      locateErrors: defaulted(bool, () => false),
      maxRows: optional(nonNegativeInt('max_rows', MAX_ROWS)),
    }),
    changes: 'database',
    errors: [
      ...SOURCE_ERRORS,
      ...[...new Set(backends.map(({ errorCodes }) => errorCodes.failed))].map((code) =>
        refused(code, 'the SQL fails; `internal` has the statement and the message of the database'),
      ),
      refused(
        'bad-request',
        'the SQL begins or ends a transaction although it is read-only or checked against the metadata; it is read-only and has `copy`, `do`, `call` or `load`; or it returns more rows than the service can hold',
      ),
      refused(
        'dependency-error',
        'metadata depends on a dropped object and `cascade` is false, or metadata depends on the old type of a column',
      ),
      refused('not-supported', 'a tracked function would be overloaded or become volatile'),
      refused('already-exists', 'a column would get the name of a relationship'),
      refused('already-tracked', 'a table would get the name of another tracked table'),
      refused('remote-schema-conflicts', 'a table would get the root fields of another table'),
      refused('unexpected', 'other objects would become inconsistent; the message has the reasons, `internal` the records', 400),
      ...databaseErrors(...backends),
      STALE_VERSION,
    ],
    documentation: {
      summary: 'Runs SQL in a source and returns the rows of the last statement.',
      details: `With \`cascade\`, dependent metadata is dropped too, and the answer has \`affected\`: the objects of the metadata that were \`dropped\` or \`changed\`.

With \`max_rows\`, the answer has at most that many rows, and \`truncated: true\` if there were more. With \`locate_errors\`, \`internal\` of an error has the \`position\` in the SQL, in characters from 1, if the database reports it.

\`read_only\` runs the SQL in a transaction that is rolled back. It does not limit side effects outside of the database, such as functions that read files of the server: only the privileges of the database role do.`,
      example: { source: 'default', sql: 'select id, name from author', read_only: true },
    },
    readOnly: ({ readOnly }) => readOnly,
    isGuarded: ({ readOnly }) => !readOnly,
    runsSql: () => true,
    followsUp: (args) => backends.some((backend) => checksMetadata(args, backend)),
    run: (args, context) => runSql(args, backendOf(args, backends, context), context),
  });
}

/** Returns the kind of the source, or the first kind for an unknown source, which is refused later. */
function backendOf({ source }: RunSql, backends: readonly Backend[], { snapshot }: OperationContext): Backend {
  const kind = snapshot.metadata.sources.get(source)?.kind;
  return backends.find((backend) => backend.kind === kind) ?? (backends[0] as Backend);
}

async function runSql(args: RunSql, backend: Backend, context: OperationContext): Promise<OperationAnswer> {
  const source = requireOpenSource(args.source, backend, context.snapshot);
  const { sqlText } = backend;
  if (args.readOnly) sqlText.requireReads?.(args.sql);
  const place = new ErrorPlace(args.sql, sqlText);
  const options: RunSqlOptions = {
    onFailure: (failure) => place.set(failure),
    ...(context.signal && { signal: context.signal }),
    ...(context.requestOptions.resultBudget && { resultBudget: context.requestOptions.resultBudget }),
    ...(args.maxRows === undefined ? {} : { maxRows: args.maxRows }),
    ...(args.readOnly ? { standardStrings: true } : {}),
  };
  const inTransaction = args.readOnly || !args.noTransaction;
  const isFollowed = canFollow(source, backend);
  if (!isFollowed && !args.readOnly && (args.checkMetadataConsistency === true || args.cascade)) {
    throw new SvcError(
      'not-supported',
      `SQL of ${backend.product} cannot be checked against the metadata: run it without these options, and reload the metadata after DDL`,
    );
  }
  const isTransactional = sqlText.transactionControl !== undefined;
  const isChecked = isFollowed && checksMetadata(args, backend);
  if (isChecked && !args.noTransaction) requireOneTransaction(args.sql, sqlText);
  // DDL that commits implicitly need not be sent statement by statement.
  const statements = inTransaction || !isTransactional ? undefined : sqlText.statements?.(args.sql);
  const run = (connection: Connection): Promise<RunSqlResult> =>
    statements === undefined ? connection.runSql(args.sql, options) : runOneByOne(connection, statements, options, place);
  const settings = settingsFor(args.source, context);
  const within = <T>(task: (connection: Connection) => Promise<T>): Promise<T> =>
    inTransaction
      ? source.transaction({ readOnly: args.readOnly, ...(isChecked && { idleMs: IDLE_MS }), ...(settings && { settings }) }, task)
      : source.session(task, settings);
  const notify = (): void => {
    const clientName = context.requestOptions.headers?.['x-svc-client-name'];
    if (args.readOnly) return;
    context.services.onSql({ source: args.source, sql: args.sql, clientName: typeof clientName === 'string' ? clientName : undefined });
  };
  try {
    if (!isChecked) {
      const result = await within(run);
      notify();
      return runCooperatively(printResult(result, args.cascade ? [] : undefined));
    }
    const { result, affected } = await runChecked(args, { isPermanent: args.noTransaction || !isTransactional, run, within }, context);
    notify();
    return runCooperatively(printResult(result, args.cascade ? affected : undefined));
  } catch (thrown) {
    throw args.locateErrors ? place.located(thrown) : thrown;
  }
}

/** Refuses a commit in SQL, because the check could not roll back the statements before it. @throws SvcError bad-request */
function requireOneTransaction(sql: string, { transactionControl }: SqlText): void {
  const found = transactionControl?.(sql);
  if (found === undefined) return;
  throw new SvcError(
    'bad-request',
    `SQL that is checked against the metadata runs in one transaction, so the statement "${found.word}" is not allowed: remove it, or send "check_metadata_consistency": false`,
  );
}

/** Returns whether the effect of SQL on the catalog can be known before it is permanent. */
function canFollow({ analyzeDryRun }: Pick<Source, 'analyzeDryRun'>, { sqlText }: Backend): boolean {
  return sqlText.transactionControl !== undefined || analyzeDryRun !== undefined;
}

/** Returns session settings that event triggers read: user and trace. `undefined` if the source has no event triggers. */
function settingsFor(source: string, { snapshot, session, requestOptions }: OperationContext): SessionSettings | undefined {
  if ((snapshot.cache.sources.get(source)?.eventTriggers.size ?? 0) === 0) return undefined;
  const trace = traceContextOf(requestOptions.headers ?? {});
  return [
    [USER_SETTING, userText(session)],
    [TRACE_SETTING, trace === null ? '' : printJson(trace)],
  ];
}

function checksMetadata({ sql, readOnly, checkMetadataConsistency }: RunSql, { sqlText }: Backend): boolean {
  return !readOnly && (checkMetadataConsistency ?? sqlText.mayChangeCatalog(sql));
}

/** Runs each statement by itself, and returns the result of the last one. */
async function runOneByOne(
  connection: Connection,
  statements: readonly SqlStatement[],
  options: RunSqlOptions,
  place: ErrorPlace,
): Promise<RunSqlResult> {
  let result: RunSqlResult = { kind: 'CommandOk', columns: [], rows: [], command: '' };
  for (const { text, at } of statements) {
    const onFailure = (failure: SqlFailure): void => place.set(failure, text, at);
    result = await connection.runSql(text, { ...options, onFailure });
  }
  return result;
}

interface Execution {
  /** True if the SQL cannot be rolled back when the metadata does not allow it. */
  readonly isPermanent: boolean;
  readonly run: (connection: Connection) => Promise<RunSqlResult>;
  readonly within: <T>(task: (connection: Connection) => Promise<T>) => Promise<T>;
}

/**
 * Runs SQL and applies its effect to the metadata. SQL that the metadata does not allow is rolled back. If that is impossible, the
 * metadata stays as it was, and objects that no longer match the database become inconsistent.
 */
async function runChecked(
  { sql, source, cascade }: RunSql,
  { isPermanent, run, within }: Execution,
  context: OperationContext,
): Promise<{ readonly result: RunSqlResult; readonly affected: readonly Affected[] }> {
  const { snapshot, services } = context;
  const referenced = referencedObjects(snapshot.metadata, source);
  const change = (edit: Change['edit']): Promise<void> => changeAndRefresh(source, referenced, edit, context);
  let catalogBefore: Catalog | undefined;
  let affected: readonly Affected[] = [];
  const follow = async (changes: CatalogChanges): Promise<void> => {
    await change((metadata, now) => {
      const followed = followChanges(metadata, now, changes, true);
      ({ affected } = followed);
      return followed.metadata;
    });
  };
  const checked = async (connection: Connection) => {
    const before = await connection.introspect(referenced);
    catalogBefore = before;
    const check = async (after: Catalog) => {
      const changes = catalogChanges(source, before, after);
      const { eventTriggers } = await refuseInconsistent(
        services.state,
        { before, after },
        changes,
        (metadata, now) => followChanges(metadata, now, changes, cascade).metadata,
      );
      return { changes, eventTriggers };
    };
    const analysis = isPermanent ? connection.analyzeDryRun?.(sql, before) : undefined;
    // Checked before the SQL runs, because it could not be rolled back.
    if (analysis !== undefined && analysis.catalog !== before) await check(analysis.catalog);
    const result = await run(connection);
    const found = await connection.introspect();
    const { changes, eventTriggers } = await check(analysis?.recognize(found) ?? found);
    // Event triggers must capture the new columns of a table as soon as clients can write them.
    if (!isPermanent) await reinstallCaptures(source, eventTriggers, connection, context);
    return { result, changes };
  };
  try {
    const { result, changes } = await within(checked);
    await follow(changes);
    return { result, affected };
  } catch (thrown) {
    if (isPermanent) await change((metadata) => metadata);
    // The catalog shows whether the commit succeeded.
    else if (catalogBefore !== undefined && thrown instanceof SvcError && thrown.isUncertain) {
      const found = await snapshot.connections.get(source)?.introspect();
      if (found !== undefined) await follow(catalogChanges(source, catalogBefore, found));
    }
    throw thrown;
  }
}

/** Changes the metadata, and reads the objects of the source again that it refers to before or after. */
async function changeAndRefresh(source: string, before: ReferencedObjects, edit: Change['edit'], context: OperationContext): Promise<void> {
  const { snapshot } = context;
  const after = referencedObjects(edit(snapshot.metadata, snapshot), source);
  const inSource = (name: QualifiedName): { source: string; name: QualifiedName } => ({ source, name });
  // Old names too: another object may have one of them now.
  const refresh: Refresh = {
    tables: [...before.tables, ...after.tables].map(inSource),
    functions: [...before.functions, ...after.functions].map(inSource),
  };
  await context.change({ edit, refresh, inconsistencies: 'allow' });
}

/** Installs the captures of event triggers that differ from those of the snapshot. */
async function reinstallCaptures(
  source: string,
  eventTriggers: PreviewResult['eventTriggers'],
  connection: Connection,
  { snapshot, services }: OperationContext,
): Promise<void> {
  const known = snapshot.cache.sources.get(source)?.eventTriggers;
  const changed = [...eventTriggers].filter(([name, info]) => known?.get(name) !== info).map(([, info]) => info);
  if (changed.length === 0) return;
  await snapshot.connections.get(source)?.captures?.install(changed, {
    owner: snapshot.captureOwner(source),
    ...(services.state.markedFor ?? { version: snapshot.resourceVersion + 1 }),
    connection,
  });
}

interface ReferencedObjects {
  readonly tables: readonly QualifiedName[];
  readonly functions: readonly QualifiedName[];
}

/** Returns the objects of a source that the metadata refers to: others are read when they are tracked. */
function referencedObjects(metadata: Metadata, name: string): ReferencedObjects {
  const source = metadata.sources.get(name);
  const tables = [...(source?.tables.values() ?? [])];
  const functions = [...(source?.functions.values() ?? [])].map((entry) => entry.function);
  for (const { computedFields } of tables) for (const field of computedFields.values()) functions.push(field.function);
  return { tables: tables.map(({ table }) => table), functions: [...new Map(functions.map((each) => [nameKey(each), each])).values()] };
}

/** Rows printed per cooperative step. */
const ROWS_PER_STEP = 500;

/** Prints the header and the rows. Every value is text; SQL NULL is the text `NULL`. @param affected omitted if `undefined` */
function* printResult(result: RunSqlResult, affected: readonly Affected[] | undefined): Cooperative<OperationAnswer> {
  const extra: JsonObject = {
    ...(affected === undefined ? {} : { affected: affected.map(({ object, change }) => ({ object, change })) }),
    ...(result.isCut === true ? { truncated: true } : {}),
  };
  if (result.kind === 'CommandOk') return { result_type: 'CommandOk', result: null, ...extra };
  const pieces = [bytesOfText(`{"result_type":"TuplesOk","result":[${printJson(result.columns)}`)];
  for (let i = 0; i < result.rows.length; i += ROWS_PER_STEP) {
    const rows = result.rows.slice(i, i + ROWS_PER_STEP).map((row) => row.map((value) => value ?? 'NULL'));
    pieces.push(bytesOfText(`,${printJson(rows).slice(1, -1)}`));
    yield;
  }
  const rest = printJson(extra).slice(1, -1);
  pieces.push(bytesOfText(`]${rest === '' ? '' : `,${rest}`}}`));
  return new PrintedJson(pieces);
}
