/** Rejects requests until the project of the service is deployed: changes before that would be reverted by the deployment. */
import type { IncomingHttpHeaders } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';

/** Header with which the deployment itself identifies its requests. */
export const DEPLOYMENT_HEADER = 'x-svc-deployment';

/**
 * @param key value of the header during the deployment, `null` after it
 * @throws SvcError unexpected (503) for requests of others
 */
export function checkDeployed(headers: IncomingHttpHeaders, key: string | null): void {
  if (key === null || headers[DEPLOYMENT_HEADER] === key) return;
  const message = 'the project is being deployed: send the request again in a moment, or see the output of the service';
  throw new SvcError('unexpected', message, { status: 503, keepsStatus: true });
}
