/** Rejects keys that a codec does not define. */
import { SvcError } from '../errors/svc-error.ts';
import type { Json, JsonObject } from '../util/json.ts';
import { nearest } from '../model/nearest.ts';
import { at, type Path } from '../util/path.ts';
import { isEmptySection } from './empty-section.ts';

/** Keys that an object may have. */
export interface KnownKeys {
  readonly keys: readonly string[];
  /** Keys that exist in the interface but have no effect here. With an empty value they count as absent. */
  readonly notSupported?: readonly string[] | undefined;
}

/** Unknown keys of one object; the error's path is that of the first. */
type UnknownNames = readonly [string, ...string[]];

/** Rejects an object with unknown keys. */
export class UnknownKeysError extends SvcError {
  readonly object: Path;
  readonly names: UnknownNames;
  readonly known: KnownKeys;

  constructor(object: Path, names: UnknownNames, known: KnownKeys) {
    const [first] = names;
    const code = known.notSupported?.includes(first) === true ? 'not-supported' : 'parse-failed';
    const described = names.slice(0, MAX_DESCRIBED).map((name) => describeUnknownKey(name, known));
    super(code, described.join('; '), { path: at(object, first) });
    this.object = object;
    this.names = names;
    this.known = known;
  }
}

/** Maximum unknown keys of one object in the message. */
const MAX_DESCRIBED = 5;
const MAX_NAME_LENGTH = 64;

/** Describes the problem with a key: `unknown key "fliter": did you mean "filter"?` */
export function describeUnknownKey(name: string, { keys, notSupported = [] }: KnownKeys): string {
  const quoted = JSON.stringify(name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name);
  if (notSupported.includes(name)) return `the key ${quoted} is not supported`;
  const suggestion = nearest(name, [...keys, ...notSupported]);
  if (suggestion !== undefined) return `unknown key ${quoted}: did you mean "${suggestion}"?`;
  return `unknown key ${quoted}: ${keys.length === 0 ? 'no key is expected here' : `expecting one of ${keys.join(', ')}`}`;
}

/** @throws SvcError at the first key that is unknown (`parse-failed`) or has no effect here (`not-supported`) */
export function refuseUnknownKeys(json: JsonObject, path: Path, known: KnownKeys): void {
  const { keys, notSupported = [] } = known;
  const [first, ...others] = Object.keys(json).filter(
    (key) => !keys.includes(key) && !(notSupported.includes(key) && isEmptySection(json[key] as Json)),
  );
  if (first !== undefined) throw new UnknownKeysError(path, [first, ...others], known);
}

/** A key of a document's object that has no effect here. */
export interface UnknownKey {
  /** Path from the object that preserves the key to the key itself. Elements of lists have their index and their JSON. */
  readonly path: readonly KeyStep[];
  readonly value: Json;
  /** The object that directly contains the key: without the key it may have a shorter form. */
  readonly object?: Json;
  /** Description of the problem. */
  readonly problem: string;
}

export type KeyStep = string | { readonly index: number; readonly element: Json };

/** Objects decoded with `preserveUnknownKeys`. */
export interface WithUnknownKeys {
  readonly unknownKeys?: readonly UnknownKey[] | undefined;
}

export function hasUnknownKeys({ unknownKeys = [] }: WithUnknownKeys): boolean {
  return unknownKeys.length > 0;
}
