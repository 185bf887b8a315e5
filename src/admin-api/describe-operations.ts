/** Describes the operations of the three endpoints for documentation. */
import type { Backend } from '../backend/backend.ts';
import type { FieldDescription } from '../metadata/codec.ts';
import type { Json } from '../util/json.ts';
import type { Bulk } from '../metadata-api/bulks.ts';
import { LEGACY_BULKS, legacyEntries, legacyTypes } from './query-language.ts';
import { METADATA_BULKS } from './metadata-language.ts';
import type { OperationEntry } from '../metadata-api/operation.ts';
import { INVALID_ARGUMENTS, type OperationErrors } from '../metadata-api/operation-error.ts';
import { operationTable } from './operation-table.ts';
import { SCHEMA_BULKS, schemaEntries } from './schema-language.ts';

export interface OperationDescription {
  readonly type: string;
  readonly version: 1 | 2;
  /** `undefined` if it depends on the elements. */
  readonly changes: OperationEntry['changes'] | undefined;
  readonly summary: string;
  readonly details?: string;
  readonly example: Json;
  readonly errors: OperationErrors;
  /** `undefined` if the arguments are not an object with fixed keys. */
  readonly arguments: readonly FieldDescription[] | undefined;
}

/** Returns every operation of `/v1/metadata`, sorted by type. */
export function describeOperations(backends: readonly Backend[]): readonly OperationDescription[] {
  return described(
    [...operationTable(backends).values()].map((entry) => [entry.type, entry]),
    METADATA_BULKS,
  );
}

/** Returns every operation of `/v2/query`, sorted by type. */
export function describeSchemaOperations(backends: readonly Backend[]): readonly OperationDescription[] {
  return described([...schemaEntries(backends)], SCHEMA_BULKS);
}

/** Returns the operations of `/v1/query` that `/v1/metadata` does not have, sorted by type. */
export function describeLegacyOperations(backends: readonly Backend[]): readonly OperationDescription[] {
  return described([...legacyEntries(backends)], LEGACY_BULKS);
}

/** Returns the other operations of `/v1/query`: their types there and on `/v1/metadata`, sorted by the former. */
export function renamedOperations(backends: readonly Backend[]): readonly (readonly [legacy: string, type: string])[] {
  const table = operationTable(backends);
  const own = legacyEntries(backends);
  return [...legacyTypes].filter(([legacy, type]) => table.has(type) && !own.has(legacy)).sort(([a], [b]) => (a < b ? -1 : 1));
}

function described(entries: readonly (readonly [type: string, entry: OperationEntry])[], bulks: readonly Bulk[]): OperationDescription[] {
  const operations = entries.map(([type, entry]): OperationDescription => {
    const { version, changes, documentation, errors, arguments: args } = entry;
    return { type, version, changes, ...documentation, errors, arguments: args };
  });
  const bulkDescriptions = bulks.map(({ type, documentation, errors }): OperationDescription => {
    return { type, version: 1, changes: undefined, ...documentation, errors: [INVALID_ARGUMENTS, ...errors], arguments: undefined };
  });
  return [...operations, ...bulkDescriptions].sort((a, b) => (a.type === b.type ? a.version - b.version : a.type < b.type ? -1 : 1));
}
