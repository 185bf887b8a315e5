/**
 * Settings of PostgreSQL for statements on queues. Their plans are cached while the tables are small and still used when they have grown,
 * until the tables are analyzed: a scan of a small table must not look cheap.
 */
export const BY_INDEX: readonly (readonly [name: string, value: string])[] = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort'].map(
  (way) => [`enable_${way}`, 'off'],
);
