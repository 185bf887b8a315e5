/** Reads a field of an introspection type. A `__Type` is represented by a type reference. */
export type MetaRead =
  /** Returns JSON text. */
  | { readonly kind: 'text'; read(source: unknown): string }
  | { readonly kind: 'object'; read(source: unknown): unknown }
  | { readonly kind: 'list'; read(source: unknown): readonly unknown[] | null };
