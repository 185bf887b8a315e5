/** Consistency check: refuses a change if an edited object is inconsistent afterwards, or if any other object becomes inconsistent. */
import { ERROR_STATUS, type ErrorCode } from '../errors/codes.ts';
import { SvcError, type SvcErrorOptions } from '../errors/svc-error.ts';
import { isAboutVariables, SET_VARIABLES } from '../metadata/environment-template.ts';
import { recordsOf } from '../schema-cache/inconsistency.ts';
import type { Inconsistency, InconsistencyRefusal } from '../schema-cache/schema-cache.ts';

/** Error of a refused change, with the ids of the inconsistent objects, so that a bulk can find the edit at fault. */
export class ChangeRefused extends SvcError {
  /** See `objectId`. */
  readonly objects: readonly string[];
  /** True if objects became inconsistent that the command does not edit. */
  readonly brokeOthers: boolean;

  /** The status is 400 even for codes of internal failures, because the request is at fault. */
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

function applies({ of }: InconsistencyRefusal, isOwn: boolean, edited: readonly string[]): boolean {
  if (of === 'edited') return isOwn;
  return of === undefined || (!isOwn && edited.length > 0);
}

/**
 * @param before `null` to refuse objects that were inconsistent before, too
 * @param edited ids of the edited objects
 * @throws ChangeRefused
 */
export function checkConsistency(
  before: readonly Inconsistency[] | null,
  after: readonly Inconsistency[],
  edited: readonly string[],
): void {
  const serious = after.filter((each) => each.informational !== true && each.tolerated !== true);
  const own = serious.filter((each) => edited.includes(each.objectId));
  const known = new Set(before?.map((each) => each.objectId));
  const added = serious.filter((each) => before === null || !known.has(each.objectId));

  // If two objects claim one name, for example, the error is the same whichever of them was edited.
  const refused = [...own, ...added].find((each) => each.refusal !== undefined && applies(each.refusal, own.includes(each), edited));
  if (refused?.refusal !== undefined) {
    const { code, message, internal } = refused.refusal;
    throw new ChangeRefused(code, message, [refused], internal === undefined ? {} : { internal });
  }
  if (own.length > 0) {
    const reasons = [...new Set(own.map((each) => each.reason))].join(', ');
    const remedies = isAboutVariables(reasons) ? [SET_VARIABLES] : [];
    throw new ChangeRefused('invalid-configuration', reasons, own, { internal: recordsOf(own), remedies });
  }
  if (added.length > 0) {
    const options = { internal: recordsOf(added), brokeOthers: true };
    throw new ChangeRefused('unexpected', 'cannot continue due to new inconsistent metadata', added, options);
  }
}
