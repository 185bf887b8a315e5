import type { Backend } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { parseFailed } from '../metadata/codec.ts';
import { at, type Path } from '../util/path.ts';
import type { OperationEntry } from '../metadata-api/operation.ts';
import { operationGroups } from './all-operations.ts';
import { isAwaited, kindOfType } from './not-supported.ts';

/** By `operationKey`. */
export type OperationTable = ReadonlyMap<string, OperationEntry>;

/** What an operation is found by: its type, and the version of its arguments where there are two. */
export function operationKey(type: string, version: 1 | 2): string {
  return version === 1 ? type : `${type}:${version}`;
}

/** Every operation of `/v1/metadata`. */
export function operationTable(backends: readonly Backend[]): OperationTable {
  const table = new Map<string, OperationEntry>();
  for (const entry of operationGroups.flatMap((group) => group(backends))) {
    const key = operationKey(entry.type, entry.version);
    if (table.has(key)) throw new Error(`two operations are called ${key}`);
    table.set(key, entry);
  }
  return table;
}

/**
 * @throws SvcError `parse-failed` for a type that does not exist, `not-supported` for one that
 * exists in the interface but not yet here
 */
export function findOperation(table: OperationTable, backends: readonly Backend[], type: string, path: Path): OperationEntry {
  const entry = table.get(type);
  if (entry !== undefined) return entry;
  const names = [...table.values()].map(({ unprefixed }) => unprefixed);
  if (isAwaited(type, names, backends))
    throw new SvcError('not-supported', `the metadata command "${type}" is not supported by this version of the service`, {
      path: at(path, 'args'),
    });
  const elsewhere = /(?:^|_)run_sql$/.test(type) ? '; POST /v2/query takes SQL' : '';
  const cut = type.indexOf('_');
  const prefix = cut < 0 ? type : type.slice(0, cut);
  const kind = kindOfType(type, backends);
  if (cut < 0 || kind === undefined) {
    throw parseFailed(`unknown metadata command "${type}"; "${prefix}" was not recognized as a valid backend name${elsewhere}`, path);
  }
  throw parseFailed(`unknown metadata command "${type.slice(cut + 1)}" for backend ${kind}${elsewhere}`, path);
}
