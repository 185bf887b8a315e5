/** Calls of asynchronous actions as they are kept in the metadata database, until they are made and after. */
import { randomUUID } from 'node:crypto';
import type { Source } from '../backend/backend.ts';
import type { EventStore, QueuedEvent } from '../backend/event-store.ts';
import { isJsonObject, parseJson, printJson, type Json, type JsonObject } from '../util/json.ts';
import { soon, soonByIndex } from './soon.ts';

/** What is written down. */
export interface NewCall {
  readonly action: string;
  readonly input: JsonObject;
  /** Of the client's request: those that the handler gets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sessionVariables: ReadonlyMap<string, string>;
}

/** A call that is due; its lane is the action. */
export interface DueCall extends QueuedEvent, Omit<NewCall, 'action'> {
  /** How often it was made before. */
  readonly tries: number;
}

export interface CallOutcome {
  readonly id: string;
  readonly result: /** JSON text of the handler's answer. */
    | { readonly kind: 'completed'; readonly response: string }
    /** JSON text of the error. */
    | { readonly kind: 'failed'; readonly errors: string }
    /** To be made again so many seconds from now. */
    | { readonly kind: 'retry'; readonly seconds: number };
}

export type CallStore = EventStore<DueCall, CallOutcome>;

export interface StoredCall {
  readonly id: string;
  /** As the database writes it in JSON. */
  readonly createdAt: string;
  /** JSON texts; null: none. */
  readonly response: string | null;
  readonly errors: string | null;
}

export interface ActionLog {
  /** @returns the id of the call */
  write(call: NewCall): Promise<string>;
  /**
   * @param session only a call of these session variables is seen; null: every one
   * @returns null where there is none, or none that is seen
   */
  read(action: string, id: string, session: ReadonlyMap<string, string> | null): Promise<StoredCall | null>;
  /** As `read`, but for the result itself. */
  state(
    action: string,
    id: string,
    session: ReadonlyMap<string, string> | null,
  ): Promise<{ readonly id: string; readonly isDone: boolean } | null>;
  /** Of calls of any action those that have yet to be answered. */
  stillWaiting(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** How many calls have yet to be answered; of very many, the first 100,000 are counted. */
  pending(): Promise<number>;
  readonly store: CallStore;
  /** Forgets all calls of an action. */
  clear(action: string): Promise<void>;
  /** Forgets some calls that were done before so many seconds. @returns how many */
  removeOlder(seconds: number): Promise<number>;
}

const WRITE = `
insert into svc_catalog.svc_action_log (id, action_name, input_payload, request_headers, session_variables)
values ($1::uuid, $2, $3::json, $4::jsonb, $5::jsonb) returning id::text`;

const SEEN = `
from svc_catalog.svc_action_log
where id = $1::uuid and action_name = $2 and ($3::jsonb is null or session_variables = $3::jsonb)`;
const READ = `select id::text, to_json(created_at) #>> '{}', response_payload::text, errors::text ${SEEN}`;
const STATE = `select id::text, (status in ('completed', 'error'))::text ${SEEN}`;

const STILL_WAITING = `
select id::text from svc_catalog.svc_action_log
where id in (select json_array_elements_text($1::json)::uuid) and status in ('created', 'processing')`;

const PENDING = `
select count(*) from (select from svc_catalog.svc_action_log where status in ('created', 'processing') limit 100000) pending`;

const FETCH = `
with picked as materialized (
  select due.id, due.size, row_number() over () as place
  from json_to_recordset($1::json) as lane(name text, "limit" int)
  cross join lateral (
    select id, octet_length(input_payload::text) as size from svc_catalog.svc_action_log
    where action_name = lane.name and due_at <= now() and (status = 'created' or status = 'processing' and lease_until < now())
    order by due_at limit lane."limit" for update skip locked
  ) due
  limit $2::int
), sized as (
  -- the one with which the bytes are reached is the last
  select id, sum(size) over (order by place rows between unbounded preceding and 1 preceding) as before from picked
)
update svc_catalog.svc_action_log call
set status = 'processing', lease_holder = $3, lease_until = now() + make_interval(secs => $4::int)
from sized where call.id = sized.id and (before is null or before < $5::bigint)
returning call.id::text, action_name, input_payload::text, request_headers::text, session_variables::text, tries::text`;

// Who has a lease is who works on it: a condition on the status would bring the index of all that wait into play.
const RENEW = `
update svc_catalog.svc_action_log set lease_until = now() + make_interval(secs => $3::int)
where id = any (array(select json_array_elements_text($1::json)::uuid)) and lease_holder = $2
returning id::text`;

const RELEASE = `
update svc_catalog.svc_action_log set status = 'created', lease_holder = null, lease_until = null
where id = any (array(select json_array_elements_text($1::json)::uuid)) and lease_holder = $2`;

const RECORD = `
update svc_catalog.svc_action_log call
set status = done.status, response_payload = done.response::json, errors = done.errors::json, tries = call.tries + 1,
  due_at = now() + make_interval(secs => coalesce(done.seconds, 0)), lease_holder = null, lease_until = null,
  response_received_at = case when done.status = 'created' then null else now() end
from json_to_recordset($1::json) as done(id uuid, status text, response text, errors text, seconds int, tries int)
where call.id = any (array(select (json_array_elements($1::json) ->> 'id')::uuid)) and call.id = done.id and call.lease_holder = $2
  and call.tries = done.tries
returning call.id::text`;

const CLEAR = 'delete from svc_catalog.svc_action_log where action_name = $1';

/** Rows of one statement. */
const MOST_REMOVED = 10_000;
const REMOVE_OLDER = `
delete from svc_catalog.svc_action_log where id in (
  select id from svc_catalog.svc_action_log
  where status in ('completed', 'error') and response_received_at < now() - make_interval(secs => $1::int) limit ${MOST_REMOVED}
) returning 1`;

const STATUS = { completed: 'completed', failed: 'error', retry: 'created' } as const;

/** `database` is the open metadata database, migrated. */
export function createActionLog(database: Source): ActionLog {
  const ids = async (text: string, values: readonly string[]): Promise<readonly string[]> =>
    (await database.query(text, values, soonByIndex())).rows.flatMap(([id]) => (id == null ? [] : [id]));
  return {
    async write({ action, input, headers, sessionVariables }) {
      // Sessions may be alike, those of nobody are: an id is not to be guessed, and random() of the database can be.
      const [id = ''] = await ids(WRITE, [randomUUID(), action, printJson(input), printJson(headers), printed(sessionVariables)]);
      return id;
    },
    async read(action, id, session) {
      const [row] = (await database.query(READ, [id, action, session === null ? null : printed(session)], soon())).rows;
      if (row === undefined) return null;
      const [found = '', createdAt = '', response = null, errors = null] = row;
      return { id: found ?? '', createdAt: createdAt ?? '', response, errors };
    },
    async state(action, id, session) {
      const [row] = (await database.query(STATE, [id, action, session === null ? null : printed(session)], soon())).rows;
      return row === undefined ? null : { id: row[0] ?? '', isDone: row[1] === 'true' };
    },
    async pending() {
      const { rows } = await database.query(PENDING, [], soon());
      return Number(rows[0]?.[0] ?? 0);
    },
    async stillWaiting(of) {
      return new Set(await ids(STILL_WAITING, [JSON.stringify(of)]));
    },
    store: {
      async fetch({ lease, limit, lanes, bytes = Number.MAX_SAFE_INTEGER }) {
        const wanted = printJson(lanes.map((lane) => ({ name: lane.name, limit: lane.limit })));
        const { rows } = await database.query(
          FETCH,
          [wanted, String(limit), lease.holder, String(lease.seconds), String(bytes)],
          soonByIndex(),
        );
        return rows.map(dueCall);
      },
      renew: (lease, of) => ids(RENEW, [JSON.stringify(of), lease.holder, String(lease.seconds)]),
      async release(lease, of) {
        await database.query(RELEASE, [JSON.stringify(of), lease.holder], soonByIndex());
      },
      record: (lease, outcomes) =>
        ids(RECORD, [
          JSON.stringify(
            outcomes.map(({ id, result, tries }) => ({
              id,
              tries,
              status: STATUS[result.kind],
              response: result.kind === 'completed' ? result.response : null,
              errors: result.kind === 'failed' ? result.errors : null,
              seconds: result.kind === 'retry' ? Math.ceil(result.seconds) : null,
            })),
          ),
          lease.holder,
        ]),
    },
    async clear(action) {
      await database.query(CLEAR, [action], soon());
    },
    async removeOlder(seconds) {
      return (await database.query(REMOVE_OLDER, [String(seconds)], soon())).rows.length;
    },
  };
}

function printed(variables: ReadonlyMap<string, string>): string {
  return printJson(Object.fromEntries(variables));
}

function dueCall([id, lane, input, headers, session, tries]: readonly (string | null)[]): DueCall {
  return {
    id: id ?? '',
    lane: lane ?? '',
    input: objectOf(input ?? null),
    headers: textsOf(headers ?? null),
    sessionVariables: new Map(Object.entries(textsOf(session ?? null))),
    tries: Number(tries),
    size: input?.length ?? 0,
  };
}

function objectOf(text: string | null): JsonObject {
  const json: Json = text === null ? null : parseJson(text);
  return isJsonObject(json) ? json : {};
}

function textsOf(text: string | null): Record<string, string> {
  return Object.fromEntries(Object.entries(objectOf(text)).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));
}
