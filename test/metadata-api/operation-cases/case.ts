/** What is tried of an operation: arguments that it takes, and two ways in which it refuses. */
import type { Json, JsonObject } from '../../../src/util/json.ts';

export interface Failure {
  readonly args: Json;
  readonly code: string;
  readonly path: string;
  /** Beside `type` and `args`. */
  readonly extra?: JsonObject;
  /** Who asks, where it is not an administrator. */
  readonly role?: string;
  /** The arguments are found to be wrong only when the operation runs; matters for paths on `/v1/query`. */
  readonly late?: true;
}

export interface Case {
  readonly args: Json;
  /** The metadata that it starts from, where that is not the base. */
  readonly from?: JsonObject;
  /** 2: the second argument structure. */
  readonly version?: 2;
  /** It makes a version, but the document is the same. */
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
