/**
 * Metadata in the metadata database: one row per piece, a version that every change increments, and a log from which other instances read
 * only what changed. This file must not depend on the kind of a database, nor on the meaning of pieces, but for cron triggers, whose future
 * events change in the same transaction.
 */
import type { Listening, Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { fromPieces, type PieceChange, type PieceKind } from '../metadata/pieces.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';
import { runCooperatively, type Cooperative } from '../util/cooperative.ts';
import { followCronTriggers } from './cron-events.ts';
import {
  type ChangeOrigin,
  HISTORY_LIMITS,
  type HistoryLimits,
  historyVersions,
  historyWrites,
  printOrigin,
  pruneHistory,
} from './metadata-history.ts';
import { migrate } from './migrations.ts';
import { statementDeadline } from './statement-deadline.ts';
import type { Connection } from '../backend/connection.ts';

/** Channel for notifications, each an `Announcement` as JSON. */
export const METADATA_CHANNEL = 'svc_metadata';

/** Notification for other instances: a change of the metadata, or cached query results to clear. */
export type Announcement =
  | { readonly instance: string; readonly version: number }
  | { readonly instance: string; readonly forget: AnswerSelection };

/**
 * Cached query results by key, family, or tables that they were read from; all if all are absent. A release that does not have one of
 * these clears everything.
 */
export interface AnswerSelection {
  readonly key?: string;
  readonly family?: string;
  readonly reads?: readonly string[];
}

export interface StoredMetadata {
  readonly resourceVersion: number;
  readonly metadata: Metadata;
}

export interface Save {
  /** Version on which the change is based. */
  readonly expectedVersion: number;
  /** Result of `changedPieces`, iterated lazily. If empty, only the version changes. */
  readonly changes: Iterable<PieceChange>;
  readonly instanceId: string;
  /** Further parts that other instances must read again, such as catalogs. */
  readonly refresh?: Json;
  /** Author of the change, for the history. Absent for changes that the service makes itself. */
  readonly origin?: ChangeOrigin;
  /** Writes to the same database in the transaction of the change. */
  readonly inTransaction?: (connection: Connection) => Promise<void>;
}

export interface Notice {
  readonly resourceVersion: number;
  readonly instanceId: string;
  readonly refresh: Json | null;
}

export type ChangesSince =
  /** `changes` are for `applyPieces`. There is one notice per version, in order. */
  | {
      readonly kind: 'changes';
      readonly resourceVersion: number;
      readonly changes: readonly PieceChange[];
      readonly notices: readonly Notice[];
    }
  /** Too many changes, or another database: everything must be loaded. */
  | { readonly kind: 'unknown'; readonly resourceVersion: number };

export interface Storage {
  /** Creates or upgrades the tables. @throws SvcError `not-supported` if they require a newer service */
  migrate(): Promise<void>;
  /** @throws SvcError if a stored piece cannot be decoded */
  load(): Promise<StoredMetadata>;
  currentVersion(): Promise<number>;
  /** Stores the change and returns its version. @throws SvcError `conflict` if another change came first */
  save(save: Save): Promise<number>;
  /**
   * Returns the changes after `version`.
   * @param isSettled whether to wait for the end of a pending save, so that the outcome of an unconfirmed commit is final
   */
  changesSince(version: number, isSettled?: boolean): Promise<ChangesSince>;
  /**
   * Listens for notifications; `null` means that some may have been missed. Resolves after the first attempt and never rejects, like
   * `Source.listen`; with `undefined` if the database does not support it.
   */
  listen(onChange: (change: Announcement | null) => void): Promise<Listening | undefined>;
  announce(announcement: Announcement): Promise<void>;
  isAlive(timeoutMs?: number): Promise<boolean>;
}

export interface StorageOptions {
  /** Number of versions for which removals are stored. Default 512. */
  readonly keptVersions?: number;
  /** Maximum number of stored removals. Default 10,000. */
  readonly keptRemovals?: number;
  readonly history?: HistoryLimits;
  /** Called for stored numbers that are out of range and replaced by the nearest bound. */
  readonly warn?: (message: string) => void;
}

/** Timeout for the change of another instance, in ms. */
const LOCK_TIMEOUT_MS = 10_000;
/** Timeout for small background reads, in ms. */
const READ_TIMEOUT_MS = 10_000;
/** Timeout for a change, which may be a whole document, in ms. */
const SAVE_TIMEOUT_MS = 60_000;
/** Timeout for loading the whole metadata, in ms. */
const LOAD_TIMEOUT_MS = 60_000;
/** Versions between deletions of old removals; a change that removes as many pieces deletes them, too. */
const PRUNE_INTERVAL = 64;

const LOCK = 'select resource_version from svc_catalog.metadata_version for update';

// $1 changes, $2 new version, $3 instance, $4 refresh, $5 channel, $6 payload, $7 origin, $8 bytes of a change in the history
const WRITE = `
with change as materialized (
  select kind, source, key, definition::json as definition
  from json_to_recordset($1::json) as change (kind text, source text, key text, definition text)
), written as (
  insert into svc_catalog.metadata_piece (kind, source, key, definition, changed_at_version)
  select kind, source, key, definition, $2::bigint from change
  on conflict (kind, source, key) do update set definition = excluded.definition, changed_at_version = excluded.changed_at_version
), ${historyWrites('$2::bigint', '$7::json', '$8::bigint')}, raised as (
  update svc_catalog.metadata_version set resource_version = $2::bigint, ${historyVersions('$2::bigint')}
), noticed as (
  insert into svc_catalog.metadata_notice (resource_version, instance_id, refresh) values ($2::bigint, $3, $4::json)
)
select object_count, pg_notify($5, $6) from measured`;

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

// One statement each, for a consistent read of version and rows.
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

/** Each definition is a JSON text in a string, because the database would unescape nested JSON, including U+0000. */
function* printChanges(changes: Iterable<PieceChange>): Cooperative<PrintedChanges> {
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

/** Decodes a notification. `null` for an invalid one, which counts as missed: other clients may send on the channel. */
function readAnnouncement(payload: string): Announcement | null {
  try {
    const json = parseJson(payload);
    if (!isJsonObject(json)) return null;
    const { version, instance, forget } = json;
    if (typeof instance !== 'string') return null;
    if (typeof version === 'number') return { version, instance };
    if (!isJsonObject(forget ?? null)) return null;
    const { key, family, reads } = forget as JsonObject;
    return {
      instance,
      forget: {
        ...(typeof key === 'string' ? { key } : {}),
        ...(typeof family === 'string' ? { family } : {}),
        ...(isJsonArray(reads ?? null) ? { reads: (reads as readonly Json[]).filter((read) => typeof read === 'string') } : {}),
      },
    };
  } catch {
    return null;
  }
}

function conflict(version: number): SvcError {
  return new SvcError('conflict', `metadata resource version referenced (${version}) did not match current version`);
}

/** @param database open metadata database, which the caller closes */
export function createStorage(database: Source, kinds: Kinds, options: StorageOptions = {}): Storage {
  return new DatabaseStorage(database, kinds, options);
}

class DatabaseStorage implements Storage {
  readonly #database: Source;
  readonly #kinds: Kinds;
  readonly #keptVersions: number;
  readonly #keptRemovals: number;
  readonly #history: HistoryLimits;
  readonly #warn: StorageOptions['warn'];

  constructor(
    database: Source,
    kinds: Kinds,
    { keptVersions = 512, keptRemovals = 10_000, history = HISTORY_LIMITS, warn }: StorageOptions,
  ) {
    this.#database = database;
    this.#kinds = kinds;
    this.#keptVersions = keptVersions;
    this.#keptRemovals = keptRemovals;
    this.#history = history;
    this.#warn = warn;
  }

  migrate(): ReturnType<Storage['migrate']> {
    return migrate(this.#database);
  }

  async save({ expectedVersion, changes, instanceId, refresh, origin, inTransaction }: Save): Promise<number> {
    const version = expectedVersion + 1;
    const { text, removals, cronTriggers } = await runCooperatively(printChanges(changes));
    const how = { isolation: 'read-committed', idleMs: SAVE_TIMEOUT_MS, ...statementDeadline(SAVE_TIMEOUT_MS) } as const;
    await this.#database.transaction(how, async (connection) => {
      const locked = await connection.query(LOCK, [], statementDeadline(LOCK_TIMEOUT_MS));
      if (Number(locked.rows[0]?.[0]) !== expectedVersion) throw conflict(expectedVersion);
      await inTransaction?.(connection);
      const announcement: Announcement = { version, instance: instanceId };
      const { rows } = await connection.query(WRITE, [
        text,
        String(version),
        instanceId,
        refresh === undefined ? null : printJson(refresh),
        METADATA_CHANNEL,
        JSON.stringify(announcement),
        origin === undefined ? null : printOrigin(origin),
        String(this.#history.bytesOfChange),
      ]);
      if (Number(rows[0]?.[0]) > 0) await pruneHistory(connection, this.#history);
      await followCronTriggers(connection, cronTriggers);
      if (version % PRUNE_INTERVAL === 0 || removals >= PRUNE_INTERVAL) {
        await connection.query(PRUNE, [String(version - this.#keptVersions), String(this.#keptRemovals)]);
      }
    });
    return version;
  }

  async load(): Promise<StoredMetadata> {
    const { rows } = await this.#database.query(LOAD, [], statementDeadline(LOAD_TIMEOUT_MS));
    const pieces = rows.filter((row) => row[1] !== null).map((row) => toChange(row.slice(1)));
    return { resourceVersion: Number(rows[0]?.[0]), metadata: fromPieces(pieces, this.#kinds, this.#warn) };
  }

  changesSince(version: number, isSettled = false): Promise<ChangesSince> {
    if (!isSettled) return this.#readChanges(this.#database, version);
    const how = { isolation: 'read-committed', idleMs: SAVE_TIMEOUT_MS, ...statementDeadline(LOCK_TIMEOUT_MS + READ_TIMEOUT_MS) } as const;
    return this.#database.transaction(how, async (connection) => {
      await connection.query(LOCK, [], statementDeadline(LOCK_TIMEOUT_MS));
      return this.#readChanges(connection, version);
    });
  }

  async currentVersion(): Promise<number> {
    const { rows } = await this.#database.query(
      'select resource_version from svc_catalog.metadata_version',
      [],
      statementDeadline(READ_TIMEOUT_MS),
    );
    return Number(rows[0]?.[0]);
  }

  async listen(onChange: Parameters<Storage['listen']>[0]): ReturnType<Storage['listen']> {
    return this.#database.listen?.(METADATA_CHANNEL, (payload) => onChange(payload === null ? null : readAnnouncement(payload)));
  }

  async announce(announcement: Announcement): Promise<void> {
    await this.#database.query(
      'select pg_notify($1, $2)',
      [METADATA_CHANNEL, JSON.stringify(announcement)],
      statementDeadline(READ_TIMEOUT_MS),
    );
  }

  async isAlive(timeoutMs = 5000): Promise<boolean> {
    try {
      await this.#database.query('select 1', [], statementDeadline(timeoutMs));
      return true;
    } catch {
      return false;
    }
  }

  async #readChanges(connection: Pick<Connection, 'query'>, version: number): Promise<ChangesSince> {
    const { rows } = await connection.query(CHANGES, [String(version)], statementDeadline(READ_TIMEOUT_MS));
    const resourceVersion = Number(rows[0]?.[0]);
    // A version beyond the newest: the database was restored or replaced.
    if (version > resourceVersion || version < Number(rows[0]?.[1])) return { kind: 'unknown', resourceVersion };
    const changes = rows.filter((row) => row[2] !== null).map((row) => toChange(row.slice(2)));
    const noticed =
      version === resourceVersion
        ? []
        : (await connection.query(NOTICES, [String(version), String(resourceVersion)], statementDeadline(READ_TIMEOUT_MS))).rows;
    // Every version has a notice; a missing one was deleted since the first statement.
    if (noticed.length !== resourceVersion - version) return { kind: 'unknown', resourceVersion };
    const notices = noticed.map(([at, instanceId, refresh]) => ({
      resourceVersion: Number(at),
      instanceId: instanceId ?? '',
      refresh: refresh == null ? null : parseJson(refresh),
    }));
    return { kind: 'changes', resourceVersion, changes, notices };
  }
}
