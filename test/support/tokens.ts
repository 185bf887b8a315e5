import { createHmac, generateKeyPairSync, type KeyObject, sign, type SignKeyObjectInput } from 'node:crypto';

/** Encodes a part of a token. */
export function encoded(part: unknown): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

const HASH: Readonly<Record<string, string>> = { '256': 'sha256', '384': 'sha384', '512': 'sha512' };

/** The signature of `text` by an algorithm of RFC 7518 or 8037, computed without the library under test. */
function signature(algorithm: string, key: KeyObject | string, text: string): Buffer {
  const hash = HASH[algorithm.slice(2)] ?? null;
  if (algorithm.startsWith('HS'))
    return createHmac(hash as string, key as string)
      .update(text)
      .digest();
  const input: SignKeyObjectInput = { key: key as KeyObject };
  if (algorithm.startsWith('ES')) input.dsaEncoding = 'ieee-p1363';
  if (algorithm.startsWith('PS')) Object.assign(input, { padding: 6, saltLength: -1 }); // RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST
  return sign(hash, Buffer.from(text), input);
}

export interface TokenParts {
  /** Adds `alg` if the header is an object without it. */
  readonly header?: unknown;
  readonly claims: unknown;
}

/** A token in compact form; a string is used as the text of its part. */
export function token(algorithm: string, key: KeyObject | string, { header = {}, claims }: TokenParts): string {
  const full = typeof header === 'string' ? header : { alg: algorithm, typ: 'JWT', ...(header as object) };
  const text = `${encoded(full)}.${encoded(claims)}`;
  return `${text}.${signature(algorithm, key, text).toString('base64url')}`;
}

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  /** SPKI, PEM */
  readonly pem: string;
  jwk(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

function keyPair({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }): KeyPair {
  return {
    publicKey,
    privateKey,
    pem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    jwk: (more = {}) => ({ ...publicKey.export({ format: 'jwk' }), ...more }),
  };
}

export const rsaPair = (bits = 2048): KeyPair => keyPair(generateKeyPairSync('rsa', { modulusLength: bits }));
export const ecPair = (namedCurve: string): KeyPair => keyPair(generateKeyPairSync('ec', { namedCurve }));
export const ed25519Pair = (): KeyPair => keyPair(generateKeyPairSync('ed25519'));
