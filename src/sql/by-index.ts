/**
 * Settings of PostgreSQL for statements on queues. Their plans are made while there is little in the tables, and kept when there is much,
 * until the tables are analyzed: what reads all of a small table must not look cheap.
 */
export const BY_INDEX: readonly (readonly [name: string, value: string])[] = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin', 'sort'].map(
  (way) => [`enable_${way}`, 'off'],
);
