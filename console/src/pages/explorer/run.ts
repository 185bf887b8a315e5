import type { Failure } from '../../api/failure.ts';
import type { GraphqlAnswer } from '../../api/graphql.ts';
import type { Json } from '../../model/json.ts';
import type { Persona } from '../../model/persona.ts';

export interface Run {
  readonly as: Persona;
  readonly answer: GraphqlAnswer | undefined;
  /** Of a subscription: the last one. */
  readonly event: Json | undefined;
  readonly events: number;
  readonly failure: Failure | undefined;
  readonly isRunning: boolean;
}
