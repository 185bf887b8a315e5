/**
 * Puts event triggers into a database and takes them out again. Each definition stands by itself, as all do: what is there is
 * compared with what should be, so that what was left half done is completed by the next one who looks.
 */
import { CAPTURE_PREFIX, captureName } from '../../../backend/capture-names.ts';
import { createHash } from 'node:crypto';
import type { CapturedTrigger, InstallFailure, InstallOptions } from '../../../backend/captures.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { CAPTURED_OPERATIONS, type CapturedOperationName } from '../../../metadata/event-trigger.ts';
import { identifier, print, type Sql, sql } from '../../../sql/fragment.ts';
import { dialect } from '../compile/dialect.ts';
import { EVENT_TABLES, eventCatalogVersion, lock, migrateEvents } from './migrations.ts';
import { type BodyOptions, schemaOf, triggerBody } from './triggers.ts';
import { affected, again as repeatedly, type EventDatabase, type Query, serverErrorOf } from './work.ts';

/** What the beginning of a trigger's body says of it. */
interface Mark {
  readonly owner: string;
  readonly trigger: string;
  /** The one that the source is connected to. */
  readonly database: string;
  /** epoch milliseconds */
  readonly made: number;
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
  const nobodys = { owner: '', trigger: '', database: '', made: 0, body: statement };
  if (found === null) return nobodys;
  try {
    const mark = JSON.parse(decodeURIComponent(found[1] ?? '')) as Partial<Mark>;
    const { owner, trigger, database, made } = mark;
    if (typeof owner !== 'string' || typeof trigger !== 'string' || typeof database !== 'string' || typeof made !== 'number')
      return nobodys;
    return { owner, trigger, database, made, body: statement.slice(found[0].length) };
  } catch {
    return nobodys;
  }
}

/** A text without what would end the comment that it stands in. */
function markText(mark: Mark): string {
  return encodeURIComponent(JSON.stringify(mark)).replaceAll('*', '%2A');
}

/** A writer that holds a table for so long fails the change, not the other writers that queue up behind it. s */
const LOCK_TIMEOUT = 10;

type Define = (text: string) => Promise<unknown>;

/** One after another in all instances: two that replace a trigger at the same time would undo each other. */
function defining(database: EventDatabase, run: (define: Define) => Promise<void>): Promise<void> {
  return database.define(async (define) => {
    await lock(define);
    await define(`set session lock_wait_timeout = ${LOCK_TIMEOUT}`);
    await run(define);
  });
}

/** See `Captures.install`. */
export async function install(
  database: EventDatabase,
  triggers: readonly CapturedTrigger[],
  { owner, again = false }: InstallOptions,
  options: Pick<BodyOptions, 'stringifyNumericTypes'>,
): Promise<readonly InstallFailure[]> {
  if (triggers.length === 0) return [];
  try {
    await migrateEvents(database);
    await register(database, owner);
  } catch (error) {
    throw refusedBy(error);
  }
  const change: Change = { owner, again, options: { ...options, database: database.name } };
  const found = await installed(database.query);
  const failures: InstallFailure[] = [];
  for (const trigger of triggers) {
    try {
      if (definitionsFor(trigger, found, change).length === 0) continue;
      await defining(database, async (define) => {
        const now = await installed(database.query);
        for (const text of definitionsFor(trigger, now, change)) await define(text);
      });
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      failures.push({ name: trigger.definition.name, error: refusedBy(error) });
    }
  }
  await forgetOwners(database, found, owner);
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

interface Change {
  readonly owner: string;
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
  const { owner, again, options } = change;
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
    if (definition[operation] === undefined) return own.map(dropTrigger);
    const elsewhere = own.filter((each) => each.table !== `${schema}.${table.name.name}` || each.schema !== schema).map(dropTrigger);
    const body = triggerBody(trigger, operation, options);
    const isThere =
      known !== undefined && known.owner === owner && known.body === body && known.trigger === definition.name && elsewhere.length === 0;
    if (isThere && !again) return elsewhere;
    const mark = markText({ owner, trigger: definition.name, database: options.database, made: Date.now() });
    const head = sql`create or replace trigger ${identifier(schema)}.${identifier(name)} after ${EVENTS[operation]} on ${identifier(schema)}.${identifier(
      table.name.name,
    )} for each row`;
    return [...elsewhere, `${text(head)} begin /* svc ${mark} */\n${body}`];
  });
}

/** What was made later may be of another instance, whose metadata this one has not seen yet. */
const SETTLED_MS = 600_000;

/** See `Captures.retain`. */
export async function retain(
  database: EventDatabase,
  names: readonly string[],
  owner: string,
  gone: readonly string[],
): Promise<readonly string[]> {
  if ((await eventCatalogVersion(database.query)) === 0) return [];
  const surplus = (found: ReadonlyMap<string, Installed>): readonly Installed[] =>
    ownOf(found, owner, database).filter(
      (each) => !names.includes(each.trigger) && (gone.includes(each.trigger) || each.made < Date.now() - SETTLED_MS),
    );
  const seen = surplus(await installed(database.query));
  const all = new Set([...gone, ...seen.map(({ trigger }) => trigger)]);
  if (seen.length > 0) {
    await defining(database, async (define) => {
      for (const each of surplus(await installed(database.query))) if (all.has(each.trigger)) await define(dropTrigger(each));
    });
  }
  await archive(database, [...all]);
  return [...all];
}

function ownOf(found: ReadonlyMap<string, Installed>, owner: string, database: EventDatabase): readonly Installed[] {
  return [...found.values()].filter((each) => each.owner === owner && each.database === database.name);
}

/** Events in one statement, so that none takes long. */
const ARCHIVE_BATCH = 10_000;

/** Nothing of these triggers is delivered any more, and nothing cleans up after them by itself. */
async function archive({ query, name: origin }: EventDatabase, names: readonly string[]): Promise<void> {
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
             where source_database = ? and trigger_name = ? and not archived limit ${ARCHIVE_BATCH}`,
            [origin, name],
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
