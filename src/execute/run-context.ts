import type { Session } from '../auth/session.ts';
import type { RunOptions, Source } from '../backend/backend.ts';
import type { Variables } from '../schema/constraint.ts';

/** What a request brings to a plan. */
export interface RunContext {
  readonly connections: ReadonlyMap<string, Source>;
  readonly session: Session;
  readonly variables: Variables;
  readonly how: RunOptions;
}
