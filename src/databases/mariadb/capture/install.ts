/**
 * Installs and removes event triggers. DDL is not transactional, so the existing triggers are compared with the required ones, and the
 * next call completes what was left unfinished.
 */
import {
  captureInputs,
  type CaptureLabel,
  captureText,
  definitionHash,
  isLabeledFor,
  belongsToOtherDraft,
  isSettled,
  labelFor,
  NO_LABEL,
  readCaptureLabel,
} from '../../../backend/capture-label.ts';
import { CAPTURE_PREFIX, captureName, captureNames } from '../../../backend/capture-names.ts';
import { createHash } from 'node:crypto';
import {
  type CapturedTrigger,
  type InstallFailure,
  DEFAULT_LOCK_MS,
  type InstallOptions,
  requireOwn,
  type RetainOptions,
  pendingChangeError,
} from '../../../backend/captures.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { CAPTURED_OPERATIONS, type EventTrigger } from '../../../metadata/event-trigger.ts';
import { identifier, print, type Sql, sql } from '../../../sql/fragment.ts';
import { ARCHIVE_BATCH, archiveAll, isRemovable, OPERATION_SQL, refusedBy } from '../../shared/capture/install.ts';
import { dialect } from '../compile/dialect.ts';
import { EVENT_TABLES, eventCatalogVersion, lockEventCatalog, migrateEvents } from './migrations.ts';
import { type BodyOptions, schemaNameOf, TRIGGER_FORMAT, triggerBody } from './triggers.ts';
import { affected, retryDeadlocks, type EventDatabase, type SourceQuery, serverErrorOf } from './work.ts';

/** Label at the start of a trigger's body. */
interface TriggerLabel extends CaptureLabel {
  /** Connected database of the source. */
  readonly database: string;
}

interface Installed extends TriggerLabel {
  readonly schema: string;
  readonly name: string;
  readonly table: string;
  readonly event: string;
  /** Body of the trigger without its label. */
  readonly text: string;
}

const FIND = `select trigger_schema, trigger_name, event_object_schema, event_object_table, event_manipulation, action_statement
from information_schema.triggers where trigger_name like '${CAPTURE_PREFIX.replaceAll('_', '\\_')}%'`;

const BEGIN = /^begin \/\* svc (\S+) \*\/\n/;

/** Returns the triggers that the source's user can see in all databases of the server, by schema and name. */
async function installed(query: SourceQuery): Promise<ReadonlyMap<string, Installed>> {
  const { rows } = await query(FIND, []);
  return new Map(
    rows.map((row) => {
      const [schema = '', name = '', tableSchema = '', table = '', event = '', statement] = row.map((cell) => cell ?? '');
      const found = { schema, name, table: `${tableSchema}.${table}`, event, ...readBody(statement ?? '') };
      return [`${schema}.${name}`, found];
    }),
  );
}

function readBody(statement: string): TriggerLabel & Pick<Installed, 'text'> {
  const found = BEGIN.exec(statement);
  const unlabeled = { ...NO_LABEL, database: '', text: statement };
  if (found === null) return unlabeled;
  try {
    const json = decodeURIComponent(found[1] ?? '');
    const { database } = JSON.parse(json) as Partial<TriggerLabel>;
    const label = readCaptureLabel(json);
    return label === NO_LABEL || typeof database !== 'string' ? unlabeled : { ...label, database, text: statement.slice(found[0].length) };
  } catch {
    return unlabeled;
  }
}

/** Encodes a label so that it cannot end the comment around it. */
function labelText(label: TriggerLabel): string {
  return encodeURIComponent(JSON.stringify(label)).replaceAll('*', '%2A');
}

type Define = (text: string) => Promise<unknown>;

/** Serializes DDL of all instances: two that replace a trigger at the same time would undo each other's change. */
function withDefinitionLock(database: EventDatabase, run: (define: Define) => Promise<void>, lockMs = DEFAULT_LOCK_MS): Promise<void> {
  return database.define(async (define) => {
    const seconds = Math.ceil(lockMs / 1000);
    await lockEventCatalog(define, seconds);
    await define(`set session lock_wait_timeout = ${seconds}`);
    await run(define);
  });
}

/** See `Captures.install`. */
export async function install(
  database: EventDatabase,
  triggers: readonly CapturedTrigger[],
  { reinstall = false, connection: _, ...call }: InstallOptions,
  options: Pick<BodyOptions, 'stringifyNumericTypes'>,
): Promise<readonly InstallFailure[]> {
  if (triggers.length === 0) return [];
  try {
    await migrateEvents(database);
    await register(database, call.owner);
  } catch (error) {
    throw withServerMessage(error);
  }
  const change: Change = { ...call, reinstall, options: { ...options, database: database.name } };
  const found = await installed(database.query);
  const failures: InstallFailure[] = [];
  for (const trigger of triggers) {
    try {
      if (definitionsFor(trigger, found, change).length === 0) continue;
      await withDefinitionLock(
        database,
        async (define) => {
          const now = await installed(database.query);
          for (const text of definitionsFor(trigger, now, change)) await define(text);
        },
        change.lockMs,
      );
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      failures.push({ name: trigger.definition.name, error: withServerMessage(error) });
    }
  }
  await forgetOwners(database, found, call.owner);
  return failures;
}

/** Unregisters owners without remaining triggers, after a source was renamed. */
async function forgetOwners(database: EventDatabase, before: ReadonlyMap<string, Installed>, owner: string): Promise<void> {
  const others = (found: ReadonlyMap<string, Installed>): ReadonlySet<string> =>
    new Set([...found.values()].filter((each) => each.database === database.name && each.owner !== owner).map((each) => each.owner));
  const had = others(before);
  if (had.size === 0) return;
  const have = others(await installed(database.query));
  for (const each of had) if (!have.has(each)) await unregister(database, each);
}

function withServerMessage(error: unknown): SvcError {
  if (!(error instanceof SvcError)) throw error;
  const { errno, message } = serverErrorOf(error);
  return errno === 0 ? error : refusedBy(error, 'database-error', message);
}

interface Change extends Omit<InstallOptions, 'connection'> {
  readonly reinstall: boolean;
  readonly options: BodyOptions;
}

function text(statement: Sql): string {
  return print(statement, dialect).text;
}

function dropTrigger({ schema, name }: Pick<Installed, 'schema' | 'name'>): string {
  return text(sql`drop trigger if exists ${identifier(schema)}.${identifier(name)}`);
}

/** Returns the missing DDL. @throws SvcError already-exists if a source of another database has a trigger of the name */
function definitionsFor(trigger: CapturedTrigger, found: ReadonlyMap<string, Installed>, change: Change): readonly string[] {
  const { definition, table } = trigger;
  const { owner, reinstall, options, settled, ended } = change;
  const schema = schemaNameOf(table, options.database);
  return CAPTURED_OPERATIONS.flatMap((operation): readonly string[] => {
    const name = captureName(definition.name, operation);
    const existing = found.get(`${schema}.${name}`);
    if (existing !== undefined && existing.database !== options.database && existing.database !== '') {
      throw new SvcError(
        'already-exists',
        `the database "${schema}" has an event trigger "${definition.name}" of a source that is connected to "${existing.database}"`,
      );
    }
    const own = [...found.values()].filter((each) => each.name === name && each.database === options.database);
    // Triggers of removed operations are dropped after the change is stored.
    if (definition[operation] === undefined) return [];
    if (existing !== undefined) requireOwn(existing, change);
    const obsolete = own.filter((each) => each.table !== `${schema}.${table.name.name}` || each.schema !== schema).map(dropTrigger);
    const inputs = captureInputs(definition, operation, table, options.stringifyNumericTypes);
    const written = { text: triggerBody(trigger, operation, options), format: TRIGGER_FORMAT, inputs };
    const { text: body, ...form } = captureText(existing, written);
    const hash = definitionHash(definition, operation);
    const isOwn = existing !== undefined && existing.owner === owner && existing.trigger === definition.name && obsolete.length === 0;
    // The same text may come from other inputs, such as a table with another column: an older service compares them.
    const isSameForm = change.hasFreshColumns !== true || (existing?.format === form.format && existing.inputs === form.inputs);
    const isSame =
      isOwn &&
      ((existing.text === body && isSameForm) ||
        (settled !== undefined && change.hasFreshColumns !== true && (existing.definition ?? hash) === hash));
    const isOther = existing !== undefined && (existing.definition !== hash || obsolete.length > 0);
    if (isOther && change.yields === true && belongsToOtherDraft(existing, change)) throw pendingChangeError();
    const isAdded = change.added?.has(name) === true;
    if (isSame && !reinstall && (!isAdded || isLabeledFor(existing, change))) return [];
    if (settled !== undefined && existing !== undefined && !isSettled(existing, { settled, ended })) throw pendingChangeError();
    const state = { made: Date.now(), ...labelFor(change, isAdded ? existing : undefined), definition: hash, ...form };
    const label = labelText({ owner, trigger: definition.name, database: options.database, ...state });
    const head = sql`create or replace trigger ${identifier(schema)}.${identifier(name)} after ${OPERATION_SQL[operation]} on ${identifier(schema)}.${identifier(
      table.name.name,
    )} for each row`;
    return [...obsolete, `${text(head)} begin /* svc ${label} */\n${body}`];
  });
}

/** See `Captures.retain`. */
export async function retain(
  database: EventDatabase,
  definitions: readonly EventTrigger[],
  { owner, lockMs, ...call }: RetainOptions,
): Promise<boolean> {
  if ((await eventCatalogVersion(database.query)) === 0) return true;
  const needed = captureNames(definitions);
  const surplus = (found: ReadonlyMap<string, Installed>): readonly Installed[] =>
    ownOf(found, owner, database).filter((each) => !needed.has(each.name));
  const isRemoved = (each: Installed): boolean => isRemovable(each, call);
  const seen = surplus(await installed(database.query));
  const names = new Set([...call.removed, ...seen.filter(isRemoved).map(({ trigger }) => trigger)]);
  if (names.size === 0) return seen.length === 0;
  for (const { name } of definitions) names.delete(name);
  let last = '0';
  await withDefinitionLock(
    database,
    async (define) => {
      for (const each of surplus(await installed(database.query))) {
        if (isRemoved(each)) await define(dropTrigger(each));
        // A trigger that a pending change creates again keeps its events.
        else names.delete(each.trigger);
      }
      // No writer is active, and a new trigger of the name can only be installed later.
      last = (await database.query('select max(place) from svc_catalog.event_log', [])).rows[0]?.[0] ?? '0';
    },
    lockMs,
  );
  await archive(database, [...names], last);
  return seen.every(isRemoved);
}

function ownOf(found: ReadonlyMap<string, Installed>, owner: string, database: EventDatabase): readonly Installed[] {
  return [...found.values()].filter((each) => each.owner === owner && each.database === database.name);
}

/**
 * Archives the events of removed triggers: they are no longer delivered, nor cleaned up automatically.
 * @param last highest place of their events; later ones belong to new triggers with the same names
 */
async function archive({ query, name: origin }: EventDatabase, names: readonly string[], last: string): Promise<void> {
  for (const name of names) {
    await query(`delete from svc_catalog.svc_event_log_cleanups where source_database = ? and trigger_name = ? and status = 'scheduled'`, [
      origin,
      name,
    ]);
    const batch = `update svc_catalog.event_log set archived = true, locked = null, lease_holder = null, lease_until = null
             where source_database = ? and trigger_name = ? and place <= ? and not archived limit ${ARCHIVE_BATCH}`;
    await archiveAll(async () => affected(await retryDeadlocks(() => query(batch, [origin, name, last]))));
  }
}

function ownerKey(owner: string, database: EventDatabase): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, database.name]))
    .digest('hex');
}

async function register(database: EventDatabase, owner: string): Promise<void> {
  await database.query(
    'insert into svc_catalog.event_owners (owner_key, owner) values (unhex(?), ?) on duplicate key update owner = owner',
    [ownerKey(owner, database), JSON.stringify({ owner, database: database.name })],
  );
}

async function unregister(database: EventDatabase, owner: string): Promise<void> {
  await database.query('delete from svc_catalog.event_owners where owner_key = unhex(?)', [ownerKey(owner, database)]);
}

/** See `Captures.uninstall`. */
export async function uninstall(database: EventDatabase, owner: string): Promise<void> {
  if ((await eventCatalogVersion(database.query)) === 0) return;
  await withDefinitionLock(database, async (define) => {
    if ((await eventCatalogVersion(database.query)) === 0) return;
    const found = await installed(database.query);
    const own = ownOf(found, owner, database);
    for (const each of own) await define(dropTrigger(each));
    await unregister(database, owner);
    const { rows } = await database.query('select count(*) from svc_catalog.event_owners', []);
    const isOthers = [...found.values()].some((each) => !own.includes(each) && each.owner !== '');
    if (isOthers || rows[0]?.[0] !== '0') return;
    await define(`drop table if exists ${EVENT_TABLES.map((name) => `svc_catalog.${name}`).join(', ')}`);
    const left = await database.query(`select count(*) from information_schema.tables where table_schema = 'svc_catalog'`, []);
    if (left.rows[0]?.[0] === '0') await define('drop database svc_catalog');
  });
}

/** See `Captures.isTaken`. */
export async function isTaken(database: EventDatabase, name: string, owner: string): Promise<boolean> {
  const names = CAPTURED_OPERATIONS.map((operation) => captureName(name, operation));
  const found = await installed(database.query);
  return [...found.values()].some((each) => names.includes(each.name) && each.database === database.name && each.owner !== owner);
}
