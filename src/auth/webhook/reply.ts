import { SvcError } from '../../errors/svc-error.ts';
import { duplicateKey } from '../../util/duplicate-keys.ts';
import { ownName, type PrefixAliases } from '../prefix-aliases.ts';
import type { Session } from '../session.ts';
import { isSessionVariable, isStorableText, ROLE_VARIABLE } from '../session-variables.ts';
import { expiryOf, expiryOfHeaders } from './expiry.ts';
import type { OutboundResponse } from '../../http-client/request.ts';

/** Error for an invalid response or a failed call of the webhook; its status is 500 on every endpoint. */
export function webhookFailure(message: string, cause?: unknown): SvcError {
  return new SvcError('unexpected', message, { status: 500, keepsStatus: true, cause });
}

export const INVALID_RESPONSE = 'Invalid response from authorization hook';

/**
 * Decodes the body of a 200 response of the webhook into a session, and the names of malformed expiry keys.
 * @param headers of the response: they define the expiry if the body does not
 * @throws SvcError unexpected if the body is not a JSON object of strings, invalid-params if it has no role
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
  for (const [key, value] of Object.entries(reply)) {
    if (typeof value !== 'string') throw webhookFailure(`${INVALID_RESPONSE}: expected an object whose values are strings`);
    const written = key.toLowerCase();
    const name = ownName(written, aliases);
    // The spelling under our own prefix takes precedence.
    if (name !== written && own.has(name)) continue;
    if (name === 'cache-control' || name === 'expires') expiry[name] = value;
    else if (isSessionVariable(name)) {
      if (variables.has(name)) throw webhookFailure(`${INVALID_RESPONSE}: duplicate key ${name}`);
      if (!isStorableText(value)) throw webhookFailure(`${INVALID_RESPONSE}: ${name} has characters that cannot be stored as text`);
      variables.set(name, value);
    }
  }
  const role = variables.get(ROLE_VARIABLE);
  if (role === undefined || role === '') throw new SvcError('invalid-params', `"${ROLE_VARIABLE}" not found in session variables`);
  const fromBody = expiryOf(expiry['cache-control'], expiry.expires, now);
  const { malformed } = fromBody;
  const expiresAt = fromBody.expiresAt ?? expiryOfHeaders(headers, now);
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
  if (duplicateKey(body) !== null) throw webhookFailure(`${INVALID_RESPONSE}: duplicate key`);
  return json;
}
