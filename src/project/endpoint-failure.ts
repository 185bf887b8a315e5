/** Failures to reach the service of a project, and answers that do not come from one: what is wrong, where, and what to do. */
import { CREDENTIAL_CODES } from '../errors/codes.ts';
import { isJsonObject, type Json } from '../util/json.ts';
import { EXIT, failure, type ProjectFailure, reasonOf } from './failure.ts';
import type { Settings } from './project.ts';

/** Settings that name the service, with their origins. */
export type EndpointSettings = Pick<Settings, 'endpoint' | 'endpointOrigin' | 'adminSecret' | 'adminSecretOrigin'>;

/** @param origin an option of a command that reads another service, or a setting of the project */
function correction(origin: string): string {
  return origin.startsWith('--from') ? `correct ${origin}` : 'set --endpoint or SVC_GRAPHQL_ENDPOINT to the address of the service';
}

/** Codes of a TLS handshake with a server that does not use TLS. */
const NO_TLS: ReadonlySet<string> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ERR_SSL_HTTP_REQUEST']);
const CERTIFICATE = /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_\w+|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/** Message for a request that takes long. */
export function waiting({ endpointOrigin }: EndpointSettings, url: string): string {
  return `${url} has not answered yet, still waiting; if that is not the service, interrupt the command and correct the endpoint (${endpointOrigin})`;
}

/** Failure of a request that got no answer. @param thrown by the HTTP client */
export function unreachable(settings: EndpointSettings, thrown: unknown): ProjectFailure {
  const { endpoint, endpointOrigin } = settings;
  const cause: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  return failure(
    'unreachable',
    `the service at ${endpoint} (${endpointOrigin}) cannot be reached: ${reasonAndRemedy(cause, new URL(endpoint), correction(endpointOrigin))}`,
    {},
    EXIT.unreachable,
  );
}

function reasonAndRemedy(cause: unknown, { hostname, protocol, port }: URL, correct: string): string {
  const start = `Start it with svc dev or svc serve, or ${correct}.`;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') return `the connection was refused, so nothing listens there. ${start}`;
  if (code === 'ENOTFOUND') return `the host name ${hostname} does not exist. Check its spelling, or ${correct}.`;
  if (code === 'EAI_AGAIN') return `the host name ${hostname} cannot be resolved at the moment. Check the network, or ${correct}.`;
  if (
    ['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'].includes(
      code,
    )
  )
    return `the host does not respond. Check the address, the network and firewalls, or ${correct}.`;
  if (CERTIFICATE.test(code))
    return `its TLS certificate is not trusted (${reasonOf(cause)}). Set --certificate-authority to a file with its CA certificate, or --insecure-skip-tls-verify for a test.`;
  if (NO_TLS.has(code)) return `port ${port === '' ? '443' : port} does not use TLS. Write http:// in the endpoint, not https://.`;
  if (['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(code) || /^HPE_/.test(code))
    return `the connection was closed without an answer (${reasonOf(cause)}). ${protocol === 'http:' ? 'If the port expects TLS, write https:// in the endpoint. ' : ''}If another program listens there, ${correct}.`;
  return `${reasonOf(cause)}. ${start}`;
}

interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** An answer to a request, with what shows whether svc sent it. */
export interface Answer {
  /** Whole address. */
  readonly url: string;
  readonly status: number;
  /** `undefined` if it is not JSON. */
  readonly body: Json | undefined;
  /** Header `Location`. */
  readonly location?: string | undefined;
}

/** Returns false for answers that svc does not send. */
export function isFromService({ status, body }: Answer): boolean {
  return status === 200 ? body !== undefined : isJsonObject(body) && (body['error'] !== undefined || body['errors'] !== undefined);
}

/** Failure for an answer that svc does not send. */
export function foreignAnswer({ endpointOrigin }: EndpointSettings, { url, status, body, location }: Answer): ProjectFailure {
  const answer = `${url} returned status ${status}${body === undefined ? ' without JSON' : ''}`;
  return failure('unreachable', `${answer}: ${causeOf(status, location, endpointOrigin)}.`, {}, EXIT.unreachable);
}

function causeOf(status: number, location: string | undefined, origin: string): string {
  if (status >= 300 && status < 400 && location !== undefined)
    return `it redirects to ${location}. If that is the service, ${correction(origin)}, without a redirect`;
  if (status >= 502 && status <= 504) return 'a proxy answered, because the service behind it does not. Check that the service is running';
  return `this is not an answer of svc. Check that the endpoint (${origin}) is the address of the service, without the path of an API`;
}

/** Returns true if the service rejects the client. */
export function isRefused(status: number, code: string): boolean {
  return status === 401 || status === 403 || code === 'access-denied' || CREDENTIAL_CODES.has(code);
}

/** Returns what to do about an error of the service that options of the command can cure; `undefined` for any other. */
export function remedyOf(settings: EndpointSettings, error: ErrorAnswer, url: string): string | undefined {
  const { endpoint, adminSecret, adminSecretOrigin } = settings;
  const { status, code, message } = error;
  // With status 403, the operation is disabled for administrators as well. Other rejections have the code of this one, and only its
  // message differs.
  if (status === 401 || CREDENTIAL_CODES.has(code) || message.startsWith('restricted access'))
    return adminSecret === null
      ? `The command has no admin secret: set --admin-secret, or ${adminSecretOrigin} in the environment or in .env of the project, to that of the service`
      : `The admin secret (${adminSecretOrigin}) is not that of the service at ${endpoint}: it must be the SVC_GRAPHQL_ADMIN_SECRET of the service, or one of its SVC_GRAPHQL_ADMIN_SECRETS`;
  if (status === 404 && code === 'not-found')
    return `The address ${url} does not exist: set --endpoint or SVC_GRAPHQL_ENDPOINT to the address of the service, or start the service with this API in SVC_GRAPHQL_ENABLED_APIS`;
  return undefined;
}
