/** The consistency check of a change: it is refused if an object that the command edits is inconsistent after it, or another one newly is. */
import { ERROR_STATUS, type ErrorCode } from '../errors/codes.ts';
import { SvcError, type SvcErrorOptions } from '../errors/svc-error.ts';
import { recordsOf } from '../schema-cache/inconsistency.ts';
import type { Inconsistency, InconsistencyRefusal } from '../schema-cache/schema-cache.ts';

/** A refused change knows the objects at fault, so that a change of many edits can name the one. */
export class ChangeRefused extends SvcError {
  /** Ids as in `objectId`. */
  readonly objects: readonly string[];
  /** Another object than those of the command became inconsistent. */
  readonly brokeOthers: boolean;

  /** What an administrator asked for cannot be done: that is no failure of the service, whatever the code. */
  constructor(
    code: ErrorCode,
    message: string,
    objects: readonly Inconsistency[],
    options: SvcErrorOptions & { brokeOthers?: boolean } = {},
  ) {
    super(code, message, { ...options, status: Math.min(ERROR_STATUS[code], 400) });
    this.objects = objects.map((each) => each.objectId);
    this.brokeOthers = options.brokeOthers === true;
  }
}

function isMeant({ of }: InconsistencyRefusal, isOwn: boolean, edited: readonly string[]): boolean {
  if (of === 'edited') return isOwn;
  return of === undefined || (!isOwn && edited.length > 0);
}

/**
 * @param before `null` where what was inconsistent before is refused too
 * @param edited ids of the objects that the command is about
 * @throws ChangeRefused
 */
export function judge(before: readonly Inconsistency[] | null, after: readonly Inconsistency[], edited: readonly string[]): void {
  const serious = after.filter((each) => each.informational !== true && each.tolerated !== true);
  const own = serious.filter((each) => edited.includes(each.objectId));
  const known = new Set(before?.map((each) => each.objectId));
  const added = serious.filter((each) => before === null || !known.has(each.objectId));

  // Such as two claims of one name: refused in the same way whichever of the objects was edited.
  const refused = [...own, ...added].find((each) => each.refusal !== undefined && isMeant(each.refusal, own.includes(each), edited));
  if (refused?.refusal !== undefined) {
    const { code, message, internal } = refused.refusal;
    throw new ChangeRefused(code, message, [refused], internal === undefined ? {} : { internal });
  }
  if (own.length > 0) {
    const reasons = [...new Set(own.map((each) => each.reason))].join(', ');
    throw new ChangeRefused('invalid-configuration', reasons, own, { internal: recordsOf(own) });
  }
  if (added.length > 0) {
    const options = { internal: recordsOf(added), brokeOthers: true };
    throw new ChangeRefused('unexpected', 'cannot continue due to new inconsistent metadata', added, options);
  }
}
