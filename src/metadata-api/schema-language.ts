import type { Backend } from '../backend/backend.ts';
import { parseFailed } from '../metadata/codec.ts';
import { at } from '../util/path.ts';
import { dataOperations } from './legacy/data-operations.ts';
import type { OperationEntry } from './operation.ts';
import type { Language } from './request.ts';
import { runSqlOperations } from './run-sql/run-sql.ts';

/** What `/v2/query` understands: SQL of every kind of source, and data operations. */
export function schemaLanguage(backends: readonly Backend[]): Language {
  const entries = new Map<string, OperationEntry>();
  for (const entry of [...runSqlOperations(backends), ...dataOperations(backends)]) entries.set(entry.type, entry);
  const unprefixed = entries.get('pg_run_sql');
  if (unprefixed !== undefined) entries.set('run_sql', unprefixed);
  return {
    bulks: new Map([
      ['bulk', 'stop'],
      ['concurrent_bulk', 'concurrent'],
    ]),
    find(type, _version, path) {
      const entry = entries.get(type);
      if (entry === undefined) throw parseFailed(`unknown query command "${type}"`, at(path, 'type'));
      return entry;
    },
    argsInParsePath: true,
    namesOperationInErrors: false,
  };
}
