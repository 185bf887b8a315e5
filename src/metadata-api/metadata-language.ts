import type { Backend } from '../backend/backend.ts';
import { parseFailed } from '../metadata/codec.ts';
import { at } from '../util/path.ts';
import { findOperation, operationKey, type OperationTable } from './operation-table.ts';
import type { Language } from './request.ts';

/** What `/v1/metadata` understands. */
export function metadataLanguage(table: OperationTable, backends: readonly Backend[]): Language {
  return {
    bulks: new Map([
      ['bulk', 'stop'],
      ['bulk_keep_going', 'keep-going'],
      ['bulk_atomic', 'atomic'],
    ]),
    find(type, version, path) {
      const entry = findOperation(table, backends, type, path);
      if (version === 1) return entry;
      const second = table.get(operationKey(type, version));
      if (second === undefined) throw parseFailed(`the metadata command "${type}" has no version 2`, at(path, 'version'));
      return second;
    },
    argsInParsePath: true,
    namesOperationInErrors: true,
  };
}
