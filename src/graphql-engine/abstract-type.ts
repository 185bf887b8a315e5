/** What a selection on an interface or a union may name. */
import type { AbstractType, ObjectType } from './types.ts';

/** An interface of the object type, or of the interface that it was found at, by name. */
export function abstractTypeNamed(type: ObjectType, at: AbstractType | null, name: string): AbstractType | undefined {
  if (name === at?.name) return at;
  const own = type.interfaces?.().find((each) => each.name === name);
  if (own !== undefined) return own;
  return at?.kind === 'interface' ? at.interfaces().find((each) => each.name === name) : undefined;
}

/** A union has no fields. */
export function abstractTypeHas(type: AbstractType, field: string): boolean {
  return type.kind === 'interface' && type.fields().has(field);
}
