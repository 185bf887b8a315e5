/** The log of events and of the attempts to deliver them, on the statements of a kind. */
import type { Captures, EventFilter, Page } from '../../../backend/captures.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { type Json, printJson } from '../../../util/json.ts';
import { MAX_LISTED_BYTES } from '../../../sql/within-bytes.ts';

type EventLog = Pick<Captures, 'invoke' | 'redeliver' | 'redeliverAll' | 'list' | 'count' | 'summary' | 'invocations' | 'event'>;

/** A page of rows; `fitting` of `total` rows have fewer bytes than may be listed. */
interface ListedRows {
  readonly total: number;
  readonly fitting: number;
  read(): readonly Json[] | Promise<readonly Json[]>;
}

/** Statements of the log of a kind. */
export interface EventLogStatements extends Pick<EventLog, 'redeliver' | 'redeliverAll' | 'count' | 'summary'> {
  /** Returns whether a statement failed because the tables of events do not exist: the first event trigger creates them. */
  isMissing(error: unknown): boolean;
  /** @param payload JSON, as `session` and `traceContext` are, which may be null */
  invoke(trigger: Parameters<EventLog['invoke']>[0], payload: string, session: string | null, traceContext: string | null): Promise<string>;
  list(filter: EventFilter, page: Page, maxBytes: number): Promise<ListedRows>;
  invocations(of: { readonly trigger: string } | { readonly event: string }, page: Page, maxBytes: number): Promise<ListedRows>;
  event(id: string): Promise<Json | undefined>;
  hasRow(table: 'event_log' | 'event_invocation_logs', id: string): Promise<boolean>;
}

/** @param maxBytes maximum size of the rows of a list */
export function eventLogOf(statements: EventLogStatements, maxBytes = MAX_LISTED_BYTES): EventLog {
  const orNothing = <T>(nothing: T, task: () => Promise<T>): Promise<T> => unlessMissing(statements, nothing, task);
  const listed = (
    table: 'event_log' | 'event_invocation_logs',
    { after }: Page,
    list: () => Promise<ListedRows>,
  ): Promise<readonly Json[]> =>
    orNothing([], async () => {
      const { total, fitting, read } = await list();
      // A page after a deleted row would look like the end of the list.
      if (total === 0 && after !== undefined && !(await statements.hasRow(table, after)))
        throw new SvcError('not-exists', `the list has no row of the id "${after}"`);
      // An incomplete page would look like the last one.
      if (fitting < total)
        throw new SvcError('bad-request', `these ${total} rows have more than ${maxBytes} bytes: set the limit to at most ${fitting}`);
      return read();
    });
  const invocations = (of: Parameters<EventLogStatements['invocations']>[0], page: Page): Promise<readonly Json[]> =>
    listed('event_invocation_logs', page, () => statements.invocations(of, page, maxBytes));
  return {
    invoke: (trigger, payload, session, traceContext) =>
      statements.invoke(trigger, printJson(payload), nullable(session), nullable(traceContext)),
    redeliver: (id) => orNothing('missing', () => statements.redeliver(id)),
    redeliverAll: (filter, limit) => orNothing(0, () => statements.redeliverAll(filter, limit)),
    list: (filter, page) => listed('event_log', page, () => statements.list(filter, page, maxBytes)),
    count: (filter) => orNothing(0, () => statements.count(filter)),
    summary: (triggers, since) => orNothing(new Map(), () => statements.summary(triggers, since)),
    invocations: (trigger, page) => invocations({ trigger }, page),
    event: (id, page) =>
      orNothing(null, async () => {
        const event = await statements.event(id);
        return event === undefined ? null : { event, invocations: await invocations({ event: id }, page) };
      }),
  };
}

/** Returns the result of a task, or `nothing` if the tables of events do not exist. */
export async function unlessMissing<T>(
  { isMissing }: Pick<EventLogStatements, 'isMissing'>,
  nothing: T,
  task: () => Promise<T>,
): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (isMissing(error)) return nothing;
    throw error;
  }
}

function nullable(json: Json): string | null {
  return json === null ? null : printJson(json);
}

/** Conditions on an event `e` by its state. */
export const STATES: Readonly<Record<EventFilter['state'], string>> = {
  pending: '(not e.delivered and not e.error)',
  processed: '(e.delivered or e.error)',
  delivered: 'e.delivered',
  error: 'e.error',
  any: 'true',
};
