import { printJson } from '../util/json.ts';
import { SvcError } from './svc-error.ts';

/** Returns an error for the operator: the message, and the details that clients do not see. */
export function describeFailure(error: unknown): string {
  if (error instanceof SvcError && error.internal !== undefined) {
    return `${error.message}: ${typeof error.internal === 'string' ? error.internal : printJson(error.internal)}`;
  }
  return error instanceof Error ? error.message : String(error);
}
