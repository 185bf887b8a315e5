/**
 * Warm-up of the JIT compiler: until it has compiled the request path, a large request costs several times what it costs later. So
 * requests run through the whole path after the start, from the bytes of the body to those of the response, on tables that exist in no
 * database.
 */
import { DocumentCounts } from '../../pipeline/document-counts.ts';
import { ADMIN_ROLE, type Session } from '../../auth/session.ts';
import { ROLE_VARIABLE } from '../../auth/session-variables.ts';
import { backends } from '../../databases/index.ts';
import { createRateLimiter } from '../../pipeline/rate-limiter.ts';
import { ResultMemory } from '../../pipeline/result-memory.ts';
import { BatchBudget } from '../../pipeline/batch-budget.ts';
import { compilersOf } from '../../pipeline/compilers.ts';
import { createOperationCache } from '../../pipeline/operation-cache.ts';
import { decodeRequest, requireText } from '../../pipeline/request.ts';
import { runRequest } from '../../pipeline/run-request.ts';
import { DEFAULT_LIMITS } from '../../graphql-engine/engine.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../../schema/role-schemas.ts';
import { decodeMeasuredBody } from '../../server/body.ts';
import { warmUpRequests } from './requests.ts';
import { warmUpSnapshot } from './schema.ts';
import type { RequestPipeline } from '../../pipeline/request-pipeline.ts';

/** Rounds of all requests; after them the hot code is compiled. */
const ROUNDS = 8;
const VALUE_LIMIT = 200_000;

const ADMIN: Session = { role: ADMIN_ROLE, variables: new Map([[ROLE_VARIABLE, ADMIN_ROLE]]), backendOnly: false };

export interface WarmUp {
  /** Resolves when the warm-up has ended or was stopped. Rejects only on a defect of the service. */
  readonly done: Promise<void>;
  stop(): void;
}

/** Runs one request at a time, and yields to the event loop between them. */
export function startWarmUp(): WarmUp {
  let stopped = false;
  const run = async (): Promise<void> => {
    const snapshot = warmUpSnapshot(DEFAULT_ROLE_SCHEMAS_OPTIONS);
    const bodies = warmUpRequests.map((text) => Buffer.from(text));
    const pipeline = warmUpPipeline();
    for (let round = 0; round < ROUNDS; round++) {
      for (const body of bodies) {
        await new Promise((resolve) => setImmediate(resolve));
        if (stopped) return;
        const { json, depth } = decodeMeasuredBody(body, VALUE_LIMIT);
        await runRequest({ pipeline, snapshot, session: ADMIN, request: requireText(decodeRequest(json, depth)), options: {} });
      }
    }
  };
  return {
    done: run(),
    stop() {
      stopped = true;
    },
  };
}

/** Pipeline without caches, so that every request is prepared and planned anew. */
function warmUpPipeline(): RequestPipeline {
  return {
    limits: DEFAULT_LIMITS,
    newBudget: () => new BatchBudget(DEFAULT_LIMITS, { batch: Number.POSITIVE_INFINITY, operation: Number.POSITIVE_INFINITY }),
    responseLimit: Number.POSITIVE_INFINITY,
    memory: new ResultMemory(Number.POSITIVE_INFINITY),
    rateLimiter: createRateLimiter(),
    documentCounts: new DocumentCounts(),
    allowList: null,
    operations: createOperationCache({ operations: 0, plansPerOperation: 0, memory: 0 }),
    compilerOf: compilersOf(backends, { stringifyNumericTypes: false }),
    validateInput: () => Promise.resolve(),
    callHandler: () => Promise.reject(new Error('there are no actions to warm up')),
    remotes: () => () => Promise.reject(new Error('there are no remote schemas to warm up')),
    joinBounds: { maxKeys: 0, maxBytes: 0 },
  };
}
