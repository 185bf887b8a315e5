/** Installs and removes event triggers in a database. */
import {
  captureInputs,
  type CaptureLabel,
  captureText,
  definitionHash,
  isLabeledFor,
  belongsToOtherDraft,
  isSettled,
  labelFor,
  readCaptureLabel,
} from '../../../backend/capture-label.ts';
import { captureName, captureNames, inCatalog } from '../../../backend/capture-names.ts';
import {
  type CapturedTrigger,
  DEFAULT_LOCK_MS,
  type InstallFailure,
  type InstallOptions,
  requireOwn,
  type RetainOptions,
  pendingChangeError,
} from '../../../backend/captures.ts';
import type { QualifiedName } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { CAPTURED_OPERATIONS, type CapturedOperationName, type EventTrigger } from '../../../metadata/event-trigger.ts';
import { identifier, print, type Sql, sql, string } from '../../../sql/fragment.ts';
import { ARCHIVE_BATCH, archiveAll, isRemovable, OPERATION_SQL, refusedBy } from '../../shared/capture/install.ts';
import { dialect } from '../compile/dialect.ts';
import { DatabaseError } from '../driver/database-error.ts';
import { FUNCTION_FORMAT, type FunctionOptions, functionBody } from './functions.ts';
import { EVENT_CATALOG_LOCK, eventCatalogVersion, isEventMigrationPending, migrateEvents } from './migrations.ts';
import { type TimeLimitedDatabase, timeLimitedStatements, type Statements } from './time-limits.ts';

export interface CaptureOptions extends FunctionOptions {
  readonly extensionsSchema: string;
}

/** Timeout for migrations, which may rewrite large tables. */
const MIGRATION_MS = 10 * 60_000;

/**
 * Options of transactions that lock tables of the application and the triggers of all instances. Their statements follow each other
 * immediately, so the server may end the transaction of a stalled instance.
 */
const DEFINING = { isolation: 'read-committed', idleMs: 10_000 } as const;

interface Installed extends CaptureLabel {
  readonly function: string;
  /** Source text of the function. */
  readonly text: string;
  /** True if the function has been dropped in this transaction, to be recreated. */
  readonly isDropped?: boolean;
  readonly attached: readonly { readonly table: number; readonly schema: string; readonly name: string; readonly always: boolean }[];
}

const FIND = `
  select p.proname, p.prosrc, obj_description(p.oid, 'pg_proc'), coalesce((
    select json_agg(json_build_object('table', t.tgrelid::int8, 'schema', n.nspname, 'name', c.relname, 'always', t.tgenabled = 'A'))
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
    -- partitions have copies of the trigger of the whole
    where t.tgfoid = p.oid and t.tgname = p.proname and not exists (
      select from pg_inherits i join pg_trigger parent on parent.tgrelid = i.inhparent and parent.tgfoid = t.tgfoid
      where i.inhrelid = t.tgrelid)), '[]')
  from pg_proc p
  where p.pronamespace = to_regnamespace('svc_catalog') and p.proname like 'notify\\_svc\\_%' and p.prorettype = 'trigger'::regtype`;

async function installed(connection: Statements): Promise<ReadonlyMap<string, Installed>> {
  const { rows } = await connection.query(FIND, []);
  return new Map(
    rows.map(([name, text, comment, attached]) => {
      const found = {
        function: name as string,
        text: text as string,
        attached: JSON.parse(attached as string),
        ...readCaptureLabel(comment),
      };
      return [found.function, found as Installed];
    }),
  );
}

function run(connection: Statements, statement: Sql): Promise<unknown> {
  return connection.query(print(statement, dialect).text, []);
}

/** See `Captures.install`. */
export async function install(
  source: TimeLimitedDatabase,
  triggers: readonly CapturedTrigger[],
  { reinstall: again = false, connection: within, ...rest }: InstallOptions,
  options: CaptureOptions,
): Promise<readonly InstallFailure[]> {
  if (triggers.length === 0) return [];
  const change: Change = { ...rest, reinstall: again, options };
  if (within !== undefined) {
    const connection = timeLimitedStatements(within);
    await lock(connection, change.lockMs);
    await migrateEvents(connection, options.extensionsSchema);
    for (const trigger of triggers) await installOne(connection, trigger, change);
    return [];
  }
  try {
    if (await isEventMigrationPending(source)) {
      const deadline = Date.now() + MIGRATION_MS;
      await source.transaction({ ...DEFINING, deadline }, (connection) => migrateEvents(connection, options.extensionsSchema));
    }
  } catch (error) {
    throw error instanceof SvcError ? explained(error) : error;
  }
  const found = await installed(source);
  const failures: InstallFailure[] = [];
  for (const trigger of triggers) {
    try {
      if (!again && statementsFor(trigger, found, change).length === 0) continue;
      await source.transaction(DEFINING, (connection) => installOne(connection, trigger, change));
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      failures.push({ name: trigger.definition.name, error: explained(error) });
    }
  }
  return failures;
}

function explained(error: SvcError): SvcError {
  return error.cause instanceof DatabaseError ? refusedBy(error, 'postgres-error', error.cause.message) : error;
}

interface Change extends Omit<InstallOptions, 'connection'> {
  readonly reinstall: boolean;
  readonly options: CaptureOptions;
}

async function installOne(connection: Statements, trigger: CapturedTrigger, change: Change): Promise<void> {
  await lock(connection, change.lockMs);
  const known = await installed(connection);
  const found = change.reinstall ? await withoutFunctions(connection, trigger, known) : known;
  for (const statement of statementsFor(trigger, found, change)) await run(connection, statement);
}

/** Drops the functions of a trigger. */
async function withoutFunctions(
  connection: Statements,
  { definition }: CapturedTrigger,
  known: ReadonlyMap<string, Installed>,
): Promise<ReadonlyMap<string, Installed>> {
  for (const operation of CAPTURED_OPERATIONS) await run(connection, dropFunction(captureName(definition.name, operation)));
  return new Map([...known].map(([name, each]) => [name, { ...each, isDropped: true, attached: [] }]));
}

function dropFunction(name: string): Sql {
  return sql`drop function if exists ${inCatalog(name)}() cascade`;
}

function tableSql({ schema, name }: QualifiedName): Sql {
  return sql`${identifier(schema)}.${identifier(name)}`;
}

/** Returns the statements that bring the captures of a trigger up to date. */
function statementsFor(trigger: CapturedTrigger, found: ReadonlyMap<string, Installed>, change: Change): readonly Sql[] {
  return CAPTURED_OPERATIONS.flatMap((operation) => {
    // Captures of removed operations are dropped after the change is stored.
    if (trigger.definition[operation] === undefined) return [];
    const known = found.get(captureName(trigger.definition.name, operation));
    if (known !== undefined) requireOwn(known, change);
    const { settled, ended, hasFreshColumns = false } = change;
    const isSame = known !== undefined && isOfDefinition(trigger, operation, known, change.owner);
    if (isSame && settled !== undefined && !hasFreshColumns) return [];
    if (known !== undefined && !isSame && change.yields === true && belongsToOtherDraft(known, change)) throw pendingChangeError();
    const statements = operationStatements(trigger, operation, known, change);
    if (statements.length > 0 && known !== undefined && settled !== undefined && !isSettled(known, { settled, ended }))
      throw pendingChangeError();
    return statements;
  });
}

/** Returns whether a capture has this definition; the columns of the table may have changed since. */
function isOfDefinition(
  { definition, table }: CapturedTrigger,
  operation: CapturedOperationName,
  { owner: installer, definition: hash, attached }: Installed,
  owner: string,
): boolean {
  const isAttached = attached.some(({ table: id, always }) => id === table.id && always === (definition.triggerOnReplication === true));
  return (
    isAttached &&
    attached.length === 1 &&
    installer === owner &&
    (hash ?? definitionHash(definition, operation)) === definitionHash(definition, operation)
  );
}

function operationStatements(
  { definition, table }: CapturedTrigger,
  operation: CapturedOperationName,
  known: Installed | undefined,
  change: Change,
): readonly Sql[] {
  const { owner, options } = change;
  const name = captureName(definition.name, operation);
  const isAdded = change.added?.has(name) === true;
  const hash = definitionHash(definition, operation);
  const body = functionBody({ definition, table }, operation, options);
  const inputs = captureInputs(definition, operation, table, options.stringifyNumericTypes);
  const { text, ...form } = captureText(known, { text: body, format: FUNCTION_FORMAT, inputs });
  const isReplaced = known?.text !== text || known.isDropped === true;
  const always = definition.triggerOnReplication === true;
  const own = identifier(name);
  const on = tableSql(table.name);
  const statements: Sql[] = [];
  // A trigger on another table would run the function for this one.
  for (const { table: id, schema, name: other } of known?.attached ?? [])
    if (id !== table.id) statements.push(sql`drop trigger ${own} on ${tableSql({ schema, name: other })}`);
  if (isReplaced) {
    statements.push(
      sql`create or replace function ${inCatalog(name)}() returns trigger language plpgsql security definer as ${string(text)}`,
      sql`revoke all on function ${inCatalog(name)}() from public`,
    );
  }
  const isNew = isReplaced || known.owner !== owner || known.trigger !== definition.name;
  // The same text may come from other inputs, such as a table with another column: an older service compares them.
  const isOtherForm = known?.format !== form.format || known.inputs !== form.inputs;
  if (isNew || isOtherForm || known.definition !== hash || (isAdded && !isLabeledFor(known, change))) {
    const versions = labelFor(change, isAdded ? known : undefined);
    const label: CaptureLabel = { owner, trigger: definition.name, made: Date.now(), ...versions, definition: hash, ...form };
    statements.push(sql`comment on function ${inCatalog(name)}() is ${string(JSON.stringify(label))}`);
  }
  const attached = known?.attached.find(({ table: id }) => id === table.id);
  if (attached === undefined)
    statements.push(
      sql`create trigger ${own} after ${OPERATION_SQL[operation]} on ${on} for each row execute procedure ${inCatalog(name)}()`,
    );
  if ((attached?.always ?? false) !== always) statements.push(sql`alter table ${on} enable ${always ? sql`always ` : sql``}trigger ${own}`);
  return statements;
}

/** See `Captures.retain`. */
export async function retain(
  source: TimeLimitedDatabase,
  definitions: readonly EventTrigger[],
  { owner, lockMs, ...removal }: RetainOptions,
): Promise<boolean> {
  if ((await eventCatalogVersion(source)) === 0) return true;
  const needed = captureNames(definitions);
  const surplus = (found: ReadonlyMap<string, Installed>): readonly Installed[] =>
    [...found.values()].filter((each) => each.owner === owner && !needed.has(each.function));
  const isRemoved = (each: Installed): boolean => isRemovable(each, removal);
  const seen = surplus(await installed(source));
  for (const name of new Set([...removal.removed, ...seen.filter(isRemoved).map(({ trigger }) => trigger)])) {
    const last = await source.transaction(DEFINING, async (connection) => {
      await lock(connection, lockMs);
      const own = surplus(await installed(connection)).filter(({ trigger }) => trigger === name);
      for (const each of own) if (isRemoved(each)) await run(connection, dropFunction(each.function));
      // A trigger that still exists, or that a pending change recreates, keeps its events.
      if (definitions.some((each) => each.name === name) || !own.every(isRemoved)) return null;
      // No writer is active, and a new trigger of the name is installed after this transaction.
      const { rows } = await connection.query(LAST_PLACE, []);
      return rows[0]?.[0] ?? '0';
    });
    if (last !== null) await archive(source, name, last);
  }
  return seen.every(isRemoved);
}

const LAST_PLACE = `select pg_sequence_last_value(pg_get_serial_sequence('svc_catalog.event_log', 'place')::regclass)`;

/**
 * Serializes changes: two that replace a function at the same time would fail. The timeout also applies to this lock, because it is set
 * first.
 */
async function lock(connection: Statements, lockMs = DEFAULT_LOCK_MS): Promise<void> {
  await connection.query(`select set_config('lock_timeout', '${lockMs}', true)`, []);
  await connection.query(`select pg_advisory_xact_lock(${EVENT_CATALOG_LOCK})`, []);
}

/**
 * Archives the events of a trigger and removes its planned clean-ups.
 * @param last place of its last event: later ones belong to a newer trigger of the same name
 */
async function archive(source: TimeLimitedDatabase, name: string, last: string): Promise<void> {
  await source.query(`delete from svc_catalog.svc_event_log_cleanups where trigger_name = $1 and status = 'scheduled'`, [name]);
  await archiveAll(async () => {
    const { command } = await source.query(
      `update svc_catalog.event_log set archived = true, locked = null, lease_holder = null, lease_until = null
       where id in (select id from svc_catalog.event_log where trigger_name = $1 and place <= $2::bigint and not archived limit ${ARCHIVE_BATCH})`,
      [name, last],
    );
    return affected(command);
  });
}

/** Returns the number in a command tag such as `UPDATE 3`. */
export function affected(command: string): number {
  return Number(command.split(' ').at(-1));
}

/** See `Captures.uninstall`. */
export async function uninstall(source: TimeLimitedDatabase, owner: string): Promise<void> {
  if ((await eventCatalogVersion(source)) === 0) return;
  await source.transaction(DEFINING, async (connection) => {
    await lock(connection);
    if ((await eventCatalogVersion(connection)) === 0) return;
    const found = [...(await installed(connection)).values()];
    for (const each of found) if (each.owner === owner) await run(connection, dropFunction(each.function));
    if (!found.some((each) => each.owner !== owner && each.attached.length > 0)) await dropTables(connection);
  });
}

async function dropTables(connection: Statements): Promise<void> {
  for (const each of (await installed(connection)).values()) await run(connection, dropFunction(each.function));
  await connection.runSql(
    `drop table if exists svc_catalog.event_log, svc_catalog.event_invocation_logs, svc_catalog.svc_event_log_cleanups, svc_catalog.svc_source_catalog_version;
     drop sequence if exists svc_catalog.event_waiting;
     drop function if exists svc_catalog.insert_event_log(text, text, text, text, json, jsonb, jsonb);
     drop function if exists svc_catalog.gen_svc_uuid();`,
    {},
  );
  // The metadata may be in the same schema.
  const { rows } = await connection.query(
    `select exists (select from pg_class where relnamespace = to_regnamespace('svc_catalog'))
      or exists (select from pg_proc where pronamespace = to_regnamespace('svc_catalog'))`,
    [],
  );
  if (rows[0]?.[0] === 'f') await connection.query('drop schema svc_catalog', []);
}

/** See `Captures.isTaken`. */
export async function isTaken(source: TimeLimitedDatabase, name: string, owner: string): Promise<boolean> {
  const functions = CAPTURED_OPERATIONS.map((operation) => captureName(name, operation));
  const found = await installed(source);
  return functions.some((each) => {
    const known = found.get(each);
    return known !== undefined && known.owner !== owner && known.attached.length > 0;
  });
}
