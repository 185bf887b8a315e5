/** What event triggers are made of in a database. */
import { identifier, type Sql, sql } from '../../../sql/fragment.ts';
import type { CapturedOperationName } from '../../../metadata/event-trigger.ts';

const SCHEMA = 'svc_catalog';
/** On which listeners hear that there are new events. */
export const CHANNEL = 'svc_event_log';
/** Of functions and triggers, before the name of the event trigger. */
const PREFIX = 'notify_svc_';

export const OPERATION_NAMES = { insert: 'INSERT', update: 'UPDATE', delete: 'DELETE' } as const satisfies Record<
  CapturedOperationName,
  string
>;

/** Of the function for an operation, and of the trigger that calls it. */
export function captureName(trigger: string, operation: CapturedOperationName): string {
  return `${PREFIX}${trigger}_${OPERATION_NAMES[operation]}`;
}

/** An object of the schema that events are kept in. */
export function inCatalog(name: string): Sql {
  return sql`${identifier(SCHEMA)}.${identifier(name)}`;
}

/** Now, in UTC, as the tables of events have times. */
export const NOW = "(now() at time zone 'utc')";
/** Neither delivered nor given up. */
export const PENDING = 'not delivered and not error and not archived';
/** When an event is to be delivered, or its lease ends: what the indexes of the queue are sorted by. */
export const DUE = 'coalesce(greatest(lease_until, next_retry_at), created_at)';
