import type { HealthReport } from '../../state/source-health.ts';
import type { Json } from '../../util/json.ts';
import { adminRoute } from '../admin-route.ts';
import { jsonReply } from '../reply.ts';

/** Reports the last health check of each source that has one. Cannot be disabled. */
export const sourceHealthRoute = adminRoute({
  method: 'GET',
  path: '/healthz/sources',
  async handle(_exchange, context) {
    const reports = await context.sourceHealth.reports();
    return jsonReply(200, Object.fromEntries([...reports].map(([name, report]) => [name, encode(report)])));
  },
});

function encode({ status, error, timestamp }: HealthReport): Json {
  return { status, error, timestamp };
}
