/** Configuration of a source, as in `dwh_add_source` and in exported metadata. */
import {
  type Codec,
  intAtLeast,
  leaf,
  list,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  wrongType,
} from '../../metadata/codec.ts';
import type { ConfiguredText } from '../../metadata/environment-template.ts';
import { refuseUnknownKeys } from '../../metadata/unknown-keys.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';

/** Service account key, or a reference to it. */
export type ConfiguredAccount =
  | ConfiguredText
  /** Key as issued by Google. */
  | { readonly kind: 'key'; readonly key: JsonObject }
  | { readonly kind: 'file'; readonly path: string }
  /** Application default credentials from the environment of the service. */
  | { readonly kind: 'application-default' };

/** Project ID, or project number. */
export type ConfiguredProject = ConfiguredText | { readonly kind: 'number'; readonly number: number };

export type ConfiguredDatasets = ConfiguredText | { readonly kind: 'names'; readonly names: readonly string[] };

export interface BigQueryConfiguration {
  readonly serviceAccount: ConfiguredAccount;
  readonly projectId: ConfiguredProject;
  readonly datasets: ConfiguredDatasets;
  /** Location of the datasets. By default, BigQuery determines it. */
  readonly location?: string;
  /** Maximum rows of each list in an answer. */
  readonly globalSelectLimit?: number;
  /** Maximum bytes billed for a statement. Defaults to the limit of the project. */
  readonly maximumBytesBilled?: number;
  /** Delay before the first retry of a transient failure, in μs; doubles with each retry. */
  readonly retryBaseDelay?: number;
  readonly retryLimit?: number;
  /** Replaces Google's endpoint. */
  readonly apiEndpoint?: ConfiguredText;
}

/** Members of a service account key file. */
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
    description:
      'Service account key: the object that Google issues, its text as a template, `{"from_env": …}`, or `{"dynamic_from_file": …}` below the allowed folder. `{"application_default": true}` uses the application default credentials of the environment.',
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
  { description: 'Project ID as a template, project number, or `{"from_env": …}`.' },
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
  { description: 'Names of datasets: a list, comma-separated text as a template, or `{"from_env": …}`.' },
);

const text: Codec<ConfiguredText> = leaf(
  'ApiEndpoint',
  (json: Json, path: Path): ConfiguredText => {
    if (typeof json === 'string') return { kind: 'template', text: nonEmptyText.decode(json, path) };
    if (!isJsonObject(json)) throw wrongType('ApiEndpoint', 'String or Object', json, path);
    return fromEnvironment(json, path);
  },
  encodeText,
  { description: 'URL as a template, or `{"from_env": …}`.' },
);

export const configuration: Codec<BigQueryConfiguration> = object('BigQueryConfiguration', {
  serviceAccount: required(account),
  projectId: required(project),
  datasets: required(datasets),
  location: optional(nonEmptyText),
  globalSelectLimit: optional(intAtLeast('global_select_limit', 1)),
  maximumBytesBilled: optional(intAtLeast('maximum_bytes_billed', 1)),
  retryBaseDelay: optional(intAtLeast('retry_base_delay', 0)),
  retryLimit: optional(intAtLeast('retry_limit', 0)),
  apiEndpoint: optional(text),
});
