/** Whether a change may stand although something is inconsistent after it (metadata reference 2.1). */
import { SvcError } from '../errors/svc-error.ts';
import { recordsOf } from '../schema-cache/inconsistency.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';

/**
 * @param edited ids of the objects that the command is about
 * @throws SvcError when the change is refused
 */
export function judge(before: readonly Inconsistency[], after: readonly Inconsistency[], edited: readonly string[]): void {
  const serious = after.filter((each) => each.informational !== true);
  const own = serious.filter((each) => edited.includes(each.objectId));
  const known = new Set(before.map((each) => each.objectId));
  const added = serious.filter((each) => !known.has(each.objectId));

  // Claims of one name by two objects are refused in the same way whichever of them was edited.
  const conflict = [...own, ...added].find((each) => each.refusal?.code === 'unexpected');
  if (conflict?.refusal !== undefined) throw new SvcError(conflict.refusal.code, conflict.refusal.message);
  const refusal = own.find((each) => each.refusal !== undefined)?.refusal;
  if (refusal !== undefined) throw new SvcError(refusal.code, refusal.message);
  if (own.length > 0) {
    const reasons = [...new Set(own.map((each) => each.reason))].join(', ');
    throw new SvcError('invalid-configuration', reasons, { internal: recordsOf(own) });
  }
  if (added.length > 0) {
    throw new SvcError('unexpected', 'cannot continue due to new inconsistent metadata', { status: 400, internal: recordsOf(added) });
  }
}
