/** Limits of roles for one request. A role's own limit takes precedence over the global one; administrators have none. */
import { isAdmin, type Session } from '../auth/session.ts';
import type { ApiLimits, Limit, RateLimit } from '../metadata/api-limits.ts';
import type { OperationSize } from '../graphql-engine/translation.ts';
import { LimitExceeded } from './limit-exceeded.ts';

/** The limits of one role; `null` for no limit. */
export interface RoleLimits {
  readonly depth: number | null;
  /** Maximum number of fields with a selection. */
  readonly objects: number | null;
  /** Maximum duration of a request, in ms. */
  readonly time: number | null;
  readonly batch: number | null;
  readonly rate: RateLimit | null;
  readonly concurrency: number | null;
}

const cache = new WeakMap<ApiLimits, Map<string, RoleLimits>>();
/** Maximum number of cached roles: a client that may choose any role can send arbitrary names. */
const MAX_CACHED_ROLES = 1000;

/** Returns the limits of the session's role, `null` if there are none. */
export function limitsFor(limits: ApiLimits | null, session: Session): RoleLimits | null {
  if (limits === null || limits.disabled || isAdmin(session)) return null;
  let byRole = cache.get(limits);
  if (byRole === undefined) {
    byRole = new Map();
    cache.set(limits, byRole);
  }
  let found = byRole.get(session.role);
  if (found === undefined) {
    found = resolve(limits, session.role);
    if (byRole.size < MAX_CACHED_ROLES) byRole.set(session.role, found);
  }
  return found;
}

function resolve(limits: ApiLimits, role: string): RoleLimits {
  const of = <T>(limit: Limit<T> | undefined): T | null => limit?.perRole.get(role) ?? limit?.global ?? null;
  const seconds = of(limits.timeLimit);
  return {
    depth: of(limits.depthLimit),
    objects: of(limits.nodeLimit),
    time: seconds === null ? null : seconds * 1000,
    batch: of(limits.batchLimit),
    rate: of(limits.rateLimit),
    concurrency: of(limits.concurrencyLimit),
  };
}

/** @throws SvcError validation-failed */
export function checkSize({ depth, objects }: RoleLimits, size: OperationSize): void {
  if (depth !== null && size.depth > depth) {
    throw new LimitExceeded(
      'depth',
      'validation-failed',
      `the operation is ${size.depth} levels deep, but no more than ${depth} are allowed`,
    );
  }
  if (objects !== null && size.objects > objects) {
    throw new LimitExceeded(
      'nodes',
      'validation-failed',
      `the operation has ${size.objects} fields with a selection, but no more than ${objects} are allowed`,
    );
  }
}
