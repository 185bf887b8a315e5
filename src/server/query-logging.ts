import type { JsonObject } from '../util/json.ts';

export interface QueryLogging {
  /** If false, the log has no queries. */
  readonly enabled: boolean;
  readonly maskedVariables: ReadonlySet<string>;
  /** If true, successful requests are logged with the name of their operation only. */
  readonly onlyOnError: boolean;
  /** If true, administration operations are logged with their arguments. */
  readonly administration: boolean;
}

/** A GraphQL request or an operation of the administration. */
export interface LoggedQuery {
  readonly whole: JsonObject;
  /** The name alone; `null` if there is none. */
  readonly name: JsonObject | null;
}
