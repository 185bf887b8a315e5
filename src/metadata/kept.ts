/**
 * Keys that a codec does not know are errors in the arguments of an operation. In a document they
 * are kept beside the object that had them, verbatim, so that nothing is lost on the way from an
 * import to the next export; the schema cache lists them as inconsistent.
 */
import { SvcError } from '../errors/svc-error.ts';
import { isJsonArray, isJsonObject, type Json, jsonEqual } from '../util/json.ts';
import { type JsonPath, valueAt } from '../util/json-path.ts';
import type { Path } from '../util/path.ts';
import type { Codec } from './codec.ts';
import { describeUnknownKey, UnknownKeysError } from './unknown-keys.ts';

/** A key that an object of a document has and that has no effect here. */
export interface UnknownKey {
  /** From the object that keeps it to the key, the key itself included. Elements of lists have their index and their JSON. */
  readonly path: readonly Step[];
  readonly value: Json;
  /** The object inside the keeper that had the key: it may have a shorter form without it. */
  readonly object?: Json;
  /** What is wrong with it, in words. */
  readonly complaint: string;
}

type Step = string | { readonly index: number; readonly element: Json };

/** Of objects that a `kept` codec decodes. */
export interface WithUnknownKeys {
  readonly unknownKeys?: readonly UnknownKey[] | undefined;
}

/** Whether a value of a `kept` codec holds keys that the codec does not know. */
export function hasUnknownKeys({ unknownKeys = [] }: WithUnknownKeys): boolean {
  return unknownKeys.length > 0;
}

let refusing = false;

/** Decodes as if nothing were kept: also in a document an unknown key is an error, at its very place. */
export function refusingUnknownKeys<T>(decode: () => T): T {
  const before = refusing;
  refusing = true;
  try {
    return decode();
  } finally {
    refusing = before;
  }
}

let gathered: UnknownKeysError[] | undefined;

/**
 * Decodes what can be decoded, keeping what is not known.
 * @returns the refusals of what was kept, each at its very place; what else is wrong is not told
 */
export function gatherUnknownKeys(decode: () => void): readonly UnknownKeysError[] {
  const found: UnknownKeysError[] = [];
  const before = gathered;
  gathered = found;
  try {
    decode();
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
  } finally {
    gathered = before;
  }
  return found;
}

/** Whether what is not known is an error at its very place, as inside `refusingUnknownKeys`. */
export function refusesUnknown(): boolean {
  return refusing;
}

/**
 * The codec of an object of a document: keys that are not known, at any depth, are kept with the
 * value and encoded again. Inside `refusingUnknownKeys` they are refused.
 */
export function kept<T extends object>(codec: Codec<T>): Codec<T & WithUnknownKeys> {
  return {
    ...codec,
    decode(json, path) {
      const unknownKeys: UnknownKey[] = [];
      for (let rest = json; ; ) {
        try {
          const value = codec.decode(rest, path);
          return unknownKeys.length === 0 ? value : { ...value, unknownKeys };
        } catch (thrown) {
          const keys = thrown instanceof UnknownKeysError && !refusing ? keysBetween(path, thrown.object) : undefined;
          if (keys === undefined) throw thrown;
          gathered?.push(thrown as UnknownKeysError);
          const { names, known } = thrown as UnknownKeysError;
          const steps = stepsOf(json, keys);
          const object = keys.length === 0 ? {} : { object: partOf(json, keys) };
          for (const name of names) {
            const value = partOf(json, [...keys, name]);
            unknownKeys.push({ path: [...steps, name], value, ...object, complaint: describeUnknownKey(name, known) });
          }
          rest = without(rest, keys, names);
        }
      }
    },
    encode(value) {
      const { unknownKeys = [] } = value as WithUnknownKeys;
      return unknownKeys.reduce((json, unknown) => inserted(json, unknown.path, unknown), codec.encode(value));
    },
  };
}

/** The keys from one place to another below it; undefined when it is elsewhere. */
function keysBetween(above: Path, below: Path): JsonPath | undefined {
  const keys: (string | number)[] = [];
  for (let place: Path | undefined = below; place !== above; place = place.parent) {
    if (place === undefined) return undefined;
    keys.push(place.key);
  }
  return keys.reverse();
}

function partOf(json: Json, keys: JsonPath): Json {
  return valueAt(json, keys) ?? null;
}

function stepsOf(json: Json, keys: JsonPath): readonly Step[] {
  return keys.map((key, i) => (typeof key === 'string' ? key : { index: key, element: partOf(json, keys.slice(0, i + 1)) }));
}

function without(json: Json, [key, ...below]: JsonPath, names: readonly string[]): Json {
  if (isJsonArray(json) && typeof key === 'number') return json.with(key, without(json[key] as Json, below, names));
  if (!isJsonObject(json)) return json;
  if (key === undefined) return Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)));
  return { ...json, [key]: without(json[key] as Json, below, names) };
}

/** Elements may have been sorted since: an element is one that agrees with what it was. */
function indexOfElement(list: readonly Json[], { index, element }: Exclude<Step, string>): number {
  const isElement = (item: Json): boolean => agrees(item, element);
  const there = list[index];
  return there !== undefined && isElement(there) ? index : list.findIndex(isElement);
}

/** Whether JSON may be what another has become: with keys that were left out, at any depth, and others that were filled in. */
function agrees(now: Json, before: Json): boolean {
  if (isJsonObject(now) && isJsonObject(before))
    return Object.entries(now).every(([key, value]) => !Object.hasOwn(before, key) || agrees(value, before[key] as Json));
  if (isJsonArray(now) && isJsonArray(before))
    return now.length === before.length && now.every((item) => before.some((other) => agrees(item, other)));
  return jsonEqual(now, before);
}

/** The JSON with the key put where it was. What is on the way and was left out because it was empty is made again. */
function inserted(json: Json | undefined, [step, ...below]: readonly Step[], unknown: UnknownKey): Json {
  if (step === undefined) return unknown.value;
  if (typeof step === 'string') {
    if (below.length === 0 && json !== undefined && !isJsonObject(json)) return unknown.object ?? json;
    const object = isJsonObject(json) ? json : {};
    return { ...object, [step]: inserted(Object.hasOwn(object, step) ? object[step] : undefined, below, unknown) };
  }
  const list = isJsonArray(json) ? json : [];
  const index = indexOfElement(list, step);
  return index < 0 ? list : list.with(index, inserted(list[index], below, unknown));
}
