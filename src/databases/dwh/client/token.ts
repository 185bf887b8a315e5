/** Access tokens of a service account: an assertion that its key has signed (RFC 7523) for a token that holds for an hour or less. */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { HttpAnswer, HttpCall } from '../../../backend/http-client.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../util/json.ts';
import { BigQueryError, connectionError } from '../errors.ts';

const GOOGLE_TOKENS = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/bigquery';
const ASSERTION_SECONDS = 3600;
/** A token is not used any more for so long before its end. */
const MARGIN_MS = 60_000;
const TIMEOUT_MS = 30_000;
const MAX_RESPONSE = 64 * 1024;

export interface ServiceAccount {
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: string | undefined;
  readonly tokenUri: string;
}

/** @throws SvcError that shows nothing of the key */
export function serviceAccount(json: JsonObject): ServiceAccount {
  const part = (name: string): string | undefined => {
    const value = json[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string' || value === '') throw connectionError(`the key of the service account has no usable "${name}"`);
    return value;
  };
  const required = (name: string): string => {
    const value = part(name);
    if (value === undefined) throw connectionError(`the key of the service account has no "${name}"`);
    return value;
  };
  const email = required('client_email');
  const pem = required('private_key');
  const tokenUri = part('token_uri') ?? GOOGLE_TOKENS;
  if (!URL.canParse(tokenUri) || !/^https?:$/.test(new URL(tokenUri).protocol)) {
    throw connectionError('"token_uri" of the service account is no http or https URL');
  }
  let key: KeyObject;
  try {
    // Where the key stands in an environment variable its lines often end with the two characters.
    key = createPrivateKey(pem.replaceAll('\\n', '\n'));
  } catch {
    throw connectionError('"private_key" of the service account is no private key');
  }
  if (key.asymmetricKeyType !== 'rsa') throw connectionError('"private_key" of the service account is no RSA key');
  return { email, key, keyId: part('private_key_id'), tokenUri };
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** @param now epoch milliseconds */
export function assertion({ email, key, keyId, tokenUri }: ServiceAccount, now: number): string {
  const issued = Math.floor(now / 1000);
  const header = { alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) };
  const claims = { iss: email, scope: SCOPE, aud: tokenUri, iat: issued, exp: issued + ASSERTION_SECONDS };
  const signed = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}

interface Token {
  readonly text: string;
  /** epoch milliseconds */
  readonly until: number;
}

export class Tokens {
  private readonly account: () => ServiceAccount;
  private readonly send: (call: HttpCall) => Promise<HttpAnswer>;
  private known: Token | undefined;
  private asked: Promise<Token> | undefined;

  /** @param send throws where there is no answer */
  constructor(account: () => ServiceAccount, send: (call: HttpCall) => Promise<HttpAnswer>) {
    this.account = account;
    this.send = send;
  }

  /** All who need one at the same time wait for the same one. @throws SvcError, BigQueryError */
  async get(): Promise<string> {
    if (this.known !== undefined && Date.now() < this.known.until - MARGIN_MS) return this.known.text;
    if (this.asked === undefined) {
      this.asked = this.ask().finally(() => {
        this.asked = undefined;
      });
    }
    this.known = await this.asked;
    return this.known.text;
  }

  /** It was refused: the next one is another. */
  forget(text: string): void {
    if (this.known?.text === text) this.known = undefined;
  }

  private async ask(): Promise<Token> {
    const account = this.account();
    const now = Date.now();
    const body = new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: assertion(account, now) });
    const answer = await this.send({
      url: account.tokenUri,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: body.toString(),
      timeout: TIMEOUT_MS,
      maxResponseSize: MAX_RESPONSE,
    });
    if (answer.status === 429 || answer.status >= 500) throw new BigQueryError(answer.status, '', 'no access token is given at the moment');
    const json = parsed(answer.body);
    const [text, seconds] = [json['access_token'], json['expires_in']];
    if (answer.status !== 200 || typeof text !== 'string' || text === '') {
      const told = json['error_description'] ?? json['error'];
      const reason = typeof told === 'string' ? `: ${told.slice(0, 300)}` : '';
      throw connectionError(`the service account got no access token (status ${answer.status})${reason}`);
    }
    return { text, until: now + (typeof seconds === 'number' && seconds > 0 ? seconds : ASSERTION_SECONDS) * 1000 };
  }
}

function parsed(body: Buffer): JsonObject {
  let json: Json;
  try {
    json = parseJson(body.toString());
  } catch {
    return {};
  }
  return isJsonObject(json) ? json : {};
}
