import { JsonNumber } from '../util/json.ts';
import type { Cooperative } from '../util/cooperative.ts';

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function sharedMap(before: ReadonlyMap<unknown, unknown>, after: ReadonlyMap<unknown, unknown>): ReadonlyMap<unknown, unknown> {
  let same = before.size === after.size;
  const out = new Map<unknown, unknown>();
  for (const [key, value] of after) {
    const known = before.get(key);
    const item = share(known, value);
    same &&= item === known && before.has(key);
    out.set(key, item);
  }
  return same ? before : out;
}

function sharedList(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const out = after.map((value, index) => share(before[index], value));
  return before.length === after.length && out.every((item, index) => item === before[index]) ? before : out;
}

function sharedObject(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(after);
  let same = Object.keys(before).length === keys.length;
  const entries: [string, unknown][] = [];
  for (const key of keys) {
    const known = Object.hasOwn(before, key) ? before[key] : undefined;
    const item = share(known, after[key]);
    same &&= item === known && Object.hasOwn(before, key);
    entries.push([key, item]);
  }
  return same ? before : Object.fromEntries(entries);
}

function share(before: unknown, after: unknown): unknown {
  if (before === after || before === undefined) return after;
  if (before instanceof Map) return after instanceof Map ? sharedMap(before, after) : after;
  if (Array.isArray(before)) return Array.isArray(after) ? sharedList(before, after) : after;
  if (before instanceof JsonNumber) return after instanceof JsonNumber && after.text === before.text ? before : after;
  return isPlain(before) && isPlain(after) ? sharedObject(before, after) : after;
}

/**
 * Returns a value equal to `after` in which every part that equals the part of `before` with the same path is that very object, so that a
 * replaced document costs as much as its changes. For plain data and maps only.
 */
export function shareUnchanged<T>(before: T, after: T): T {
  return share(before, after) as T;
}

/** Levels of maps and objects that are compared cooperatively; deeper values are compared without interruption. */
const LEVELS = 4;

/** Does the work of `shareUnchanged` cooperatively, for large values such as a whole document or catalog. */
export function* shareCooperatively<T>(before: T, after: T): Cooperative<T> {
  return (yield* shareParts(before, after, LEVELS)) as T;
}

/** Compares the parts of a level as they are read, so that no step takes longer for wide levels. */
function* shareParts(before: unknown, after: unknown, levels: number): Cooperative<unknown> {
  if (levels === 0 || before === undefined || before === after) return share(before, after);
  if (before instanceof Map && after instanceof Map) {
    let same = before.size === after.size;
    const out = new Map<unknown, unknown>();
    for (const [key, value] of after) {
      const known: unknown = before.get(key);
      const item = yield* shareParts(known, value, levels - 1);
      same &&= item === known && before.has(key);
      out.set(key, item);
      yield;
    }
    return same ? before : out;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    let same = before.length === after.length;
    const out: unknown[] = [];
    for (const [index, value] of after.entries()) {
      const item = yield* shareParts(before[index], value, levels - 1);
      same &&= item === before[index];
      out.push(item);
      yield;
    }
    return same ? before : out;
  }
  if (isPlain(before) && isPlain(after)) {
    const keys = Object.keys(after);
    let same = Object.keys(before).length === keys.length;
    const entries: [string, unknown][] = [];
    for (const key of keys) {
      const known = Object.hasOwn(before, key) ? before[key] : undefined;
      const item = yield* shareParts(known, after[key], levels - 1);
      same &&= item === known && Object.hasOwn(before, key);
      entries.push([key, item]);
    }
    return same ? before : Object.fromEntries(entries);
  }
  return share(before, after);
}
