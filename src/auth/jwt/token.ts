/** Parses a token before it is verified: enough to find its issuer and to reject malformed tokens. */
import { SvcError } from '../../errors/svc-error.ts';
import { duplicateKey } from '../../util/duplicate-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';

export interface UnverifiedToken {
  readonly text: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

/** Longer tokens are rejected without parsing them. */
const MAX_LENGTH = 32_768;
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Sentences for the client, by the reason of the rejection. */
const REMEDIES: Readonly<Record<string, string>> = {
  JWTExpired: 'The token has expired: get a new one.',
  JWTNotYetValid: 'The token is not valid yet: compare the clocks of its issuer and of the service, or set allowed_skew.',
  JWTNotInAudience: 'The claim aud of the token has no audience of the JWT configuration.',
  JWTNotInIssuer: 'The claim iss of the token is not the issuer of the JWT configuration.',
  'JWSError JWSInvalidSignature': 'The token is not signed with a key and algorithm of the JWT configuration.',
  'JWSError CompactDecodeError': 'The text is not a JWT, which has three parts with dots between them.',
  'JWSError JSONDecodeError': 'The header or the claims of the token are not a JSON object with distinct keys.',
};

/** `Could not verify JWT: <reason>` */
export function invalidToken(reason: string, cause?: unknown): SvcError {
  const remedy = REMEDIES[reason];
  return new SvcError('invalid-jwt', `Could not verify JWT: ${reason}`, { cause, ...(remedy === undefined ? {} : { remedies: [remedy] }) });
}

/**
 * Splits a token in compact form. Rejects duplicate keys (RFC 7519, section 4, allows them): the issuer and this service might use
 * different ones.
 * @throws SvcError invalid-jwt
 */
export function readToken(text: string): UnverifiedToken {
  const parts = text.length > MAX_LENGTH ? null : COMPACT.exec(text);
  if (parts === null) throw invalidToken('JWSError CompactDecodeError');
  return { text, header: readPart(parts[1] as string), claims: readPart(parts[2] as string) };
}

function readPart(encoded: string): JsonObject {
  let json: Json;
  let text: string;
  try {
    text = utf8.decode(Buffer.from(encoded, 'base64url'));
    json = JSON.parse(text) as Json;
  } catch (error) {
    throw invalidToken('JWSError JSONDecodeError', error);
  }
  if (!isJsonObject(json) || duplicateKey(text) !== null) throw invalidToken('JWSError JSONDecodeError');
  return json;
}
