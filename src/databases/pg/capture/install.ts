/** Puts event triggers into a database and takes them out again. */
import { captureName, inCatalog } from '../../../backend/capture-names.ts';
import type { CapturedTrigger, InstallFailure, InstallOptions } from '../../../backend/captures.ts';
import type { QualifiedName } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { CAPTURED_OPERATIONS, type CapturedOperationName } from '../../../metadata/event-trigger.ts';
import { identifier, print, type Sql, sql, string } from '../../../sql/fragment.ts';
import { arrayLiteral } from '../coerce/array-literal.ts';
import { dialect } from '../compile/dialect.ts';
import { DatabaseError } from '../driver/database-error.ts';
import { type FunctionOptions, functionBody } from './functions.ts';
import { EVENT_CATALOG_LOCK, eventCatalogVersion, migrateEvents } from './migrations.ts';
import { type PatientDatabase, patientStatements, type Statements } from './patient.ts';

export interface CaptureOptions extends FunctionOptions {
  readonly extensionsSchema: string;
}

/** A writer that holds a table for so long fails the change, not the other writers that queue up behind it. */
const LOCK_TIMEOUT = '10s';
/** Migrations rewrite tables that may be large. */
const MIGRATION_MS = 10 * 60_000;

/** What a function's comment says of it. */
interface Marked {
  readonly owner: string;
  readonly trigger: string;
  /** epoch milliseconds */
  readonly made: number;
}

interface Installed extends Marked {
  readonly function: string;
  readonly source: string;
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
    rows.map(([name, source, comment, attached]) => {
      const found = { function: name as string, source: source as string, attached: JSON.parse(attached as string), ...marked(comment) };
      return [found.function, found as Installed];
    }),
  );
}

const NOBODYS: Marked = { owner: '', trigger: '', made: 0 };

function marked(comment: string | null | undefined): Marked {
  try {
    const { owner, trigger, made } = JSON.parse(comment ?? '{}') as Partial<Marked>;
    return typeof owner === 'string' && typeof trigger === 'string' && typeof made === 'number' ? { owner, trigger, made } : NOBODYS;
  } catch {
    return NOBODYS;
  }
}

function run(connection: Statements, statement: Sql): Promise<unknown> {
  return connection.query(print(statement, dialect).text, []);
}

/** See `Captures.install`. */
export async function install(
  source: PatientDatabase,
  triggers: readonly CapturedTrigger[],
  { owner, again = false, within }: InstallOptions,
  options: CaptureOptions,
): Promise<readonly InstallFailure[]> {
  if (triggers.length === 0) return [];
  const change: Change = { owner, again, options };
  if (within !== undefined) {
    const connection = patientStatements(within);
    await migrateEvents(connection, options.extensionsSchema);
    for (const trigger of triggers) await installOne(connection, trigger, change);
    return [];
  }
  try {
    const deadline = Date.now() + MIGRATION_MS;
    await source.transaction({ isolation: 'read-committed', deadline }, (connection) =>
      migrateEvents(connection, options.extensionsSchema),
    );
  } catch (error) {
    throw error instanceof SvcError ? refusedBy(error) : error;
  }
  const found = await installed(source);
  const failures: InstallFailure[] = [];
  for (const trigger of triggers) {
    if (!again && statementsFor(trigger, found, change).length === 0) continue;
    try {
      await source.transaction({ isolation: 'read-committed' }, (connection) => installOne(connection, trigger, change));
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      failures.push({ name: trigger.definition.name, error: refusedBy(error) });
    }
  }
  return failures;
}

/** What the database says of its refusal belongs to the message: it is about what an administrator asked for. */
function refusedBy(error: SvcError): SvcError {
  if (!(error.cause instanceof DatabaseError)) return error;
  const internal = error.internal === undefined ? {} : { internal: error.internal };
  return new SvcError('postgres-error', `the event trigger cannot be installed: ${error.cause.message}`, { cause: error, ...internal });
}

interface Change {
  readonly owner: string;
  readonly again: boolean;
  readonly options: CaptureOptions;
}

async function installOne(connection: Statements, trigger: CapturedTrigger, change: Change): Promise<void> {
  await lock(connection);
  const found = change.again ? await withoutFunctions(connection, trigger) : await installed(connection);
  for (const statement of statementsFor(trigger, found, change)) await run(connection, statement);
}

async function withoutFunctions(connection: Statements, { definition }: CapturedTrigger): Promise<ReadonlyMap<string, Installed>> {
  for (const operation of CAPTURED_OPERATIONS) await run(connection, dropFunction(captureName(definition.name, operation)));
  return new Map();
}

function dropFunction(name: string): Sql {
  return sql`drop function if exists ${inCatalog(name)}() cascade`;
}

function tableSql({ schema, name }: QualifiedName): Sql {
  return sql`${identifier(schema)}.${identifier(name)}`;
}

/** What is missing between what is installed and what should be. */
function statementsFor(trigger: CapturedTrigger, found: ReadonlyMap<string, Installed>, change: Change): readonly Sql[] {
  return CAPTURED_OPERATIONS.flatMap((operation) => {
    const known = found.get(captureName(trigger.definition.name, operation));
    if (trigger.definition[operation] === undefined) return known === undefined ? [] : [dropFunction(known.function)];
    return operationStatements(trigger, operation, known, change);
  });
}

function operationStatements(
  { definition, table }: CapturedTrigger,
  operation: CapturedOperationName,
  known: Installed | undefined,
  { owner, options }: Change,
): readonly Sql[] {
  const name = captureName(definition.name, operation);
  const body = functionBody({ definition, table }, operation, options);
  const always = definition.triggerOnReplication === true;
  const own = identifier(name);
  const on = tableSql(table.name);
  const statements: Sql[] = [];
  // A trigger on another table would run what is made for this one.
  for (const { table: id, schema, name: other } of known?.attached ?? [])
    if (id !== table.id) statements.push(sql`drop trigger ${own} on ${tableSql({ schema, name: other })}`);
  if (known?.source !== body) {
    statements.push(
      sql`create or replace function ${inCatalog(name)}() returns trigger language plpgsql security definer as ${string(body)}`,
      sql`revoke all on function ${inCatalog(name)}() from public`,
    );
  }
  if (known?.source !== body || known.owner !== owner || known.trigger !== definition.name)
    statements.push(
      sql`comment on function ${inCatalog(name)}() is ${string(JSON.stringify({ owner, trigger: definition.name, made: Date.now() }))}`,
    );
  const attached = known?.attached.find(({ table: id }) => id === table.id);
  if (attached === undefined)
    statements.push(sql`create trigger ${own} after ${EVENTS[operation]} on ${on} for each row execute procedure ${inCatalog(name)}()`);
  if ((attached?.always ?? false) !== always) statements.push(sql`alter table ${on} enable ${always ? sql`always ` : sql``}trigger ${own}`);
  return statements;
}

const EVENTS: Readonly<Record<CapturedOperationName, Sql>> = { insert: sql`insert`, update: sql`update`, delete: sql`delete` };

/** What was made later may be of another instance, whose metadata this one has not seen yet. */
const SETTLED_MS = 600_000;

/** See `Captures.retain`. */
export async function retain(
  source: PatientDatabase,
  names: readonly string[],
  owner: string,
  gone: readonly string[],
): Promise<readonly string[]> {
  if ((await eventCatalogVersion(source)) === 0) return [];
  const surplus = (found: ReadonlyMap<string, Installed>): readonly Installed[] =>
    [...found.values()].filter(
      (each) =>
        each.owner === owner && !names.includes(each.trigger) && (gone.includes(each.trigger) || each.made < Date.now() - SETTLED_MS),
    );
  const all = new Set([...gone, ...surplus(await installed(source)).map(({ trigger }) => trigger)]);
  for (const name of all) {
    await source.transaction({ isolation: 'read-committed' }, async (connection) => {
      await lock(connection);
      for (const each of surplus(await installed(connection)))
        if (each.trigger === name) await run(connection, dropFunction(each.function));
    });
  }
  await archive(source, [...all]);
  return [...all];
}

/** Two that replace a function at the same time would fail. */
function lock(connection: Statements): Promise<unknown> {
  return connection.query(`select pg_advisory_xact_lock(${EVENT_CATALOG_LOCK}), set_config('lock_timeout', '${LOCK_TIMEOUT}', true)`, []);
}

/** Events in one statement, so that none takes long. */
const ARCHIVE_BATCH = 10_000;

/** Nothing of these triggers is delivered any more, and nothing cleans up after them by itself. */
async function archive(source: PatientDatabase, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const values = [arrayLiteral(names)];
  await source.query(
    `delete from svc_catalog.svc_event_log_cleanups where trigger_name = any($1::text[]) and status = 'scheduled'`,
    values,
  );
  for (let rows = ARCHIVE_BATCH; rows === ARCHIVE_BATCH; ) {
    const { command } = await source.query(
      `update svc_catalog.event_log set archived = true, locked = null, lease_holder = null, lease_until = null
       where id in (select id from svc_catalog.event_log where trigger_name = any($1::text[]) and not archived limit ${ARCHIVE_BATCH})`,
      values,
    );
    rows = affected(command);
  }
}

/** The number in a command tag such as `UPDATE 3`. */
export function affected(command: string): number {
  return Number(command.split(' ').at(-1));
}

/** See `Captures.uninstall`. */
export async function uninstall(source: PatientDatabase, owner: string): Promise<void> {
  if ((await eventCatalogVersion(source)) === 0) return;
  await source.transaction({ isolation: 'read-committed' }, async (connection) => {
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
export async function isTaken(source: PatientDatabase, name: string, owner: string): Promise<boolean> {
  const functions = CAPTURED_OPERATIONS.map((operation) => captureName(name, operation));
  const found = await installed(source);
  return functions.some((each) => {
    const known = found.get(each);
    return known !== undefined && known.owner !== owner && known.attached.length > 0;
  });
}
