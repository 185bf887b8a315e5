import type { HandlerCaller } from '../webhooks/handler-call.ts';
import type { Compiler, Source } from '../backend/backend.ts';
import type { InputValidator } from '../execute/input-validator.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { CostObservation, QueryObservation, SlowQueryObservation } from '../observability/observation.ts';
import type { JoinBounds } from '../execute/holes.ts';
import type { LaterCalls } from '../execute/run-context.ts';
import type { RemoteConnection } from '../remote-schema/client/connection.ts';
import type { RemoteAccess } from '../remote-schema/client/remote-caller.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import type { OperationLimits } from '../graphql-engine/engine.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import type { SchemaCache } from '../schema-cache/schema-cache.ts';
import type { Admission } from './admission.ts';
import type { MemoryHold, ResultMemory } from './result-memory.ts';
import type { AllowList } from './allow-list.ts';
import type { BatchBudget } from './batch-budget.ts';
import type { OperationCache } from './operation-cache.ts';
import type { OperationMeter } from './operation-meter.ts';
import type { ResponseCache } from './response-cache.ts';

/** What a request needs of a snapshot. */
export interface RequestSnapshot {
  readonly cache: Pick<SchemaCache, 'sources' | 'apiLimits' | 'queryTags'>;
  readonly connections: ReadonlyMap<string, Source>;
  readonly remotes: ReadonlyMap<string, RemoteConnection>;
  readonly storedOperations: Pick<StoredOperations, 'allows'>;
  roleSchema(role: string, variant: 'frontend' | 'backend'): RoleSchema;
}

export interface RequestPipeline {
  readonly operations: OperationCache;
  readonly admission: Admission;
  /** null: everything is allowed. */
  readonly allowList: AllowList | null;
  /** The compiler of a source. */
  compilerOf(snapshot: RequestSnapshot, source: string): Compiler;
  readonly validateInput: InputValidator;
  /** Hears of sources that mutations have written to. */
  readonly onWritten?: (source: string) => void;
  readonly remotes: RemoteAccess;
  readonly callHandler: HandlerCaller;
  /** Absent: no call is made later. */
  readonly laterCalls?: LaterCalls;
  readonly joinBounds: Omit<JoinBounds, 'use'>;
  /** Bytes that databases may answer to one operation; Infinity: as many as they like. */
  readonly responseLimit: number;
  /** Of every operation, whatever the role. */
  readonly limits: OperationLimits;
  /** What the operations of a batch may take together. */
  newBudget(hold?: MemoryHold): BatchBudget;
  /** Result budget of all requests. */
  readonly memory: ResultMemory;
  /** Keeps answers of queries with `@cached`; absent: none are kept. */
  readonly responses?: ResponseCache;
  /** Hears of each query before it is run. */
  readonly observeQuery?: (observation: QueryObservation) => void;
  /** Hears of operations that take more than so many ms; absent: nobody wants to know. */
  readonly slow?: { readonly limit: number; readonly observe: (observation: SlowQueryObservation) => void };
  /** Counts operations; absent: nobody wants to know. */
  readonly meter?: Counted<OperationMeter>;
  /** Hears what the statements of requests have read, where a database charges for that. */
  readonly observeCost?: (observation: CostObservation) => void;
  /** Variables whose values it is not told; absent: none. */
  readonly maskedVariables?: ReadonlySet<string>;
}
