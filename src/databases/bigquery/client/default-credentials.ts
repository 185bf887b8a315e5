/**
 * Application default credentials, from the file GOOGLE_APPLICATION_CREDENTIALS or the metadata server GCE_METADATA_HOST. Only the
 * environment of the service names them, never metadata, because such files can name other files and URLs.
 */
import { readFileSync, statSync } from 'node:fs';
import type { ConnectContext } from '../../../backend/backend.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { isJsonNumber, isJsonObject, type Json, type JsonObject, parseJson } from '../../../util/json.ts';
import { connectionError } from '../errors.ts';
import { GOOGLE_TOKENS, credentialFields, serviceAccount } from './service-account.ts';
import { callTokenServer, type Credentials, formCall, refusal, requestToken, SCOPE, type Send, type TokenCall } from './token.ts';

const FILE = 'GOOGLE_APPLICATION_CREDENTIALS';
const HOST = 'GCE_METADATA_HOST';
const WHO = 'the application default credentials';
const WHAT = `the file of ${FILE}`;
const PLATFORM_SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GOOGLE_EXCHANGE = 'https://sts.googleapis.com/v1/token';
const HOST_AND_PORT = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const MAX_FILE_SIZE = 64 * 1024;

/** Returns a function that reads the current credentials: the file may change. @throws SvcError */
export function defaultCredentials(environment: ConnectContext['environment']): () => Credentials {
  const [path, host] = [environment[FILE], environment[HOST]];
  if (path !== undefined && path !== '') {
    let cached: { readonly text: string; readonly credentials: Credentials } | undefined;
    return () => {
      const text = readText(path);
      if (cached?.text !== text) cached = { text, credentials: fileCredentials(text) };
      return cached.credentials;
    };
  }
  if (host === undefined) {
    throw new SvcError(
      'not-found',
      `there are no application default credentials: set ${FILE} to the path of a file, or, on Google Cloud, ${HOST} to metadata.google.internal`,
    );
  }
  const credentials = metadataServer(host);
  return () => credentials;
}

function readText(path: string): string {
  try {
    if (statSync(path).size > MAX_FILE_SIZE)
      throw new SvcError('not-supported', `the file "${path}" is larger than ${MAX_FILE_SIZE} bytes`);
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError('not-found', `the file "${path}" cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
  }
}

function parsed(text: string, what: string): JsonObject {
  let json: Json;
  try {
    json = parseJson(text);
  } catch {
    throw connectionError(`${what} is not valid JSON`);
  }
  if (!isJsonObject(json)) throw connectionError(`${what} is not a JSON object`);
  return json;
}

function fileCredentials(text: string): Credentials {
  const json = parsed(text, WHAT);
  switch (json['type']) {
    case 'service_account':
      return serviceAccount(json);
    case 'authorized_user':
      return authorizedUser(json);
    case 'external_account':
      return externalAccount(json);
    default:
      throw new SvcError(
        'not-supported',
        `${WHAT} has the type ${JSON.stringify(json['type'] ?? null)}: supported are service_account, authorized_user and external_account`,
      );
  }
}

/** File that `gcloud auth application-default login` writes. */
function authorizedUser(json: JsonObject): Credentials {
  const { required, url } = credentialFields(WHAT, json);
  const fields = {
    grant_type: 'refresh_token',
    client_id: required('client_id'),
    client_secret: required('client_secret'),
    refresh_token: required('refresh_token'),
  };
  const call = formCall(url('token_uri', GOOGLE_TOKENS), fields);
  return { token: (send) => requestToken(WHO, send, call) };
}

/** Workload identity federation: exchanges a token of another platform (RFC 8693), then optionally impersonates a service account. */
function externalAccount(json: JsonObject): Credentials {
  const { part, required, url } = credentialFields(WHAT, json);
  const subject = subjectOf(json['credential_source']);
  const impersonation = part('service_account_impersonation_url') === undefined ? null : url('service_account_impersonation_url');
  const [id, secret, userProject] = [part('client_id'), part('client_secret'), part('workforce_pool_user_project')];
  const fields = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: required('audience'),
    scope: impersonation === null ? SCOPE : PLATFORM_SCOPE,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token_type: required('subject_token_type'),
    ...(userProject === undefined || id !== undefined ? {} : { options: JSON.stringify({ userProject }) }),
  };
  const headers: Record<string, string> =
    id === undefined ? {} : { authorization: `Basic ${Buffer.from(`${id}:${secret ?? ''}`).toString('base64')}` };
  const exchange = url('token_url', GOOGLE_EXCHANGE);
  return {
    async token(send) {
      const token = await requestToken(WHO, send, formCall(exchange, { ...fields, subject_token: await subject(send) }, headers));
      if (impersonation === null) return token;
      const body = JSON.stringify({ scope: [SCOPE], lifetime: `${lifetimeOf(json)}s` });
      const call: TokenCall = {
        url: impersonation,
        method: 'POST',
        headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json', accept: 'application/json' },
        body,
      };
      const { json: answer } = await callTokenServer(WHO, send, call);
      const [text, end] = [answer['accessToken'], answer['expireTime']];
      if (typeof text !== 'string' || text === '' || typeof end !== 'string') throw refusal(WHO, 200, answer);
      const until = Date.parse(end);
      return { text, expiresAt: Number.isFinite(until) ? until : token.expiresAt };
    },
  };
}

function lifetimeOf(json: JsonObject): number {
  const impersonation = json['service_account_impersonation'];
  const seconds = isJsonObject(impersonation) ? impersonation['token_lifetime_seconds'] : undefined;
  return isJsonNumber(seconds) ? Number(seconds) : 3600;
}

/** Returns a function that reads the subject token. @throws SvcError */
function subjectOf(source: Json | undefined): (send: Send) => Promise<string> {
  if (!isJsonObject(source)) throw connectionError(`${WHAT} has no "credential_source"`);
  const { part, url } = credentialFields(`"credential_source" of ${WHAT}`, source);
  const format = source['format'];
  const field =
    isJsonObject(format) && format['type'] === 'json'
      ? credentialFields(`"format" of ${WHAT}`, format).required('subject_token_field_name')
      : null;
  const subject = (text: string): string => {
    const token = field === null ? text.trim() : parsed(text, `the subject token of ${WHAT}`)[field];
    if (typeof token !== 'string' || token === '') throw connectionError(`the "credential_source" of ${WHAT} returned no subject token`);
    return token;
  };
  const path = part('file');
  if (path !== undefined) return async () => subject(readText(path));
  if (source['url'] === undefined || source['environment_id'] !== undefined) {
    throw new SvcError(
      'not-supported',
      `"credential_source" of ${WHAT} is neither a "file" nor a "url": other sources of tokens are not supported`,
    );
  }
  const own = source['headers'];
  const names = isJsonObject(own) ? Object.entries(own).filter((pair): pair is [string, string] => typeof pair[1] === 'string') : [];
  const call: TokenCall = { url: url('url'), method: 'GET', headers: Object.fromEntries(names) };
  return async (send) => subject((await callTokenServer(WHO, send, call)).answer.body.toString());
}

/** Metadata server of Google Cloud. @param host name or address, optionally with a port */
function metadataServer(host: string): Credentials {
  const address = `http://${host}`;
  if (!HOST_AND_PORT.test(host) || !URL.canParse(address)) {
    throw connectionError(`${HOST} must be a host, optionally with a port`);
  }
  const path = '/computeMetadata/v1/instance/service-accounts/default/token';
  const call: TokenCall = {
    url: `${address}${path}?${new URLSearchParams({ scopes: SCOPE })}`,
    method: 'GET',
    headers: { 'metadata-flavor': 'Google', accept: 'application/json' },
    metadataServer: true,
  };
  return {
    token: (send) =>
      requestToken(
        WHO,
        async (one) => {
          const answer = await send(one);
          if (answer.headers['metadata-flavor'] !== 'Google')
            throw connectionError(`the server of ${HOST} is not a metadata server of Google Cloud`);
          return answer;
        },
        call,
      ),
  };
}
