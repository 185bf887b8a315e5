/** Access tokens: cached, requested once for all statements that need one, and replaced before they expire. */
import type { HttpAnswer, HttpCall } from '../../../backend/http-client.ts';
import { isJsonNumber, isJsonObject, type Json, type JsonObject, objectOf, parseJson } from '../../../util/json.ts';
import { BigQueryError, connectionError } from '../errors.ts';

export const SCOPE = 'https://www.googleapis.com/auth/bigquery';
/** Tokens are replaced this long before they expire. */
const MARGIN_MS = 60_000;
const TIMEOUT_MS = 30_000;
const MAX_RESPONSE = 64 * 1024;
const HOUR_SECONDS = 3600;
/** Google issues no token for longer. */
const MAX_LIFETIME_MS = 12 * 3_600_000;

export interface AccessToken {
  readonly text: string;
  /** epoch milliseconds */
  readonly expiresAt: number;
}

/** Calls a token server. @throws if no response comes */
export type Send = (call: HttpCall) => Promise<HttpAnswer>;

export interface Credentials {
  /** @throws SvcError, BigQueryError */
  token(send: Send): Promise<AccessToken>;
}

export class Tokens {
  readonly #credentials: () => Credentials;
  readonly #send: Send;
  #cached: AccessToken | undefined;
  #pending: Promise<AccessToken> | undefined;

  constructor(credentials: () => Credentials, send: Send) {
    this.#credentials = credentials;
    this.#send = send;
  }

  /** Returns a valid token. Concurrent callers share one request. @throws SvcError, BigQueryError */
  async get(): Promise<string> {
    if (this.#cached !== undefined && Date.now() < this.#cached.expiresAt - MARGIN_MS) return this.#cached.text;
    if (this.#pending === undefined) {
      this.#pending = this.#request().finally(() => {
        this.#pending = undefined;
      });
    }
    this.#cached = await this.#pending;
    return this.#cached.text;
  }

  /** Discards a token that the API refused. */
  invalidate(text: string): void {
    if (this.#cached?.text === text) this.#cached = undefined;
  }

  async #request(): Promise<AccessToken> {
    const { text, expiresAt: until } = await this.#credentials().token(this.#send);
    return { text, expiresAt: Math.min(until, Date.now() + MAX_LIFETIME_MS) };
  }
}

export type TokenCall = Pick<HttpCall, 'url' | 'method' | 'headers' | 'body' | 'metadataServer'>;

/** @param who names the credentials in errors @throws SvcError if the server refuses, BigQueryError if it is unavailable */
export async function callTokenServer(
  who: string,
  send: Send,
  call: TokenCall,
): Promise<{ readonly json: JsonObject; readonly answer: HttpAnswer }> {
  const answer = await send({ ...call, timeout: TIMEOUT_MS, maxResponseSize: MAX_RESPONSE });
  if (answer.status === 429 || answer.status >= 500) throw new BigQueryError(answer.status, '', 'the token server is unavailable');
  const json = parsed(answer.body.toString());
  if (answer.status !== 200) throw refusal(who, answer.status, json);
  return { json, answer };
}

/** Requests a token in the form of an OAuth 2.0 response. */
export async function requestToken(who: string, send: Send, call: TokenCall): Promise<AccessToken> {
  const now = Date.now();
  const { json } = await callTokenServer(who, send, call);
  const [text, seconds] = [json['access_token'], json['expires_in']];
  if (typeof text !== 'string' || text === '') throw refusal(who, 200, json);
  const lifetime = isJsonNumber(seconds) ? Number(seconds) : HOUR_SECONDS;
  return { text, expiresAt: now + (lifetime > 0 ? lifetime : HOUR_SECONDS) * 1000 };
}

/** Builds a form request for a token endpoint. */
export function formCall(url: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): TokenCall {
  return {
    url,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(fields).toString(),
  };
}

/** Includes the server's reason, and nothing that was sent. */
export function refusal(who: string, status: number, json: JsonObject): Error {
  const error = json['error'];
  const reason = json['error_description'] ?? (isJsonObject(error) ? error['message'] : error);
  return connectionError(
    `${who} could not get an access token (status ${status})${typeof reason === 'string' ? `: ${reason.slice(0, 300)}` : ''}`,
  );
}

function parsed(body: string): JsonObject {
  let json: Json;
  try {
    json = parseJson(body);
  } catch {
    return {};
  }
  return objectOf(json);
}
