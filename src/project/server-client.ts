/** HTTP client for the service of a project. */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { COMMAND_LINE_CLIENT } from '../config/command-line-client.ts';
import { isOlder, serviceVersion } from '../config/version.ts';
import { isJsonObject, type Json, type JsonObject, parseJson, printJson, textsIn } from '../util/json.ts';
import { type Answer, foreignAnswer, isFromService, isRefused, remedyOf, unreachable, waiting } from './endpoint-failure.ts';
import { EXIT, failure, type Problem, ProjectFailure, reasonOf } from './failure.ts';
import type { Settings } from './project.ts';

/** Error response of the service to an operation. */
export class ServerError extends ProjectFailure {
  readonly status: number;
  readonly answer: JsonObject;

  /**
   * @param remedy what to do about the error; by default, the suggestions of the service
   * @param age likely cause of the error: another product, or an older service
   */
  constructor(status: number, answer: JsonObject, remedy?: string, age?: Problem) {
    const code = typeof answer['code'] === 'string' ? answer['code'] : 'server';
    const message = typeof answer['error'] === 'string' ? answer['error'] : printJson(answer);
    const path = typeof answer['path'] === 'string' && answer['path'] !== '$' ? { path: answer['path'] } : {};
    const sentences = remedy === undefined ? textsIn(answer['suggestions']) : [remedy];
    const shown = [message, ...sentences.map((each) => each.replace(/\.$/, ''))].join('. ');
    super(
      [{ code, message: shown, ...path }, ...(age === undefined ? [] : [age])],
      isRefused(status, code) || age !== undefined ? EXIT.unreachable : EXIT.failed,
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

interface Request {
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** Cancels the request, which rejects with the reason if that is a ProjectFailure. */
  readonly signal?: AbortSignal;
}

export interface ServerClient {
  readonly endpoint: string;
  /** Runs an operation of `/v1/metadata`. @param signal like that of `send` @throws ServerError, ProjectFailure */
  metadata(type: string, args: Json, extra?: JsonObject, signal?: AbortSignal): Promise<Json>;
  /** Runs SQL in a source by `/v2/query`. @param args further arguments @param signal like that of `send` @throws ServerError, ProjectFailure */
  sql(source: SqlSource, sql: string, args?: JsonObject, signal?: AbortSignal): Promise<SqlResult>;
  /** Returns the version of the service. @throws ProjectFailure */
  version(): Promise<string>;
  /** Sends a request to any path with the admin secret. @throws ProjectFailure if the service cannot be reached */
  send(path: string, how?: Request): Promise<{ readonly status: number; readonly body: Json }>;
  close(): Promise<void>;
}

export interface SqlSource {
  readonly name: string;
  /** Such as `pg`. */
  readonly kind: string;
}

const CONNECT_MS = 15_000;
/** Time to wait for the answer to a request that runs nothing, in ms. */
const PLAIN_MS = 60_000;
/** Time to wait for the next part of an answer, in ms. */
const PAUSE_MS = 60_000;
/** Maximum length of an answer, such as a schema with its rows, in bytes. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
/** Time without an answer after which a message says what the command waits for, in ms. */
const NOTICE_MS = 15_000;

/** Code of the problem that the service is older than the command. */
export const OLD_SERVICE = 'old-service';
/** Error codes for unknown operations and arguments. */
const NOT_KNOWN: ReadonlySet<string> = new Set(['parse-failed', 'not-supported', 'not-found']);

/**
 * @param onWait called with a message if the first request takes long
 * @throws ProjectFailure if the certificate cannot be read
 */
export function serverClient(settings: Settings, onWait?: (message: string) => void): ServerClient {
  return new HttpServerClient(settings, onWait);
}

class HttpServerClient implements ServerClient {
  readonly #settings: Settings;
  readonly #onWait: ((message: string) => void) | undefined;
  readonly #dispatcher: Agent;
  #hasAnswered = false;

  constructor(settings: Settings, onWait: ((message: string) => void) | undefined) {
    const { insecureSkipTlsVerify, certificateAuthority } = settings;
    this.#settings = settings;
    this.#onWait = onWait;
    this.#dispatcher = new Agent({
      connect: {
        timeout: CONNECT_MS,
        rejectUnauthorized: !insecureSkipTlsVerify,
        ...(certificateAuthority === null ? {} : { ca: readAuthority(certificateAuthority) }),
      },
      // A migration may take any time before it is answered.
      headersTimeout: 0,
      bodyTimeout: PAUSE_MS,
    });
  }

  get endpoint(): string {
    return this.#settings.endpoint;
  }

  async send(path: string, how: Request = {}): ReturnType<ServerClient['send']> {
    const answer = await this.#exchange(path, how);
    const { status, body, text } = answer;
    if (body !== undefined) return { status, body };
    if (status === 200) return { status, body: text };
    throw foreignAnswer(this.#settings, answer);
  }

  metadata(type: string, args: Json, extra: JsonObject = {}, signal?: AbortSignal): Promise<Json> {
    return this.#administer(this.#settings.paths.metadata, { type, args, ...extra }, signal);
  }

  async sql(...[{ name, kind }, sql, args = {}, signal]: Parameters<ServerClient['sql']>): ReturnType<ServerClient['sql']> {
    const body = { type: `${kind}_run_sql`, args: { source: name, sql, ...args } };
    const answer = await this.#administer(this.#settings.paths.query, body, signal);
    const rows = isJsonObject(answer) && Array.isArray(answer['result']) ? (answer['result'] as readonly (readonly string[])[]) : [];
    return { rows };
  }

  async version(): Promise<string> {
    const answer = await this.#exchange(this.#settings.paths.version, {});
    const { body } = answer;
    if (answer.status !== 200 || !isJsonObject(body) || body['version'] === undefined) throw foreignAnswer(this.#settings, answer);
    return String(body['version']);
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }

  async #exchange(path: string, { body, headers = {}, signal }: Request): Promise<Answer & { readonly text: string }> {
    const { endpoint, adminSecret } = this.#settings;
    const url = `${endpoint}/${path}`;
    const notice = this.#hasAnswered ? undefined : setTimeout(() => this.#onWait?.(waiting(this.#settings, url)), NOTICE_MS);
    try {
      const answer = await request(url, {
        dispatcher: this.#dispatcher,
        ...(signal === undefined ? {} : { signal }),
        method: body === undefined ? 'GET' : 'POST',
        ...(body === undefined ? { headersTimeout: PLAIN_MS } : {}),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(adminSecret === null ? {} : { 'x-svc-admin-secret': adminSecret }),
          'x-svc-client-name': COMMAND_LINE_CLIENT,
          ...headers,
        },
        ...(body === undefined ? {} : { body: printJson(body) }),
      });
      const text = await textOf(answer.body, url);
      const { location } = answer.headers;
      this.#hasAnswered = true;
      return { url, status: answer.statusCode, text, body: jsonOf(text), location: Array.isArray(location) ? location[0] : location };
    } catch (thrown) {
      throw thrown instanceof ProjectFailure ? thrown : unreachable(this.#settings, thrown);
    } finally {
      clearTimeout(notice);
    }
  }

  async #administer(path: string, body: JsonObject, signal?: AbortSignal): Promise<Json> {
    const answer = await this.#exchange(path, { body, ...(signal === undefined ? {} : { signal }) });
    if (!isFromService(answer)) throw foreignAnswer(this.#settings, answer);
    const { status, url } = answer;
    if (status === 200) return answer.body as Json;
    const error = new ServerError(status, answer.body as JsonObject);
    const age = await this.#causeOf(error);
    throw new ServerError(status, error.answer, remedyOf(this.#settings, error, url), age);
  }

  /** Returns a likely cause of an error about something unknown: another product, or an older service. */
  async #causeOf({ status, code, message }: ServerError): Promise<Problem | undefined> {
    const { endpoint, paths } = this.#settings;
    // Only the message shows the header that another product expects.
    if (/x-hasura-/i.test(message))
      return {
        code: 'other-service',
        message: `${endpoint} seems to be a Hasura GraphQL Engine: import its metadata with svc import --from-server, and use the address of svc for all other commands`,
      };
    if (!NOT_KNOWN.has(code) && status !== 404) return undefined;
    const found = await this.send(paths.version).catch(() => undefined);
    const theirs = isJsonObject(found?.body) ? String(found.body['version']) : '';
    const own = serviceVersion();
    if (!isOlder(theirs, own)) return undefined;
    return {
      code: OLD_SERVICE,
      message: `the service at ${endpoint} has version ${theirs}, which is older than this command (${own}): upgrade the service to ${own}, or use svc ${theirs}`,
    };
  }
}

/** @throws ProjectFailure if the body is too long */
async function textOf(body: AsyncIterable<Uint8Array>, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES)
      throw failure('server', `the answer of ${url} is longer than ${MAX_ANSWER_BYTES / 2 ** 20} MiB`, {}, EXIT.unreachable);
  }
  return Buffer.concat(chunks).toString();
}

/** @returns `undefined` if the text is not JSON */
function jsonOf(text: string): Json | undefined {
  if (text === '') return null;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    throw failure('config', `the certificate authority cannot be read: ${reasonOf(thrown)}`, { file: path }, EXIT.usage);
  }
}

/** Returns a client whose requests the signal cancels, unless they have a signal of their own. */
export function cancelledBy(signal: AbortSignal, server: ServerClient): ServerClient {
  return {
    endpoint: server.endpoint,
    version: () => server.version(),
    close: () => server.close(),
    metadata: (type, args, extra, own = signal) => server.metadata(type, args, extra, own),
    sql: (source, sql, args, own = signal) => server.sql(source, sql, args, own),
    send: (path, how) => server.send(path, { signal, ...how }),
  };
}
