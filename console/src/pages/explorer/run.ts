import type { Failure } from '../../api/failure.ts';
import type { GraphqlResponse } from '../../api/graphql.ts';
import { placeOfPath } from '../../model/document-place.ts';
import { isList, isObject, type Json } from '../../model/json.ts';
import type { Persona } from '../../model/persona.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';

/** A request that was sent as one persona. */
export interface Run {
  readonly as: Persona;
  readonly response: GraphqlResponse | undefined;
  /** Last event of a subscription. */
  readonly event: Json | undefined;
  /** Number of events received. */
  readonly events: number;
  readonly failure: Failure | undefined;
  readonly isRunning: boolean;
}

/** Marks the places in the document that the errors of the answers name. */
export function marksOf(runs: readonly Run[], text: string, operation: string | undefined): readonly CodeMark[] {
  return runs.flatMap(({ response, event }) => {
    const json = response?.json ?? event;
    const errors = isObject(json) && isList(json['errors']) ? json['errors'].filter(isObject) : [];
    return errors.flatMap(({ message, extensions }) => {
      const path = isObject(extensions) ? extensions['path'] : undefined;
      const place = typeof path === 'string' ? placeOfPath(text, path, operation) : undefined;
      return place === undefined ? [] : [{ ...place, message: String(message) }];
    });
  });
}
