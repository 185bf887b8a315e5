/** What a poller repeats, how often, and for whom. */
import type { ResultMemory } from '../pipeline/result-memory.ts';
import type { LiveQuery, Polls, Source } from '../backend/backend.ts';
import type { TemplatePart } from '../plan/plan.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import type { OperationLabels } from '../pipeline/operation-counts.ts';

export interface PollerOptions {
  /** Least time between two runs. */
  readonly refetchIntervalMs: number;
  /** Cohorts in one statement. */
  readonly batchSize: number;
  /** Of a statement. */
  readonly timeoutMs: number;
  /** Bytes of the answers to a statement. */
  readonly responseLimit: number;
  /** Holds these answers until they are handed out. */
  readonly memory: ResultMemory;
}

/** What is repeated, and for whom. */
export interface PollerWork {
  readonly source: string;
  readonly connection: Source & Polls;
  readonly schema: RoleSchema;
  readonly role: string;
  readonly variant: 'frontend' | 'backend';
  readonly document: string;
  /** Of the operation of the first subscriber, for whoever counts. */
  readonly labels: OperationLabels;
  readonly query: LiveQuery;
  readonly template: readonly TemplatePart[];
  /** Bytes of the answer to one cohort as far as the document shows them. */
  readonly expected: number;
}
