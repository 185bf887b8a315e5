import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../auth/session.ts';
import type { RunOptions, Source } from '../backend/backend.ts';
import type { Variables } from '../schema/constraint.ts';
import type { InputValidator } from './input-validator.ts';

/** What a request brings to a plan. */
export interface RunContext {
  readonly connections: ReadonlyMap<string, Source>;
  readonly session: Session;
  readonly variables: Variables;
  readonly how: RunOptions;
  /** Asked before a mutation whose plan has validations; absent where no such mutation runs. */
  readonly validateInput?: InputValidator;
  /** Of the client's request. */
  readonly headers?: IncomingHttpHeaders;
}
