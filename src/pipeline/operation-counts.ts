import type { Counter } from '../observability/metrics/registry.ts';

/** Name and hash; `_other` for both where there is no room for more. */
export type OperationLabels = readonly [string, string];

/** The fields of one operation. */
export interface OperationCounts {
  readonly labels: OperationLabels;
  readonly success: Counter;
  readonly failed: Counter;
}
