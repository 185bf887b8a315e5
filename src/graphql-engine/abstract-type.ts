/** Types in the conditions of fragments on an interface or a union. */
import type { AbstractType, ObjectType } from './types.ts';

/** Finds an interface by name among those of the object type and of the interface `at`. */
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
