/** What the parts of event triggers are called in any database. */
import type { CapturedOperationName } from '../metadata/event-trigger.ts';
import { identifier, type Sql, sql } from '../sql/fragment.ts';

const SCHEMA = 'svc_catalog';
/** Of functions and triggers, before the name of the event trigger. */
export const CAPTURE_PREFIX = 'notify_svc_';

export const OPERATION_NAMES = { insert: 'INSERT', update: 'UPDATE', delete: 'DELETE' } as const satisfies Record<
  CapturedOperationName,
  string
>;

/** Of what captures an operation. */
export function captureName(trigger: string, operation: CapturedOperationName): string {
  return `${CAPTURE_PREFIX}${trigger}_${OPERATION_NAMES[operation]}`;
}

/** An object of the schema that events are kept in. */
export function inCatalog(name: string): Sql {
  return sql`${identifier(SCHEMA)}.${identifier(name)}`;
}
