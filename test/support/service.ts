import type { Backend } from '../../src/backend/backend.ts';
import { serve } from '../../src/app/serve.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Logger } from '../../src/observability/logger.ts';
import type { Observation } from '../../src/observability/observation.ts';
import { type Json, type JsonObject, parseJson, printJson } from '../../src/util/json.ts';
import { type TestDatabase, testDatabase } from './postgres.ts';

export interface TestService {
  readonly url: string;
  /** The database of source `default`, which also holds the metadata. */
  readonly databaseUrl: string;
  /** The log records of the service, in order. */
  readonly observations: readonly Observation[];
  /** Runs a metadata operation as admin and returns the body. Throws with the body if the status is not 200. */
  metadata(type: string, args: Json, extra?: JsonObject): Promise<Json>;
  /** Runs SQL through `/v2/query`. */
  sql(sql: string, args?: JsonObject): Promise<Json>;
  /** Sends a GraphQL request and returns the parsed body. */
  graphql(query: string, options?: GraphqlOptions): Promise<JsonObject>;
  /** Sends any request. */
  send(path: string, options?: RequestInit): Promise<Answer>;
  /** Stops the service and drops its database, unless the test keeps it and drops it itself. */
  stop(how?: { readonly keepDatabase?: boolean }): Promise<void>;
  dropDatabase(): Promise<void>;
}

export interface GraphqlOptions {
  readonly variables?: JsonObject;
  readonly operationName?: string;
  readonly role?: string;
  /** `x-svc-*` headers without the prefix: `{'user-id': '1'}`. */
  readonly session?: Readonly<Record<string, string>>;
  /** Default `/v1/graphql`. */
  readonly path?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

/**
 * Starts a service on its own database.
 * @param options environment variables without `SVC_GRAPHQL_`
 * @param others the other environment variables that metadata may reference
 * @param log receives the log records; none if undefined
 * @param backends default: those of the registry
 */
export async function startTestService(
  options: Readonly<Record<string, string>> = {},
  others: Readonly<Record<string, string>> = {},
  log?: Logger,
  backends?: readonly Backend[],
): Promise<TestService> {
  const database: TestDatabase = await testDatabase('ready');
  const observations: Observation[] = [];
  const settings = Object.fromEntries(
    Object.entries({ DATABASE_URL: database.url, SERVER_PORT: '0', SERVER_HOST: '127.0.0.1', PG_CONNECTIONS: '10', ...options }).map(
      ([name, value]) => [`SVC_GRAPHQL_${name}`, value],
    ),
  );
  const environment = { ...settings, ...others };
  const config = loadConfig({ argv: [], environment });
  const complete = { ...config, metadataDatabaseUrl: config.metadataDatabaseUrl ?? config.databaseUrl };
  const ownLogger: Logger = {
    observe(o) {
      observations.push(o);
      log?.observe(o);
    },
    flush: () => log?.flush(),
    settle: async () => log?.settle(),
    ...(log?.tap === undefined ? {} : { tap: log.tap }),
  };
  const service = await serve(complete, { environment, logger: ownLogger, ...(backends && { backends }) });
  const secret: Record<string, string> = config.adminSecret === null ? {} : { 'x-svc-admin-secret': config.adminSecret };

  const send = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = new Headers(init.headers);
    // Request bodies are JSON by default.
    if (typeof init.body === 'string' && !headers.has('content-type')) headers.set('content-type', 'application/json');
    const response = await fetch(service.url + path, { ...init, headers });
    const text = await response.text();
    let json: Json = null;
    try {
      json = parseJson(text);
    } catch {
      // some responses are plain text
    }
    return { status: response.status, headers: response.headers, text, json };
  };
  const administer = async (path: string, body: JsonObject): Promise<Json> => {
    const answer = await send(path, { method: 'POST', headers: { 'content-type': 'application/json', ...secret }, body: printJson(body) });
    if (answer.status !== 200) throw new Error(`${String(body['type'])}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  return {
    url: service.url,
    databaseUrl: database.url,
    observations,
    metadata: (type, args, extra = {}) => administer('/v1/metadata', { type, args, ...extra }),
    sql: (sql, args = {}) => administer('/v2/query', { type: 'run_sql', args: { sql, ...args } }),
    async graphql(query, { variables, operationName, role, session = {}, path = '/v1/graphql' } = {}) {
      const headers: Record<string, string> = { 'content-type': 'application/json', ...secret };
      if (role !== undefined) headers['x-svc-role'] = role;
      for (const [name, value] of Object.entries(session)) headers[`x-svc-${name}`] = value;
      const body = { query, ...(variables === undefined ? {} : { variables }), ...(operationName === undefined ? {} : { operationName }) };
      return (await send(path, { method: 'POST', headers, body: printJson(body) })).json as JsonObject;
    },
    send,
    async stop({ keepDatabase = false } = {}) {
      await service.stop();
      if (!keepDatabase) await database.drop();
    },
    dropDatabase: () => database.drop(),
  };
}
