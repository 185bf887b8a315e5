import type { Counter } from '../observability/metrics/registry.ts';

/** Name and hash; both are `_other` for operations without their own labels. */
export type OperationLabels = readonly [string, string];

/** Counters of one operation. */
export interface OperationCounts {
  readonly labels: OperationLabels;
  readonly success: Counter;
  readonly failed: Counter;
}
