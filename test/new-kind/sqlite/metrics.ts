import type { ServerMetrics } from '../../../src/backend/server-metrics.ts';
import { connectionMetrics, poolDefinitions } from '../../../src/databases/shared/connection-metrics.ts';

/** Metrics of SQLite: `svc_sqlite_connections` and its kin. */
export const metrics: ServerMetrics = { family: 'sqlite', metrics: connectionMetrics(poolDefinitions('sqlite')) };
