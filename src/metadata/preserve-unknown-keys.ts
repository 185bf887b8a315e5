/**
 * Unknown keys are errors in the arguments of an operation. In a document they are preserved verbatim in the object that contains them, so
 * that nothing is lost between an import and the next export; the schema cache lists them as inconsistent.
 */
import { SvcError } from '../errors/svc-error.ts';
import { isJsonArray, isJsonObject, type Json, jsonEqual, objectOf } from '../util/json.ts';
import { type JsonPath, valueAt } from '../util/json-path.ts';
import type { Path } from '../util/path.ts';
import type { Codec } from './codec.ts';
import { rulesAt } from './decode-rules.ts';
import { describeUnknownKey, type KeyStep, type UnknownKey, UnknownKeysError, type WithUnknownKeys } from './unknown-keys.ts';

/** Maximum number of unknown keys that are named beside another error. */
const MAX_SUGGESTED = 3;

/**
 * Codec of an object of a document: unknown keys at any depth are preserved with the value and encoded again, unless the rules of decoding
 * reject them.
 */
export function preserveUnknownKeys<T extends object>(codec: Codec<T>): Codec<T & WithUnknownKeys> {
  return {
    ...codec,
    decode(json, path) {
      const unknownKeys: UnknownKey[] = [];
      for (let rest = json; ; ) {
        try {
          const value = codec.decode(rest, path);
          return unknownKeys.length === 0 ? value : { ...value, unknownKeys };
        } catch (thrown) {
          if (!(thrown instanceof UnknownKeysError)) throw withSuggestions(thrown, path, unknownKeys);
          const { refusesUnknown, onPreserved } = rulesAt(path);
          const keys = refusesUnknown === true ? undefined : keysBetween(path, thrown.object);
          if (keys === undefined) throw thrown;
          onPreserved?.(thrown);
          const { names, known } = thrown;
          const steps = stepsOf(json, keys);
          const object = keys.length === 0 ? {} : { object: partOf(json, keys) };
          for (const name of names) {
            const value = partOf(json, [...keys, name]);
            unknownKeys.push({ path: [...steps, name], value, ...object, problem: describeUnknownKey(name, known) });
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

/** Adds the unknown keys of an object to an error about the object: one of them may be the key that is missing. */
function withSuggestions(thrown: unknown, path: Path, unknownKeys: readonly UnknownKey[]): unknown {
  if (!(thrown instanceof SvcError)) return thrown;
  const object = keysBetween(path, thrown.path)?.join('/');
  const found = unknownKeys.filter((each) => each.path.slice(0, -1).map(keyOf).join('/') === object);
  return found.length === 0 ? thrown : thrown.withRemedies(found.slice(0, MAX_SUGGESTED).map(({ problem }) => problem));
}

function keyOf(step: KeyStep): string | number {
  return typeof step === 'string' ? step : step.index;
}

/** Returns the keys from one path to another; undefined if that is not below it. */
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

function stepsOf(json: Json, keys: JsonPath): readonly KeyStep[] {
  return keys.map((key, i) => (typeof key === 'string' ? key : { index: key, element: partOf(json, keys.slice(0, i + 1)) }));
}

function without(json: Json, [key, ...below]: JsonPath, names: readonly string[]): Json {
  if (isJsonArray(json) && typeof key === 'number') return json.with(key, without(json[key] as Json, below, names));
  if (!isJsonObject(json)) return json;
  if (key === undefined) return Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)));
  return { ...json, [key]: without(json[key] as Json, below, names) };
}

/** Finds an element by its former content, because elements may have been sorted since. */
function indexOfElement(list: readonly Json[], { index, element }: Exclude<KeyStep, string>): number {
  const isElement = (item: Json): boolean => agrees(item, element);
  const sameIndex = list[index];
  return sameIndex !== undefined && isElement(sameIndex) ? index : list.findIndex(isElement);
}

/** Returns true if JSON may result from `before` by omitting keys, at any depth, and adding defaults. */
function agrees(now: Json, before: Json): boolean {
  if (isJsonObject(now) && isJsonObject(before))
    return Object.entries(now).every(([key, value]) => !Object.hasOwn(before, key) || agrees(value, before[key] as Json));
  if (isJsonArray(now) && isJsonArray(before))
    return now.length === before.length && now.every((item) => before.some((other) => agrees(item, other)));
  return jsonEqual(now, before);
}

/** Returns the JSON with the unknown key at its path. Objects on that path that were omitted because they were empty are restored. */
function inserted(json: Json | undefined, [step, ...below]: readonly KeyStep[], unknown: UnknownKey): Json {
  if (step === undefined) return unknown.value;
  if (typeof step === 'string') {
    if (below.length === 0 && json !== undefined && !isJsonObject(json)) return unknown.object ?? json;
    const object = objectOf(json);
    return { ...object, [step]: inserted(Object.hasOwn(object, step) ? object[step] : undefined, below, unknown) };
  }
  const list = isJsonArray(json) ? json : [];
  const index = indexOfElement(list, step);
  return index < 0 ? list : list.with(index, inserted(list[index], below, unknown));
}
