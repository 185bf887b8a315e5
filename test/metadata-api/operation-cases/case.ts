/** The case of an operation: valid arguments, and two failures. */
import type { Json, JsonObject } from '../../../src/util/json.ts';

export interface Failure {
  readonly args: Json;
  readonly code: string;
  readonly path: string;
  /** Keys beside `type` and `args`. */
  readonly extra?: JsonObject;
  /** The session, if it is not an administrator's. */
  readonly role?: string;
  /** The arguments are rejected only when the operation runs, which changes the paths on `/v1/query`. */
  readonly late?: true;
}

export interface Case {
  readonly args: Json;
  /** The initial metadata if it is not the base. */
  readonly from?: JsonObject;
  /** 2: the second argument structure. */
  readonly version?: 2;
  /** It creates a version with the same document. */
  readonly keepsMetadata?: true;
  readonly fails: readonly [Failure, Failure, ...Failure[]];
}

export const failure = (args: Json, code: string, path: string): Failure => ({ args, code, path });
export const stale = (args: Json): Failure => ({ args, code: 'conflict', path: '$', extra: { resource_version: 1 } });
export const NO_VERSION: Failure = { args: {}, code: 'parse-failed', path: '$.resource_version', extra: { resource_version: 'x' } };

/** A relationship to a table of the default source. */
export const toSource = (type: 'object' | 'array', table: string, mapping: JsonObject): JsonObject => ({
  to_source: { relationship_type: type, source: 'default', table, field_mapping: mapping },
});
