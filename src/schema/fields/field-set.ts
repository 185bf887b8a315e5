/** Root fields by name, built on demand. */
import type { ObjectType, OutputField } from '../../graphql-engine/types.ts';
import { lazy } from '../../graphql-engine/types.ts';

export interface FieldSet {
  readonly names: () => Iterable<string>;
  readonly has: (name: string) => boolean;
  readonly field: (name: string) => OutputField | undefined;
}

/** Adds fields after those of a set. */
export function withFields(set: FieldSet, more: () => ReadonlyMap<string, OutputField>): FieldSet {
  return {
    *names() {
      yield* set.names();
      for (const name of more().keys()) if (!set.has(name)) yield name;
    },
    has: (name) => set.has(name) || more().has(name),
    field: (name) => (set.has(name) ? set.field(name) : more().get(name)),
  };
}

export function rootObject(name: string, description: string | null, set: FieldSet): ObjectType {
  const made = new Map<string, OutputField>();
  const field = (fieldName: string): OutputField | undefined => {
    const known = made.get(fieldName);
    if (known !== undefined) return known;
    const built = set.field(fieldName);
    if (built !== undefined) made.set(fieldName, built);
    return built;
  };
  return {
    kind: 'object',
    name,
    description,
    field,
    names: () => set.names(),
    fields: lazy(() => {
      const fields = new Map<string, OutputField>();
      for (const key of set.names()) {
        const one = field(key);
        if (one !== undefined) fields.set(key, one);
      }
      return fields;
    }),
  };
}

export function hasNoFields(set: FieldSet): boolean {
  for (const _ of set.names()) return false;
  return true;
}

export interface SourceFields {
  readonly main: FieldSet;
  readonly aliases: FieldSet;
}

/** The first source with a name takes precedence; an alias yields to every other name. */
export function merged(sources: readonly SourceFields[]): FieldSet {
  const order = [...sources.map((source) => source.main), ...sources.map((source) => source.aliases)];
  return {
    *names() {
      const seen = new Set<string>();
      for (const set of order) {
        for (const name of set.names()) {
          if (seen.has(name)) continue;
          seen.add(name);
          yield name;
        }
      }
    },
    has: (name) => order.some((set) => set.has(name)),
    field: (name) => order.find((set) => set.has(name))?.field(name),
  };
}

export const NOTHING: FieldSet = { names: () => [], has: () => false, field: () => undefined };

export function fieldsByName(fields: () => ReadonlyMap<string, OutputField>): FieldSet {
  return { names: () => fields().keys(), has: (name) => fields().has(name), field: (name) => fields().get(name) };
}

export function candidateFields<C>(
  index: () => ReadonlyMap<string, C>,
  visible: (candidate: C) => boolean,
  make: (candidate: C, name: string) => OutputField | undefined,
): FieldSet {
  const find = (name: string): C | undefined => {
    const candidate = index().get(name);
    return candidate !== undefined && visible(candidate) ? candidate : undefined;
  };
  return {
    *names() {
      for (const [name, candidate] of index()) if (visible(candidate)) yield name;
    },
    has: (name) => find(name) !== undefined,
    field: (name) => {
      const candidate = find(name);
      return candidate === undefined ? undefined : make(candidate, name);
    },
  };
}
