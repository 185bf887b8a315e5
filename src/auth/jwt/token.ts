/** What a token says before anybody verified it: enough to find its issuer and to refuse what no issuer writes. */
import { SvcError } from '../../errors/svc-error.ts';
import { duplicateKey } from '../../util/duplicate-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';

export interface UnverifiedToken {
  readonly text: string;
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

/** Longer ones are refused unread. */
const MAX_LENGTH = 32_768;
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** `Could not verify JWT: <reason>` */
export function invalidToken(reason: string, cause?: unknown): SvcError {
  return new SvcError('invalid-jwt', `Could not verify JWT: ${reason}`, { cause });
}

/**
 * Takes a token in compact form apart. A key that is there twice is refused (RFC 7519, section 4, allows it): the
 * issuer and this service might mean different ones.
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
