/** Codecs decode untrusted JSON into typed values with exact error positions, and encode them back into the exported form. */
import { SvcError } from '../errors/svc-error.ts';
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject, JsonNumber } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { clampOrThrow } from './decode-rules.ts';
import { hasUnknownKeys, type KnownKeys, refuseUnknownKeys } from './unknown-keys.ts';

export interface Codec<T> extends TypeDescription {
  /** @throws SvcError `parse-failed` at the offending path */
  decode(json: Json, path: Path): T;
  encode(value: T): Json;
}

/** Describes the JSON that a type accepts, for documentation. */
export interface TypeDescription {
  /** Name in messages: `QualifiedTable`. */
  readonly name: string;
  /** Fields of an object. */
  readonly fields?: readonly FieldDescription[];
  readonly about?: About;
}

/** Describes a type that is not an object, or an object that is not read by `object`. */
export interface About {
  /** Whole sentences in Markdown, for the pages in docs/reference/. */
  readonly description?: string;
  /** Permitted texts. */
  readonly values?: readonly string[];
  /** Types of items, members or alternatives. */
  readonly of?: readonly TypeDescription[];
  readonly fields?: readonly FieldDescription[];
}

/** Returns the description of a type that is written like another one. */
export function like({ fields, about }: TypeDescription, description?: string): About {
  return { ...about, ...(fields === undefined ? {} : { fields }), ...(description === undefined ? {} : { description }) };
}

export interface FieldDescription {
  readonly key: string;
  /** Other spellings. */
  readonly aliases: readonly string[];
  readonly type: TypeDescription;
  readonly required: boolean;
  /** Undefined if there is none, or if it is equivalent to an absent key. */
  readonly default?: Json;
}

export type Decoded<C> = C extends Codec<infer T> ? T : never;

/** Returns the name of a JSON type for messages. */
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
  { description: 'A text.' },
);

/** Characters that no database can store in a text, and so not in a name. */
const INVALID_CHARACTERS = /[\0\p{Surrogate}]/u;

export const nonEmptyText: Codec<string> = leaf(
  'NonEmptyText',
  (json, path) => {
    const value = text.decode(json, path);
    if (value === '') throw parseFailed('empty string not allowed', path);
    if (INVALID_CHARACTERS.test(value)) throw parseFailed('U+0000 and unpaired surrogates are not allowed', path);
    return value;
  },
  (value) => value,
  { description: 'A text that is not empty.' },
);

export const bool: Codec<boolean> = leaf(
  'Bool',
  (json, path) => {
    if (typeof json !== 'boolean') throw wrongType('Bool', 'Boolean', json, path);
    return json;
  },
  (value) => value,
  { description: '`true` or `false`.' },
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
  { description: 'A whole number.' },
);

/** A whole number from `minimum` to `maximum`; `what` is its name in messages. */
export function intBetween(what: string, minimum: number, maximum: number): Codec<number> {
  return leaf(
    int.name,
    (json, path) => {
      const value = int.decode(json, path);
      if (value < minimum) return clampOrThrow(minimum, parseFailed(`${what} must be at least ${minimum}, but it is ${value}`, path));
      if (value > maximum) return clampOrThrow(maximum, parseFailed(`${what} must be at most ${maximum}, but it is ${value}`, path));
      return value;
    },
    (value) => value,
    { description: `A whole number ${maximum === Number.MAX_SAFE_INTEGER ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`}.` },
  );
}

/** A whole number of at least `minimum`; `what` is its name in messages. */
export function intAtLeast(what: string, minimum: number): Codec<number> {
  return intBetween(what, minimum, Number.MAX_SAFE_INTEGER);
}

/** A whole number from 0 to `maximum`. */
export function nonNegativeInt(what: string, maximum: number = Number.MAX_SAFE_INTEGER): Codec<number> {
  const bounded = intBetween(what, 0, maximum);
  return leaf(
    int.name,
    (json, path) =>
      int.decode(json, path) < 0 ? clampOrThrow(0, parseFailed('unexpected negative value', path)) : bounded.decode(json, path),
    (value) => value,
    like(bounded),
  );
}

/** Any JSON, unchanged. */
export const anyJson: Codec<Json> = leaf(
  'Value',
  (json) => json,
  (value) => value,
  { description: 'Any JSON.' },
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

/** A key of an object: how its value is read, and when it is written. */
export interface FieldSpec<T> {
  readonly codec: Codec<T>;
  readonly presence: 'required' | 'optional' | 'defaulted';
  readonly default?: () => T;
  readonly aliases: readonly string[];
  /** Returns true if encoded objects omit the key. */
  omit(value: T): boolean;
}

interface OptionalFieldSpec<T> extends FieldSpec<T | undefined> {
  readonly presence: 'optional';
}

/** A required key. */
export function required<T>(codec: Codec<T>, ...aliases: readonly string[]): FieldSpec<T> {
  return { codec, presence: 'required', aliases, omit: () => false };
}

/** A key that may be missing or null; both decode to undefined, which is not encoded. */
export function optional<T>(codec: Codec<T>, ...aliases: readonly string[]): OptionalFieldSpec<T> {
  return { codec: codec as Codec<T | undefined>, presence: 'optional', aliases, omit: (v) => v === undefined };
}

/** A key with a default; null counts as missing. Values for which `omit` returns true are not encoded. */
export function defaulted<T>(
  codec: Codec<T>,
  value: () => T,
  omit: (value: T) => boolean = () => false,
  ...aliases: readonly string[]
): FieldSpec<T> {
  return { codec, presence: 'defaulted', default: value, aliases, omit };
}

/** A boolean key with the default false, which is not encoded. */
export const flag: FieldSpec<boolean> = defaulted(
  bool,
  () => false,
  (value) => !value,
);

/** A list key with the default `[]`, which is not encoded. */
export function listOrNone<T>(codec: Codec<readonly T[]>): FieldSpec<readonly T[]> {
  return defaulted(
    codec,
    () => [],
    ({ length }) => length === 0,
  );
}

/** A map key with the default `{}`, which is not encoded. */
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

/** Returns `custom_name` for `customName`. */
function jsonKey(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

interface Member {
  readonly property: string;
  /** The key of the encoded form, followed by its aliases. */
  readonly keys: readonly [string, ...string[]];
  readonly spec: FieldSpec<unknown>;
}

function describeMember({ keys: [key, ...aliases], spec }: Member): FieldDescription {
  const { codec, presence } = spec;
  const byDefault = presence === 'defaulted' ? codec.encode((spec.default as () => unknown)()) : undefined;
  const hasDefault = byDefault !== undefined && byDefault !== null;
  return { key, aliases, type: codec, required: presence === 'required', ...(hasDefault ? { default: byDefault } : {}) };
}

function holdsUnknownKeys(value: unknown): boolean {
  return typeof value === 'object' && value !== null && hasUnknownKeys(value);
}

/** Returns the first spelling of the key that is present; null counts only if the key is required. */
function spelling(json: JsonObject, member: Member): string | undefined {
  for (const key of member.keys) {
    const value = json[key];
    if (value === undefined || !Object.hasOwn(json, key)) continue;
    if (value !== null || member.spec.presence === 'required') return key;
  }
  return undefined;
}

export interface ObjectOptions {
  /** Keys that another codec reads. */
  readonly otherKeys?: readonly string[];
  /** Keys that exist in the interface but have no effect here: rejected unless their value is empty. */
  readonly notSupported?: readonly string[];
  readonly about?: About;
}

/**
 * A JSON object; unknown keys are rejected. A property `customName` has the key `custom_name`. Keys are encoded in the order of `fields`.
 */
export function object<F extends { readonly [key: string]: FieldSpec<unknown> }>(
  name: string,
  fields: F,
  { otherKeys = [], notSupported = [], about }: ObjectOptions = {},
): ObjectCodec<F> {
  const members: readonly Member[] = Object.entries<FieldSpec<unknown>>(fields).map(([property, spec]) => ({
    property,
    keys: [jsonKey(property), ...spec.aliases],
    spec,
  }));
  const known: KnownKeys = { keys: [...members.flatMap(({ keys }) => keys), ...otherKeys], notSupported };
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
