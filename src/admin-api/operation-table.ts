import type { Backend } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { parseFailed } from '../metadata/codec.ts';
import { at, type Path } from '../util/path.ts';
import type { OperationEntry } from '../metadata-api/operation.ts';
import { operationGroups } from './all-operations.ts';
import { isOfOtherKind, kindOfType } from './not-supported.ts';

/** Operations by their `operationKey`. */
export type OperationTable = ReadonlyMap<string, OperationEntry>;

/** Returns the key of an operation: its type, and the version of its arguments if that is 2. */
export function operationKey(type: string, version: 1 | 2): string {
  return version === 1 ? type : `${type}:${version}`;
}

/** Returns every operation of `/v1/metadata`. */
export function operationTable(backends: readonly Backend[]): OperationTable {
  const table = new Map<string, OperationEntry>();
  for (const entry of operationGroups.flatMap((group) => group(backends))) {
    const key = operationKey(entry.type, entry.version);
    if (table.has(key)) throw new Error(`two operations are called ${key}`);
    table.set(key, entry);
  }
  return table;
}

/** @throws SvcError `parse-failed` for a type that does not exist, `not-supported` for one that exists for another kind */
export function findOperation(table: OperationTable, backends: readonly Backend[], type: string, path: Path): OperationEntry {
  const entry = table.get(type);
  if (entry !== undefined) return entry;
  const names = [...table.values()].map(({ unprefixed }) => unprefixed);
  if (isOfOtherKind(type, names, backends))
    throw new SvcError('not-supported', `the metadata command "${type}" is not supported by this version of the service`, {
      path: at(path, 'args'),
    });
  const hint = /(?:^|_)run_sql$/.test(type) ? '; POST /v2/query takes SQL' : '';
  const cut = type.indexOf('_');
  const prefix = cut < 0 ? type : type.slice(0, cut);
  const kind = kindOfType(type, backends);
  if (cut < 0 || kind === undefined) {
    throw parseFailed(`unknown metadata command "${type}"; "${prefix}" was not recognized as a valid backend name${hint}`, path);
  }
  throw parseFailed(`unknown metadata command "${type.slice(cut + 1)}" for backend ${kind}${hint}`, path);
}
