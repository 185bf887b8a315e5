import { SvcError } from '../../errors/svc-error.ts';
import type { CollectedField } from '../types.ts';

/** Answers of one operation: an answer of `__schema` may have megabytes, and `__type` may have to look at every type. */
const MOST: Readonly<Record<string, number>> = { __schema: 2, __type: 20 };

/** @throws SvcError validation-failed when introspection is asked for too often */
export function checkIntrospectionRoots(fields: readonly CollectedField[]): void {
  const counts = new Map<string, number>();
  for (const { name, path } of fields) {
    const most = MOST[name];
    if (most === undefined) continue;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count > most) throw new SvcError('validation-failed', `'${name}' cannot be selected more than ${most} times`, { path });
  }
}
