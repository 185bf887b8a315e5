/** Adds the parts without which the used parts are not a valid schema, or lead to other types than the whole schema. */
import { type IntrospectionInputObjectType, type IntrospectionInputValue, type IntrospectionType, parseValue } from 'graphql';
import type { Cooperative } from '../../util/cooperative.ts';
import { reachedInputs } from './input-reach.ts';
import { byCodeUnits, type FieldsType, hasFields, isAbstract, isLeaf, isRequired, namedRef } from './type-parts.ts';
import { useValue } from './use-documents.ts';
import type { Usage, UsedType } from './usage.ts';

export function* completeUsage(usage: Usage, variableTypes: ReadonlySet<string>, inputDepth: number): Cooperative<void> {
  const reached = yield* reachedInputs(variableTypes, inputDepth, usage);
  for (const name of variableTypes) keepAllValues(usage.find(name), usage);
  for (const name of reached) {
    usage.keep(name);
    const type = usage.find(name);
    if (type?.kind === 'INPUT_OBJECT') keepReachedFields(type, reached, usage);
    yield;
  }
  const completion = new Completion(usage);
  do {
    yield* completion.settle();
  } while (yield* completion.fillEmpty());
}

function keepReachedFields(type: IntrospectionInputObjectType, reached: ReadonlySet<string>, usage: Usage): void {
  for (const field of type.inputFields) {
    const ref = namedRef(field.type);
    if (!isLeaf(ref) && !reached.has(ref.name)) continue;
    usage.keepField(type.name, field.name);
    usage.keep(ref.name);
    if (ref.kind === 'ENUM') keepAllValues(usage.find(ref.name), usage);
  }
}

function keepAllValues(type: IntrospectionType | undefined, usage: Usage): void {
  if (type === undefined) return;
  usage.keep(type.name);
  if (type.kind === 'ENUM') for (const { name } of type.enumValues) usage.keepValue(type.name, name);
}

class Completion {
  readonly #usage: Usage;
  /** Types that implement an interface, by its name. */
  readonly #implementers = new Map<string, Set<string>>();

  constructor(usage: Usage) {
    this.#usage = usage;
  }

  /** Adds what the changed types need until no type changes. */
  *settle(): Cooperative<void> {
    const { changed, types } = this.#usage;
    // The set grows while it is read.
    for (const name of changed) {
      changed.delete(name);
      const type = this.#usage.find(name);
      const used = types.get(name);
      if (type === undefined || used === undefined) continue;
      if (hasFields(type)) this.#settleFields(type, used);
      // All possible types stay, because a result may be any of them.
      if (isAbstract(type)) for (const possible of type.possibleTypes) this.#usage.keep(possible.name);
      if (type.kind === 'INTERFACE') for (const implementer of this.#implementers.get(name) ?? []) changed.add(implementer);
      if (type.kind === 'INPUT_OBJECT') this.#settleInput(type, used);
      yield;
    }
  }

  #settleFields(type: FieldsType, used: UsedType): void {
    const usage = this.#usage;
    // A type implements the interfaces that are used, with their fields.
    for (const { name } of type.interfaces) {
      const implementers = this.#implementers.get(name) ?? new Set();
      this.#implementers.set(name, implementers.add(type.name));
      for (const [field, args] of usage.types.get(name)?.fields ?? []) {
        usage.keepField(type.name, field);
        for (const argument of args) usage.keepArgument(type.name, field, argument);
      }
    }
    for (const [name, args] of used.fields) {
      const field = usage.field(type.name, name);
      if (field === undefined) continue;
      const ref = namedRef(field.type);
      usage.keep(ref.name);
      // A result may be any of them.
      if (ref.kind === 'ENUM') keepAllValues(usage.find(ref.name), usage);
      for (const argument of field.args) {
        if (isRequired(argument)) usage.keepArgument(type.name, name, argument.name);
        if (args.has(argument.name)) this.#settleValue(argument);
      }
    }
  }

  #settleInput(type: IntrospectionInputObjectType, used: UsedType): void {
    for (const field of type.inputFields) {
      if (isRequired(field)) this.#usage.keepField(type.name, field.name);
      if (used.fields.has(field.name)) this.#settleValue(field);
    }
  }

  /** Keeps the type of an argument or input field, and what its default value uses. */
  #settleValue({ type, defaultValue }: IntrospectionInputValue): void {
    const ref = namedRef(type);
    this.#usage.keep(ref.name);
    if (typeof defaultValue === 'string') useValue(ref, parseValue(defaultValue, { noLocation: true }), this.#usage);
  }

  /** GraphQL has no empty types. @returns false if none is empty */
  *fillEmpty(): Cooperative<boolean> {
    const usage = this.#usage;
    const empty = [...usage.types].filter(([, used]) => isEmpty(used)).map(([name]) => name);
    let isFilled = false;
    for (const name of empty.sort(byCodeUnits)) {
      const filler = fillerOf(usage.find(name));
      // A type that was filled before may have led to this one.
      if (filler === undefined || !isEmpty(usage.keep(name))) continue;
      if (filler.isValue) usage.keepValue(name, filler.name);
      else usage.keepField(name, filler.name);
      isFilled = true;
      yield* this.settle();
    }
    return isFilled;
  }
}

function isEmpty({ fields, values }: UsedType): boolean {
  return fields.size === 0 && values.size === 0;
}

function fillerOf(type: IntrospectionType | undefined): { readonly name: string; readonly isValue: boolean } | undefined {
  if (type === undefined) return undefined;
  if (type.kind === 'ENUM') return first(type.enumValues, () => 0, true);
  if (type.kind === 'INPUT_OBJECT') return first(type.inputFields, fillerRank, false);
  return hasFields(type) ? first(type.fields, fillerRank, false) : undefined;
}

function first<T extends { readonly name: string }>(members: readonly T[], rank: (member: T) => number, isValue: boolean) {
  const [least] = members.toSorted((a, b) => rank(a) - rank(b) || byCodeUnits(a.name, b.name));
  return least === undefined ? undefined : { name: least.name, isValue };
}

/** Prefers fields that bring no other types. */
function fillerRank(field: IntrospectionInputValue | FieldsType['fields'][number]): number {
  const needsArguments = 'args' in field && field.args.some(isRequired);
  return (needsArguments ? 2 : 0) + (isLeaf(namedRef(field.type)) ? 0 : 1);
}
