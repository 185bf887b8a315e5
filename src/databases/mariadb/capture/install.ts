/**
 * Puts event triggers into a database and takes them out again. Each definition stands by itself, as all do: what is there is
 * compared with what should be, so that what was left half done is completed by the next one who looks.
 */
import {
  type CaptureMark,
  definitionHash,
  isMarkedFor,
  isOfOtherDraft,
  isSettled,
  markFor,
  NO_MARK,
  readMark,
} from '../../../backend/capture-mark.ts';
import { CAPTURE_PREFIX, captureName, captureNames } from '../../../backend/capture-names.ts';
import { createHash } from 'node:crypto';
import {
  type CapturedTrigger,
  type InstallFailure,
  DEFAULT_LOCK_MS,
  type InstallOptions,
  requireOwn,
  type RetainOptions,
  underWay,
} from '../../../backend/captures.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { CAPTURED_OPERATIONS, type CapturedOperationName, type EventTrigger } from '../../../metadata/event-trigger.ts';
import { identifier, print, type Sql, sql } from '../../../sql/fragment.ts';
import { dialect } from '../compile/dialect.ts';
import { EVENT_TABLES, eventCatalogVersion, lock, migrateEvents } from './migrations.ts';
import { type BodyOptions, schemaOf, triggerBody } from './triggers.ts';
import { affected, again as repeatedly, type EventDatabase, type Query, serverErrorOf } from './work.ts';

/** What the beginning of a trigger's body says of it. */
interface Mark extends CaptureMark {
  /** The one that the source is connected to. */
  readonly database: string;
}

interface Installed extends Mark {
  readonly schema: string;
  readonly name: string;
  readonly table: string;
  readonly event: string;
  readonly body: string;
}

const FIND = `select trigger_schema, trigger_name, event_object_schema, event_object_table, event_manipulation, action_statement
from information_schema.triggers where trigger_name like '${CAPTURE_PREFIX.replaceAll('_', '\\_')}%'`;

const BEGIN = /^begin \/\* svc (\S+) \*\/\n/;

/** Those that the user of the source may see, of all databases of the server, each by its schema and name. */
async function installed(query: Query): Promise<ReadonlyMap<string, Installed>> {
  const { rows } = await query(FIND, []);
  return new Map(
    rows.map((row) => {
      const [schema = '', name = '', tableSchema = '', table = '', event = '', statement] = row.map((cell) => cell ?? '');
      const found = { schema, name, table: `${tableSchema}.${table}`, event, ...readBody(statement ?? '') };
      return [`${schema}.${name}`, found];
    }),
  );
}

function readBody(statement: string): Mark & { readonly body: string } {
  const found = BEGIN.exec(statement);
  const nobodys = { ...NO_MARK, database: '', body: statement };
  if (found === null) return nobodys;
  try {
    const text = decodeURIComponent(found[1] ?? '');
    const { database } = JSON.parse(text) as Partial<Mark>;
    const mark = readMark(text);
    return mark === NO_MARK || typeof database !== 'string' ? nobodys : { ...mark, database, body: statement.slice(found[0].length) };
  } catch {
    return nobodys;
  }
}

/** A text without what would end the comment that it stands in. */
function markText(mark: Mark): string {
  return encodeURIComponent(JSON.stringify(mark)).replaceAll('*', '%2A');
}

type Define = (text: string) => Promise<unknown>;

/** One after another in all instances: two that replace a trigger at the same time would undo each other. */
function defining(database: EventDatabase, run: (define: Define) => Promise<void>, lockMs = DEFAULT_LOCK_MS): Promise<void> {
  return database.define(async (define) => {
    const seconds = Math.ceil(lockMs / 1000);
    await lock(define, seconds);
    await define(`set session lock_wait_timeout = ${seconds}`);
    await run(define);
  });
}

/** See `Captures.install`. */
export async function install(
  database: EventDatabase,
  triggers: readonly CapturedTrigger[],
  { again = false, within: _, ...how }: InstallOptions,
  options: Pick<BodyOptions, 'stringifyNumericTypes'>,
): Promise<readonly InstallFailure[]> {
  if (triggers.length === 0) return [];
  try {
    await migrateEvents(database);
    await register(database, how.owner);
  } catch (error) {
    throw refusedBy(error);
  }
  const change: Change = { ...how, again, options: { ...options, database: database.name } };
  const found = await installed(database.query);
  const failures: InstallFailure[] = [];
  for (const trigger of triggers) {
    try {
      if (definitionsFor(trigger, found, change).length === 0) continue;
      await defining(
        database,
        async (define) => {
          const now = await installed(database.query);
          for (const text of definitionsFor(trigger, now, change)) await define(text);
        },
        change.lockMs,
      );
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      failures.push({ name: trigger.definition.name, error: refusedBy(error) });
    }
  }
  await forgetOwners(database, found, how.owner);
  return failures;
}

/** Those whose triggers are all this one's now: the source has a new name. */
async function forgetOwners(database: EventDatabase, before: ReadonlyMap<string, Installed>, owner: string): Promise<void> {
  const others = (found: ReadonlyMap<string, Installed>): ReadonlySet<string> =>
    new Set([...found.values()].filter((each) => each.database === database.name && each.owner !== owner).map((each) => each.owner));
  const had = others(before);
  if (had.size === 0) return;
  const have = others(await installed(database.query));
  for (const each of had) if (!have.has(each)) await unregister(database, each);
}

/** What the database says of its refusal belongs to the message: it is about what an administrator asked for. */
function refusedBy(error: unknown): SvcError {
  if (!(error instanceof SvcError)) throw error;
  const { errno, message } = serverErrorOf(error);
  if (errno === 0) return error;
  const internal = error.internal === undefined ? {} : { internal: error.internal };
  return new SvcError('database-error', `the event trigger cannot be installed: ${message}`, { cause: error, ...internal });
}

interface Change extends Omit<InstallOptions, 'within'> {
  readonly again: boolean;
  readonly options: BodyOptions;
}

function text(statement: Sql): string {
  return print(statement, dialect).text;
}

function dropTrigger({ schema, name }: Pick<Installed, 'schema' | 'name'>): string {
  return text(sql`drop trigger if exists ${identifier(schema)}.${identifier(name)}`);
}

const EVENTS: Readonly<Record<CapturedOperationName, Sql>> = { insert: sql`insert`, update: sql`update`, delete: sql`delete` };

/** What is missing between what is installed and what should be. @throws SvcError already-exists, where a source of another database has the name */
function definitionsFor(trigger: CapturedTrigger, found: ReadonlyMap<string, Installed>, change: Change): readonly string[] {
  const { definition, table } = trigger;
  const { owner, again, options, settled, ended } = change;
  const schema = schemaOf(table, options.database);
  return CAPTURED_OPERATIONS.flatMap((operation): readonly string[] => {
    const name = captureName(definition.name, operation);
    const known = found.get(`${schema}.${name}`);
    if (known !== undefined && known.database !== options.database && known.database !== '') {
      throw new SvcError(
        'already-exists',
        `the database "${schema}" has an event trigger "${definition.name}" of a source that is connected to "${known.database}"`,
      );
    }
    const own = [...found.values()].filter((each) => each.name === name && each.database === options.database);
    // Operations that a definition has no more are removed after the change is stored.
    if (definition[operation] === undefined) return [];
    if (known !== undefined) requireOwn(known, change);
    const elsewhere = own.filter((each) => each.table !== `${schema}.${table.name.name}` || each.schema !== schema).map(dropTrigger);
    const body = triggerBody(trigger, operation, options);
    const hash = definitionHash(definition, operation);
    const isOwn = known !== undefined && known.owner === owner && known.trigger === definition.name && elsewhere.length === 0;
    const isSame =
      isOwn && (known.body === body || (settled !== undefined && change.hasFreshColumns !== true && (known.definition ?? hash) === hash));
    const isOther = known !== undefined && (known.definition !== hash || elsewhere.length > 0);
    if (isOther && change.yields === true && isOfOtherDraft(known, change)) throw underWay();
    const isAdded = change.added?.has(name) === true;
    if (isSame && !again && (!isAdded || isMarkedFor(known, change))) return [];
    if (settled !== undefined && known !== undefined && !isSettled(known, { settled, ended })) throw underWay();
    const marked = { made: Date.now(), ...markFor(change, isAdded ? known : undefined), definition: hash };
    const mark = markText({ owner, trigger: definition.name, database: options.database, ...marked });
    const head = sql`create or replace trigger ${identifier(schema)}.${identifier(name)} after ${EVENTS[operation]} on ${identifier(schema)}.${identifier(
      table.name.name,
    )} for each row`;
    return [...elsewhere, `${text(head)} begin /* svc ${mark} */\n${body}`];
  });
}

/** See `Captures.retain`. */
export async function retain(
  database: EventDatabase,
  definitions: readonly EventTrigger[],
  { owner, gone, lockMs, ...how }: RetainOptions,
): Promise<boolean> {
  if ((await eventCatalogVersion(database.query)) === 0) return true;
  const needed = captureNames(definitions);
  const surplus = (found: ReadonlyMap<string, Installed>): readonly Installed[] =>
    ownOf(found, owner, database).filter((each) => !needed.has(each.name));
  const isRemoved = (each: Installed): boolean => isSettled(each, how) || (each.version === undefined && gone.includes(each.trigger));
  const seen = surplus(await installed(database.query));
  const names = new Set([...gone, ...seen.filter(isRemoved).map(({ trigger }) => trigger)]);
  if (names.size === 0) return seen.length === 0;
  for (const { name } of definitions) names.delete(name);
  let last = '0';
  await defining(
    database,
    async (define) => {
      for (const each of surplus(await installed(database.query))) {
        if (isRemoved(each)) await define(dropTrigger(each));
        // A trigger that a change under way makes again keeps its events.
        else names.delete(each.trigger);
      }
      // No writer is under way, and a new trigger of the name is installed after this.
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

/** Events in one statement, so that none takes long. */
const ARCHIVE_BATCH = 10_000;

/**
 * Nothing of these triggers is delivered any more, and nothing cleans up after them by itself.
 * @param last place of their events: later ones are of other triggers that have got their names since
 */
async function archive({ query, name: origin }: EventDatabase, names: readonly string[], last: string): Promise<void> {
  for (const name of names) {
    await query(`delete from svc_catalog.svc_event_log_cleanups where source_database = ? and trigger_name = ? and status = 'scheduled'`, [
      origin,
      name,
    ]);
    for (let rows = ARCHIVE_BATCH; rows === ARCHIVE_BATCH; ) {
      rows = affected(
        await repeatedly(() =>
          query(
            `update svc_catalog.event_log set archived = true, locked = null, lease_holder = null, lease_until = null
             where source_database = ? and trigger_name = ? and place <= ? and not archived limit ${ARCHIVE_BATCH}`,
            [origin, name, last],
          ),
        ),
      );
    }
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
  await defining(database, async (define) => {
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
