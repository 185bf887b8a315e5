/**
 * The types that can be reached from the roots. The walk goes on only as far as somebody asked, and
 * where it stopped it is resumed: `__type(name:)` of a type near the roots does not build the rest.
 */
import { DIRECTIVES } from '../directives.ts';
import type { InputField, InterfaceType, NamedType, ObjectType, OutputField, RootTypes, TypeRef } from '../types.ts';
import type { Slices } from './slices.ts';

export interface TypeWalk {
  find(name: string, slices: Slices): Promise<NamedType | undefined>;
  /** Every reachable type, sorted by name. */
  all(slices: Slices): Promise<readonly NamedType[]>;
}

/**
 * @param further types to list besides those of the roots: `__Schema`
 * @param passedBy takes types that are neither listed nor followed: true for those
 */
export function createTypeWalk(
  roots: RootTypes | null,
  further: readonly NamedType[],
  passedBy: (type: NamedType) => boolean = () => false,
): TypeWalk {
  const seen = new Map<string, NamedType>();
  const steps = walk(roots, further, seen, passedBy);
  let sorted: readonly NamedType[] | undefined;
  let failure: { readonly error: unknown } | undefined;

  const advance = async (slices: Slices, until: () => boolean): Promise<void> => {
    let count = 0;
    while (!until()) {
      // A generator that threw looks finished; what it did not reach must not look absent.
      if (failure !== undefined) throw failure.error;
      try {
        if (steps.next().done === true) return;
      } catch (error) {
        failure = { error };
        continue;
      }
      count += 1;
      if (count % 16 === 0 && slices.due()) await slices.next();
    }
  };
  return {
    async find(name, slices) {
      await advance(slices, () => seen.has(name));
      return seen.get(name);
    },
    async all(slices) {
      await advance(slices, () => false);
      sorted ??= sortByName([...seen.values()]);
      return sorted;
    },
  };
}

/** One step per field; nothing is done in the step that returns. */
function* walk(
  roots: RootTypes | null,
  further: readonly NamedType[],
  seen: Map<string, NamedType>,
  passedBy: (type: NamedType) => boolean,
): Generator<undefined, void> {
  const queue: NamedType[] = [];
  const add = (type: NamedType): void => {
    if (seen.has(type.name) || passedBy(type)) return;
    seen.set(type.name, type);
    queue.push(type);
  };
  const refer = (ref: TypeRef): void => {
    let inner = ref;
    while (inner.kind === 'list') inner = inner.item;
    if (!seen.has(inner.name)) add(inner.type());
  };
  const referAll = (fields: ReadonlyMap<string, InputField>): void => {
    for (const field of fields.values()) refer(field.type);
  };

  for (const type of [roots?.query, roots?.mutation, roots?.subscription, ...further]) if (type != null) add(type);
  for (const directive of DIRECTIVES.values()) referAll(directive.args);
  for (const type of queue) {
    yield;
    if (type.kind === 'object' || type.kind === 'interface') {
      for (const field of fieldsOf(type)) {
        if (field !== undefined) {
          refer(field.type);
          referAll(field.args);
        }
        yield;
      }
      if (type.interfaces !== undefined) for (const each of type.interfaces()) add(each);
      if (type.kind === 'interface') for (const member of type.members()) add(member);
    } else if (type.kind === 'input-object') {
      for (const field of type.fields().values()) {
        refer(field.type);
        yield;
      }
    } else if (type.kind === 'union') for (const member of type.members()) add(member);
  }
}

/** One by one, where they are made when they are asked for. */
function* fieldsOf(type: ObjectType | InterfaceType): Iterable<OutputField | undefined> {
  if (type.kind === 'interface' || type.names === undefined || type.field === undefined) yield* type.fields().values();
  else for (const name of type.names()) yield type.field(name);
}

/** A copy in the order of names, by code unit. */
export function sortByName<T extends { readonly name: string }>(items: Iterable<T>): T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
