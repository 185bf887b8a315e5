import type { HandlerCaller } from '../webhooks/handler-call.ts';
import type { Compiler, Source } from '../backend/backend.ts';
import type { InputValidator } from '../execute/input-validator.ts';
import type { SchemaApi } from '../metadata/schema-api.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { CostObservation, QueryObservation, SlowQueryObservation } from '../observability/observation.ts';
import type { JoinBounds } from '../execute/placeholders.ts';
import type { AsynchronousCalls } from '../execute/run-context.ts';
import type { RemoteConnection } from '../remote-schema/client/connection.ts';
import type { RemoteAccess } from '../remote-schema/client/remote-caller.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import type { OperationLimits } from '../graphql-engine/engine.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import type { SchemaCache } from '../schema-cache/schema-cache.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { MemoryReservation, ResultMemory } from './result-memory.ts';
import type { AllowList } from './allow-list.ts';
import type { BatchBudget } from './batch-budget.ts';
import type { OperationCache } from './operation-cache.ts';
import type { OperationMeter } from './operation-meter.ts';
import type { DocumentCounts } from './document-counts.ts';
import type { RegisteredTexts } from './registered-texts.ts';
import type { RecentOperations } from './recent-operations.ts';
import type { ResponseCache } from './response-cache.ts';
import type { SchemaAnswers } from './schema-answers.ts';

/** The parts of a snapshot that a request uses. */
export interface RequestSnapshot {
  readonly cache: Pick<SchemaCache, 'sources' | 'apiLimits' | 'queryTags' | 'inconsistencies' | 'unavailable'>;
  readonly connections: ReadonlyMap<string, Source>;
  readonly remotes: ReadonlyMap<string, RemoteConnection>;
  readonly storedOperations: Pick<StoredOperations, 'allows' | 'summary' | 'document'>;
  roleSchema(role: string, variant: 'frontend' | 'backend', api?: SchemaApi): RoleSchema;
}

export interface RequestPipeline {
  readonly operations: OperationCache;
  readonly rateLimiter: RateLimiter;
  /** `null` if every operation is allowed. */
  readonly allowList: AllowList | null;
  /** Texts that clients have registered by their hash; absent if clients cannot. */
  readonly registeredTexts?: RegisteredTexts;
  readonly documentCounts: DocumentCounts;
  /** Returns the compiler of a source. */
  compilerOf(snapshot: RequestSnapshot, source: string): Compiler;
  readonly validateInput: InputValidator;
  /** Called with each source that a mutation has written to. */
  readonly onWritten?: (source: string) => void;
  readonly remotes: RemoteAccess;
  readonly callHandler: HandlerCaller;
  /** Calls of asynchronous actions, if available. */
  readonly asynchronousCalls?: AsynchronousCalls;
  readonly joinBounds: Omit<JoinBounds, 'usage'>;
  /** Maximum size of the database results for one operation, in bytes; Infinity for no limit. */
  readonly responseLimit: number;
  /** Limits for every operation, whatever the role. */
  readonly limits: OperationLimits;
  /** Creates the budget that the operations of a batch share. */
  newBudget(reservation?: MemoryReservation): BatchBudget;
  /** Result budget of all requests. */
  readonly memory: ResultMemory;
  /** Cache for responses of queries with `@cached`; absent if it is off. */
  readonly responses?: ResponseCache;
  /** Cache for responses of queries that read only the schema of their role; absent if they are not cached. */
  readonly schemaAnswers?: SchemaAnswers;
  /** Called before each query runs. */
  readonly observeQuery?: (observation: QueryObservation) => void;
  /** Called after operations that take longer than the limit, in ms. */
  readonly slow?: { readonly limit: number; readonly observe: (observation: SlowQueryObservation) => void };
  readonly meter?: Counted<OperationMeter>;
  /** Record of the last operations; absent if none are recorded. */
  readonly recent?: RecentOperations;
  /** Called with the cost of statements if the database charges for reads. */
  readonly observeCost?: (observation: CostObservation) => void;
  /** Variables whose values are not logged. */
  readonly maskedVariables?: ReadonlySet<string>;
}
