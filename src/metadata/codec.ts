/**
 * Codecs decode untrusted JSON into typed values with exact error positions, and encode them
 * back into the exported form.
 */
import { SvcError } from '../errors/svc-error.ts';
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject, JsonNumber } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';

export interface Codec<T> {
  /** Name of the type in messages: `QualifiedTable`. */
  readonly name: string;
  /** @throws SvcError `parse-failed` at the offending path */
  decode(json: Json, path: Path): T;
  encode(value: T): Json;
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

export function leaf<T>(name: string, decode: (json: Json, path: Path) => T, encode: (value: T) => Json): Codec<T> {
  return { name, decode, encode };
}

export const text: Codec<string> = leaf(
  'Text',
  (json, path) => {
    if (typeof json !== 'string') throw wrongType('Text', 'String', json, path);
    return json;
  },
  (value) => value,
);

export const nonEmptyText: Codec<string> = leaf(
  'NonEmptyText',
  (json, path) => {
    const value = text.decode(json, path);
    if (value === '') throw parseFailed('empty string not allowed', path);
    return value;
  },
  (value) => value,
);

export const bool: Codec<boolean> = leaf(
  'Bool',
  (json, path) => {
    if (typeof json !== 'boolean') throw wrongType('Bool', 'Bool', json, path);
    return json;
  },
  (value) => value,
);

export const int: Codec<number> = leaf(
  'Int',
  (json, path) => {
    const value = typeof json === 'number' ? json : json instanceof JsonNumber ? Number(json.text) : undefined;
    if (value === undefined) throw wrongType('Int', 'Number', json, path);
    if (!Number.isSafeInteger(value)) throw parseFailed(`parsing Int failed, value is either floating or will cause over or underflow ${value}`, path);
    return value;
  },
  (value) => value,
);

/** Any JSON, kept as it is. */
export const anyJson: Codec<Json> = leaf(
  'Value',
  (json) => json,
  (value) => value,
);

export function literal<T extends string>(name: string, values: readonly T[]): Codec<T> {
  return leaf(
    name,
    (json, path) => {
      const value = text.decode(json, path);
      const found = values.find((v) => v === value);
      if (found === undefined) throw parseFailed(`unexpected value "${value}" for ${name}; expecting one of ${values.join(', ')}`, path);
      return found;
    },
    (value) => value,
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
  );
}

export function nullable<T>(inner: Codec<T>): Codec<T | null> {
  return leaf(
    inner.name,
    (json, path) => (json === null ? null : inner.decode(json, path)),
    (value) => (value === null ? null : inner.encode(value)),
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
  );
}

interface FieldSpec<T> {
  readonly codec: Codec<T>;
  readonly presence: 'required' | 'optional' | 'defaulted';
  readonly default?: () => T;
  readonly aliases: readonly string[];
  /** Whether an encoded object leaves the key out. */
  readonly omit: (value: T) => boolean;
}

/** A key that must be there. */
export function required<T>(codec: Codec<T>, ...aliases: readonly string[]): FieldSpec<T> {
  return { codec, presence: 'required', aliases, omit: () => false };
}

/** A key that may be missing or null; both decode to undefined. Left out when undefined. */
export function optional<T>(codec: Codec<T>, ...aliases: readonly string[]): FieldSpec<T | undefined> {
  return { codec: codec as Codec<T | undefined>, presence: 'optional', aliases, omit: (v) => v === undefined };
}

/** A key with a default; null counts as missing. `omitDefault` leaves equal values out of the encoding. */
export function defaulted<T>(codec: Codec<T>, value: () => T, omit: (value: T) => boolean = () => false, ...aliases: readonly string[]): FieldSpec<T> {
  return { codec, presence: 'defaulted', default: value, aliases, omit };
}

type FieldSpecs = Readonly<Record<string, FieldSpec<never>>>;
type ObjectOf<F> = { readonly [K in keyof F]: F[K] extends FieldSpec<infer T> ? T : never };

/** A JSON object; unknown keys are ignored. Keys are encoded in the order of `fields`. */
export function object<F extends { readonly [key: string]: FieldSpec<any> }>(name: string, fields: F): Codec<ObjectOf<F>> {
  const specs = Object.entries(fields as unknown as FieldSpecs);
  return {
    name,
    decode(json, path) {
      if (!isJsonObject(json)) throw wrongType(name, 'Object', json, path);
      const out: Record<string, unknown> = {};
      for (const [key, spec] of specs) {
        const used = [key, ...spec.aliases].find((k) => Object.hasOwn(json, k) && (json[k] !== null || spec.presence === 'required'));
        if (used !== undefined) out[key] = (spec.codec as Codec<unknown>).decode(json[used] as Json, at(path, used));
        else if (spec.presence === 'required') throw parseFailed(`the key '${key}' was not present`, path);
        else if (spec.presence === 'defaulted') out[key] = (spec.default as () => unknown)();
      }
      return out as ObjectOf<F>;
    },
    encode(value) {
      const out: Record<string, Json> = {};
      for (const [key, spec] of specs) {
        const item = (value as Record<string, unknown>)[key];
        if (item === undefined || (spec.omit as (v: unknown) => boolean)(item)) continue;
        out[key] = (spec.codec as Codec<unknown>).encode(item);
      }
      return out as JsonObject;
    },
  };
}
