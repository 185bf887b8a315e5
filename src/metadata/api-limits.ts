/** Limits per role, in addition to those of the whole service: `set_api_limits` in docs/reference/metadata-api.md. */
import {
  bool,
  type Codec,
  defaulted,
  int,
  leaf,
  like,
  list,
  mapOf,
  mapOrNone,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
} from './codec.ts';
import { byKey } from './keyed-list.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export interface Limit<T> {
  /** Limit of every role without one of its own. */
  readonly global?: T | undefined;
  readonly perRole: ReadonlyMap<string, T>;
}

export interface RateLimit {
  readonly maxReqsPerMin: number;
  /** Counts requests separately for every address, or for every combination of these session variables. Default: per role. */
  readonly uniqueParams?: 'IP' | readonly string[] | undefined;
}

export interface ApiLimits extends WithUnknownKeys {
  /** Preserved, but has no effect. */
  readonly disabled: boolean;
  /** Levels of fields; those of introspection do not count. */
  readonly depthLimit?: Limit<number> | undefined;
  /** Fields with a selection. */
  readonly nodeLimit?: Limit<number> | undefined;
  /** Seconds. */
  readonly timeLimit?: Limit<number> | undefined;
  /** Operations in one batched request. */
  readonly batchLimit?: Limit<number> | undefined;
  readonly rateLimit?: Limit<RateLimit> | undefined;
  /** Concurrent operations of a role. */
  readonly concurrencyLimit?: Limit<number> | undefined;
}

const positive: Codec<number> = leaf(
  'PositiveInt',
  (json, path) => {
    const value = int.decode(json, path);
    if (value < 1) throw parseFailed(`expected a positive integer, encountered ${value}`, path);
    return value;
  },
  (value) => value,
  { description: 'A whole number of at least 1.' },
);

const sessionVariable: Codec<string> = leaf(
  'SessionVariable',
  (json, path) => {
    const name = nonEmptyText.decode(json, path).toLowerCase();
    if (!name.startsWith('x-svc-')) throw parseFailed(`"${name}" is not a session variable: it must start with x-svc-`, path);
    return name;
  },
  (value) => value,
  { description: 'The name of a session variable: `x-svc-…`.' },
);

const uniqueParams: Codec<'IP' | readonly string[]> = leaf(
  'UniqueParams',
  (json, path) => {
    if (typeof json !== 'string') return [...new Set(list(sessionVariable).decode(json, path))].sort();
    if (json.toUpperCase() !== 'IP') throw parseFailed(`unexpected value "${json}"; expecting "IP" or a list of session variables`, path);
    return 'IP';
  },
  (value) => value,
  { description: '`"IP"`, or a list of session variables.', of: [sessionVariable] },
);

const rateLimit: Codec<RateLimit> = object('RateLimit', { maxReqsPerMin: required(positive), uniqueParams: optional(uniqueParams) });

function limitOf<T>(item: Codec<T>): Codec<Limit<T>> {
  const roles = mapOf(item);
  const sorted: Codec<ReadonlyMap<string, T>> = leaf(
    roles.name,
    (json, path) => {
      const limits = roles.decode(json, path);
      for (const role of limits.keys()) nonEmptyText.decode(role, path);
      return limits;
    },
    (value) => roles.encode(new Map([...value].sort(byKey))),
    like(roles),
  );
  return object('Limit', { global: optional(item), perRole: mapOrNone(sorted) });
}

const integerLimit = limitOf(positive);

/** Arguments of `set_api_limits`, and the section of the document. */
export const apiLimitsCodec: Codec<ApiLimits> = object('ApiLimits', {
  disabled: defaulted(bool, () => false),
  depthLimit: optional(integerLimit),
  nodeLimit: optional(integerLimit),
  timeLimit: optional(integerLimit),
  batchLimit: optional(integerLimit),
  rateLimit: optional(limitOf(rateLimit)),
  concurrencyLimit: optional(integerLimit),
});
