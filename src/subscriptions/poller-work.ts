/** What a poller repeats, how often, and for whom. */
import type { OperationLabels } from '../graphql/operation-meter.ts';
import type { LiveQuery, Source } from '../backend/backend.ts';
import type { TemplatePart } from '../plan/plan.ts';
import type { RoleSchema } from '../schema/translation.ts';

export interface PollerOptions {
  /** Least time between two runs. */
  readonly refetchIntervalMs: number;
  /** Cohorts in one statement. */
  readonly batchSize: number;
  /** Of a statement. */
  readonly timeoutMs: number;
  /** Bytes of the answers to a statement. */
  readonly responseLimit: number;
}

/** What is repeated, and for whom. */
export interface PollerWork {
  readonly source: string;
  readonly connection: Source;
  readonly schema: RoleSchema;
  readonly role: string;
  readonly variant: 'frontend' | 'backend';
  readonly document: string;
  /** Of the operation of the first subscriber, for whoever counts. */
  readonly labels: OperationLabels;
  readonly query: LiveQuery;
  readonly template: readonly TemplatePart[];
}
