/** Unknown keys of an object, split into parts that can be listed and dropped individually. */
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import type { UnknownKey, WithUnknownKeys } from './unknown-keys.ts';

export interface UnknownPart {
  /** Path from the object that preserves it: `event_triggers`, `configuration.custom_nam`. */
  readonly key: string;
  /** Name of an entry of a list, otherwise the key. */
  readonly name: string;
  readonly json: Json;
  readonly problem: string;
}

/** Prints the path of a key within the object that preserves it. */
function printedKey({ path }: UnknownKey): string {
  return path.map((step) => (typeof step === 'string' ? step : String(step.index))).join('.');
}

function nameOf(entry: Json): string | undefined {
  const name = isJsonObject(entry) && Object.hasOwn(entry, 'name') ? entry['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Definitions of features that the service does not have are lists of named objects. */
function entriesOf({ value }: UnknownKey): readonly Json[] | undefined {
  return isJsonArray(value) && value.length > 0 && value.every((entry) => nameOf(entry) !== undefined) ? value : undefined;
}

/** Lists the unknown keys; each named entry of a list is a part. */
export function unknownParts({ unknownKeys = [] }: WithUnknownKeys): readonly UnknownPart[] {
  return unknownKeys.flatMap((unknown) => {
    const { value, problem } = unknown;
    const key = printedKey(unknown);
    return (entriesOf(unknown) ?? [value]).map((json) => ({ key, name: nameOf(json) ?? key, json, problem }));
  });
}

/** Removes some parts of an object's unknown keys; returns the same object if it has none of them. */
export function withoutUnknownParts<T extends WithUnknownKeys>(object: T, isGone: (key: string, name: string) => boolean): T {
  const { unknownKeys } = object;
  if (unknownKeys === undefined) return object;
  const remaining = unknownKeys.flatMap((unknown) => {
    const key = printedKey(unknown);
    const entries = entriesOf(unknown);
    if (entries === undefined) return isGone(key, nameOf(unknown.value) ?? key) ? [] : [unknown];
    const value = entries.filter((entry) => !isGone(key, nameOf(entry) ?? key));
    return value.length === 0 ? [] : value.length === entries.length ? [unknown] : [{ ...unknown, value }];
  });
  const same = remaining.length === unknownKeys.length && remaining.every((unknown, i) => unknown === unknownKeys[i]);
  return same ? object : { ...object, unknownKeys: remaining.length === 0 ? undefined : remaining };
}

/** Changes the values of an object's own unknown keys; returns the same object if none changes. */
export function mapUnknownKeys<T extends WithUnknownKeys>(object: T, change: (key: string, value: Json) => Json): T {
  const { unknownKeys } = object;
  if (unknownKeys === undefined) return object;
  const next = unknownKeys.map((unknown) => {
    const [key] = unknown.path;
    const value = unknown.path.length === 1 && typeof key === 'string' ? change(key, unknown.value) : unknown.value;
    return value === unknown.value ? unknown : { ...unknown, value };
  });
  return next.every((unknown, i) => unknown === unknownKeys[i]) ? object : { ...object, unknownKeys: next };
}
