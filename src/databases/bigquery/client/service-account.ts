/** Service account keys: a signed assertion (RFC 7523) is exchanged for an access token. */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { JsonObject } from '../../../util/json.ts';
import { connectionError } from '../errors.ts';
import { type Credentials, formCall, requestToken, SCOPE } from './token.ts';

export const GOOGLE_TOKENS = 'https://oauth2.googleapis.com/token';
const ASSERTION_SECONDS = 3600;

interface Key {
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: string | undefined;
  readonly tokenUri: string;
}

/** Returns readers for members of a credentials file. @param what names the file in errors */
export function credentialFields(what: string, json: JsonObject) {
  const part = (name: string): string | undefined => {
    const value = json[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string' || value === '') throw connectionError(`${what} has an invalid "${name}"`);
    return value;
  };
  const required = (name: string): string => {
    const value = part(name);
    if (value === undefined) throw connectionError(`${what} has no "${name}"`);
    return value;
  };
  const url = (name: string, otherwise?: string): string => {
    const value = otherwise === undefined ? required(name) : (part(name) ?? otherwise);
    if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
      throw connectionError(`"${name}" of ${what} is not an http or https URL`);
    }
    return value;
  };
  return { part, required, url };
}

/** @throws SvcError that reveals nothing of the key */
export function serviceAccount(json: JsonObject): Credentials {
  const { part, required, url } = credentialFields('the key of the service account', json);
  const email = required('client_email');
  const pem = required('private_key');
  const tokenUri = url('token_uri', GOOGLE_TOKENS);
  let key: KeyObject;
  try {
    // In environment variables, line breaks are often written as the two characters `\n`.
    key = createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch {
    throw connectionError('"private_key" of the service account is not a valid private key');
  }
  if (key.asymmetricKeyType !== 'rsa') throw connectionError('"private_key" of the service account is not an RSA key');
  const account = { email, key, keyId: part('private_key_id'), tokenUri };
  return {
    token: (send) => {
      const fields = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: assertion(account, Date.now()) };
      return requestToken('the service account', send, formCall(tokenUri, fields));
    },
  };
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** @param now epoch milliseconds */
function assertion({ email, key, keyId, tokenUri }: Key, now: number): string {
  const issued = Math.floor(now / 1000);
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) };
  const claims = { iss: email, scope: SCOPE, aud: tokenUri, iat: issued, exp: issued + ASSERTION_SECONDS };
  const signed = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}
