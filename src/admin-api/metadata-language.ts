import type { Backend } from '../backend/backend.ts';
import { parseFailed } from '../metadata/codec.ts';
import { at } from '../util/path.ts';
import { BULK_ATOMIC, BULK_KEEP_GOING, type Bulk, bulkModes, METADATA_BULK } from '../metadata-api/bulks.ts';
import { findOperation, operationKey, type OperationTable } from './operation-table.ts';
import type { Language } from '../metadata-api/request.ts';

export const METADATA_BULKS: readonly Bulk[] = [METADATA_BULK, BULK_KEEP_GOING, BULK_ATOMIC];

/** Operations of `/v1/metadata`. */
export function metadataLanguage(table: OperationTable, backends: readonly Backend[]): Language {
  return {
    bulks: bulkModes(METADATA_BULKS),
    find(type, version, path) {
      const entry = findOperation(table, backends, type, path);
      if (version === 1) return entry;
      const second = table.get(operationKey(type, version));
      if (second === undefined) throw parseFailed(`the metadata command "${type}" has no version 2`, at(path, 'version'));
      return second;
    },
    argsInParsePath: true,
    namesOperationInErrors: true,
    idleKeys: [],
  };
}
