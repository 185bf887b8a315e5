import { printJson } from '../util/json.ts';
import { SvcError } from './svc-error.ts';

/** What whoever runs the service should read: the message, and the detail that clients would not be shown. */
export function describeFailure(error: unknown): string {
  if (error instanceof SvcError && error.internal !== undefined) {
    return `${error.message}: ${typeof error.internal === 'string' ? error.internal : printJson(error.internal)}`;
  }
  return error instanceof Error ? error.message : String(error);
}
