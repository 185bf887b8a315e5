/**
 * History of metadata changes: author, operations, and the changed objects before and after. `storage.ts` writes a record in the statement
 * that stores the change; this file limits and reads the records.
 */
import { SvcError } from '../errors/svc-error.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { fromPieces, type PieceKind, type PieceName } from '../metadata/pieces.ts';
import { isJsonObject, type Json, parseJson, printJson } from '../util/json.ts';
import { zuluTime } from './event-times.ts';
import { statementDeadline } from './statement-deadline.ts';
import type { Connection } from '../backend/connection.ts';

/** Author of a metadata change, and the operations that made it. */
export interface ChangeOrigin {
  readonly role: string;
  /** Value of `x-svc-user-id`. */
  readonly user: string | null;
  /** Form of authentication of the client, such as `admin-secret`. */
  readonly credentials: string | null;
  /** Header `x-svc-client-name`. */
  readonly client: string | null;
  /** Address of the client. */
  readonly ip: string | null;
  readonly requestId: string | null;
  /** Types of the operations, each once. */
  readonly operations: readonly string[];
}

export interface ChangedObject extends PieceName {
  readonly change: 'added' | 'changed' | 'removed';
}

export interface RecordedChange {
  readonly resourceVersion: number;
  /** ISO 8601 */
  readonly at: string;
  /** `null` for a change that the service made itself, such as the first source. */
  readonly origin: ChangeOrigin | null;
  readonly objectCount: number;
  /** False if the objects were too large, or their space was needed for newer ones. */
  readonly hasObjects: boolean;
  /** The first changed objects, at most `LISTED_OBJECTS`. */
  readonly objects: readonly ChangedObject[];
}

export interface RecordedChanges {
  readonly changes: readonly RecordedChange[];
  /** Oldest version that can be restored. */
  readonly completeSince: number;
}

/** An object before and after a change; `null` where it did not exist. */
export interface ObjectChange extends PieceName {
  readonly before: Json;
  readonly after: Json;
}

export interface MetadataHistory {
  /** Lists changes, newest first. @param before returns only older versions */
  list(page: { readonly limit: number; readonly before?: number | undefined }): Promise<RecordedChanges>;
  /** Returns the objects that a change has changed. @throws SvcError not-exists, not-supported */
  objectsOf(version: number): Promise<readonly ObjectChange[]>;
  /** Returns the metadata after a change. Pending changes of a transaction do not matter. @throws SvcError not-exists */
  metadataAt(version: number): Promise<Metadata>;
  /** Deletes changes, after which no version before the newest of them can be restored. @param before deletes only older versions */
  clear(before?: number): Promise<void>;
}

/** Limits of the history. */
export interface HistoryLimits {
  /** Maximum number of changes. */
  readonly changes: number;
  /** Maximum size of the objects of all changes, in bytes. */
  readonly bytes: number;
  /** Maximum size of the objects of one change, in bytes. */
  readonly bytesOfChange: number;
}

export const HISTORY_LIMITS: HistoryLimits = { changes: 1000, bytes: 64 * 1024 * 1024, bytesOfChange: 16 * 1024 * 1024 };

/** Maximum number of objects that the list of changes names for each of them. */
const LISTED_OBJECTS = 10;
/** Maximum length of a text of a client, in characters. */
const MAX_TEXT = 200;
/** Bytes of an object besides its definitions. */
const OBJECT_OVERHEAD = 100;

/**
 * Parts of the statement that writes a change: `with change as (…), <these>, …`. They need a relation `change` (kind, source, key,
 * definition) and read the pieces before the change.
 * @param version parameter with the new version @param origin with the origin as JSON @param limit with `bytesOfChange`
 */
export function historyWrites(version: string, origin: string, limit: string): string {
  return `edited as materialized (
  select c.kind, c.source, c.key, p.definition as before, c.definition as after
  from change c left join svc_catalog.metadata_piece p on p.kind = c.kind and p.source = c.source and p.key = c.key
  where p.definition::text is distinct from c.definition::text
), measured as materialized (
  select object_count, size, size <= ${limit} as has_objects from (
    select count(*) as object_count,
      coalesce(sum(${OBJECT_OVERHEAD} + coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0)), 0) as size
    from edited) e
), recorded as (
  insert into svc_catalog.metadata_history (resource_version, follows, origin, object_count, size, has_objects)
  select ${version}, history_newest, ${origin}, object_count, case when has_objects then size else 0 end, has_objects
  from measured, svc_catalog.metadata_version where object_count > 0
), recorded_objects as (
  insert into svc_catalog.metadata_history_object (resource_version, kind, source, key, before, after)
  select ${version}, e.kind, e.source, e.key, e.before, e.after from edited e, measured m where m.has_objects
)`;
}

/** Assignments for the version row, in the statement of `historyWrites`. @param version parameter with the new version */
export function historyVersions(version: string): string {
  return `history_version = ${version},
    history_newest = case when (select object_count from measured) > 0 then ${version} else history_newest end,
    history_since = case
      when not (select has_objects from measured) then ${version}
      when history_version = resource_version then history_since
      else resource_version end`;
}

// $1 changes to keep, $2 bytes to keep
const PRUNE = `
with horizon as (
  select coalesce(max(resource_version) filter (where place > $1::bigint), 0) as deleted,
    coalesce(max(resource_version) filter (where place > $1::bigint or bytes > $2::bigint), 0) as emptied
  from (
    select resource_version, row_number() over newest as place, sum(size) over newest as bytes
    from svc_catalog.metadata_history window newest as (order by resource_version desc)) h
), forgotten as (
  delete from svc_catalog.metadata_history where resource_version <= (select deleted from horizon)
), emptied as (
  update svc_catalog.metadata_history set size = 0, has_objects = false
  where has_objects and resource_version > (select deleted from horizon) and resource_version <= (select emptied from horizon)
), objects as (
  delete from svc_catalog.metadata_history_object
  where resource_version > (select deleted from horizon) and resource_version <= (select emptied from horizon)
)
update svc_catalog.metadata_version set history_since = emptied from horizon where emptied > history_since`;

/** Deletes the oldest changes beyond their number, and the objects of the oldest changes beyond their size. */
export async function pruneHistory(connection: Pick<Connection, 'query'>, { changes, bytes }: HistoryLimits): Promise<void> {
  await connection.query(PRUNE, [String(changes), String(bytes)]);
}

/** Prints an origin for the database. Texts of clients are cut. */
export function printOrigin({ role, user, credentials, client, ip, requestId, operations }: ChangeOrigin): string {
  const cut = (text: string | null): string | null => text?.slice(0, MAX_TEXT) ?? null;
  return printJson({
    role: role.slice(0, MAX_TEXT),
    user: cut(user),
    credentials,
    client: cut(client),
    ip: cut(ip),
    request_id: cut(requestId),
    operations: [...operations],
  });
}

function readOrigin(json: Json): ChangeOrigin | null {
  if (!isJsonObject(json)) return null;
  const text = (key: string): string | null => {
    const value = json[key];
    return typeof value === 'string' ? value : null;
  };
  const { operations } = json;
  return {
    role: text('role') ?? '',
    user: text('user'),
    credentials: text('credentials'),
    client: text('client'),
    ip: text('ip'),
    requestId: text('request_id'),
    operations: Array.isArray(operations) ? operations.filter((each) => typeof each === 'string') : [],
  };
}

/** Oldest version that can be restored. Notices records and objects that were deleted by hand. */
const COMPLETE_SINCE = `
select case when v.history_version <> v.resource_version then v.resource_version else greatest(v.history_since, (
  select max(version) from (
    select h.follows as version from svc_catalog.metadata_history h
    where not exists (select from svc_catalog.metadata_history f where f.resource_version = h.follows)
    union all
    select h.resource_version from svc_catalog.metadata_history h
    where h.object_count <> (select count(*) from svc_catalog.metadata_history_object o where o.resource_version = h.resource_version)
    union all
    select v.history_newest where not exists (select from svc_catalog.metadata_history h where h.resource_version = v.history_newest)) gap))
  end as complete_since
from svc_catalog.metadata_version v`;

// $1 the version before which entries are listed, or null; $2 limit. One row for each listed object, or one without an object or a change.
const LIST = `
select s.complete_since, h.resource_version, ${zuluTime('h.changed_at')}, h.origin::text, h.object_count, h.has_objects::text, o.kind, o.source, o.key, o.change
from (${COMPLETE_SINCE}) s
left join (
  select * from svc_catalog.metadata_history where $1::bigint is null or resource_version < $1::bigint
  order by resource_version desc limit $2::bigint) h on true
left join lateral (
  select kind, source, key, case when before is null then 'added' when after is null then 'removed' else 'changed' end as change
  from svc_catalog.metadata_history_object where resource_version = h.resource_version
  order by kind, source, key limit ${LISTED_OBJECTS}) o on true
order by h.resource_version desc, o.kind, o.source, o.key`;

const OBJECTS = `
select h.has_objects::text, o.kind, o.source, o.key, o.before::text, o.after::text
from svc_catalog.metadata_history h left join svc_catalog.metadata_history_object o using (resource_version)
where h.resource_version = $1::bigint order by o.kind, o.source, o.key`;

// One statement, for a consistent read of versions, current pieces and objects.
const AT = `
with later as (
  select distinct on (kind, source, key) kind, source, key, before
  from svc_catalog.metadata_history_object where resource_version > $1::bigint
  order by kind, source, key, resource_version
), piece as (
  select kind, source, key, before as definition from later where before is not null
  union all
  select kind, source, key, definition from svc_catalog.metadata_piece p
  where definition is not null and not exists (select from later l where l.kind = p.kind and l.source = p.source and l.key = p.key)
)
select s.is_kept::text, p.kind, p.source, p.key, p.definition::text
from (
  select $1::bigint between s.complete_since and v.resource_version as is_kept
  from svc_catalog.metadata_version v cross join (${COMPLETE_SINCE}) s) s
left join piece p on s.is_kept
order by p.kind, p.source, p.key`;

// Locks the version before the changes, as a save does.
const CLEAR = `
with version as materialized (
  select 1 from svc_catalog.metadata_version for update
), cleared as (
  delete from svc_catalog.metadata_history
  where exists (select from version) and ($1::bigint is null or resource_version < $1::bigint)
  returning resource_version
)
update svc_catalog.metadata_version set history_since = greatest(history_since, (select max(resource_version) from cleared))
where exists (select from cleared)`;

const TIMEOUT_MS = 30_000;

type Row = readonly (string | null)[];

function nameOf([kind, source, key]: Row): PieceName {
  return { kind: kind as PieceKind, source: source ?? '', key: key ?? '' };
}

function jsonOf(text: string | null | undefined): Json {
  return text == null ? null : parseJson(text);
}

/** @param database open metadata database with the current catalog version */
export function createMetadataHistory(database: Pick<Connection, 'query'>, kinds: Kinds): MetadataHistory {
  const read = async (text: string, values: readonly (string | null)[]): Promise<readonly Row[]> =>
    (await database.query(text, values, statementDeadline(TIMEOUT_MS))).rows;
  return {
    async list({ limit, before }) {
      const entries = new Map<number, RecordedChange & { readonly objects: ChangedObject[] }>();
      const rows = await read(LIST, [before === undefined ? null : String(before), String(limit)]);
      for (const [, version, at, origin, objectCount, hasObjects, ...object] of rows) {
        if (version == null) continue;
        const resourceVersion = Number(version);
        const entry = entries.get(resourceVersion) ?? {
          resourceVersion,
          at: at ?? '',
          origin: readOrigin(jsonOf(origin)),
          objectCount: Number(objectCount),
          hasObjects: hasObjects === 'true',
          objects: [],
        };
        entries.set(resourceVersion, entry);
        if (object[0] != null) entry.objects.push({ ...nameOf(object), change: object[3] as ChangedObject['change'] });
      }
      return { changes: [...entries.values()], completeSince: Number(rows[0]?.[0]) };
    },
    async objectsOf(version) {
      const rows = await read(OBJECTS, [String(version)]);
      if (rows[0] === undefined) throw new SvcError('not-exists', `the history has no change with the version ${version}`);
      if (rows[0][0] !== 'true') throw new SvcError('not-supported', `the objects of version ${version} are not kept`);
      return rows.map(([, ...object]) => ({ ...nameOf(object), before: jsonOf(object[3]), after: jsonOf(object[4]) }));
    },
    async metadataAt(version) {
      const rows = await read(AT, [String(version)]);
      if (rows[0]?.[0] !== 'true') throw new SvcError('not-exists', `the history does not have the version ${version}`);
      const pieces = rows.flatMap(([, ...piece]) => (piece[0] == null ? [] : [{ ...nameOf(piece), json: jsonOf(piece[3]) }]));
      return fromPieces(pieces, kinds);
    },
    async clear(before) {
      await read(CLEAR, [before === undefined ? null : String(before)]);
    },
  };
}
