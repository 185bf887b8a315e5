import type { Backend } from '../backend/backend.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import type { OperationEntry, OperationGroup } from '../metadata-api/operation.ts';
import { countOperation } from './count.ts';
import { deleteOperation } from './delete.ts';
import { insertOperation } from './insert.ts';
import { selectOperation } from './select.ts';
import { updateOperation } from './update.ts';

const GROUPS: readonly OperationGroup[] = [selectOperation, insertOperation, updateOperation, deleteOperation, countOperation];

/** Types of `/v1/query` and `/v2/query` that read or write rows. */
const DATA_OPERATIONS: ReadonlySet<string> = new Set(['select', 'insert', 'update', 'delete', 'count']);
const BULKS: ReadonlySet<string> = new Set(['bulk', 'concurrent_bulk']);

export function dataOperations(backends: readonly Backend[]): readonly OperationEntry[] {
  return GROUPS.flatMap((group) => group(backends));
}

/** Returns true for data operations and for bulks of them only, which the service may be configured to accept from all roles. */
export function isOpenToRoles(body: Json): boolean {
  if (!isJsonObject(body)) return false;
  const { type, args } = body;
  if (typeof type !== 'string') return false;
  return DATA_OPERATIONS.has(type) || (BULKS.has(type) && isJsonArray(args) && args.every(isOpenToRoles));
}

/** Returns the number of operations of a request, including those of nested bulks. */
export function countOperations(body: Json): number {
  if (!isJsonObject(body)) return 1;
  const { type, args } = body;
  if (typeof type !== 'string' || !BULKS.has(type) || !isJsonArray(args)) return 1;
  return args.reduce<number>((sum, item) => sum + countOperations(item), 1);
}
