/** A change of the GraphQL schema of a role. */

export interface SchemaChange {
  readonly role: string;
  readonly kind: 'breaking' | 'dangerous' | 'safe';
  readonly message: string;
}

/** A change of the schemas of several roles. */
export interface SharedChange extends Omit<SchemaChange, 'role'> {
  readonly roles: readonly string[];
}

/** Merges equal changes of several roles. */
export function sharedChanges(changes: readonly SchemaChange[]): readonly SharedChange[] {
  const found = new Map<string, SharedChange>();
  for (const { role, kind, message } of changes) {
    const key = `${kind} ${message}`;
    found.set(key, { kind, message, roles: [...(found.get(key)?.roles ?? []), role] });
  }
  return [...found.values()];
}
