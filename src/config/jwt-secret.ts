/** The value of `--jwt-secret`: location of tokens, verification, and location of claims. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { type JsonPath, parseJsonPath } from '../util/json-path.ts';
import { isWebUrl } from '../util/web-url.ts';
import type { OptionType } from './option-types.ts';

export interface JwtSecret {
  readonly key:
    | { readonly kind: 'hmac'; readonly secret: Uint8Array }
    | { readonly kind: 'public'; readonly key: KeyObject }
    | { readonly kind: 'url'; readonly url: string };
  /** Permitted `alg` values; a token never chooses the kind of its key. */
  readonly algorithms: readonly string[];
  readonly claims: ClaimsLocation;
  /** The token must contain one of these; `null` if the audience is not checked. */
  readonly audience: readonly string[] | null;
  readonly issuer: string | null;
  /** In seconds. */
  readonly allowedSkew: number;
  readonly location: TokenLocation;
}

export type TokenLocation =
  | { readonly kind: 'authorization' }
  | { readonly kind: 'cookie'; readonly name: string }
  /** `name` is in lower case; the whole value is the token. */
  | { readonly kind: 'header'; readonly name: string };

export type ClaimsFormat = 'json' | 'stringified_json';

export type ClaimsLocation =
  | { readonly kind: 'namespace'; readonly name: string; readonly format: ClaimsFormat }
  | { readonly kind: 'path'; readonly text: string; readonly path: JsonPath; readonly format: ClaimsFormat }
  /** `entries` is keyed by lower-case session variable; `json` is the configured map. */
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, ClaimSource>; readonly json: JsonObject };

export type ClaimSource =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'path'; readonly path: JsonPath; readonly byDefault?: Json };

export const DEFAULT_CLAIMS_NAMESPACE = 'urn:svc:jwt:claims';
export const ALLOWED_ROLES = 'x-svc-allowed-roles';
export const DEFAULT_ROLE = 'x-svc-default-role';

/** Algorithms with the minimum length of their secret. */
const HMAC: ReadonlyMap<string, number> = new Map([
  ['HS256', 32],
  ['HS384', 48],
  ['HS512', 64],
]);
const RSA: readonly string[] = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const CURVES: ReadonlyMap<string, string> = new Map([
  ['ES256', 'prime256v1'],
  ['ES384', 'secp384r1'],
  ['ES512', 'secp521r1'],
]);
const EDWARDS: readonly string[] = ['EdDSA', 'Ed25519'];
const MIN_RSA_BITS = 2048;
/** Algorithms of keys from a URL: no HMAC, because a public document cannot contain a shared secret. */
const PUBLIC_ALGORITHMS = [...RSA, ...CURVES.keys(), ...EDWARDS];
const KEYS: readonly string[] = [
  'type',
  'key',
  'jwk_url',
  'claims_namespace',
  'claims_namespace_path',
  'claims_format',
  'claims_map',
  'audience',
  'issuer',
  'allowed_skew',
  'header',
];

export const jwtSecret: OptionType<JwtSecret> = {
  name: 'JSON object',
  parse: (text) => decodeJwtSecret(parseText(text)),
  show: () => '***',
  emptyIsValue: true,
};

export const jwtSecrets: OptionType<readonly JwtSecret[]> = {
  name: 'JSON list of objects',
  parse(text) {
    const list = parseText(text);
    if (!isJsonArray(list) || list.length === 0) throw new Error('expecting a JSON list of at least one JWT secret');
    return list.map(decodeJwtSecret);
  },
  show: () => '***',
  emptyIsValue: true,
};

function parseText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // The message of the parser would quote the secret.
    throw new Error('expecting JSON');
  }
}

function decodeJwtSecret(json: Json): JwtSecret {
  if (!isJsonObject(json)) throw new Error('expecting a JSON object');
  const unknown = Object.keys(json).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw new Error(`unknown key '${unknown}'; expecting some of ${KEYS.join(', ')}`);
  return {
    ...decodeKey(json),
    claims: decodeClaims(json),
    audience: decodeAudience(json['audience']),
    issuer: optionalText(json, 'issuer'),
    allowedSkew: decodeSkew(json['allowed_skew']),
    location: decodeLocation(json['header']),
  };
}

function decodeKey(json: JsonObject): Pick<JwtSecret, 'key' | 'algorithms'> {
  const type = optionalText(json, 'type');
  const key = optionalText(json, 'key');
  const url = optionalText(json, 'jwk_url');
  if (key === null && url === null) throw new Error('key and jwk_url both cannot be empty');
  if (key !== null && url !== null) throw new Error('key, jwk_url both cannot be present');
  const algorithms = type === null ? null : algorithmsOf(type);
  if (url !== null) {
    if (!isWebUrl(url)) throw new Error('jwk_url: expecting an http or https URL');
    if (type !== null && HMAC.has(type)) throw new Error(`Key type: ${type} is not supported with jwk_url`);
    return { key: { kind: 'url', url }, algorithms: algorithms ?? PUBLIC_ALGORITHMS };
  }
  if (type === null || algorithms === null) throw new Error("the key 'type' was not present");
  const size = HMAC.get(type);
  if (size === undefined) return { key: { kind: 'public', key: publicKey(key as string, type) }, algorithms };
  if ((key as string).length < size) throw new Error(`Key size too small; should be atleast ${size} characters`);
  return { key: { kind: 'hmac', secret: Buffer.from(key as string) }, algorithms };
}

/** Ed25519 signatures have two names (RFC 8037, RFC 9864). */
function algorithmsOf(type: string): readonly string[] {
  if (EDWARDS.includes(type)) return EDWARDS;
  if (!HMAC.has(type) && !CURVES.has(type) && !RSA.includes(type)) {
    throw new Error(`Key type: ${type} is not supported`);
  }
  return [type];
}

/** @param pem public key or X.509 certificate */
function publicKey(pem: string, type: string): KeyObject {
  if (/PRIVATE KEY/.test(pem)) throw new Error('Invalid JWK: expecting a public key or a certificate, but found a private key');
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch {
    throw new Error('Invalid JWK: expecting a public key or a certificate in PEM format');
  }
  const { asymmetricKeyType: kind, asymmetricKeyDetails: details } = key;
  const curve = CURVES.get(type);
  if (RSA.includes(type)) {
    if (kind !== 'rsa') throw new Error(`Invalid JWK: ${type} needs an RSA key, but found ${kind}`);
    if ((details?.modulusLength ?? 0) < MIN_RSA_BITS) throw new Error(`Invalid JWK: an RSA key needs at least ${MIN_RSA_BITS} bits`);
  } else if (curve !== undefined) {
    if (details?.namedCurve !== curve) throw new Error(`Invalid JWK: ${type} needs a key on the curve ${curve}`);
  } else if (kind !== 'ed25519') throw new Error(`Invalid JWK: ${type} needs an Ed25519 key, but found ${kind}`);
  return key;
}

function decodeClaims(json: JsonObject): ClaimsLocation {
  const map = json['claims_map'];
  if (map !== undefined && map !== null) return decodeClaimsMap(map);
  const name = optionalText(json, 'claims_namespace');
  const text = optionalText(json, 'claims_namespace_path');
  const format = optionalText(json, 'claims_format') ?? 'json';
  if (name !== null && text !== null) throw new Error('claims_namespace and claims_namespace_path both cannot be set');
  if (format !== 'json' && format !== 'stringified_json') throw new Error("claims_format: expecting 'json' or 'stringified_json'");
  if (text !== null) return { kind: 'path', text, path: parseJsonPath(text), format };
  return { kind: 'namespace', name: name ?? DEFAULT_CLAIMS_NAMESPACE, format };
}

function decodeClaimsMap(json: Json): ClaimsLocation {
  if (!isJsonObject(json)) throw new Error('claims_map: expecting a JSON object');
  const entries = new Map<string, ClaimSource>();
  for (const [key, value] of Object.entries(json)) {
    const name = key.toLowerCase();
    if (!name.startsWith('x-svc-')) throw new Error(`claims_map: '${key}' is not a session variable: it does not start with x-svc-`);
    if (entries.has(name)) throw new Error(`claims_map: '${name}' occurs twice`);
    entries.set(name, decodeClaimSource(name, value));
  }
  for (const name of [ALLOWED_ROLES, DEFAULT_ROLE]) {
    if (!entries.has(name)) throw new Error(`${name} is expected but not found`);
  }
  return { kind: 'map', entries, json };
}

function decodeClaimSource(name: string, json: Json): ClaimSource {
  if (!isJsonObject(json)) return { kind: 'literal', value: claimValue(name, json) };
  const { path, default: byDefault } = json;
  if (typeof path !== 'string') throw new Error(`claims_map: ${name}: expecting a value or an object with the key 'path'`);
  const found = { kind: 'path', path: parseJsonPath(path) } as const;
  return byDefault === undefined || byDefault === null ? found : { ...found, byDefault: claimValue(name, byDefault) };
}

function claimValue(name: string, json: Json): Json {
  if (name === ALLOWED_ROLES) {
    if (!isJsonArray(json) || !json.every((role) => typeof role === 'string' && role !== '')) {
      throw new Error(`claims_map: ${name}: expecting a list of roles`);
    }
  } else if (typeof json !== 'string' || (name === DEFAULT_ROLE && json === '')) {
    throw new Error(`claims_map: ${name}: expecting a string`);
  }
  return json;
}

function decodeAudience(json: Json | undefined): readonly string[] | null {
  if (json === undefined || json === null) return null;
  const list = isJsonArray(json) ? json : [json];
  if (list.length === 0 || !list.every((item): item is string => typeof item === 'string' && item !== '')) {
    throw new Error('audience: expecting a string or a list of strings');
  }
  return list;
}

function decodeSkew(json: Json | undefined): number {
  if (json === undefined || json === null) return 0;
  if (typeof json !== 'number' || !Number.isInteger(json) || json < 0) throw new Error('allowed_skew: expecting a number of seconds');
  return json;
}

function decodeLocation(json: Json | undefined): TokenLocation {
  if (json === undefined || json === null) return { kind: 'authorization' };
  if (!isJsonObject(json)) throw new Error('header: expecting a JSON object');
  const { type, name } = json;
  if (type === 'Authorization') return { kind: 'authorization' };
  if (type !== 'Cookie' && type !== 'CustomHeader') {
    throw new Error("expected 'type' is 'Authorization' or 'Cookie' or 'CustomHeader'");
  }
  if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    throw new Error(`header: expecting the name of a ${type === 'Cookie' ? 'cookie' : 'header'} under the key 'name'`);
  }
  return type === 'Cookie' ? { kind: 'cookie', name } : { kind: 'header', name: name.toLowerCase() };
}

function optionalText(json: JsonObject, key: string): string | null {
  const value = json[key];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string' || value === '') throw new Error(`${key}: expecting a non-empty string`);
  return value;
}
