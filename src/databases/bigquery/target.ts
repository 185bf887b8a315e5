/** What a configuration means: whose key is used, and where. */
import type { ConnectContext } from '../../backend/backend.ts';
import { connectionText } from '../shared/connection-settings.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { readFileBelow } from '../../util/file-below.ts';
import { isJsonObject, type Json, parseJson } from '../../util/json.ts';
import { defaultCredentials } from './client/default-credentials.ts';
import { serviceAccount } from './client/service-account.ts';
import type { Credentials } from './client/token.ts';
import type { ConfiguredAccount, BigQueryConfiguration } from './configuration.ts';
import { connectionError } from './errors.ts';

const GOOGLE = 'https://bigquery.googleapis.com';
const EMULATOR = 'BIGQUERY_EMULATOR_HOST';
/** Bytes. */
const MAX_KEY_SIZE = 64 * 1024;
const NAME = /^[A-Za-z0-9_]{1,1024}$/;
const PROJECT = /^[A-Za-z0-9_.:-]{1,200}$/;

export interface Target {
  /** The credentials as they are now: their file may have others than before. @throws SvcError */
  account(): Credentials;
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly project: string;
  readonly datasets: readonly string[];
}

/** @throws SvcError for missing variables, keys that are none, files that cannot be read, and names that are none */
export function targetOf(
  configuration: BigQueryConfiguration,
  { environment, secretsFolder = null }: Pick<ConnectContext, 'environment' | 'secretsFolder'>,
): Target {
  const { projectId, datasets, apiEndpoint } = configuration;
  const project = projectId.kind === 'number' ? String(projectId.number) : connectionText(projectId, environment).trim();
  if (!PROJECT.test(project)) throw connectionError(`"${project}" is no id of a project`);
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
  if (wrong !== undefined) throw connectionError(`"${wrong}" is no name of a dataset`);
  return trimmed;
}

function endpointOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw connectionError('api_endpoint is no http or https URL');
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '' || url.username !== '') {
    throw connectionError('api_endpoint may have neither a query nor a fragment nor a user');
  }
  return url.href.replace(/\/+$/, '');
}

/** Tokens of the platform are not for servers that the metadata name. @throws SvcError */
function requireGoogle(endpoint: string, emulator: string | undefined): void {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol === 'https:' && /\.googleapis\.com$/.test(hostname)) return;
  if (emulator !== undefined && emulator !== '' && endpoint === endpointOf(/^https?:/.test(emulator) ? emulator : `http://${emulator}`))
    return;
  throw new SvcError(
    'not-supported',
    `with application default credentials api_endpoint has to be an https URL below googleapis.com, or the value of ${EMULATOR}`,
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
  let known: { readonly text: string; readonly account: Credentials } | undefined;
  return () => {
    const text = readKeyFile(configured.path, folder);
    if (known?.text !== text) known = { text, account: parsedAccount(text) };
    return known.account;
  };
}

/** @throws SvcError that shows nothing of the text */
function readKeyFile(path: string, folder: string | null): string {
  const what = 'the key of a service account';
  if (folder === null) {
    throw new SvcError(
      'not-supported',
      `${what} is read from a file only below the folder of SVC_GRAPHQL_DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX, which is not set`,
    );
  }
  const text = readFileBelow(path, folder, MAX_KEY_SIZE);
  if (typeof text === 'string') return text;
  if (text.kind === 'outside') throw new SvcError('not-supported', `the file "${path}" with ${what} is not below the allowed folder`);
  throw new SvcError('not-found', `the file "${path}" with ${what} cannot be read: ${text.reason}`);
}

/** Nothing of the text is shown. */
function parsedAccount(text: string): Credentials {
  let json: Json;
  try {
    json = parseJson(text);
  } catch {
    throw connectionError('the key of the service account is no JSON');
  }
  if (!isJsonObject(json)) throw connectionError('the key of the service account is no JSON object');
  return serviceAccount(json);
}
