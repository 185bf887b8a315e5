import { invariant } from '../errors/svc-error.ts';
import type { FieldMeaning, OutputField } from './types.ts';

/** Returns the meaning of a field that is known to be of one kind. */
export function meaningOf<K extends FieldMeaning['kind']>(field: OutputField, kind: K): Extract<FieldMeaning, { kind: K }> {
  const { meaning } = field;
  invariant(meaning.kind === kind, `the field ${field.name} is a ${kind}`);
  return meaning as Extract<FieldMeaning, { kind: K }>;
}
