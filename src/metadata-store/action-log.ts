/** Calls of asynchronous actions in the metadata database: a queue, and later their results. */
import { randomUUID } from 'node:crypto';
import type { Source } from '../backend/backend.ts';
import type { EventStore, QueuedEvent } from '../backend/event-store.ts';
import { type JsonObject, objectOf, parseJson, printJson } from '../util/json.ts';
import { statementDeadline, statementDeadlineByIndex } from './statement-deadline.ts';

export interface NewCall {
  readonly action: string;
  readonly input: JsonObject;
  /** Headers of the client's request for the handler. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sessionVariables: ReadonlyMap<string, string>;
}

/** Call that is due. Its queue is the action. */
export interface DueCall extends QueuedEvent, Omit<NewCall, 'action'> {
  /** Number of attempts so far. */
  readonly tries: number;
}

export interface CallOutcome {
  readonly id: string;
  readonly result: /** JSON text of the handler's answer. */
    | { readonly kind: 'completed'; readonly response: string }
    /** JSON text of the error. */
    | { readonly kind: 'failed'; readonly errors: string }
    /** Repeats the call after this number of seconds. */
    | { readonly kind: 'retry'; readonly seconds: number };
}

export type CallStore = EventStore<DueCall, CallOutcome>;

export interface StoredCall {
  readonly id: string;
  /** JSON format of the database. */
  readonly createdAt: string;
  /** JSON text; `null` if there is none. */
  readonly response: string | null;
  /** JSON text; `null` if there are none. */
  readonly errors: string | null;
}

export interface ActionLog {
  /** @returns the id of the call */
  write(call: NewCall): Promise<string>;
  /**
   * @param session session variables; calls of other sessions are invisible. `null` for all calls
   * @returns `null` if the call does not exist or is invisible
   */
  read(action: string, id: string, session: ReadonlyMap<string, string> | null): Promise<StoredCall | null>;
  /** Like `read`, without the result. */
  state(
    action: string,
    id: string,
    session: ReadonlyMap<string, string> | null,
  ): Promise<{ readonly id: string; readonly isDone: boolean } | null>;
  /** Returns the calls, of any action, that are not done. */
  stillWaiting(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns the number of calls that are not done, up to 100,000. */
  pending(): Promise<number>;
  readonly store: CallStore;
  /** Deletes all calls of an action. */
  clear(action: string): Promise<void>;
  /** Deletes up to 10,000 calls that ended more than `seconds` ago. @returns the number of deleted calls */
  removeOlder(seconds: number): Promise<number>;
}

const WRITE = `
insert into svc_catalog.svc_action_log (id, action_name, input_payload, request_headers, session_variables)
values ($1::uuid, $2, $3::json, $4::jsonb, $5::jsonb) returning id::text`;

const VISIBLE = `
from svc_catalog.svc_action_log
where id = $1::uuid and action_name = $2 and ($3::jsonb is null or session_variables = $3::jsonb)`;
const READ = `select id::text, to_json(created_at) #>> '{}', response_payload::text, errors::text ${VISIBLE}`;
const STATE = `select id::text, (status in ('completed', 'error'))::text ${VISIBLE}`;

const STILL_WAITING = `
select id::text from svc_catalog.svc_action_log
where id in (select json_array_elements_text($1::json)::uuid) and status in ('created', 'processing')`;

const PENDING = `
select count(*) from (select from svc_catalog.svc_action_log where status in ('created', 'processing') limit 100000) pending`;

const FETCH = `
with picked as materialized (
  select due.id, due.size, row_number() over () as place
  from json_to_recordset($1::json) as requested (name text, "limit" int)
  cross join lateral (
    select id, octet_length(input_payload::text) as size from svc_catalog.svc_action_log
    where action_name = requested.name and due_at <= now() and (status = 'created' or status = 'processing' and lease_until < now())
    order by due_at limit requested."limit" for update skip locked
  ) due
  limit $2::int
), sized as (
  -- the call that exceeds the bytes is the last one
  select id, sum(size) over (order by place rows between unbounded preceding and 1 preceding) as before from picked
)
update svc_catalog.svc_action_log call
set status = 'processing', lease_holder = $3, lease_until = now() + make_interval(secs => $4::int)
from sized where call.id = sized.id and (before is null or before < $5::bigint)
returning call.id::text, action_name, input_payload::text, request_headers::text, session_variables::text, tries::text`;

// The lease holder is the only condition: one on the status would make the planner use the index of all waiting calls.
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

const MAX_REMOVED = 10_000;
const REMOVE_OLDER = `
delete from svc_catalog.svc_action_log where id in (
  select id from svc_catalog.svc_action_log
  where status in ('completed', 'error') and response_received_at < now() - make_interval(secs => $1::int) limit ${MAX_REMOVED}
) returning 1`;

const STATUS = { completed: 'completed', failed: 'error', retry: 'created' } as const;

/** @param database open metadata database with the current catalog version */
export function createActionLog(database: Source): ActionLog {
  const ids = async (text: string, values: readonly string[]): Promise<readonly string[]> =>
    (await database.query(text, values, statementDeadlineByIndex())).rows.flatMap(([id]) => (id == null ? [] : [id]));
  return {
    async write({ action, input, headers, sessionVariables }) {
      // Not random() of the database: sessions may be equal, for example without authentication, so ids must not be guessable.
      const [id = ''] = await ids(WRITE, [randomUUID(), action, printJson(input), printJson(headers), printed(sessionVariables)]);
      return id;
    },
    async read(action, id, session) {
      const [row] = (await database.query(READ, [id, action, session === null ? null : printed(session)], statementDeadline())).rows;
      if (row === undefined) return null;
      const [found = '', createdAt = '', response = null, errors = null] = row;
      return { id: found ?? '', createdAt: createdAt ?? '', response, errors };
    },
    async state(action, id, session) {
      const [row] = (await database.query(STATE, [id, action, session === null ? null : printed(session)], statementDeadline())).rows;
      return row === undefined ? null : { id: row[0] ?? '', isDone: row[1] === 'true' };
    },
    async pending() {
      const { rows } = await database.query(PENDING, [], statementDeadline());
      return Number(rows[0]?.[0] ?? 0);
    },
    async stillWaiting(of) {
      return new Set(await ids(STILL_WAITING, [JSON.stringify(of)]));
    },
    store: callStore(database, ids),
    async clear(action) {
      await database.query(CLEAR, [action], statementDeadline());
    },
    async removeOlder(seconds) {
      return (await database.query(REMOVE_OLDER, [String(seconds)], statementDeadline())).rows.length;
    },
  };
}

function callStore(database: Source, ids: (text: string, values: readonly string[]) => Promise<readonly string[]>): CallStore {
  return {
    async fetch({ lease, limit, queues, bytes = Number.MAX_SAFE_INTEGER }) {
      const wanted = printJson(queues.map((queue) => ({ name: queue.name, limit: queue.limit })));
      const { rows } = await database.query(
        FETCH,
        [wanted, String(limit), lease.holder, String(lease.seconds), String(bytes)],
        statementDeadlineByIndex(),
      );
      return rows.map(dueCall);
    },
    renew: (lease, of) => ids(RENEW, [JSON.stringify(of), lease.holder, String(lease.seconds)]),
    async release(lease, of) {
      await database.query(RELEASE, [JSON.stringify(of), lease.holder], statementDeadlineByIndex());
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
  };
}

function printed(variables: ReadonlyMap<string, string>): string {
  return printJson(Object.fromEntries(variables));
}

function dueCall([id, queue, input, headers, session, tries]: readonly (string | null)[]): DueCall {
  return {
    id: id ?? '',
    queue: queue ?? '',
    input: parsedObject(input ?? null),
    headers: textsOf(headers ?? null),
    sessionVariables: new Map(Object.entries(textsOf(session ?? null))),
    tries: Number(tries),
    size: input?.length ?? 0,
  };
}

function parsedObject(text: string | null): JsonObject {
  return objectOf(text === null ? null : parseJson(text));
}

function textsOf(text: string | null): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parsedObject(text)).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}
