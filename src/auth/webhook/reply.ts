import { SvcError } from '../../errors/svc-error.ts';
import { duplicateKey } from '../../util/duplicate-keys.ts';
import { ownName, type PrefixAliases } from '../prefix-aliases.ts';
import type { Session } from '../session.ts';
import { isSessionVariable, isStorableText, ROLE_VARIABLE } from '../session-variables.ts';
import { expiryOf, expiryOfHeaders } from './expiry.ts';
import type { OutboundResponse } from '../../http-client/request.ts';

/** The webhook did not answer as it has to; the status is 500 on every endpoint. */
export function webhookFailure(message: string, cause?: unknown): SvcError {
  return new SvcError('unexpected', message, { status: 500, keepsStatus: true, cause });
}

export const INVALID_RESPONSE = 'Invalid response from authorization hook';

/**
 * The session in the body of the webhook's answer 200, and the names of the expiry keys in it that cannot be read.
 * @param headers of the answer: they say when the session ends where the body does not
 * @throws SvcError unexpected when it is no JSON object of strings, invalid-params when there is no role in it
 */
export function decodeReply(
  { body, headers }: { readonly body: string; readonly headers: OutboundResponse['headers'] },
  now: number,
  aliases: PrefixAliases = [],
): { readonly session: Session; readonly malformed: readonly string[] } {
  const variables = new Map<string, string>();
  const expiry: { 'cache-control'?: string; expires?: string } = {};
  const reply = parseObject(body);
  const own = new Set(Object.keys(reply).map((key) => key.toLowerCase()));
  for (const [given, value] of Object.entries(reply)) {
    if (typeof value !== 'string') throw webhookFailure(`${INVALID_RESPONSE}: expected an object whose values are strings`);
    const written = given.toLowerCase();
    const name = ownName(written, aliases);
    // What is said under our own prefix too counts as it is said there.
    if (name !== written && own.has(name)) continue;
    if (name === 'cache-control' || name === 'expires') expiry[name] = value;
    else if (isSessionVariable(name)) {
      if (variables.has(name)) throw webhookFailure(`${INVALID_RESPONSE}: ${name} is there twice`);
      if (!isStorableText(value)) throw webhookFailure(`${INVALID_RESPONSE}: ${name} holds characters that no text can have`);
      variables.set(name, value);
    }
  }
  const role = variables.get(ROLE_VARIABLE);
  if (role === undefined || role === '') throw new SvcError('invalid-params', `"${ROLE_VARIABLE}" not found in session variables`);
  const said = expiryOf(expiry['cache-control'], expiry.expires, now);
  const { malformed } = said;
  const expiresAt = said.expiresAt ?? expiryOfHeaders(headers, now);
  return { session: { role, variables, backendOnly: false, ...(expiresAt === undefined ? {} : { expiresAt }) }, malformed };
}

function parseObject(body: string): object {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch (error) {
    throw webhookFailure(`${INVALID_RESPONSE}: expected JSON`, error);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw webhookFailure(`${INVALID_RESPONSE}: expected an object`);
  if (duplicateKey(body) !== null) throw webhookFailure(`${INVALID_RESPONSE}: a key is there twice`);
  return json;
}
