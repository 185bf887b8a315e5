import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject, type JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { type Codec, defaulted, int, leaf, like, nonEmptyText, object, optional, parseFailed, required, text, wrongType } from './codec.ts';
import { graphqlName, graphqlNameSuffix } from './graphql-name.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import type { KindCodecs, Kinds } from './kinds.ts';
import { queryTagsCodec, type QueryTagsSettings } from './query-tags.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export type NamingConvention = 'svc-default' | 'graphql-default';

export interface SourceCustomization extends WithUnknownKeys {
  readonly rootFields: { readonly namespace?: string; readonly prefix?: string; readonly suffix?: string };
  readonly typeNames: { readonly prefix?: string; readonly suffix?: string };
  readonly namingConvention?: NamingConvention;
}

export const NO_CUSTOMIZATION: SourceCustomization = { rootFields: {}, typeNames: {} };

/** A statement that is run periodically to check whether the source is available. Times in seconds. */
export interface HealthCheck extends WithUnknownKeys {
  readonly test: { readonly sql: string };
  readonly interval: number;
  readonly retries: number;
  readonly retryInterval: number;
  readonly timeout: number;
}

export interface SourceSettings extends WithUnknownKeys {
  readonly name: string;
  /** Canonical kind: `pg`. */
  readonly kind: string;
  /** Decoded by the kind's own codec; opaque here. */
  readonly configuration: unknown;
  readonly customization: SourceCustomization;
  readonly healthCheck?: HealthCheck;
  /** If absent, statements have no tags. */
  readonly queryTags?: QueryTagsSettings;
}

/** Kind of a source whose entry names none: older documents have no other kinds. */
export const DEFAULT_SOURCE_KIND = 'pg';

/** Source of operations that name none. */
export const DEFAULT_SOURCE = 'default';

/** An empty text means that the setting is absent: clients send empty form fields. */
function unlessEmpty(codec: Codec<string>): Codec<string | undefined> {
  return leaf(
    codec.name,
    (json, path) => (json === '' ? undefined : codec.decode(json, path)),
    (value) => (value === undefined ? null : codec.encode(value)),
    like(codec),
  );
}

const prefix = optional(unlessEmpty(graphqlName));
const suffix = optional(unlessEmpty(graphqlNameSuffix));

function isEmptyObject(value: object): boolean {
  return Object.values(value).every((item) => item === undefined);
}

const namingConventionCodec: Codec<NamingConvention> = leaf(
  'NamingConvention',
  (json, path) => {
    const value = text.decode(json, path);
    if (value === 'svc-default' || value === 'graphql-default') return value;
    throw parseFailed('naming_convention can either be "svc-default" or "graphql-default"', path);
  },
  (value) => value,
  { values: ['svc-default', 'graphql-default'] },
);

const customizationObject = object('SourceCustomization', {
  rootFields: defaulted(
    object('RootFieldsCustomization', { namespace: prefix, prefix, suffix }),
    () => NO_CUSTOMIZATION.rootFields,
    isEmptyObject,
  ),
  typeNames: defaulted(object('SourceTypeCustomization', { prefix, suffix }), () => NO_CUSTOMIZATION.typeNames, isEmptyObject),
  namingConvention: optional(namingConventionCodec),
});

function isCustomized(customization: SourceCustomization): boolean {
  return (
    !isEmptyObject(customization.rootFields) || !isEmptyObject(customization.typeNames) || customization.namingConvention !== undefined
  );
}

export const sourceCustomizationCodec: Codec<SourceCustomization> = leaf(
  'SourceCustomization',
  (json, path) => {
    const value = customizationObject.decode(json, path);
    return isCustomized(value) ? value : NO_CUSTOMIZATION;
  },
  (value) => customizationObject.encode(value),
  like(customizationObject),
);

function atLeast(minimum: number): Codec<number> {
  return leaf(
    'Int',
    (json, path) => {
      const value = int.decode(json, path);
      if (value < minimum) throw parseFailed(minimum === 0 ? 'unexpected negative value' : `expecting at least ${minimum}`, path);
      return value;
    },
    (value) => value,
    { description: `A whole number of at least ${minimum}.` },
  );
}

export const healthCheckCodec: Codec<HealthCheck> = object('HealthCheckConfig', {
  test: defaulted(object('HealthCheckTest', { sql: required(nonEmptyText) }), () => ({ sql: 'SELECT 1' })),
  interval: required(atLeast(1)),
  retries: defaulted(atLeast(0), () => 3),
  retryInterval: defaulted(atLeast(0), () => 10),
  timeout: defaulted(atLeast(1), () => 10),
});

/** `configuration` and the other settings of sources of a kind. */
export function sourceFields(codecs: KindCodecs) {
  return {
    // Every kind's configuration is an object.
    configuration: required<unknown>(preserveUnknownKeys(codecs.configuration as Codec<object>)),
    customization: defaulted<SourceCustomization>(
      preserveUnknownKeys(sourceCustomizationCodec),
      () => NO_CUSTOMIZATION,
      (value) => !isCustomized(value),
    ),
    healthCheck: optional(preserveUnknownKeys(healthCheckCodec)),
    queryTags: optional(queryTagsCodec),
  };
}

/** `kind` is encoded canonically; aliases are only decoded. */
function kindCodec(kind: string): Codec<string> {
  return leaf(
    'BackendType',
    () => kind,
    (value) => value,
    { values: [kind] },
  );
}

/** First keys of every entry of `sources`. */
export function sourceHead(codecs: KindCodecs) {
  return { name: required(nonEmptyText), kind: defaulted(kindCodec(codecs.kind), () => codecs.kind) };
}

/** Returns the codecs of the kind that the entry names. @throws SvcError `parse-failed` at `kind` */
function kindOfEntry(json: JsonObject, path: Path, kinds: Kinds): KindCodecs {
  const kind = json['kind'] ?? DEFAULT_SOURCE_KIND;
  const name = text.decode(kind, at(path, 'kind'));
  const found = kinds.get(name);
  if (found === undefined) throw parseFailed(describeUnknownKind(name, kinds), at(path, 'kind'));
  return found;
}

export function describeUnknownKind(name: string, kinds: Kinds): string {
  return `unknown source kind "${name}"; expecting one of ${kinds.all.map(({ kind }) => kind).join(', ')}`;
}

/** Returns the codecs of a kind of the current metadata. */
export function codecsOf(kinds: Kinds, kind: string): KindCodecs {
  const found = kinds.get(kind);
  if (found === undefined) throw new SvcError('unexpected', `unknown source kind "${kind}"`);
  return found;
}

/** A codec that depends on the kind that an entry names; creates one codec per kind. */
export function byKind<T extends { readonly kind: string }>(name: string, kinds: Kinds, make: (codecs: KindCodecs) => Codec<T>): Codec<T> {
  const codecByKind = new Map<string, Codec<T>>();
  const codecFor = (codecs: KindCodecs): Codec<T> => {
    const known = codecByKind.get(codecs.kind);
    if (known !== undefined) return known;
    const codec = make(codecs);
    codecByKind.set(codecs.kind, codec);
    return codec;
  };
  return {
    name,
    decode(json, path) {
      if (!isJsonObject(json)) throw wrongType(name, 'Object', json, path);
      return codecFor(kindOfEntry(json, path, kinds)).decode(json, path);
    },
    encode: (value) => codecFor(codecsOf(kinds, value.kind)).encode(value),
  };
}

/** Keys of a source that configure features that the service does not have. */
export const UNSUPPORTED_SOURCE_KEYS = { notSupported: ['native_queries', 'logical_models', 'stored_procedures'] };

/** A source without its tables and functions. */
export function sourceSettingsCodec(kinds: Kinds): Codec<SourceSettings> {
  return byKind('SourceMetadata', kinds, (codecs) =>
    preserveUnknownKeys<SourceSettings>(
      object('SourceMetadata', { ...sourceHead(codecs), ...sourceFields(codecs) }, UNSUPPORTED_SOURCE_KEYS),
    ),
  );
}
