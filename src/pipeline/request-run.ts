/** A request in the pipeline, as one object. Types only. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../auth/session.ts';
import type { RunOptions } from '../backend/connection.ts';
import type { ReadingOptions } from '../execute/run-context.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { OperationPlan } from '../plan/plan.ts';
import type { BatchBudget } from './batch-budget.ts';
import type { CachedOperation } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';
import type { RequestPipeline, RequestSnapshot } from './request-pipeline.ts';
import type { CacheStatus, CompressedCopies } from './response-cache.ts';
import type { MemoryReservation } from './result-memory.ts';

export interface RequestOptions extends RunOptions, ReadingOptions {
  /** If true, mutations are refused: the request must be safe to repeat and to link to. */
  readonly queriesOnly?: boolean;
  /** Memory reservation of the request, released when its response is sent; absent if its results do not count. */
  readonly reservation?: MemoryReservation | undefined;
  /** Budget of the batch that contains the request. */
  readonly budget?: BatchBudget;
  /** Identifies the request in log records. */
  readonly requestId?: string;
  /** Address of the client; rate limits of roles may count by it. */
  readonly address?: string;
  /** Headers of the client's request; validation hooks and remote schemas may get them. */
  readonly headers?: IncomingHttpHeaders;
  /** Called before every database or remote request. Until the first call, the request has had no side effects. */
  readonly onExternalRequest?: () => void;
  /** Called once the document has been read. */
  readonly onOperation?: ((operation: CachedOperation) => void) | undefined;
  /** Called for a response that may be cached. */
  readonly onCacheStatus?: ((note: CacheStatus) => void) | undefined;
  /** Called with the compressed copies of a response that is kept with the schema of its role. */
  readonly onCopies?: ((copies: CompressedCopies) => void) | undefined;
  /** Called with each cookie that a remote schema sets for the client. */
  readonly onCookie?: (cookie: string) => void;
}

export interface RequestRun<Request = GraphqlRequest> {
  readonly pipeline: RequestPipeline;
  readonly snapshot: RequestSnapshot;
  readonly session: Session;
  readonly request: Request;
  readonly options: RequestOptions;
}

/** A run with its plan and the values of its variables. */
export interface PlannedRun<Request = GraphqlRequest> extends RequestRun<Request> {
  readonly plan: OperationPlan;
  readonly variables: Variables;
}

/** A planned run of a document. */
export interface OperationRun extends PlannedRun {
  readonly operation: CachedOperation;
}
