/** Service accounts and access tokens. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, verify } from 'node:crypto';
import { ApiError } from './errors.ts';

/** A key file in Google's format. */
export interface ServiceAccount {
  readonly type: 'service_account';
  readonly project_id: string;
  readonly private_key_id: string;
  readonly private_key: string;
  readonly client_email: string;
  readonly client_id: string;
  readonly auth_uri: string;
  readonly token_uri: string;
}

const READ_WRITE = ['https://www.googleapis.com/auth/bigquery', 'https://www.googleapis.com/auth/cloud-platform'];
const READ_ONLY = ['https://www.googleapis.com/auth/bigquery.readonly', 'https://www.googleapis.com/auth/cloud-platform.read-only'];
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const CLOCK_SKEW = 300;
const LONGEST = 3600;

/** An error of the token endpoint. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly error: 'invalid_grant' | 'invalid_scope' | 'invalid_request' | 'unsupported_grant_type';

  constructor(error: 'invalid_grant' | 'invalid_scope' | 'invalid_request' | 'unsupported_grant_type', message: string) {
    super(message);
    this.error = error;
  }
}

export interface IssuedToken {
  readonly access_token: string;
  readonly expires_in: number;
  readonly token_type: 'Bearer';
}

interface Grant {
  readonly isReadOnly: boolean;
  readonly expires: number;
}

let keyPair: { readonly publicKey: KeyObject; readonly privateKey: string } | undefined;

/** Shared in this process: generating a key pair takes 0.1 s. */
function sharedKeyPair(): { readonly publicKey: KeyObject; readonly privateKey: string } {
  if (keyPair === undefined) {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    keyPair = { publicKey, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
  }
  return keyPair;
}

export class Access {
  readonly serviceAccount: ServiceAccount;
  /** Lifetime of a token, in seconds. */
  lifetime = 3599;
  private readonly publicKey: KeyObject;
  private readonly grants = new Map<string, Grant>();

  constructor(project: string, tokenUri: string) {
    const { publicKey, privateKey } = sharedKeyPair();
    this.publicKey = createPublicKey(publicKey.export({ type: 'spki', format: 'pem' }));
    this.serviceAccount = {
      type: 'service_account',
      project_id: project,
      private_key_id: 'b1f0c2',
      private_key: privateKey,
      client_email: `reader@${project}.iam.example.com`,
      client_id: '100000000000000000001',
      auth_uri: new URL('/auth', tokenUri).href,
      token_uri: tokenUri,
    };
  }

  /** Revokes all tokens. */
  expireAll(): void {
    this.grants.clear();
  }

  /** Issues a token without an assertion. */
  grant(isReadOnly: boolean, seconds = this.lifetime): string {
    const token = `ya29.${randomBytes(24).toString('base64url')}`;
    this.grants.set(token, { isReadOnly, expires: Date.now() + seconds * 1000 });
    return token;
  }

  /** Issues a token for an assertion as in RFC 7523. @throws TokenError */
  exchange(form: URLSearchParams): IssuedToken {
    if (form.get('grant_type') !== GRANT) throw new TokenError('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type')}`);
    const assertion = form.get('assertion');
    if (assertion === null) throw new TokenError('invalid_request', 'Missing required parameter: assertion');
    const { isReadOnly } = this.verified(assertion);
    return { access_token: this.grant(isReadOnly), expires_in: this.lifetime, token_type: 'Bearer' };
  }

  private verified(assertion: string): { readonly isReadOnly: boolean } {
    const [head = '', claims = '', signature = '', ...more] = assertion.split('.');
    const header = jsonPart(head);
    const body = jsonPart(claims);
    if (header === undefined || body === undefined || more.length > 0) {
      throw new TokenError('invalid_grant', 'Bad Request');
    }
    if (header['alg'] !== 'RS256') throw new TokenError('invalid_grant', 'Invalid JWT: the algorithm must be RS256');
    if (header['kid'] !== undefined && header['kid'] !== this.serviceAccount.private_key_id) {
      throw new TokenError('invalid_grant', 'Invalid grant: account not found');
    }
    if (body['iss'] !== this.serviceAccount.client_email) throw new TokenError('invalid_grant', 'Invalid grant: account not found');
    const isSigned = verify('sha256', Buffer.from(`${head}.${claims}`), this.publicKey, Buffer.from(signature, 'base64url'));
    if (!isSigned) throw new TokenError('invalid_grant', 'Invalid JWT Signature.');
    if (body['aud'] !== this.serviceAccount.token_uri) {
      throw new TokenError('invalid_grant', 'Invalid JWT: Failed audience check.');
    }
    const [issued, expires] = [body['iat'], body['exp']];
    const now = Date.now() / 1000;
    if (typeof issued !== 'number' || typeof expires !== 'number') {
      throw new TokenError('invalid_grant', 'Invalid JWT: iat and exp are required');
    }
    if (issued > now + CLOCK_SKEW || expires < now || expires - issued > LONGEST) {
      throw new TokenError(
        'invalid_grant',
        'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.',
      );
    }
    const scopes = typeof body['scope'] === 'string' ? body['scope'].split(' ').filter((scope) => scope !== '') : [];
    const known = [...READ_WRITE, ...READ_ONLY];
    if (scopes.length === 0 || !scopes.every((scope) => known.includes(scope))) {
      throw new TokenError('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
    }
    return { isReadOnly: !scopes.some((scope) => READ_WRITE.includes(scope)) };
  }

  /** @throws ApiError without a valid token */
  check(header: string | undefined): { readonly isReadOnly: boolean } {
    const token = /^Bearer (\S+)$/i.exec(header ?? '')?.[1];
    const grant = token === undefined ? undefined : this.grants.get(token);
    if (grant === undefined || grant.expires <= Date.now()) {
      throw new ApiError(
        'authError',
        header === undefined
          ? 'Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential.'
          : 'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
        'Authorization',
      );
    }
    return { isReadOnly: grant.isReadOnly };
  }
}

function jsonPart(text: string): Readonly<Record<string, string | number | undefined>> | undefined {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString()) as Readonly<Record<string, string | number | undefined>> | null;
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
