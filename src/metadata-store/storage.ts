/**
 * The metadata in the metadata database: one row per piece, a version that every change raises,
 * and a log that lets other instances fetch just what changed. It knows SQL and pieces, not what
 * the pieces mean; it receives its database and never names a kind.
 */
import type { Listening, Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { fromPieces, type PieceChange, type PieceKind } from '../metadata/pieces.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';
import { inSlices, type Sliced } from '../util/sliced.ts';
import { followCronTriggers } from './cron-events.ts';
import { migrate } from './migrations.ts';
import { soon } from './soon.ts';
import type { Connection } from '../backend/connection.ts';

/** Listeners get every `Announcement` here, as JSON. */
export const METADATA_CHANNEL = 'svc_metadata';

/** What an instance tells the others: a change, or that answers of queries are to be forgotten. */
export type Announcement =
  | { readonly instance: string; readonly version: number }
  | { readonly instance: string; readonly forget: AnswerSelection };

/** Kept answers by their names; without either all of them. */
export interface AnswerSelection {
  readonly key?: string;
  readonly family?: string;
}

export interface StoredMetadata {
  readonly resourceVersion: number;
  readonly metadata: Metadata;
}

export interface Save {
  /** The version that the change was made from. */
  readonly expectedVersion: number;
  /** From `changedPieces`, taken one by one; may be empty: then only the version changes. */
  readonly changes: Iterable<PieceChange>;
  readonly instanceId: string;
  /** What other instances must read again although no piece tells them, such as catalogs. */
  readonly refresh?: Json;
  /** Effects on this same database that must happen exactly when the change does. */
  readonly inTransaction?: (connection: Connection) => Promise<void>;
}

export interface Notice {
  readonly resourceVersion: number;
  readonly instanceId: string;
  readonly refresh: Json | null;
}

export type ChangesSince =
  /** `changes` for `applyPieces`; one notice per version, in order. */
  | {
      readonly kind: 'changes';
      readonly resourceVersion: number;
      readonly changes: readonly PieceChange[];
      readonly notices: readonly Notice[];
    }
  /** Too much has happened, or the database is another one: load everything. */
  | { readonly kind: 'unknown'; readonly resourceVersion: number };

export interface Storage {
  /** Makes or upgrades the tables. @throws SvcError `not-supported` for a newer catalog */
  migrate(): Promise<void>;
  /** @throws SvcError when a stored piece cannot be read */
  load(): Promise<StoredMetadata>;
  currentVersion(): Promise<number>;
  /** Stores the change and returns its version. @throws SvcError `conflict` when another change came first */
  save(save: Save): Promise<number>;
  /**
   * What happened after `version`, to be polled or read after a notification.
   * @param isSettled waits for the end of a change that is being stored: a commit that had no answer counts or never will
   */
  changesSince(version: number, isSettled?: boolean): Promise<ChangesSince>;
  /**
   * Hears announcements when they are made; null says that some may have been missed. Resolves after
   * the first attempt and never rejects, as `Source.listen`; undefined where the database cannot.
   */
  listen(onChange: (change: Announcement | null) => void): Promise<Listening | undefined>;
  announce(announcement: Announcement): Promise<void>;
  isAlive(timeoutMs?: number): Promise<boolean>;
}

export interface StorageOptions {
  /** For how many versions removals are remembered, and how many at most. */
  readonly keptVersions?: number;
  readonly keptRemovals?: number;
  /** Hears of stored numbers that are beyond their bounds: the nearest bound is taken. */
  readonly warn?: (message: string) => void;
}

/** Waiting longer for another instance's change means that something hangs. */
const LOCK_TIMEOUT_MS = 10_000;
/** For small reads in the background: longer means that the connection hangs. */
const READ_TIMEOUT_MS = 10_000;
/** For all of a change, which may be a whole document. */
const SAVE_TIMEOUT_MS = 60_000;
/** For the whole metadata, at the start. */
const LOAD_TIMEOUT_MS = 60_000;
/** Old removals are deleted once in so many versions, or after a change that removes as many pieces. */
const PRUNE_INTERVAL = 64;

const LOCK = 'select resource_version from svc_catalog.metadata_version for update';

// $1 changes, $2 new version, $3 instance, $4 refresh, $5 channel, $6 payload
const WRITE = `
with written as (
  insert into svc_catalog.metadata_piece (kind, source, key, definition, changed_at_version)
  select kind, source, key, definition::json, $2::bigint
  from json_to_recordset($1::json) as change (kind text, source text, key text, definition text)
  on conflict (kind, source, key) do update set definition = excluded.definition, changed_at_version = excluded.changed_at_version
), raised as (
  update svc_catalog.metadata_version set resource_version = $2::bigint
), noticed as (
  insert into svc_catalog.metadata_notice (resource_version, instance_id, refresh) values ($2::bigint, $3, $4::json)
)
select pg_notify($5, $6)`;

// $1 the last version to forget by age, $2 removals to keep
const PRUNE = `
with horizon as (
  select greatest($1::bigint, (
    select changed_at_version from svc_catalog.metadata_piece where definition is null order by changed_at_version desc offset $2::bigint limit 1
  )) as version
), pieces as (
  delete from svc_catalog.metadata_piece where definition is null and changed_at_version <= (select version from horizon)
), notices as (
  delete from svc_catalog.metadata_notice where resource_version <= (select version from horizon)
)
update svc_catalog.metadata_version set complete_since = greatest(complete_since, (select version from horizon))`;

// One statement each, so that version and rows are of one moment.
const LOAD = `
select v.resource_version, p.kind, p.source, p.key, p.definition::text
from svc_catalog.metadata_version v left join svc_catalog.metadata_piece p on p.definition is not null
order by p.kind, p.source, p.key`;

const CHANGES = `
select v.resource_version, v.complete_since, p.kind, p.source, p.key, p.definition::text
from svc_catalog.metadata_version v
left join svc_catalog.metadata_piece p on p.changed_at_version > $1::bigint and v.complete_since <= $1::bigint
order by p.kind, p.source, p.key`;

const NOTICES = `
select resource_version, instance_id, refresh::text from svc_catalog.metadata_notice
where resource_version > $1::bigint and resource_version <= $2::bigint order by resource_version`;

type Row = readonly (string | null)[];

function toChange([kind, source, key, definition]: Row): PieceChange {
  return { kind: kind as PieceKind, source: source ?? '', key: key ?? '', json: definition == null ? null : parseJson(definition) };
}

interface PrintedChanges {
  readonly text: string;
  readonly removals: number;
  readonly cronTriggers: readonly PieceChange[];
}

/** The definition travels as a text inside the JSON: else the database would unescape what is in it, U+0000 included. */
function* printChanges(changes: Iterable<PieceChange>): Sliced<PrintedChanges> {
  const printed: string[] = [];
  let removals = 0;
  const cronTriggers: PieceChange[] = [];
  for (const change of changes) {
    const { kind, source, key, json } = change;
    if (json === null) removals += 1;
    if (kind === 'cron_trigger') cronTriggers.push(change);
    printed.push(JSON.stringify({ kind, source, key, definition: json === null ? null : printJson(json) }));
    yield;
  }
  return { text: `[${printed.join(',')}]`, removals, cronTriggers };
}

/** Anybody may send on a channel: what is no announcement is as good as a missed one. */
function readAnnouncement(payload: string): Announcement | null {
  try {
    const json = parseJson(payload);
    if (!isJsonObject(json)) return null;
    const { version, instance, forget } = json;
    if (typeof instance !== 'string') return null;
    if (typeof version === 'number') return { version, instance };
    if (!isJsonObject(forget ?? null)) return null;
    const { key, family } = forget as JsonObject;
    return {
      instance,
      forget: { ...(typeof key === 'string' ? { key } : {}), ...(typeof family === 'string' ? { family } : {}) },
    };
  } catch {
    return null;
  }
}

function conflict(version: number): SvcError {
  return new SvcError('conflict', `metadata resource version referenced (${version}) did not match current version`);
}

/** `database` is the open metadata database. It stays the caller's to close. */
export function createStorage(database: Source, kinds: Kinds, options: StorageOptions = {}): Storage {
  const { keptVersions = 512, keptRemovals = 10_000, warn } = options;

  async function save({ expectedVersion, changes, instanceId, refresh, inTransaction }: Save): Promise<number> {
    const version = expectedVersion + 1;
    const { text, removals, cronTriggers } = await inSlices(printChanges(changes));
    const how = { isolation: 'read-committed', idleMs: SAVE_TIMEOUT_MS, ...soon(SAVE_TIMEOUT_MS) } as const;
    await database.transaction(how, async (connection) => {
      const locked = await connection.query(LOCK, [], soon(LOCK_TIMEOUT_MS));
      if (Number(locked.rows[0]?.[0]) !== expectedVersion) throw conflict(expectedVersion);
      await inTransaction?.(connection);
      const announcement: Announcement = { version, instance: instanceId };
      await connection.query(WRITE, [
        text,
        String(version),
        instanceId,
        refresh === undefined ? null : printJson(refresh),
        METADATA_CHANNEL,
        JSON.stringify(announcement),
      ]);
      await followCronTriggers(connection, cronTriggers);
      if (version % PRUNE_INTERVAL === 0 || removals >= PRUNE_INTERVAL) {
        await connection.query(PRUNE, [String(version - keptVersions), String(keptRemovals)]);
      }
    });
    return version;
  }

  async function load(): Promise<StoredMetadata> {
    const { rows } = await database.query(LOAD, [], soon(LOAD_TIMEOUT_MS));
    const pieces = rows.filter((row) => row[1] !== null).map((row) => toChange(row.slice(1)));
    return { resourceVersion: Number(rows[0]?.[0]), metadata: fromPieces(pieces, kinds, warn) };
  }

  function changesSince(version: number, isSettled = false): Promise<ChangesSince> {
    if (!isSettled) return readChanges(database, version);
    const how = { isolation: 'read-committed', idleMs: SAVE_TIMEOUT_MS, ...soon(LOCK_TIMEOUT_MS + READ_TIMEOUT_MS) } as const;
    return database.transaction(how, async (connection) => {
      await connection.query(LOCK, [], soon(LOCK_TIMEOUT_MS));
      return readChanges(connection, version);
    });
  }

  async function readChanges(connection: Pick<Connection, 'query'>, version: number): Promise<ChangesSince> {
    const { rows } = await connection.query(CHANGES, [String(version)], soon(READ_TIMEOUT_MS));
    const resourceVersion = Number(rows[0]?.[0]);
    // A version from the future: the database was restored or exchanged.
    if (version > resourceVersion || version < Number(rows[0]?.[1])) return { kind: 'unknown', resourceVersion };
    const changes = rows.filter((row) => row[2] !== null).map((row) => toChange(row.slice(2)));
    const noticed =
      version === resourceVersion
        ? []
        : (await connection.query(NOTICES, [String(version), String(resourceVersion)], soon(READ_TIMEOUT_MS))).rows;
    // Every version has its notice; one that is gone was deleted since the first statement.
    if (noticed.length !== resourceVersion - version) return { kind: 'unknown', resourceVersion };
    const notices = noticed.map(([at, instanceId, refresh]) => ({
      resourceVersion: Number(at),
      instanceId: instanceId ?? '',
      refresh: refresh == null ? null : parseJson(refresh),
    }));
    return { kind: 'changes', resourceVersion, changes, notices };
  }

  return {
    migrate: () => migrate(database),
    load,
    save,
    changesSince,
    async currentVersion() {
      const { rows } = await database.query('select resource_version from svc_catalog.metadata_version', [], soon(READ_TIMEOUT_MS));
      return Number(rows[0]?.[0]);
    },
    async listen(onChange) {
      return database.listen?.(METADATA_CHANNEL, (payload) => onChange(payload === null ? null : readAnnouncement(payload)));
    },
    async announce(announcement) {
      await database.query('select pg_notify($1, $2)', [METADATA_CHANNEL, JSON.stringify(announcement)], soon(READ_TIMEOUT_MS));
    },
    async isAlive(timeoutMs = 5000) {
      try {
        await database.query('select 1', [], soon(timeoutMs));
        return true;
      } catch {
        return false;
      }
    },
  };
}
