import type { ServerMetrics } from '../../backend/server-metrics.ts';
import { connectionMetrics, poolDefinitions } from '../shared/connection-metrics.ts';

export const metrics: ServerMetrics = { family: 'mariadb', metrics: connectionMetrics(poolDefinitions('mariadb')) };
