/** What event triggers are made of in a database. */
import { identifier, type Sql, sql } from '../../../sql/fragment.ts';
import type { CapturedOperationName } from '../../../metadata/event-trigger.ts';

/** A database of the server: sources that are connected to others share it. */
export const SCHEMA = 'svc_catalog';
/** Of triggers, before the name of the event trigger. */
export const PREFIX = 'notify_svc_';

export const OPERATION_NAMES = { insert: 'INSERT', update: 'UPDATE', delete: 'DELETE' } as const satisfies Record<
  CapturedOperationName,
  string
>;

/** Of the trigger for an operation. */
export function captureName(trigger: string, operation: CapturedOperationName): string {
  return `${PREFIX}${trigger}_${OPERATION_NAMES[operation]}`;
}

export function inCatalog(name: string): Sql {
  return sql`${identifier(SCHEMA)}.${identifier(name)}`;
}

/** Now, in UTC, as the tables of events have times. */
export const NOW = 'utc_timestamp(6)';
