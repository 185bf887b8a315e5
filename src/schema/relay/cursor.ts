/** Cursors of the request: base64 of a JSON object with the value of each key of the order. */
import type { CatalogType } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { TypeSystem } from '../../backend/type-system.ts';
import type { CursorKey } from '../../ir/select.ts';
import type { Operand } from '../../ir/value.ts';
import type { InputValue } from '../../graphql-engine/types.ts';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { valueAt } from '../../util/json-path.ts';
import type { Path } from '../../util/path.ts';
import { invalid } from '../fields/input.ts';

/**
 * Reads the values of a cursor; null for the cursor of an empty page.
 * @throws SvcError validation-failed if it is no cursor, or that of another order
 */
export function cursorValues(input: InputValue, keys: readonly CursorKey[], types: TypeSystem): readonly (Operand | null)[] | null {
  const { text, json, part } = input.opaque();
  if (text === '') return null;
  if (!isJsonObject(json)) throw invalid('invalid cursor', input.path);
  const belongs = keys.every(({ path }) => valueAt(json, path) !== undefined);
  if (!belongs || leavesOf(json) !== keys.length) throw invalid('the cursor does not belong to this order_by', input.path);
  return keys.map(({ path, type }): Operand | null => {
    if (valueAt(json, path) === null) return null;
    const value = part(JSON.stringify(path), (cursor, at) => checkedValue(valueAt(cursor, path), type, types, at));
    return { value, type, list: false };
  });
}

/** Every value belongs to a key, so that no key is read that the order does not name. */
function leavesOf(json: Json): number {
  if (!isJsonObject(json)) return 1;
  return Object.values(json).reduce((sum: number, value) => sum + leavesOf(value), 0);
}

/** Texts are left to the type in the database. */
function checkedValue(json: Json | undefined, type: CatalogType, types: TypeSystem, at: Path): Json {
  if (typeof json === 'string') return json;
  if (json === undefined || isJsonObject(json) || isJsonArray(json) || type.array) throw invalid('invalid cursor', at);
  try {
    return types.scalar(type).check(json, at);
  } catch (error) {
    throw error instanceof SvcError ? invalid('invalid cursor', at) : error;
  }
}
