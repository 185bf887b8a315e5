import type { JsonObject } from '../util/json.ts';

export interface QueryLogging {
  /** Whether there are queries in the log at all. */
  readonly enabled: boolean;
  readonly maskedVariables: ReadonlySet<string>;
  /** Of requests that succeed, only the name of the operation is told. */
  readonly onlyOnError: boolean;
  /** Whether operations of the administration are told with their arguments. */
  readonly administration: boolean;
}

/** A GraphQL request or an operation of the administration. */
export interface LoggedQuery {
  readonly whole: JsonObject;
  /** Its name alone; null when it has none. */
  readonly name: JsonObject | null;
}
