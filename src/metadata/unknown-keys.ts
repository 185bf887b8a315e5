/** The refusal of keys that a codec does not know. */
import { SvcError } from '../errors/svc-error.ts';
import type { Json, JsonObject } from '../util/json.ts';
import { nearest } from '../util/nearest.ts';
import { at, type Path } from '../util/path.ts';
import { isEmptySection } from './empty-section.ts';

/** The keys that an object may have. */
export interface KnownKeys {
  readonly keys: readonly string[];
  /** Keys that exist in the interface and have no effect here. Where nothing is in them, they count as absent. */
  readonly notSupported?: readonly string[] | undefined;
}

/** Of one object; the first of them is where the error is. */
type UnknownNames = readonly [string, ...string[]];

/** The refusal of an object with keys that its codec does not know. */
export class UnknownKeysError extends SvcError {
  readonly object: Path;
  readonly names: UnknownNames;
  readonly known: KnownKeys;

  constructor(object: Path, names: UnknownNames, known: KnownKeys) {
    const [first] = names;
    const code = known.notSupported?.includes(first) === true ? 'not-supported' : 'parse-failed';
    const told = names.slice(0, MOST_TOLD).map((name) => describeUnknownKey(name, known));
    super(code, told.join('; '), { path: at(object, first) });
    this.object = object;
    this.names = names;
    this.known = known;
  }
}

/** Unknown keys of one object are told together, up to this number. */
const MOST_TOLD = 5;
const LONGEST_NAME = 64;

/** What is wrong with a key: `unknown key "fliter": did you mean "filter"?` */
export function describeUnknownKey(name: string, { keys, notSupported = [] }: KnownKeys): string {
  const quoted = JSON.stringify(name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name);
  if (notSupported.includes(name)) return `the key ${quoted} is not supported`;
  const meant = nearest(name, [...keys, ...notSupported]);
  if (meant !== undefined) return `unknown key ${quoted}: did you mean "${meant}"?`;
  return `unknown key ${quoted}: ${keys.length === 0 ? 'no key is expected here' : `expecting one of ${keys.join(', ')}`}`;
}

/** @throws SvcError at the first key that is not known (`parse-failed`) or has no effect here (`not-supported`) */
export function refuseUnknownKeys(json: JsonObject, path: Path, known: KnownKeys): void {
  const { keys, notSupported = [] } = known;
  const [first, ...others] = Object.keys(json).filter(
    (key) => !keys.includes(key) && !(notSupported.includes(key) && isEmptySection(json[key] as Json)),
  );
  if (first !== undefined) throw new UnknownKeysError(path, [first, ...others], known);
}

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

export type Step = string | { readonly index: number; readonly element: Json };

/** Of objects that a `kept` codec decodes. */
export interface WithUnknownKeys {
  readonly unknownKeys?: readonly UnknownKey[] | undefined;
}

/** Whether a value of a `kept` codec holds keys that the codec does not know. */
export function hasUnknownKeys({ unknownKeys = [] }: WithUnknownKeys): boolean {
  return unknownKeys.length > 0;
}
