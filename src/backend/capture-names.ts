/** Names of the parts of event triggers in databases. */
import { CAPTURED_OPERATIONS, type CapturedOperationName, type EventTrigger } from '../metadata/event-trigger.ts';
import { identifier, type Sql, sql } from '../sql/fragment.ts';

const SCHEMA = 'svc_catalog';
/** Prefix of functions and triggers, before the name of the event trigger. */
export const CAPTURE_PREFIX = 'notify_svc_';

export const OPERATION_NAMES = { insert: 'INSERT', update: 'UPDATE', delete: 'DELETE' } as const satisfies Record<
  CapturedOperationName,
  string
>;

/** Name of the function or trigger that captures an operation. */
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

/** Qualified name of an object in the schema of events. */
export function inCatalog(name: string): Sql {
  return sql`${identifier(SCHEMA)}.${identifier(name)}`;
}
