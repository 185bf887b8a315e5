/** Compares results without the order of lists, except where the query determines it. */
import { isJsonArray, isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';
import type { FieldOrder } from './list-order.ts';

/**
 * Returns the received value in the order of the expected one: equal items of an unordered list at their expected places, the others in the
 * places that are left. Both values are equal, except for their lists' order, if and only if the result equals `expected`.
 * @param order `undefined` for a value, in which each list has its order
 * @param isInOrdered true for a member of an object that belongs to a field with `order_by`
 */
export function inOrderOf(expected: Json, received: Json, order: FieldOrder | undefined, isInOrdered = false): Json {
  if (order === undefined) return received;
  const isOrdered = order.isOrdered || isInOrdered;
  if (isJsonArray(expected) && isJsonArray(received)) {
    const items = isOrdered ? received : matched(expected, received, order);
    return items.map((item, i) => inOrderOf(expected[i] ?? null, item, { ...order, isOrdered: false }));
  }
  if (!isJsonObject(expected) || !isJsonObject(received)) return received;
  const keys = [...new Set([...Object.keys(expected), ...Object.keys(received)])].filter((key) => Object.hasOwn(received, key));
  return Object.fromEntries(
    keys.map((key) => [key, inOrderOf(expected[key] ?? null, received[key] ?? null, order.fields.get(key), isOrdered)]),
  ) satisfies JsonObject;
}

function matched(expected: readonly Json[], received: readonly Json[], order: FieldOrder): readonly Json[] {
  const left = new Map<string, number[]>();
  for (const [i, item] of received.entries()) {
    const key = unordered(item, order);
    const same = left.get(key);
    if (same === undefined) left.set(key, [i]);
    else same.push(i);
  }
  const places = expected.map((item) => left.get(unordered(item, order))?.shift());
  const taken = new Set(places);
  const others = [...received.keys()].filter((i) => !taken.has(i));
  const filled = places.flatMap((i) => i ?? others.shift() ?? []);
  return [...filled, ...others].map((i) => received[i] as Json);
}

/** Returns a text that is equal for items that are equal without the order of their lists. */
function unordered(value: Json, order: FieldOrder | undefined, isOrdered = false): string {
  if (isJsonArray(value)) {
    const items = value.map((item) => unordered(item, order));
    return `[${(order === undefined || isOrdered ? items : items.sort()).join(',')}]`;
  }
  if (!isJsonObject(value)) return printJson(value);
  const members = Object.entries(value).map(([key, member]) => {
    const field = order?.fields.get(key);
    return `${JSON.stringify(key)}:${unordered(member, field, isOrdered || field?.isOrdered)}`;
  });
  return `{${members.sort().join(',')}}`;
}
