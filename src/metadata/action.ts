/** Actions: fields whose values come from a handler of the deployer. */
import type { Json } from '../util/json.ts';
import {
  anyJson,
  intBetween,
  type Codec,
  defaulted,
  flag,
  int,
  leaf,
  like,
  list,
  listOrNone,
  literal,
  mapOrNone,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  text,
} from './codec.ts';
import { clampOrThrow } from './decode-rules.ts';
import { type CustomField, customFieldCodec } from './custom-types.ts';
import { type HeaderDefinition, webhookHeaders } from './environment-template.ts';
import { graphqlName } from './graphql-name.ts';
import { type GraphqlType, graphqlType } from './graphql-type.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { keyedList } from './keyed-list.ts';
import { MAX_DELAY_SECONDS, MAX_RETRIES } from './retry-policy.ts';
import { type Signature, signatureCodec } from './signature.ts';
import { type RequestTransform, requestTransformCodec, type ResponseTransform, responseTransformCodec } from './transform.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export interface Action extends WithUnknownKeys {
  readonly name: string;
  readonly definition: ActionDefinition;
  readonly comment?: string;
  /** Permissions by role. */
  readonly permissions: ReadonlyMap<string, ActionPermission>;
}

export type ActionKind = 'query' | 'synchronous' | 'asynchronous';

export interface ActionDefinition {
  readonly arguments: readonly CustomField[];
  readonly outputType: GraphqlType;
  readonly kind: ActionKind;
  /** URL template; see `fillTemplate`. */
  readonly handler: string;
  readonly headers: readonly HeaderDefinition[];
  readonly forwardClientHeaders: boolean;
  /** Headers of the client that are not forwarded; replaces the default list. */
  readonly ignoredClientHeaders?: readonly string[] | undefined;
  /** Timeout of a call, in seconds. */
  readonly timeout: number;
  /** Retries of an asynchronous action. If absent, a call is made once. */
  readonly retryConf?: ActionRetries | undefined;
  /** If absent, calls are not signed. */
  readonly signature?: Signature | undefined;
  readonly requestTransform?: RequestTransform | undefined;
  readonly responseTransform?: ResponseTransform | undefined;
}

export interface ActionRetries {
  /** Attempts after the first. */
  readonly numRetries: number;
  /** Seconds between two attempts. */
  readonly intervalSec: number;
}

export interface ActionPermission extends WithUnknownKeys {
  readonly role: string;
  readonly comment?: string;
  /** From older versions, which had filters here; has no effect. */
  readonly definition?: Json;
}

const DEFAULT_ACTION_TIMEOUT = 30;

const timeout: Codec<number> = leaf(
  int.name,
  (json, path) => {
    const value = int.decode(json, path);
    if (value < 0) return clampOrThrow(0, parseFailed('timeout value cannot be negative', path));
    return value;
  },
  (value) => value,
  { description: 'Seconds, at least 0.' },
);

const type: Codec<'mutation' | 'query'> = leaf(
  'ActionType',
  (json, path) => {
    const value = text.decode(json, path);
    if (value !== 'mutation' && value !== 'query') throw parseFailed(`expected mutation or query, but found ${value}`, path);
    return value;
  },
  (value) => value,
  { values: ['mutation', 'query'] },
);

const DEFAULT_INTERVAL = 10;
const retries = object('ActionRetryConf', {
  numRetries: defaulted(intBetween('num_retries', 0, MAX_RETRIES), () => 0),
  intervalSec: defaulted(intBetween('interval_sec', 0, MAX_DELAY_SECONDS), () => DEFAULT_INTERVAL),
});

const written = object('ActionDefinition', {
  handler: required(nonEmptyText),
  outputType: required(graphqlType),
  arguments: listOrNone(list(customFieldCodec)),
  type: defaulted(type, () => 'mutation' as const),
  // Tools write an empty text for queries, which have no kind.
  kind: optional(literal('ActionKind', ['synchronous', 'asynchronous', ''] as const)),
  headers: webhookHeaders,
  forwardClientHeaders: flag,
  ignoredClientHeaders: optional(list(text)),
  timeout: defaulted(
    timeout,
    () => DEFAULT_ACTION_TIMEOUT,
    (seconds) => seconds === DEFAULT_ACTION_TIMEOUT,
  ),
  retryConf: optional(retries),
  signature: optional(signatureCodec),
  requestTransform: optional(requestTransformCodec),
  responseTransform: optional(responseTransformCodec),
});

/** @throws SvcError parse-failed, also for an asynchronous query */
export const actionDefinitionCodec: Codec<ActionDefinition> = leaf(
  'ActionDefinition',
  (json, path) => {
    const { type: of, kind, ...rest } = written.decode(json, path);
    if (of === 'query' && kind === 'asynchronous') throw parseFailed('an action of type query cannot be asynchronous', path);
    if (rest.retryConf !== undefined && kind !== 'asynchronous') throw parseFailed('only asynchronous actions have retry_conf', path);
    return { ...rest, kind: of === 'query' ? 'query' : kind === 'asynchronous' ? 'asynchronous' : 'synchronous' };
  },
  ({ kind, ...rest }): Json =>
    written.encode({ ...rest, type: kind === 'query' ? 'query' : 'mutation', kind: kind === 'query' ? undefined : kind }),
  like(written),
);

const permissionCodec: Codec<ActionPermission> = object('ActionPermission', {
  role: required(nonEmptyText),
  comment: optional(text),
  definition: optional(anyJson),
});

/** Entry of `actions`. */
export const actionCodec: Codec<Action> = object('ActionMetadata', {
  name: required(graphqlName),
  definition: required(actionDefinitionCodec),
  comment: optional(text),
  permissions: mapOrNone(keyedList({ what: 'action permissions', item: preserveUnknownKeys(permissionCodec), key: ({ role }) => role })),
});
