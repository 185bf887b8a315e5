/** Keys of service accounts: an assertion that the key has signed (RFC 7523) is exchanged for a token. */
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

/** Reads the parts of credentials. @param what names them in errors */
export function partsOf(what: string, json: JsonObject) {
  const part = (name: string): string | undefined => {
    const value = json[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string' || value === '') throw connectionError(`${what} has no usable "${name}"`);
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
      throw connectionError(`"${name}" of ${what} is no http or https URL`);
    }
    return value;
  };
  return { part, required, url };
}

/** @throws SvcError that shows nothing of the key */
export function serviceAccount(json: JsonObject): Credentials {
  const { part, required, url } = partsOf('the key of the service account', json);
  const email = required('client_email');
  const pem = required('private_key');
  const tokenUri = url('token_uri', GOOGLE_TOKENS);
  let key: KeyObject;
  try {
    // Where the key stands in an environment variable its lines often end with the two characters.
    key = createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch {
    throw connectionError('"private_key" of the service account is no private key');
  }
  if (key.asymmetricKeyType !== 'rsa') throw connectionError('"private_key" of the service account is no RSA key');
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
