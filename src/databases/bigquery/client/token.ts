/** Access tokens: cached, requested once for all statements that need one, and replaced before they expire. */
import type { HttpAnswer, HttpCall } from '../../../backend/http-client.ts';
import { isJsonNumber, isJsonObject, type Json, type JsonObject, parseJson } from '../../../util/json.ts';
import { BigQueryError, connectionError } from '../errors.ts';

export const SCOPE = 'https://www.googleapis.com/auth/bigquery';
/** A token is no longer used this long before it expires. */
const MARGIN_MS = 60_000;
const TIMEOUT_MS = 30_000;
const MAX_RESPONSE = 64 * 1024;
const HOUR_SECONDS = 3600;
/** Google gives none for longer. */
const LONGEST_MS = 12 * 3_600_000;

export interface Token {
  readonly text: string;
  /** epoch milliseconds */
  readonly until: number;
}

/** Makes one call of a token server. @throws where there is no answer */
export type Send = (call: HttpCall) => Promise<HttpAnswer>;

export interface Credentials {
  /** @throws SvcError, BigQueryError */
  token(send: Send): Promise<Token>;
}

export class Tokens {
  private readonly credentials: () => Credentials;
  private readonly send: Send;
  private known: Token | undefined;
  private asked: Promise<Token> | undefined;

  constructor(credentials: () => Credentials, send: Send) {
    this.credentials = credentials;
    this.send = send;
  }

  /** Statements that need a token at the same time wait for the same call. @throws SvcError, BigQueryError */
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

  /** Drops a token that was refused, so that the next one is another. */
  forget(text: string): void {
    if (this.known?.text === text) this.known = undefined;
  }

  private async ask(): Promise<Token> {
    const { text, until } = await this.credentials().token(this.send);
    return { text, until: Math.min(until, Date.now() + LONGEST_MS) };
  }
}

export type TokenCall = Pick<HttpCall, 'url' | 'method' | 'headers' | 'body' | 'metadataServer'>;

/** Returns what a token server answers. @param who names the credentials in errors @throws SvcError where it refuses, BigQueryError where it is away */
export async function callTokenServer(
  who: string,
  send: Send,
  call: TokenCall,
): Promise<{ readonly json: JsonObject; readonly answer: HttpAnswer }> {
  const answer = await send({ ...call, timeout: TIMEOUT_MS, maxResponseSize: MAX_RESPONSE });
  if (answer.status === 429 || answer.status >= 500) throw new BigQueryError(answer.status, '', 'no access token is given at the moment');
  const json = parsed(answer.body.toString());
  if (answer.status !== 200) throw refusal(who, answer.status, json);
  return { json, answer };
}

/** Returns the token of an answer as OAuth 2.0 defines it. */
export async function requestToken(who: string, send: Send, call: TokenCall): Promise<Token> {
  const now = Date.now();
  const { json } = await callTokenServer(who, send, call);
  const [text, seconds] = [json['access_token'], json['expires_in']];
  if (typeof text !== 'string' || text === '') throw refusal(who, 200, json);
  const lifetime = isJsonNumber(seconds) ? Number(seconds) : HOUR_SECONDS;
  return { text, until: now + (lifetime > 0 ? lifetime : HOUR_SECONDS) * 1000 };
}

/** A form as token servers take it. */
export function formCall(url: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): TokenCall {
  return {
    url,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(fields).toString(),
  };
}

/** Shows the reason of the server, and nothing of what was sent. */
export function refusal(who: string, status: number, json: JsonObject): Error {
  const error = json['error'];
  const told = json['error_description'] ?? (isJsonObject(error) ? error['message'] : error);
  return connectionError(`${who} got no access token (status ${status})${typeof told === 'string' ? `: ${told.slice(0, 300)}` : ''}`);
}

function parsed(body: string): JsonObject {
  let json: Json;
  try {
    json = parseJson(body);
  } catch {
    return {};
  }
  return isJsonObject(json) ? json : {};
}
