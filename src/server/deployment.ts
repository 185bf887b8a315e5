/** Rejects requests until the project of the service is deployed: changes before that would be reverted by the deployment. */
import type { IncomingHttpHeaders } from 'node:http';
import { COMMAND_LINE_CLIENT } from '../config/command-line-client.ts';
import { SvcError } from '../errors/svc-error.ts';

/** @throws SvcError unexpected (503) unless the command line, which deploys the project, has sent the request */
export function checkDeployed(headers: IncomingHttpHeaders, isDeployed: boolean): void {
  if (isDeployed || headers['x-svc-client-name'] === COMMAND_LINE_CLIENT) return;
  const message =
    'the project is being deployed: send the request again in a moment. If the deployment has failed, the output of svc dev says why';
  throw new SvcError('unexpected', message, { status: 503, keepsStatus: true });
}
