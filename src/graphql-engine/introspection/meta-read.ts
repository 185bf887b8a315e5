/** How a field of an introspection type is answered. A `__Type` is described by a type reference. */
export type MetaRead =
  /** JSON text */
  | { readonly kind: 'text'; read(source: unknown): string }
  | { readonly kind: 'object'; read(source: unknown): unknown }
  | { readonly kind: 'list'; read(source: unknown): readonly unknown[] | null };
