import type { ServerMetrics } from '../../backend/server-metrics.ts';
import { counter } from '../../observability/metrics/define.ts';
import { connectionMetrics, poolDefinitions } from '../shared/connection-metrics.ts';

/** Metrics of servers of PostgreSQL. */
export const metrics: ServerMetrics = {
  family: 'postgres',
  metrics: [
    ...connectionMetrics(poolDefinitions('postgres')),
    {
      definition: counter('replica_fallbacks_total', 'Queries that a read replica failed and the primary answered.', 'source_name'),
      samples: ({ role, counts }) => (role === 'replica' ? [{ labels: [], value: counts.fallbacks }] : []),
    },
  ],
};
