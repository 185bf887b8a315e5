import type { Backend, Source } from '../backend/backend.ts';
import { type Catalog, nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import { bool, count, defaulted, object, optional, required, text } from '../metadata/codec.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { Change, PreviewResult, Refresh } from '../state/state.ts';
import { TRACE_SETTING, USER_SETTING, userText } from '../execute/run-mutation.ts';
import { bytesOfText } from '../util/bytes.ts';
import { type JsonObject, printJson } from '../util/json.ts';
import { inSlices, type Sliced } from '../util/sliced.ts';
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

/** Maximum pause between SQL and what is compared after it, in ms: its locks must not outlast an instance that stands still. */
const IDLE_MS = 60_000;

/** More than any page shows. */
const MOST_ROWS = 1_000_000;

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

/** `run_sql` of `/v2/query`: on a source of any kind. */
export const runSqlOfAnyKind: OperationGroup = (backends) => [operation({ ...definition(backends), type: 'run_sql' }, 'run_sql')];

/** @param backends the kinds that the source may have */
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
      maxRows: optional(count('max_rows', MOST_ROWS)),
    }),
    changes: 'database',
    errors: [
      ...SOURCE_ERRORS,
      ...[...new Set(backends.map(({ errorCodes }) => errorCodes.failed))].map((code) =>
        refused(code, 'the SQL fails; `internal` holds the statement and what the database says'),
      ),
      refused(
        'bad-request',
        'the SQL is read-only or compared with the metadata, and begins or ends a transaction; it is read-only and has `copy`, `do`, `call` or `load`; or its rows are more than the service holds',
      ),
      refused('dependency-error', 'metadata depends on what goes and `cascade` is false, or on the type of a column that changes'),
      refused('not-supported', 'a function of the metadata would be overloaded or become volatile'),
      refused('already-exists', 'a column would get the name of a relationship'),
      refused('already-tracked', 'a table would get the name of a tracked one'),
      refused('remote-schema-conflicts', 'a table would get the root fields of another one'),
      refused('unexpected', 'something else would be inconsistent: the message says why, `internal` holds the records', 400),
      ...databaseErrors(...backends),
      STALE_VERSION,
    ],
    documentation: {
      summary:
        'Runs SQL in a source and gives the rows of the last statement; with `cascade` also `affected`, the list of the objects of the metadata that were `dropped` or `changed` with it. With `locate_errors`, `internal` of an error has the `position` in the SQL, in characters from 1, where the database tells it. With `max_rows` it gives no more rows than these, and `truncated: true` where there were more. `read_only` undoes what is written in the database; what functions do and read elsewhere, such as files of the server, only the rights of the database role limit.',
      example: { source: 'default', sql: 'select id, name from author', read_only: true },
    },
    readOnly: ({ readOnly }) => readOnly,
    isGuarded: ({ readOnly }) => !readOnly,
    runsSql: () => true,
    followsUp: (args) => backends.some((backend) => checksMetadata(args, backend)),
    run: (args, context) => runSql(args, backendOf(args, backends, context), context),
  });
}

/** The kind of the source; the first one where there is no such source, which is refused later. */
function backendOf({ source }: RunSql, backends: readonly Backend[], { snapshot }: OperationContext): Backend {
  const kind = snapshot.metadata.sources.get(source)?.kind;
  return backends.find((backend) => backend.kind === kind) ?? (backends[0] as Backend);
}

async function runSql(args: RunSql, backend: Backend, context: OperationContext): Promise<OperationAnswer> {
  const source = requireOpenSource(args.source, backend, context.snapshot);
  const { sqlText } = backend;
  if (args.readOnly) sqlText.requireReads?.(args.sql);
  const place = new ErrorPlace(args.sql, sqlText);
  const how: RunSqlOptions = {
    onFailure: (failure) => place.set(failure),
    ...(context.signal && { signal: context.signal }),
    ...(context.how.intake && { intake: context.how.intake }),
    ...(args.maxRows === undefined ? {} : { maxRows: args.maxRows }),
    ...(args.readOnly ? { standardStrings: true } : {}),
  };
  const inTransaction = args.readOnly || !args.noTransaction;
  const isFollowed = canFollow(source, backend);
  if (!isFollowed && !args.readOnly && (args.checkMetadataConsistency === true || args.cascade)) {
    throw new SvcError(
      'not-supported',
      `SQL of ${backend.product} is not compared with the metadata: reload the metadata after definitions`,
    );
  }
  const isTransactional = sqlText.transactionControl !== undefined;
  const isChecked = isFollowed && checksMetadata(args, backend);
  if (isChecked && !args.noTransaction) requireOneTransaction(args.sql, sqlText);
  // Definitions that commit implicitly need not be sent one by one.
  const statements = inTransaction || !isTransactional ? undefined : sqlText.statements?.(args.sql);
  const run = (connection: Connection): Promise<RunSqlResult> =>
    statements === undefined ? connection.runSql(args.sql, how) : runOneByOne(connection, statements, how, place);
  const settings = settingsFor(args.source, context);
  const within = <T>(task: (connection: Connection) => Promise<T>): Promise<T> =>
    inTransaction
      ? source.transaction({ readOnly: args.readOnly, ...(isChecked && { idleMs: IDLE_MS }), ...(settings && { settings }) }, task)
      : source.session(task, settings);
  try {
    if (!isChecked) return inSlices(printResult(await within(run), args.cascade ? [] : undefined));
    const { result, affected } = await runChecked(args, { stands: args.noTransaction || !isTransactional, run, within }, context);
    return inSlices(printResult(result, args.cascade ? affected : undefined));
  } catch (thrown) {
    throw args.locateErrors ? place.located(thrown) : thrown;
  }
}

/** Refuses a commit in SQL, before which statements would stand although the check refuses them. @throws SvcError bad-request */
function requireOneTransaction(sql: string, { transactionControl }: SqlText): void {
  const found = transactionControl?.(sql);
  if (found === undefined) return;
  throw new SvcError(
    'bad-request',
    `SQL that is compared with the metadata runs in one transaction, so that it cannot have the statement "${found.word}": leave it out, or send "check_metadata_consistency": false`,
  );
}

/** Whether it is known what SQL does before it stands. */
function canFollow({ foresee }: Pick<Source, 'foresee'>, { sqlText }: Backend): boolean {
  return sqlText.transactionControl !== undefined || foresee !== undefined;
}

/** What captures events reads from the session who is at it. Undefined: nothing does. */
function settingsFor(source: string, { snapshot, session, how }: OperationContext): SessionSettings | undefined {
  if ((snapshot.cache.sources.get(source)?.eventTriggers.size ?? 0) === 0) return undefined;
  const trace = traceContextOf(how.headers ?? {});
  return [
    [USER_SETTING, userText(session)],
    [TRACE_SETTING, trace === null ? '' : printJson(trace)],
  ];
}

function checksMetadata({ sql, readOnly, checkMetadataConsistency }: RunSql, { sqlText }: Backend): boolean {
  return !readOnly && (checkMetadataConsistency ?? sqlText.mayChangeCatalog(sql));
}

/** Each statement by itself, in one session; the result of the last one. */
async function runOneByOne(
  connection: Connection,
  statements: readonly SqlStatement[],
  how: RunSqlOptions,
  place: ErrorPlace,
): Promise<RunSqlResult> {
  let result: RunSqlResult = { kind: 'CommandOk', columns: [], rows: [], command: '' };
  for (const { text, at } of statements) {
    const onFailure = (failure: SqlFailure): void => place.set(failure, text, at);
    result = await connection.runSql(text, { ...how, onFailure });
  }
  return result;
}

/** How SQL is run. */
interface Running {
  /** What it defines is not undone when it turns out that the metadata does not allow it. */
  readonly stands: boolean;
  readonly run: (connection: Connection) => Promise<RunSqlResult>;
  readonly within: <T>(task: (connection: Connection) => Promise<T>) => Promise<T>;
}

/**
 * Runs SQL and carries what it did into the metadata. What the metadata does not allow is refused
 * while the transaction can still be rolled back; without one the SQL stands, the metadata is left
 * as it was, and what does not fit any more is inconsistent.
 */
async function runChecked(
  { sql, source, cascade }: RunSql,
  { stands, run, within }: Running,
  context: OperationContext,
): Promise<{ readonly result: RunSqlResult; readonly affected: readonly Affected[] }> {
  const { snapshot, services } = context;
  const named = namedObjects(snapshot.metadata, source);
  const change = async (edit: Change['edit']): Promise<void> => {
    const after = namedObjects(edit(snapshot.metadata, snapshot), source);
    const inSource = (name: QualifiedName): { source: string; name: QualifiedName } => ({ source, name });
    // Old names too: what has one of them now is something else.
    const refresh: Refresh = {
      tables: [...named.tables, ...after.tables].map(inSource),
      functions: [...named.functions, ...after.functions].map(inSource),
    };
    await context.change({ edit, refresh, inconsistencies: 'allow' });
  };
  const reinstall = async (connection: Connection, eventTriggers: PreviewResult['eventTriggers']): Promise<void> => {
    const known = snapshot.cache.sources.get(source)?.eventTriggers;
    const changed = [...eventTriggers].filter(([name, info]) => known?.get(name) !== info).map(([, info]) => info);
    const captures = snapshot.connections.get(source)?.captures;
    if (changed.length > 0)
      await captures?.install(changed, {
        owner: snapshot.captureOwner(source),
        ...(services.state.markedFor ?? { version: snapshot.resourceVersion + 1 }),
        within: connection,
      });
  };
  let seen: Catalog | undefined;
  let affected: readonly Affected[] = [];
  const follow = async (changes: CatalogChanges): Promise<void> => {
    await change((metadata, now) => {
      const followed = followChanges(metadata, now, changes, true);
      ({ affected } = followed);
      return followed.metadata;
    });
  };
  const checked = async (connection: Connection) => {
    const before = await connection.introspect(named);
    seen = before;
    const judged = async (after: Catalog) => {
      const changes = catalogChanges(source, before, after);
      const { eventTriggers } = await refuseInconsistent(
        services.state,
        { before, after },
        changes,
        (metadata, now) => followChanges(metadata, now, changes, cascade).metadata,
      );
      return { changes, eventTriggers };
    };
    const foresight = stands ? connection.foresee?.(sql, before) : undefined;
    // What is refused now has not been done.
    if (foresight !== undefined && foresight.catalog !== before) await judged(foresight.catalog);
    const result = await run(connection);
    const found = await connection.introspect();
    const { changes, eventTriggers } = await judged(foresight?.recognize(found) ?? found);
    // What captures the rows of a table has to know its new columns as soon as others may write them.
    if (!stands) await reinstall(connection, eventTriggers);
    return { result, changes };
  };
  try {
    const { result, changes } = await within(checked);
    await follow(changes);
    return { result, affected };
  } catch (thrown) {
    if (stands) await change((metadata) => metadata);
    // The database says what became of it.
    else if (seen !== undefined && thrown instanceof SvcError && thrown.isUncertain) {
      const found = await snapshot.connections.get(source)?.introspect();
      if (found !== undefined) await follow(catalogChanges(source, seen, found));
    }
    throw thrown;
  }
}

/** What the metadata names in a source: the rest of a catalog is read when it is tracked. */
function namedObjects(
  metadata: Metadata,
  name: string,
): { readonly tables: readonly QualifiedName[]; readonly functions: readonly QualifiedName[] } {
  const source = metadata.sources.get(name);
  const tables = [...(source?.tables.values() ?? [])];
  const functions = [...(source?.functions.values() ?? [])].map((entry) => entry.function);
  for (const { computedFields } of tables) for (const field of computedFields.values()) functions.push(field.function);
  return { tables: tables.map(({ table }) => table), functions: [...new Map(functions.map((each) => [nameKey(each), each])).values()] };
}

/** Rows that are printed before something else may happen. */
const ROWS_A_STEP = 500;

/** The header row first; every value is text, SQL NULL the text `NULL`. @param affected undefined: it is not told */
function* printResult(result: RunSqlResult, affected: readonly Affected[] | undefined): Sliced<OperationAnswer> {
  const told: JsonObject = {
    ...(affected === undefined ? {} : { affected: affected.map(({ object, change }) => ({ object, change })) }),
    ...(result.isCut === true ? { truncated: true } : {}),
  };
  if (result.kind === 'CommandOk') return { result_type: 'CommandOk', result: null, ...told };
  const pieces = [bytesOfText(`{"result_type":"TuplesOk","result":[${printJson(result.columns)}`)];
  for (let i = 0; i < result.rows.length; i += ROWS_A_STEP) {
    const rows = result.rows.slice(i, i + ROWS_A_STEP).map((row) => row.map((value) => value ?? 'NULL'));
    pieces.push(bytesOfText(`,${printJson(rows).slice(1, -1)}`));
    yield;
  }
  const rest = printJson(told).slice(1, -1);
  pieces.push(bytesOfText(`]${rest === '' ? '' : `,${rest}`}}`));
  return new PrintedJson(pieces);
}
