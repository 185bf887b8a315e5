import type { JsonObject } from '../../model/json.ts';
import type { BodyDraft, TransformDraft } from '../../model/webhook-transform.ts';

export interface TransformsDraft {
  readonly request: TransformDraft;
  readonly response: BodyDraft;
  /** The transforms as they were stored when the draft began. */
  readonly basis: JsonObject;
}
