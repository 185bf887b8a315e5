import type { ServerMetrics } from '../../../src/backend/server-metrics.ts';
import { connectionMetrics, poolDefinitions } from '../../../src/databases/shared/connection-metrics.ts';

/** `svc_sqlite_connections` and the other metrics of connections. */
export const metrics: ServerMetrics = { family: 'sqlite', metrics: connectionMetrics(poolDefinitions('sqlite')) };
