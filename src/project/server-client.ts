/** HTTP client for the service of a project. */
import { readFileSync } from 'node:fs';
import { Agent, type Dispatcher, request } from 'undici';
import { isOlder, serviceVersion } from '../config/version.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';
import { EXIT, failure, type Problem, ProjectFailure, reasonOf } from './failure.ts';
import type { Settings } from './project.ts';

/** Error response of the service to an operation. */
export class ServerError extends ProjectFailure {
  readonly status: number;
  readonly answer: JsonObject;

  /** @param age likely cause of the error: another product, or an older service */
  constructor(status: number, answer: JsonObject, age?: Problem) {
    const code = typeof answer['code'] === 'string' ? answer['code'] : 'server';
    const message = typeof answer['error'] === 'string' ? answer['error'] : printJson(answer);
    const path = typeof answer['path'] === 'string' && answer['path'] !== '$' ? { path: answer['path'] } : {};
    const isRefused = status === 401 || status === 403 || code === 'access-denied' || code === 'invalid-jwt';
    super(
      [{ code, message, ...path }, ...(age === undefined ? [] : [age])],
      isRefused || age !== undefined ? EXIT.unreachable : EXIT.failed,
    );
    this.status = status;
    this.answer = answer;
  }

  get code(): string {
    return this.problems[0]?.code ?? 'server';
  }

  /** Error of the database for SQL that failed. `position` (with `locate_errors`) is in characters from 1. */
  get databaseError():
    | { readonly message: string; readonly sqlState: string; readonly position: number | undefined; readonly hint: string | undefined }
    | undefined {
    const internal = this.answer['internal'];
    if (!isJsonObject(internal))
      return typeof internal === 'string' ? { message: internal, sqlState: '', position: undefined, hint: undefined } : undefined;
    const error = internal['error'];
    if (!isJsonObject(error)) return undefined;
    const position = Number(internal['position'] ?? Number.NaN);
    return {
      message: String(error['message'] ?? ''),
      sqlState: String(error['status_code'] ?? error['code'] ?? ''),
      position: Number.isInteger(position) ? position : undefined,
      hint: typeof error['hint'] === 'string' ? error['hint'] : undefined,
    };
  }
}

export interface SqlResult {
  /** The first row is the header. */
  readonly rows: readonly (readonly string[])[];
}

export interface ServerClient {
  readonly endpoint: string;
  /** Runs an operation of `/v1/metadata`. @throws ServerError, ProjectFailure */
  metadata(type: string, args: Json, extra?: JsonObject): Promise<Json>;
  /** Runs SQL in a source by `/v2/query`. @param args further arguments @throws ServerError, ProjectFailure */
  sql(source: SqlSource, sql: string, args?: JsonObject): Promise<SqlResult>;
  /** Returns the version of the service. @throws ProjectFailure */
  version(): Promise<string>;
  /** Sends a request to any path with the admin secret. @throws ProjectFailure if the service cannot be reached */
  send(
    path: string,
    how?: { readonly body?: Json; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<{ readonly status: number; readonly body: Json }>;
  close(): Promise<void>;
}

export interface SqlSource {
  readonly name: string;
  /** Such as `pg`. */
  readonly kind: string;
}

const CONNECT_MS = 15_000;

/** Code of the problem that the service is older than the command. */
export const OLD_SERVICE = 'old-service';
/** Error codes for unknown operations and arguments. */
const NOT_KNOWN: ReadonlySet<string> = new Set(['parse-failed', 'not-supported', 'not-found']);

/** Value of `x-svc-client-name` in all requests of the command line. */
export const CLIENT_NAME = 'svc-cli';

/**
 * @param ownHeaders headers of every request
 * @throws ProjectFailure if the certificate cannot be read
 */
export function serverClient(
  { endpoint, adminSecret, paths, insecureSkipTlsVerify, certificateAuthority }: Settings,
  ownHeaders: Readonly<Record<string, string>> = {},
): ServerClient {
  const dispatcher = new Agent({
    connect: {
      timeout: CONNECT_MS,
      rejectUnauthorized: !insecureSkipTlsVerify,
      ...(certificateAuthority === null ? {} : { ca: readAuthority(certificateAuthority) }),
    },
    // A migration may take any time.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const send: ServerClient['send'] = async (path, { body, headers = {} } = {}) => {
    let answer: Dispatcher.ResponseData;
    let text: string;
    try {
      answer = await request(`${endpoint}/${path}`, {
        dispatcher,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(adminSecret === null ? {} : { 'x-svc-admin-secret': adminSecret }),
          'x-svc-client-name': CLIENT_NAME,
          ...ownHeaders,
          ...headers,
        },
        ...(body === undefined ? {} : { body: printJson(body) }),
      });
      text = await answer.body.text();
    } catch (thrown) {
      const cause = thrown instanceof AggregateError ? reasonOf(thrown.errors[0]) : reasonOf(thrown);
      const hint = 'Start it with svc dev or svc serve, or set --endpoint.';
      throw failure('unreachable', `the service at ${endpoint} cannot be reached: ${cause}. ${hint}`, {}, EXIT.unreachable);
    }
    try {
      return { status: answer.statusCode, body: text === '' ? null : parseJson(text) };
    } catch {
      if (answer.statusCode === 200) return { status: 200, body: text };
      const message = `${endpoint}/${path} returned status ${answer.statusCode} without JSON: check that --endpoint is the address of the service`;
      throw failure('unreachable', message, {}, EXIT.unreachable);
    }
  };
  const administer = async (path: string, body: JsonObject): Promise<Json> => {
    const answer = await send(path, { body });
    if (answer.status === 200) return answer.body;
    const error = new ServerError(answer.status, isJsonObject(answer.body) ? answer.body : { error: printJson(answer.body) });
    const age = await ageOf(error);
    throw age === undefined ? error : new ServerError(error.status, error.answer, age);
  };
  /** Returns a likely cause of an error about something unknown: another product, or an older service. */
  const ageOf = async ({ status, code, message }: ServerError): Promise<Problem | undefined> => {
    if (/x-hasura-/i.test(message))
      return {
        code: 'other-service',
        message: `${endpoint} seems to be a Hasura GraphQL Engine: import its metadata with svc import --from-server, and use the address of svc for all other commands`,
      };
    if (!NOT_KNOWN.has(code) && status !== 404) return undefined;
    const found = await send(paths.version).catch(() => undefined);
    const theirs = isJsonObject(found?.body) ? String(found.body['version']) : '';
    const own = serviceVersion();
    return isOlder(theirs, own)
      ? {
          code: OLD_SERVICE,
          message: `the service at ${endpoint} has version ${theirs}, which is older than this command (${own}): upgrade the service to ${own}, or use svc ${theirs}`,
        }
      : undefined;
  };
  return {
    endpoint,
    send,
    metadata: (type, args, extra = {}) => administer(paths.metadata, { type, args, ...extra }),
    async sql({ name, kind }, sql, args = {}) {
      const answer = await administer(paths.query, { type: `${kind}_run_sql`, args: { source: name, sql, ...args } });
      const rows = isJsonObject(answer) && Array.isArray(answer['result']) ? (answer['result'] as readonly (readonly string[])[]) : [];
      return { rows };
    },
    async version() {
      const { status, body } = await send(paths.version);
      if (status !== 200 || !isJsonObject(body))
        throw failure(
          'unreachable',
          `${endpoint}/${paths.version} returned status ${status}: check that --endpoint is the address of the service`,
          {},
          EXIT.unreachable,
        );
      return String(body['version']);
    },
    close: () => dispatcher.close(),
  };
}

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    throw failure('config', `the certificate authority cannot be read: ${reasonOf(thrown)}`, { file: path }, EXIT.usage);
  }
}
