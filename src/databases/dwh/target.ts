/** What a configuration means: whose key is used, and where. */
import type { ConnectContext } from '../../backend/backend.ts';
import { connectionText } from '../../backend/connection-settings.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { readFileBelow } from '../../util/file-below.ts';
import { isJsonObject, type Json, parseJson } from '../../util/json.ts';
import { type ServiceAccount, serviceAccount } from './client/token.ts';
import type { ConfiguredAccount, DwhConfiguration } from './configuration.ts';
import { connectionError } from './errors.ts';

const GOOGLE = 'https://bigquery.googleapis.com';
/** Bytes. */
const MAX_KEY_SIZE = 64 * 1024;
const NAME = /^[A-Za-z0-9_]{1,1024}$/;
const PROJECT = /^[A-Za-z0-9_.:-]{1,200}$/;

export interface Target {
  /** The key as it is now: its file may have another one than before. @throws SvcError */
  account(): ServiceAccount;
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly project: string;
  readonly datasets: readonly string[];
}

/** @throws SvcError for missing variables, keys that are none, files that cannot be read, and names that are none */
export function targetOf(
  configuration: DwhConfiguration,
  { environment, secretsFolder = null }: Pick<ConnectContext, 'environment' | 'secretsFolder'>,
): Target {
  const { projectId, datasets, apiEndpoint } = configuration;
  const project = projectId.kind === 'number' ? String(projectId.number) : connectionText(projectId, environment).trim();
  if (!PROJECT.test(project)) throw connectionError(`"${project}" is no id of a project`);
  const names = datasets.kind === 'names' ? datasets.names : connectionText(datasets, environment).split(',');
  const account = accountOf(configuration.serviceAccount, environment, secretsFolder);
  account();
  return {
    account,
    endpoint: endpointOf(apiEndpoint === undefined ? GOOGLE : connectionText(apiEndpoint, environment)),
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

function accountOf(configured: ConfiguredAccount, environment: ConnectContext['environment'], folder: string | null): () => ServiceAccount {
  if (configured.kind === 'key') {
    const account = serviceAccount(configured.key);
    return () => account;
  }
  if (configured.kind !== 'file') {
    const account = parsedAccount(connectionText(configured, environment));
    return () => account;
  }
  let known: { readonly text: string; readonly account: ServiceAccount } | undefined;
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
function parsedAccount(text: string): ServiceAccount {
  let json: Json;
  try {
    json = parseJson(text);
  } catch {
    throw connectionError('the key of the service account is no JSON');
  }
  if (!isJsonObject(json)) throw connectionError('the key of the service account is no JSON object');
  return serviceAccount(json);
}
