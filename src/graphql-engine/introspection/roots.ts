import { SvcError } from '../../errors/svc-error.ts';
import type { CollectedField } from '../types.ts';

/** Maximum selections in one operation: an answer of `__schema` may have megabytes, and `__type` may have to walk all types. */
const MAX_SELECTIONS: Readonly<Record<string, number>> = { __schema: 2, __type: 20 };

/** @throws SvcError validation-failed if introspection fields are selected too often */
export function checkIntrospectionRoots(fields: readonly CollectedField[]): void {
  const counts = new Map<string, number>();
  for (const { name, path } of fields) {
    const max = MAX_SELECTIONS[name];
    if (max === undefined) continue;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count > max) throw new SvcError('validation-failed', `'${name}' cannot be selected more than ${max} times`, { path });
  }
}
