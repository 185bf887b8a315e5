/**
 * The first requests of a process meet code that the engine has not compiled yet, and a large one
 * costs several times what it costs later. So the path of a request is walked beforehand, with
 * requests on tables that exist nowhere: from the bytes of a body to those of an answer.
 */
import { ADMIN_ROLE, type Session } from '../../auth/session.ts';
import { ROLE_VARIABLE } from '../../auth/session-variables.ts';
import { backends } from '../../databases/index.ts';
import { createAdmission } from '../../pipeline/admission.ts';
import { ResultMemory } from '../../pipeline/result-memory.ts';
import { BatchBudget } from '../../pipeline/batch-budget.ts';
import { compilersOf } from '../../pipeline/compilers.ts';
import { createOperationCache } from '../../pipeline/operation-cache.ts';
import { decodeRequest } from '../../pipeline/request.ts';
import { runRequest } from '../../pipeline/run-request.ts';
import { DEFAULT_LIMITS } from '../../graphql-engine/engine.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../../schema/role-schemas.ts';
import { decodeMeasuredBody } from '../../server/body.ts';
import { warmUpRequests } from './requests.ts';
import { warmUpSnapshot } from './schema.ts';
import type { RequestPipeline } from '../../pipeline/request-pipeline.ts';

/** Rounds of all requests: by then the engine has compiled what runs long. */
const ROUNDS = 8;
const VALUE_LIMIT = 200_000;

const ADMIN: Session = { role: ADMIN_ROLE, variables: new Map([[ROLE_VARIABLE, ADMIN_ROLE]]), backendOnly: false };

export interface WarmUp {
  /** Resolves when it has ended or has been stopped. @throws whatever went wrong, which is a fault of the service */
  readonly done: Promise<void>;
  stop(): void;
}

/** One request at a time, and between two of them everything else that waits. */
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
        await runRequest({ pipeline, snapshot, session: ADMIN, request: decodeRequest(json, depth), how: {} });
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

/** Without a cache every request is the first of its kind. */
function warmUpPipeline(): RequestPipeline {
  return {
    limits: DEFAULT_LIMITS,
    newBudget: () => new BatchBudget(DEFAULT_LIMITS, { together: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY }),
    responseLimit: Number.POSITIVE_INFINITY,
    memory: new ResultMemory(Number.POSITIVE_INFINITY),
    admission: createAdmission(),
    allowList: null,
    operations: createOperationCache({ operations: 0, plansPerOperation: 0, memory: 0 }),
    compilerOf: compilersOf(backends, { stringifyNumericTypes: false }),
    validateInput: () => Promise.resolve(),
    callHandler: () => Promise.reject(new Error('there are no actions to warm up')),
    remotes: () => () => Promise.reject(new Error('there are no remote schemas to warm up')),
    joinBounds: { maxKeys: 0, maxBytes: 0 },
  };
}
