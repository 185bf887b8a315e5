/**
 * Codecs decode untrusted JSON into typed values with exact error positions, and encode them
 * back into the exported form.
 */
import { SvcError } from '../errors/svc-error.ts';
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject, JsonNumber } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { orNearest } from './decode-rules.ts';
import { hasUnknownKeys, type KnownKeys, refuseUnknownKeys } from './unknown-keys.ts';

export interface Codec<T> extends TypeDescription {
  /** @throws SvcError `parse-failed` at the offending path */
  decode(json: Json, path: Path): T;
  encode(value: T): Json;
}

/** What JSON a type takes, for documentation. */
export interface TypeDescription {
  /** As messages say it: `QualifiedTable`. */
  readonly name: string;
  /** Of objects. */
  readonly fields?: readonly FieldDescription[];
  readonly about?: About;
}

/** Of a type that is no object, or of an object that is read in another way than `object` does. */
export interface About {
  /** Whole sentences in Markdown, for the pages in docs/reference/. */
  readonly says?: string;
  /** The texts there are. */
  readonly values?: readonly string[];
  /** Types of what is in it, or that it may be. */
  readonly of?: readonly TypeDescription[];
  readonly fields?: readonly FieldDescription[];
}

/** About a type that is written like another one. */
export function like({ fields, about }: TypeDescription, says?: string): About {
  return { ...about, ...(fields === undefined ? {} : { fields }), ...(says === undefined ? {} : { says }) };
}

export interface FieldDescription {
  readonly key: string;
  /** Other spellings. */
  readonly aliases: readonly string[];
  readonly type: TypeDescription;
  readonly required: boolean;
  /** Absent: none, or one that says no more than that the key is absent. */
  readonly default?: Json;
}

export type Decoded<C> = C extends Codec<infer T> ? T : never;

/** How a JSON value is called in messages. */
export function describeJson(json: Json | undefined): string {
  if (json === undefined || json === null) return 'Null';
  if (typeof json === 'boolean') return 'Boolean';
  if (isJsonNumber(json)) return 'Number';
  if (typeof json === 'string') return 'String';
  return isJsonArray(json) ? 'Array' : 'Object';
}

export function parseFailed(message: string, path: Path): SvcError {
  return new SvcError('parse-failed', message, { path });
}

export function wrongType(name: string, expected: string, found: Json | undefined, path: Path): SvcError {
  return parseFailed(`parsing ${name} failed, expected ${expected}, but encountered ${describeJson(found)}`, path);
}

export function leaf<T>(name: string, decode: (json: Json, path: Path) => T, encode: (value: T) => Json, about: About): Codec<T> {
  return { name, decode, encode, about, ...(about.fields === undefined ? {} : { fields: about.fields }) };
}

export const text: Codec<string> = leaf(
  'Text',
  (json, path) => {
    if (typeof json !== 'string') throw wrongType('Text', 'String', json, path);
    return json;
  },
  (value) => value,
  { says: 'A text.' },
);

/** Characters that no database can hold in a text, and so not in a name. */
const NO_TEXT = /[\0\p{Surrogate}]/u;

export const nonEmptyText: Codec<string> = leaf(
  'NonEmptyText',
  (json, path) => {
    const value = text.decode(json, path);
    if (value === '') throw parseFailed('empty string not allowed', path);
    if (NO_TEXT.test(value)) throw parseFailed('U+0000 and unpaired surrogates are not allowed', path);
    return value;
  },
  (value) => value,
  { says: 'A text that is not empty.' },
);

export const bool: Codec<boolean> = leaf(
  'Bool',
  (json, path) => {
    if (typeof json !== 'boolean') throw wrongType('Bool', 'Boolean', json, path);
    return json;
  },
  (value) => value,
  { says: '`true` or `false`.' },
);

export const int: Codec<number> = leaf(
  'Int',
  (json, path) => {
    const value = typeof json === 'number' ? json : json instanceof JsonNumber ? Number(json.text) : undefined;
    if (value === undefined) throw wrongType('Int', 'Number', json, path);
    if (!Number.isSafeInteger(value))
      throw parseFailed(`parsing Int failed, value is either floating or will cause over or underflow ${value}`, path);
    return value;
  },
  (value) => value,
  { says: 'A whole number.' },
);

/** A whole number from `minimum` to `maximum`; `what` is its name in messages. */
export function between(what: string, minimum: number, maximum: number): Codec<number> {
  return leaf(
    int.name,
    (json, path) => {
      const value = int.decode(json, path);
      if (value < minimum) return orNearest(minimum, parseFailed(`${what} must be at least ${minimum}, but it is ${value}`, path));
      if (value > maximum) return orNearest(maximum, parseFailed(`${what} must be at most ${maximum}, but it is ${value}`, path));
      return value;
    },
    (value) => value,
    { says: `A whole number from ${minimum}${maximum === Number.MAX_SAFE_INTEGER ? ' on' : ` to ${maximum}`}.` },
  );
}

/** A whole number from `minimum` on; `what` is its name in messages. */
export function atLeast(what: string, minimum: number): Codec<number> {
  return between(what, minimum, Number.MAX_SAFE_INTEGER);
}

/** A whole number that is not negative, up to `maximum`. */
export function count(what: string, maximum: number = Number.MAX_SAFE_INTEGER): Codec<number> {
  const bounded = between(what, 0, maximum);
  return leaf(
    int.name,
    (json, path) =>
      int.decode(json, path) < 0 ? orNearest(0, parseFailed('unexpected negative value', path)) : bounded.decode(json, path),
    (value) => value,
    like(bounded),
  );
}

/** Any JSON, kept as it is. */
export const anyJson: Codec<Json> = leaf(
  'Value',
  (json) => json,
  (value) => value,
  { says: 'Any JSON.' },
);

/** One of a few texts. @param name for messages */
export function literal<const T extends string>(name: string, values: readonly T[]): Codec<T> {
  return leaf(
    name,
    (json, path) => {
      const value = text.decode(json, path);
      const found = values.find((v) => v === value);
      if (found === undefined) throw parseFailed(`unexpected value "${value}" for ${name}; expecting one of ${values.join(', ')}`, path);
      return found;
    },
    (value) => value,
    { values },
  );
}

/** A JSON array. */
export function list<T>(item: Codec<T>): Codec<readonly T[]> {
  return leaf(
    `[${item.name}]`,
    (json, path) => {
      if (!isJsonArray(json)) throw wrongType('[]', 'Array', json, path);
      return json.map((x, i) => item.decode(x, at(path, i)));
    },
    (value) => value.map((x) => item.encode(x)),
    { of: [item] },
  );
}

/** A value or null. */
export function nullable<T>(inner: Codec<T>): Codec<T | null> {
  return leaf(
    inner.name,
    (json, path) => (json === null ? null : inner.decode(json, path)),
    (value) => (value === null ? null : inner.encode(value)),
    like(inner),
  );
}

/** A map with text keys, in insertion order. */
export function mapOf<T>(item: Codec<T>): Codec<ReadonlyMap<string, T>> {
  return leaf(
    'HashMap',
    (json, path) => {
      if (!isJsonObject(json)) throw wrongType('HashMap', 'Object', json, path);
      return new Map(Object.entries(json).map(([key, value]) => [key, item.decode(value, at(path, key))]));
    },
    (value) => Object.fromEntries([...value].map(([key, item_]) => [key, item.encode(item_)])),
    { of: [item] },
  );
}

/** A key of an object and what becomes of its value. */
export interface FieldSpec<T> {
  readonly codec: Codec<T>;
  readonly presence: 'required' | 'optional' | 'defaulted';
  readonly default?: () => T;
  readonly aliases: readonly string[];
  /** Whether an encoded object leaves the key out. */
  omit(value: T): boolean;
}

interface OptionalFieldSpec<T> extends FieldSpec<T | undefined> {
  readonly presence: 'optional';
}

/** A key that must be there. */
export function required<T>(codec: Codec<T>, ...aliases: readonly string[]): FieldSpec<T> {
  return { codec, presence: 'required', aliases, omit: () => false };
}

/** A key that may be missing or null; both decode to undefined. Left out when undefined. */
export function optional<T>(codec: Codec<T>, ...aliases: readonly string[]): OptionalFieldSpec<T> {
  return { codec: codec as Codec<T | undefined>, presence: 'optional', aliases, omit: (v) => v === undefined };
}

/** A key with a default; null counts as missing. `omitDefault` leaves equal values out of the encoding. */
export function defaulted<T>(
  codec: Codec<T>,
  value: () => T,
  omit: (value: T) => boolean = () => false,
  ...aliases: readonly string[]
): FieldSpec<T> {
  return { codec, presence: 'defaulted', default: value, aliases, omit };
}

/** A key for a truth value: false, and left out of the encoding, unless it says otherwise. */
export const flag: FieldSpec<boolean> = defaulted(
  bool,
  () => false,
  (value) => !value,
);

/** A key for a list: empty, and left out of the encoding, unless there is something in it. */
export function listOrNone<T>(codec: Codec<readonly T[]>): FieldSpec<readonly T[]> {
  return defaulted(
    codec,
    () => [],
    ({ length }) => length === 0,
  );
}

/** The same for a map. */
export function mapOrNone<T>(codec: Codec<ReadonlyMap<string, T>>): FieldSpec<ReadonlyMap<string, T>> {
  return defaulted(
    codec,
    () => new Map(),
    ({ size }) => size === 0,
  );
}

type ValueOf<S> = S extends FieldSpec<infer T> ? T : never;
type ObjectOf<F> = { readonly [K in keyof F]: ValueOf<F[K]> };
type PartialObjectOf<F> = { readonly [K in keyof F as F[K] extends { readonly presence: 'optional' } ? never : K]: ValueOf<F[K]> } & {
  readonly [K in keyof F as F[K] extends { readonly presence: 'optional' } ? K : never]?: ValueOf<F[K]>;
};

/** A `Codec` that also encodes objects in which optional properties are missing. */
export interface ObjectCodec<F> {
  readonly name: string;
  decode(json: Json, path: Path): ObjectOf<F>;
  encode(value: PartialObjectOf<F>): Json;
  readonly fields: readonly FieldDescription[];
  readonly about?: About;
}

/** `customName` is written `custom_name`; a key without capital letters is written as it is. */
function jsonKey(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

interface Member {
  readonly property: string;
  /** The key of the encoded form, then its aliases. */
  readonly keys: readonly [string, ...string[]];
  readonly spec: FieldSpec<unknown>;
}

function describeMember({ keys: [key, ...aliases], spec }: Member): FieldDescription {
  const { codec, presence } = spec;
  const byDefault = presence === 'defaulted' ? codec.encode((spec.default as () => unknown)()) : undefined;
  const says = byDefault !== undefined && byDefault !== null;
  return { key, aliases, type: codec, required: presence === 'required', ...(says ? { default: byDefault } : {}) };
}

function holdsUnknownKeys(value: unknown): boolean {
  return typeof value === 'object' && value !== null && hasUnknownKeys(value);
}

/** The first spelling of the key that is there; null counts unless the key is required. */
function spelling(json: JsonObject, member: Member): string | undefined {
  for (const key of member.keys) {
    const value = json[key];
    if (value === undefined || !Object.hasOwn(json, key)) continue;
    if (value !== null || member.spec.presence === 'required') return key;
  }
  return undefined;
}

export interface ObjectOptions {
  /** Keys that somebody else reads. */
  readonly elsewhere?: readonly string[];
  /** Keys that exist in the interface and have no effect here: refused unless nothing is in them. */
  readonly notSupported?: readonly string[];
  readonly about?: About;
}

/**
 * A JSON object; a key that it does not know is refused. A property `customName` has the key
 * `custom_name`. Keys are encoded in the order of `fields`.
 */
export function object<F extends { readonly [key: string]: FieldSpec<unknown> }>(
  name: string,
  fields: F,
  { elsewhere = [], notSupported = [], about }: ObjectOptions = {},
): ObjectCodec<F> {
  const members: readonly Member[] = Object.entries<FieldSpec<unknown>>(fields).map(([property, spec]) => ({
    property,
    keys: [jsonKey(property), ...spec.aliases],
    spec,
  }));
  const known: KnownKeys = { keys: [...members.flatMap(({ keys }) => keys), ...elsewhere], notSupported };
  return {
    name,
    ...(about === undefined ? {} : { about }),
    get fields() {
      return members.map(describeMember);
    },
    decode(json, path) {
      if (!isJsonObject(json)) throw wrongType(name, 'Object', json, path);
      refuseUnknownKeys(json, path, known);
      const out: Record<string, unknown> = {};
      for (const member of members) {
        const { property, spec } = member;
        const key = spelling(json, member);
        if (key !== undefined) out[property] = spec.codec.decode(json[key] as Json, at(path, key));
        else if (spec.presence === 'required') throw parseFailed(`the key '${member.keys[0]}' was not present`, path);
        else if (spec.presence === 'defaulted') out[property] = (spec.default as () => unknown)();
      }
      return out as ObjectOf<F>;
    },
    encode(value) {
      const out: Record<string, Json> = {};
      for (const { property, keys, spec } of members) {
        const item = (value as Record<string, unknown>)[property];
        if (item === undefined || (spec.omit(item) && !holdsUnknownKeys(item))) continue;
        out[keys[0]] = spec.codec.encode(item);
      }
      return out as JsonObject;
    },
  };
}
