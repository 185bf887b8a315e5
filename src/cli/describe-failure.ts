import { SvcError } from '../errors/svc-error.ts';
import { printJson } from '../util/json.ts';

/** What whoever starts the service should read: the message, and the detail that clients would not be shown. */
export function describeFailure(error: unknown): string {
  if (error instanceof SvcError && error.internal !== undefined) {
    return `${error.message}: ${typeof error.internal === 'string' ? error.internal : printJson(error.internal)}`;
  }
  return error instanceof Error ? error.message : String(error);
}
