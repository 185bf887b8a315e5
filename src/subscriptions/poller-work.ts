/** The statement of a poller, and its options. */
import type { ResultMemory } from '../pipeline/result-memory.ts';
import type { LiveQuery, Polls, Source } from '../backend/backend.ts';
import type { SchemaApi } from '../metadata/schema-api.ts';
import type { TemplatePart } from '../plan/plan.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import type { OperationLabels } from '../pipeline/operation-counts.ts';

export interface PollerOptions {
  /** Minimum time between two runs. */
  readonly refetchIntervalMs: number;
  /** Maximum number of cohorts per statement. */
  readonly batchSize: number;
  /** Timeout of a statement. */
  readonly timeoutMs: number;
  /** Maximum size of the results of a statement, in bytes. */
  readonly responseLimit: number;
  /** Result budget that these results count against until they are distributed. */
  readonly memory: ResultMemory;
}

/** The repeated statement, with its source, role and schema. */
export interface PollerWork {
  readonly source: string;
  readonly connection: Source & Polls;
  readonly schema: RoleSchema;
  readonly role: string;
  readonly variant: 'frontend' | 'backend';
  readonly api: SchemaApi;
  readonly document: string;
  /** Labels of the first subscriber's operation in metrics. */
  readonly labels: OperationLabels;
  readonly query: LiveQuery;
  readonly template: readonly TemplatePart[];
  /** Estimated size of one cohort's result according to the document, in bytes. */
  readonly expected: number;
}
