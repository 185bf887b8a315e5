/** What is kept of an object without being understood, in the parts that are listed and dropped one by one. */
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import type { UnknownKey, WithUnknownKeys } from './unknown-keys.ts';

export interface UnknownPart {
  /** From the object that keeps it: `event_triggers`, `configuration.custom_nam`. */
  readonly key: string;
  /** Of an entry of a list with names; the key itself for all else. */
  readonly name: string;
  readonly json: Json;
  readonly complaint: string;
}

/** The place of a key inside the object that keeps it. */
function printedKey({ path }: UnknownKey): string {
  return path.map((step) => (typeof step === 'string' ? step : String(step.index))).join('.');
}

function nameOf(entry: Json): string | undefined {
  const name = isJsonObject(entry) && Object.hasOwn(entry, 'name') ? entry['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Definitions of features that the service does not have come as lists of objects with names. */
function entriesOf({ value }: UnknownKey): readonly Json[] | undefined {
  return isJsonArray(value) && value.length > 0 && value.every((entry) => nameOf(entry) !== undefined) ? value : undefined;
}

/** What stands under keys that nobody knows, each entry of a list by itself. */
export function unknownParts({ unknownKeys = [] }: WithUnknownKeys): readonly UnknownPart[] {
  return unknownKeys.flatMap((unknown) => {
    const { value, complaint } = unknown;
    const key = printedKey(unknown);
    return (entriesOf(unknown) ?? [value]).map((json) => ({ key, name: nameOf(json) ?? key, json, complaint }));
  });
}

/** The object without some parts of what it keeps; the same one when none of them is there. */
export function withoutUnknownParts<T extends WithUnknownKeys>(object: T, isGone: (key: string, name: string) => boolean): T {
  const { unknownKeys } = object;
  if (unknownKeys === undefined) return object;
  const left = unknownKeys.flatMap((unknown) => {
    const key = printedKey(unknown);
    const entries = entriesOf(unknown);
    if (entries === undefined) return isGone(key, nameOf(unknown.value) ?? key) ? [] : [unknown];
    const value = entries.filter((entry) => !isGone(key, nameOf(entry) ?? key));
    return value.length === 0 ? [] : value.length === entries.length ? [unknown] : [{ ...unknown, value }];
  });
  const same = left.length === unknownKeys.length && left.every((unknown, i) => unknown === unknownKeys[i]);
  return same ? object : { ...object, unknownKeys: left.length === 0 ? undefined : left };
}

/** The object with other values for what it keeps under keys of its own; the same one when none differs. */
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
