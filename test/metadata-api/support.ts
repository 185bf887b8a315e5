/** The administration endpoints on a real state over a real database, without HTTP. */
import { DocumentCounts } from '../../src/pipeline/document-counts.ts';
import { NO_REMOTES } from '../support/no-remotes.ts';
import type { Session } from '../../src/auth/session.ts';
import { backends } from '../../src/databases/index.ts';
import { encodeAdminError } from '../../src/errors/encode.ts';
import { SvcError } from '../../src/errors/svc-error.ts';
import { createRateLimiter } from '../../src/pipeline/rate-limiter.ts';
import { ResultMemory } from '../../src/pipeline/result-memory.ts';
import { BatchBudget } from '../../src/pipeline/batch-budget.ts';
import { compilersOf } from '../../src/pipeline/compilers.ts';
import { createOperationCache } from '../../src/pipeline/operation-cache.ts';
import { type Administration, createAdministration } from '../../src/admin-api/administration.ts';
import { kindsOf } from '../../src/metadata/kinds.ts';
import { EMPTY_METADATA } from '../../src/metadata/metadata.ts';
import { DEFAULT_LIMITS } from '../../src/graphql-engine/engine.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../../src/schema/role-schemas.ts';
import type { ScheduledEvents } from '../../src/metadata-store/scheduled-events.ts';
import type { Storage } from '../../src/metadata-store/storage.ts';
import { createState, type RunningState } from '../../src/state/create-state.ts';
import { type Bytes, textOfBytes } from '../../src/util/bytes.ts';
import { type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import { runSql, testDatabase } from '../support/postgres.ts';
import type { RequestPipeline } from '../../src/pipeline/request-pipeline.ts';

export const ADMIN: Session = { role: 'admin', variables: new Map([['x-svc-role', 'admin']]), backendOnly: false };
export const USER: Session = { role: 'user', variables: new Map([['x-svc-role', 'user']]), backendOnly: false };

/** URL of the database of the test. */
export const CONFIGURATION: Json = { connection_info: { database_url: { from_env: 'TEST_DATABASE_URL' } } };

export interface Refused extends JsonObject {
  readonly status: number;
  readonly path: string;
  readonly error: string;
  readonly code: string;
}

export interface TestAdministration {
  readonly url: string;
  readonly state: RunningState;
  readonly administration: Administration;
  /** `/v1/metadata` as administrator. */
  metadata(type: string, args: Json, more?: JsonObject): Promise<Json>;
  /** Restores the metadata with one source and nothing tracked. */
  reset(): Promise<void>;
  queryV1(body: Json): Promise<Json>;
  queryV2(type: string, args: Json): Promise<Json>;
  close(): Promise<void>;
}

export const PIPELINE: RequestPipeline = {
  limits: DEFAULT_LIMITS,
  newBudget: () => new BatchBudget(DEFAULT_LIMITS, { batch: 10_000_000, operation: 10_000_000 }),
  responseLimit: 10_000_000,
  memory: new ResultMemory(10_000_000),
  rateLimiter: createRateLimiter(),
  documentCounts: new DocumentCounts(),
  allowList: null,
  operations: createOperationCache({ operations: 0, plansPerOperation: 0, memory: 10_000_000 }),
  compilerOf: compilersOf(backends, { stringifyNumericTypes: false }),
  validateInput: () => Promise.reject(new Error('these tests have no permissions with hooks')),
  callHandler: () => Promise.reject(new Error('these tests have no actions')),
  remotes: () => () => Promise.reject(new Error('these tests ask no remote schemas')),
  joinBounds: { maxKeys: 1000, maxBytes: 10_000_000 },
};

/** A database created by `sql`, untracked, as the source `default`. */
const NO_SCHEDULED_EVENTS: ScheduledEvents = {
  create: async () => undefined,
  delete: async () => false,
  list: async () => ({ rows: [], count: undefined, isTruncated: false }),
  invocations: async () => ({ rows: [], count: undefined, isTruncated: false }),
};

/** @param others simulates other instances on the same metadata database */
export async function testAdministration(sql: string, others: Partial<Storage> = {}): Promise<TestAdministration> {
  const database = await testDatabase();
  await runSql(database.url, sql);
  let version = 0;
  const state = await createState({
    storage: {
      load: async () => ({ resourceVersion: version, metadata: EMPTY_METADATA }),
      save: async () => ++version,
      isAlive: async () => true,
      currentVersion: async () => version,
      changesSince: async () => ({ kind: 'unknown', resourceVersion: version }),
      ...others,
    },
    backends,
    kinds: kindsOf(backends),
    cache: { defaultNamingConvention: 'svc-default' },
    roleSchemas: DEFAULT_ROLE_SCHEMAS_OPTIONS,
    connect: { environment: { TEST_DATABASE_URL: database.url }, usePreparedStatements: true, maxConnections: 4 },
    ...NO_REMOTES,
    observe: () => undefined,
    closeDelayMs: 10,
  });
  let remembered = { id: '00000000-0000-4000-8000-000000000000', cli: {} as Json, console: {} as Json };
  const administration = createAdministration({
    state,
    backends,
    showInternal: true,
    pipeline: PIPELINE,
    pollers: () => [],
    isReadOnly: false,
    onSql: () => undefined,
    isSqlDisabled: false,
    observe: () => undefined,
    rows: { openToAllRoles: true, batchLimit: 100 },
    actionLog: { clear: async () => undefined },
    catalogState: {
      read: async () => remembered,
      write: async (owner, value) => {
        remembered = { ...remembered, [owner]: value };
      },
    },
    metadataHistory: {
      list: async () => ({ changes: [], completeSince: 0 }),
      objectsOf: async () => [],
      metadataAt: async () => EMPTY_METADATA,
      clear: async () => undefined,
    },
    scheduledEvents: NO_SCHEDULED_EVENTS,
  });
  const metadata = (type: string, args: Json, more: JsonObject = {}): Promise<Json> =>
    answered(administration.metadata({ type, args, ...more }, { session: ADMIN }));
  const reset = async (): Promise<void> => {
    await metadata('clear_metadata', {});
    await metadata('pg_add_source', { name: 'default', configuration: CONFIGURATION, replace_configuration: true });
  };
  await reset();
  return {
    url: database.url,
    state,
    administration,
    metadata,
    reset,
    queryV1: (body) => answered(administration.queryV1(body, { session: ADMIN })),
    queryV2: (type, args) => answered(administration.queryV2({ type, args }, { session: ADMIN })),
    async close() {
      await state.stop();
      await database.drop();
    },
  };
}

async function answered(body: Promise<readonly Bytes[]>): Promise<Json> {
  return parseJson(textOfBytes(await body));
}

/** The error of a request, as a client sees it. */
export async function refusal(request: Promise<unknown>): Promise<Refused> {
  try {
    await request;
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    return { status: thrown.status, ...encodeAdminError(thrown, true) } as unknown as Refused;
  }
  throw new Error('the request was not refused');
}
