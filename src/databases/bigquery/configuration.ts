/** The configuration of a source: what `dwh_add_source` takes and the exported document holds. */
import { type Codec, atLeast, leaf, list, nonEmptyText, object, optional, parseFailed, required, wrongType } from '../../metadata/codec.ts';
import type { ConfiguredText } from '../../metadata/environment-template.ts';
import { refuseUnknownKeys } from '../../metadata/unknown-keys.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';

/** The key of a service account, or where it stands. */
export type ConfiguredAccount =
  | ConfiguredText
  /** As Google gives it out. */
  | { readonly kind: 'key'; readonly key: JsonObject }
  | { readonly kind: 'file'; readonly path: string }
  /** Application default credentials of the environment of the service. */
  | { readonly kind: 'application-default' };

/** Numbers of projects may be written as numbers. */
export type ConfiguredProject = ConfiguredText | { readonly kind: 'number'; readonly number: number };

export type ConfiguredDatasets = ConfiguredText | { readonly kind: 'names'; readonly names: readonly string[] };

export interface BigQueryConfiguration {
  readonly serviceAccount: ConfiguredAccount;
  readonly projectId: ConfiguredProject;
  readonly datasets: ConfiguredDatasets;
  /** Where the datasets lie; undefined: BigQuery finds out. */
  readonly location?: string;
  /** Rows that each level of an answer has at most. */
  readonly globalSelectLimit?: number;
  /** Of each statement; undefined: what the project allows. */
  readonly maximumBytesBilled?: number;
  /** μs before the first repetition of what failed in passing; it doubles. */
  readonly retryBaseDelay?: number;
  readonly retryLimit?: number;
  /** In place of Google's own. */
  readonly apiEndpoint?: ConfiguredText;
}

/** What a file with the key of a service account holds. */
const KEY_PARTS = [
  'type',
  'project_id',
  'private_key_id',
  'private_key',
  'client_email',
  'client_id',
  'auth_uri',
  'token_uri',
  'auth_provider_x509_cert_url',
  'client_x509_cert_url',
  'universe_domain',
] as const;

const NAME = 'ServiceAccount';

function fromEnvironment(json: JsonObject, path: Path): ConfiguredText {
  refuseUnknownKeys(json, path, { keys: ['from_env'] });
  const name = json['from_env'];
  if (name === undefined) throw parseFailed("the key 'from_env' was not present", path);
  return { kind: 'environment', name: nonEmptyText.decode(name, at(path, 'from_env')) };
}

function encodeText(value: ConfiguredText): Json {
  return value.kind === 'template' ? value.text : { from_env: value.name };
}

const account: Codec<ConfiguredAccount> = leaf(
  NAME,
  (json: Json, path: Path): ConfiguredAccount => {
    if (typeof json === 'string') return { kind: 'template', text: nonEmptyText.decode(json, path) };
    if (!isJsonObject(json)) throw wrongType(NAME, 'String or Object', json, path);
    if ('from_env' in json) return fromEnvironment(json, path);
    if ('dynamic_from_file' in json) {
      refuseUnknownKeys(json, path, { keys: ['dynamic_from_file'] });
      return { kind: 'file', path: nonEmptyText.decode(json['dynamic_from_file'] as Json, at(path, 'dynamic_from_file')) };
    }
    if ('application_default' in json) {
      refuseUnknownKeys(json, path, { keys: ['application_default'] });
      if (json['application_default'] !== true) throw parseFailed('the only value is true', at(path, 'application_default'));
      return { kind: 'application-default' };
    }
    refuseUnknownKeys(json, path, { keys: KEY_PARTS });
    for (const key of ['client_email', 'private_key']) {
      if (json[key] === undefined) throw parseFailed(`the key '${key}' was not present`, path);
    }
    for (const [key, part] of Object.entries(json)) nonEmptyText.decode(part, at(path, key));
    return { kind: 'key', key: json };
  },
  (value) => {
    if (value.kind === 'key') return value.key;
    if (value.kind === 'application-default') return { application_default: true };
    return value.kind === 'file' ? { dynamic_from_file: value.path } : encodeText(value);
  },
  {
    says: 'The key of a service account: as the object that Google gives out, as its text, which is a template, as `{"from_env": …}`, or as `{"dynamic_from_file": …}` below the allowed folder. `{"application_default": true}`: the application default credentials of the environment.',
  },
);

const project: Codec<ConfiguredProject> = leaf(
  'ProjectId',
  (json: Json, path: Path): ConfiguredProject => {
    if (typeof json === 'string') return { kind: 'template', text: nonEmptyText.decode(json, path) };
    if (typeof json === 'number' && Number.isSafeInteger(json) && json > 0) return { kind: 'number', number: json };
    if (!isJsonObject(json)) throw wrongType('ProjectId', 'String, Number or Object', json, path);
    return fromEnvironment(json, path);
  },
  (value) => (value.kind === 'number' ? value.number : encodeText(value)),
  { says: 'The id of a project, which is a template, its number, or `{"from_env": …}`.' },
);

const names = list(nonEmptyText);

const datasets: Codec<ConfiguredDatasets> = leaf(
  'Datasets',
  (json: Json, path: Path): ConfiguredDatasets => {
    if (typeof json === 'string') return { kind: 'template', text: nonEmptyText.decode(json, path) };
    if (isJsonArray(json)) return { kind: 'names', names: names.decode(json, path) };
    if (!isJsonObject(json)) throw wrongType('Datasets', 'String, Array or Object', json, path);
    return fromEnvironment(json, path);
  },
  (value) => (value.kind === 'names' ? [...value.names] : encodeText(value)),
  { says: 'Names of datasets: a list, a text with commas between them, which is a template, or `{"from_env": …}`.' },
);

const text: Codec<ConfiguredText> = leaf(
  'ApiEndpoint',
  (json: Json, path: Path): ConfiguredText => {
    if (typeof json === 'string') return { kind: 'template', text: nonEmptyText.decode(json, path) };
    if (!isJsonObject(json)) throw wrongType('ApiEndpoint', 'String or Object', json, path);
    return fromEnvironment(json, path);
  },
  encodeText,
  { says: 'A URL, which is a template, or `{"from_env": …}`.' },
);

export const configuration: Codec<BigQueryConfiguration> = object('BigQueryConfiguration', {
  serviceAccount: required(account),
  projectId: required(project),
  datasets: required(datasets),
  location: optional(nonEmptyText),
  globalSelectLimit: optional(atLeast('global_select_limit', 1)),
  maximumBytesBilled: optional(atLeast('maximum_bytes_billed', 1)),
  retryBaseDelay: optional(atLeast('retry_base_delay', 0)),
  retryLimit: optional(atLeast('retry_limit', 0)),
  apiEndpoint: optional(text),
});
