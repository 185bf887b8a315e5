/** JWT mode: a signed token identifies the client. */
import type { JwtSecret, TokenLocation } from '../../config/jwt-secret.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { Observer } from '../../observability/observation.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import type { Authenticated, CredentialCheck, RequestHead } from '../credentials.ts';
import { requestedRole } from '../session-variables.ts';
import type { PrefixAliases } from '../prefix-aliases.ts';
import { sessionOfClaims } from './claims.ts';
import { mayHold, tokensAt } from './find-tokens.ts';
import { type KeySet, type KeySetTiming, openKeySet } from './key-set.ts';
import { invalidToken, readToken, type UnverifiedToken } from './token.ts';
import { createVerifier, type Verifier } from './verify.ts';

export interface JwtOptions {
  /** At least one. */
  readonly secrets: readonly JwtSecret[];
  readonly outbound: OutboundClient;
  readonly observe: Observer;
  readonly keySetTiming?: KeySetTiming;
  /** Other prefixes of claim names. Defaults to none. */
  readonly prefixAliases?: PrefixAliases;
}

interface Candidate {
  readonly verifier: Verifier;
  readonly token: UnverifiedToken;
}

/** @throws ConfigError when keys cannot be fetched */
export async function openJwtCheck(options: JwtOptions): Promise<CredentialCheck> {
  const { secrets } = options;
  const keySets: KeySet[] = [];
  const stop = (): void => {
    for (const keySet of keySets) keySet.stop();
  };
  try {
    const verifiers: Verifier[] = [];
    for (const secret of secrets) verifiers.push(await createVerifier(secret, await keySetOf(secret, options, keySets)));
    return {
      kind: 'jwt',
      check(request) {
        const candidates = findCandidates(verifiers, request);
        return candidates.length === 0 ? null : authenticate(chooseCandidate(candidates), request, options.prefixAliases ?? []);
      },
      place(headers) {
        const places = secrets.filter(({ location }) => mayHold(location, headers)).map(({ location }) => location.kind);
        if (places.includes('cookie')) return 'browser';
        return places.length === 0 ? 'none' : 'header';
      },
      headers: [...new Set(secrets.map(({ location }) => (location.kind === 'header' ? location.name : location.kind)))],
      missing: () => new SvcError('invalid-headers', "Missing 'Authorization' or 'Cookie' header in JWT authentication mode"),
      accepted: [...new Set(secrets.map(({ location }) => describedLocation(location)))].join(' or '),
      stop,
    };
  } catch (error) {
    stop();
    throw error;
  }
}

function describedLocation(location: TokenLocation): string {
  switch (location.kind) {
    case 'authorization':
      return 'Authorization: Bearer <token>';
    case 'cookie':
      return `a token in the cookie ${location.name}`;
    case 'header':
      return `a token in the header ${location.name}`;
  }
}

async function keySetOf({ key }: JwtSecret, options: JwtOptions, opened: KeySet[]): Promise<KeySet['current']> {
  if (key.kind !== 'url') return () => ({ keys: [] });
  const { outbound, observe, keySetTiming: timing } = options;
  const keySet = await openKeySet({ url: key.url, outbound, observe, ...(timing === undefined ? {} : { timing }) });
  opened.push(keySet);
  return keySet.current;
}

/** Combines each secret with each token at its own location; tokens at other locations are ignored. */
function findCandidates(verifiers: readonly Verifier[], { headers }: RequestHead): readonly Candidate[] {
  return verifiers.flatMap((verifier) => tokensAt(verifier.secret.location, headers).map((text) => ({ verifier, token: readToken(text) })));
}

/** Returns the one candidate whose token does not contradict the issuer of its secret. @throws SvcError invalid-jwt, invalid-headers */
function chooseCandidate(candidates: readonly Candidate[]): Candidate {
  const fitting = candidates.filter(({ verifier, token }) => {
    const { issuer } = verifier.secret;
    return issuer === null || !Object.hasOwn(token.claims, 'iss') || token.claims['iss'] === issuer;
  });
  const [chosen] = fitting;
  if (chosen === undefined) throw invalidToken('JWTNotInIssuer');
  if (fitting.length > 1) throw new SvcError('invalid-headers', 'Could not verify JWT: Multiple JWTs found');
  return chosen;
}

async function authenticate({ verifier, token }: Candidate, { headers }: RequestHead, aliases: PrefixAliases): Promise<Authenticated> {
  await verifier.verify(token);
  const session = sessionOfClaims(token.claims, verifier.secret.claims, requestedRole(headers), aliases);
  const { exp } = token.claims;
  const expiresAt = typeof exp === 'number' ? exp * 1000 : Number.POSITIVE_INFINITY;
  return { session: Number.isFinite(expiresAt) ? { ...session, expiresAt } : session, cookies: [] };
}
