import { createPublicKey, type JsonWebKey } from 'node:crypto';
import type { JSONWebKeySet, JWK } from 'jose';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';

/** Members of a public key (RFC 7518, section 6); private members are dropped. */
const MEMBERS = ['kty', 'kid', 'use', 'key_ops', 'alg', 'n', 'e', 'crv', 'x', 'y'] as const;
const ALGORITHM = /^(?:(?:RS|PS)(?:256|384|512)|ES(?:256|384|512)|EdDSA|Ed25519)$/;
const CURVES: ReadonlySet<unknown> = new Set(['P-256', 'P-384', 'P-521', 'Ed25519']);
const MIN_RSA_BITS = 2048;

/**
 * Returns the keys of a set that can verify tokens and drops the others.
 * @throws Error if the text is not a key set or has no such key
 */
export function usableKeys(text: string): JSONWebKeySet {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    throw new Error('the answer is not JSON');
  }
  const list = isJsonObject(json) ? json['keys'] : undefined;
  if (!isJsonArray(list)) throw new Error('the answer is no JSON object with a list of keys');
  const keys = list
    .filter((key) => isJsonObject(key))
    .map(publicMembers)
    .filter(isUsable);
  if (keys.length === 0) throw new Error('none of the keys can verify tokens');
  return { keys: keys as unknown as JWK[] };
}

function publicMembers(key: JsonObject): JsonObject {
  return Object.fromEntries(MEMBERS.flatMap((name) => (key[name] === undefined ? [] : [[name, key[name]]])));
}

function isUsable(key: JsonObject): boolean {
  const { kty, use, key_ops: operations, alg, kid } = key;
  if (use !== undefined && use !== 'sig') return false;
  if (operations !== undefined && !(isJsonArray(operations) && operations.includes('verify'))) return false;
  if (alg !== undefined && !(typeof alg === 'string' && ALGORITHM.test(alg))) return false;
  if (kid !== undefined && typeof kid !== 'string') return false;
  if (kty !== 'RSA' && !((kty === 'EC' || kty === 'OKP') && CURVES.has(key['crv']))) return false;
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: key as JsonWebKey, format: 'jwk' });
    return kty !== 'RSA' || (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS;
  } catch {
    return false;
  }
}
