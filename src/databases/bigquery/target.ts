/** Resolves a configuration to credentials, endpoint, project and datasets. */
import type { ConnectContext } from '../../backend/backend.ts';
import { connectionText } from '../shared/connection-settings.ts';
import { parsedWhenChanged, readSecretFile } from '../shared/secret-file.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { isJsonObject, type Json, parseJson } from '../../util/json.ts';
import { defaultCredentials } from './client/default-credentials.ts';
import { serviceAccount } from './client/service-account.ts';
import type { Credentials } from './client/token.ts';
import type { ConfiguredAccount, BigQueryConfiguration } from './configuration.ts';
import { connectionError } from './errors.ts';

const GOOGLE = 'https://bigquery.googleapis.com';
const EMULATOR = 'BIGQUERY_EMULATOR_HOST';
const NAME = /^[A-Za-z0-9_]{1,1024}$/;
const PROJECT = /^[A-Za-z0-9_.:-]{1,200}$/;

export interface BigQueryTarget {
  /** Returns the current credentials: a key file may change. @throws SvcError */
  account(): Credentials;
  /** URL without a trailing slash. */
  readonly endpoint: string;
  readonly project: string;
  readonly datasets: readonly string[];
}

/** @throws SvcError for missing variables, unreadable files, and invalid keys and names */
export function targetOf(
  configuration: BigQueryConfiguration,
  { environment, secretsFolder = null }: Pick<ConnectContext, 'environment' | 'secretsFolder'>,
): BigQueryTarget {
  const { projectId, datasets, apiEndpoint } = configuration;
  const project = projectId.kind === 'number' ? String(projectId.number) : connectionText(projectId, environment).trim();
  if (!PROJECT.test(project)) throw connectionError(`"${project}" is not a valid project ID`);
  const names = datasets.kind === 'names' ? datasets.names : connectionText(datasets, environment).split(',');
  const endpoint = endpointOf(apiEndpoint === undefined ? GOOGLE : connectionText(apiEndpoint, environment));
  if (configuration.serviceAccount.kind === 'application-default') requireGoogle(endpoint, environment[EMULATOR]);
  const account = accountOf(configuration.serviceAccount, environment, secretsFolder);
  account();
  return {
    account,
    endpoint,
    project,
    datasets: datasetsOf(names),
  };
}

function datasetsOf(names: readonly string[]): readonly string[] {
  const trimmed = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
  if (trimmed.length === 0) throw connectionError('the configuration names no dataset');
  const wrong = trimmed.find((name) => !NAME.test(name));
  if (wrong !== undefined) throw connectionError(`"${wrong}" is not a valid dataset name`);
  return trimmed;
}

function endpointOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw connectionError('api_endpoint is not an http or https URL');
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '' || url.username !== '') {
    throw connectionError('api_endpoint must not have a query, a fragment or a user');
  }
  return url.href.replace(/\/+$/, '');
}

/** Refuses to send tokens of the platform to servers that metadata name. @throws SvcError */
function requireGoogle(endpoint: string, emulator: string | undefined): void {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol === 'https:' && /\.googleapis\.com$/.test(hostname)) return;
  if (emulator !== undefined && emulator !== '' && endpoint === endpointOf(/^https?:/.test(emulator) ? emulator : `http://${emulator}`))
    return;
  throw new SvcError(
    'not-supported',
    `with application default credentials api_endpoint must be an https URL below googleapis.com, or the value of ${EMULATOR}`,
  );
}

function accountOf(configured: ConfiguredAccount, environment: ConnectContext['environment'], folder: string | null): () => Credentials {
  if (configured.kind === 'key') {
    const account = serviceAccount(configured.key);
    return () => account;
  }
  if (configured.kind === 'application-default') return defaultCredentials(environment);
  if (configured.kind !== 'file') {
    const account = parsedAccount(connectionText(configured, environment));
    return () => account;
  }
  return parsedWhenChanged(() => readSecretFile(configured.path, folder, 'the key of a service account', 'with'), parsedAccount);
}

/** @throws SvcError that reveals nothing of the text */
function parsedAccount(text: string): Credentials {
  let json: Json;
  try {
    json = parseJson(text);
  } catch {
    throw connectionError('the key of the service account is not valid JSON');
  }
  if (!isJsonObject(json)) throw connectionError('the key of the service account is not a JSON object');
  return serviceAccount(json);
}
