import type { Backend } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { parseFailed } from '../metadata/codec.ts';
import { at } from '../util/path.ts';
import { type Bulk, bulkModes, CONCURRENT_BULK, QUERY_BULK } from '../metadata-api/bulks.ts';
import { dataOperations } from '../data-api/data-operations.ts';
import type { OperationEntry } from '../metadata-api/operation.ts';
import { isOfOtherKind } from './not-supported.ts';
import { operationTable } from './operation-table.ts';
import type { Language } from '../metadata-api/request.ts';
import { runSqlOfAnyKind, runSqlOperations } from '../sql-api/run-sql.ts';

export const SCHEMA_BULKS: readonly Bulk[] = [QUERY_BULK, CONCURRENT_BULK];

/** Returns `run_sql` of every kind and the data operations, by type. */
export function schemaEntries(backends: readonly Backend[]): ReadonlyMap<string, OperationEntry> {
  const entries = new Map<string, OperationEntry>();
  for (const entry of [...runSqlOperations(backends), ...runSqlOfAnyKind(backends), ...dataOperations(backends)])
    entries.set(entry.type, entry);
  return entries;
}

/** Operations of `/v2/query`. */
export function schemaLanguage(backends: readonly Backend[]): Language {
  const entries = schemaEntries(backends);
  return {
    bulks: bulkModes(SCHEMA_BULKS),
    find(type, _version, path) {
      const entry = entries.get(type);
      if (entry === undefined && isOfOtherKind(type, ['run_sql'], backends)) {
        const message = `the query command "${type}" is not supported by this version of the service`;
        throw new SvcError('not-supported', message, { path: at(path, 'args') });
      }
      if (entry === undefined) {
        const remedies = operationTable(backends).has(type) ? ['Send this operation to POST /v1/metadata.'] : [];
        throw parseFailed(`unknown query command "${type}"`, at(path, 'type')).withRemedies(remedies);
      }
      return entry;
    },
    argsInParsePath: true,
    namesOperationInErrors: false,
    idleKeys: [],
  };
}
