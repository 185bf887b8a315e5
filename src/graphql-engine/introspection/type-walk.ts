/**
 * Types that are reachable from the roots. The walk goes only as far as a request needs and resumes there: `__type(name:)` for a type near
 * the roots does not build the others. A type that an earlier answer refers to is found without the walk: a client that reads types one
 * after the other, from the roots on, never waits for the types in between.
 */
import { DIRECTIVES } from '../directives.ts';
import type { InputField, InterfaceType, NamedType, ObjectType, OutputField, RootTypes, TypeRef } from '../types.ts';
import type { YieldTimer } from './yield-timer.ts';

export interface TypeWalk {
  /** Adds a type that an answer refers to. */
  refer(name: string, type: () => NamedType): void;
  /** Returns a type that has been found, or to which an answer refers. */
  known(name: string): NamedType | undefined;
  find(name: string, timer: YieldTimer): Promise<NamedType | undefined>;
  /** Returns every reachable type, sorted by name. */
  all(timer: YieldTimer): Promise<readonly NamedType[]>;
}

/**
 * @param further types to list in addition to those of the roots: `__Schema`
 * @param isSkipped returns true for types that are neither listed nor followed
 */
export function createTypeWalk(
  roots: RootTypes | null,
  further: readonly NamedType[],
  isSkipped: (type: NamedType) => boolean = () => false,
): TypeWalk {
  const seen = new Map<string, NamedType>();
  const referred = new Map<string, () => NamedType>();
  const steps = walk(roots, further, seen, isSkipped);
  let sorted: readonly NamedType[] | undefined;
  let failure: { readonly error: unknown } | undefined;

  const advance = async (timer: YieldTimer, until: () => boolean): Promise<void> => {
    let count = 0;
    while (!until()) {
      // A generator that threw counts as finished; types that it did not reach must not appear to be absent.
      if (failure !== undefined) throw failure.error;
      try {
        if (steps.next().done === true) return;
      } catch (error) {
        failure = { error };
        continue;
      }
      count += 1;
      if (count % 16 === 0 && timer.due()) await timer.yield();
    }
  };
  const known = (name: string) => seen.get(name) ?? referred.get(name)?.();
  return {
    refer: (name, type) => void referred.set(name, type),
    known,
    async find(name, timer) {
      const found = known(name);
      if (found !== undefined) return found;
      await advance(timer, () => seen.has(name));
      return seen.get(name);
    },
    async all(timer) {
      await advance(timer, () => false);
      sorted ??= sortByName([...seen.values()]);
      return sorted;
    },
  };
}

/** Takes one step per field; the returning step does no work. */
function* walk(
  roots: RootTypes | null,
  further: readonly NamedType[],
  seen: Map<string, NamedType>,
  isSkipped: (type: NamedType) => boolean,
): Generator<undefined, void> {
  const queue: NamedType[] = [];
  const add = (type: NamedType): void => {
    if (seen.has(type.name) || isSkipped(type)) return;
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

/** Yields fields one by one if they are built on demand. */
function* fieldsOf(type: ObjectType | InterfaceType): Iterable<OutputField | undefined> {
  if (type.kind === 'interface' || type.names === undefined || type.field === undefined) yield* type.fields().values();
  else for (const name of type.names()) yield type.field(name);
}

/** Returns a copy sorted by name, by code units. */
export function sortByName<T extends { readonly name: string }>(items: Iterable<T>): T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
