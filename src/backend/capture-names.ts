/** What the parts of event triggers are called in any database. */
import { CAPTURED_OPERATIONS, type CapturedOperationName, type EventTrigger } from '../metadata/event-trigger.ts';
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

/** Names of all captures that these definitions need. */
export function captureNames(definitions: readonly EventTrigger[]): ReadonlySet<string> {
  const names = definitions.flatMap((each) =>
    CAPTURED_OPERATIONS.filter((operation) => each[operation] !== undefined).map((operation) => captureName(each.name, operation)),
  );
  return new Set(names);
}

/** An object of the schema that events are kept in. */
export function inCatalog(name: string): Sql {
  return sql`${identifier(SCHEMA)}.${identifier(name)}`;
}
