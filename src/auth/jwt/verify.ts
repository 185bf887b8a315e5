import { type CryptoKey, createLocalJWKSet, errors, importSPKI, type JSONWebKeySet, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { JwtSecret } from '../../config/jwt-secret.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { invalidToken, type UnverifiedToken } from './token.ts';

export interface Verifier {
  readonly secret: JwtSecret;
  /** Resolves if the claims of the token can be trusted. @throws SvcError invalid-jwt */
  verify(token: UnverifiedToken): Promise<void>;
}

type VerificationKey = CryptoKey | Uint8Array;

/** Returns the keys to try for a token. */
type KeysFor = (token: UnverifiedToken) => Promise<readonly VerificationKey[]>;

/** @param keySet returns the current keys behind the secret's URL */
export async function createVerifier(secret: JwtSecret, keySet: () => JSONWebKeySet): Promise<Verifier> {
  const keysFor = await keysOf(secret, keySet);
  return {
    secret,
    async verify(token) {
      const options = optionsFor(secret, token);
      let failure: SvcError | undefined;
      for (const key of await keysFor(token)) {
        try {
          await jwtVerify(token.text, key, options);
          return;
        } catch (error) {
          failure = failureOf(error);
          // The signature was valid: no other key can make the claims valid.
          if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) break;
        }
      }
      throw failure ?? invalidToken(BAD_SIGNATURE);
    },
  };
}

async function keysOf(secret: JwtSecret, keySet: () => JSONWebKeySet): Promise<KeysFor> {
  const { key, algorithms } = secret;
  switch (key.kind) {
    case 'hmac':
      return async () => [key.secret];
    case 'public': {
      const imported = await importSPKI(key.key.export({ type: 'spki', format: 'pem' }) as string, algorithms[0] as string);
      return async () => [imported];
    }
    case 'url': {
      let known: { readonly set: JSONWebKeySet; readonly find: ReturnType<typeof createLocalJWKSet> } | undefined;
      return async ({ header }) => {
        const set = keySet();
        if (known?.set !== set) known = { set, find: createLocalJWKSet(set) };
        if (typeof header['alg'] !== 'string' || !algorithms.includes(header['alg'])) return [];
        try {
          return [await known.find(header as { alg: string })];
        } catch (error) {
          if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return [];
          const all: CryptoKey[] = [];
          for await (const candidate of error) all.push(candidate);
          return all;
        }
      };
    }
  }
}

function optionsFor({ algorithms, audience, issuer, allowedSkew }: JwtSecret, { claims }: UnverifiedToken): JWTVerifyOptions {
  return {
    algorithms: [...algorithms],
    clockTolerance: allowedSkew,
    ...(audience === null ? {} : { audience: [...audience] }),
    // A token without `iss` is accepted for any issuer; this is part of the interface.
    ...(issuer === null || !Object.hasOwn(claims, 'iss') ? {} : { issuer }),
  };
}

const BAD_SIGNATURE = 'JWSError JWSInvalidSignature';
const CLAIM_FAILURES: Readonly<Record<string, string>> = { aud: 'JWTNotInAudience', iss: 'JWTNotInIssuer', nbf: 'JWTNotYetValid' };

function failureOf(error: unknown): SvcError {
  if (error instanceof errors.JWTExpired) return invalidToken('JWTExpired', error);
  if (error instanceof errors.JWTClaimValidationFailed) {
    const reason = error.reason === 'invalid' ? undefined : CLAIM_FAILURES[error.claim];
    return invalidToken(reason ?? 'JWTClaimsSetDecodeError', error);
  }
  return invalidToken(BAD_SIGNATURE, error);
}
