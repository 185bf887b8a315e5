/** Adds the parts without which the used parts are not a valid schema, or lead to other types than the whole schema. */
import { type IntrospectionInputObjectType, type IntrospectionInputValue, type IntrospectionType, parseValue } from 'graphql';
import { reachedInputs } from './input-reach.ts';
import {
  type AbstractIntrospection,
  byCodeUnits,
  outputFieldOf,
  type FieldsType,
  hasFields,
  isAbstract,
  isLeaf,
  isRequired,
  namedRef,
} from './type-parts.ts';
import { useValue } from './use-documents.ts';
import type { Usage, UsedType } from './usage.ts';

export function completeUsage(usage: Usage, variableTypes: ReadonlySet<string>, inputDepth: number): void {
  const reached = reachedInputs(variableTypes, inputDepth, usage);
  for (const name of variableTypes) keepAllValues(usage.find(name), usage);
  for (const name of reached) {
    usage.keep(name);
    const type = usage.find(name);
    if (type?.kind === 'INPUT_OBJECT') keepReachedFields(type, reached, usage);
  }
  do {
    settle(usage);
  } while (usage.isComplete && fillEmpty(usage));
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

/** Adds what the used parts need until nothing is missing. */
function settle(usage: Usage): void {
  for (let before = -1; before !== usage.size; ) {
    before = usage.size;
    for (const [name, used] of usage.types) {
      const type = usage.find(name);
      if (type === undefined) continue;
      if (hasFields(type)) settleFields(type, used, usage);
      if (isAbstract(type)) settleMembers(type, usage);
      if (type.kind === 'INPUT_OBJECT') settleInput(type, used, usage);
    }
  }
}

function settleFields(type: FieldsType, used: UsedType, usage: Usage): void {
  for (const [name, args] of used.fields) {
    const field = outputFieldOf(type, name);
    if (field === undefined) continue;
    const ref = namedRef(field.type);
    usage.keep(ref.name);
    // A result may be any of them.
    if (ref.kind === 'ENUM') keepAllValues(usage.find(ref.name), usage);
    for (const argument of field.args) {
      if (isRequired(argument)) usage.keepArgument(type.name, name, argument.name);
      if (args.has(argument.name)) settleValue(argument, usage);
    }
  }
  // A type implements the interfaces that are used, with their fields.
  for (const { name } of type.interfaces) {
    const fields = usage.types.get(name)?.fields ?? [];
    for (const [field, args] of fields) for (const argument of args) usage.keepArgument(type.name, field, argument);
    for (const [field] of fields) usage.keepField(type.name, field);
  }
}

/** All possible types of an abstract type stay, because a result may be any of them. */
function settleMembers(type: AbstractIntrospection, usage: Usage): void {
  for (const { name } of type.possibleTypes) usage.keep(name);
}

function settleInput(type: IntrospectionInputObjectType, used: UsedType, usage: Usage): void {
  for (const field of type.inputFields) {
    if (isRequired(field)) usage.keepField(type.name, field.name);
    if (used.fields.has(field.name)) settleValue(field, usage);
  }
}

/** Keeps the type of an argument or input field, and what its default value uses. */
function settleValue({ type, defaultValue }: IntrospectionInputValue, usage: Usage): void {
  const ref = namedRef(type);
  usage.keep(ref.name);
  if (typeof defaultValue === 'string') useValue(ref, parseValue(defaultValue, { noLocation: true }), usage);
}

/** GraphQL knows no empty types. @returns false if none is empty */
function fillEmpty(usage: Usage): boolean {
  for (const name of [...usage.types.keys()].sort(byCodeUnits)) {
    const used = usage.types.get(name);
    const type = usage.find(name);
    if (used === undefined || type === undefined) continue;
    const isEmpty = used.fields.size === 0;
    if (hasFields(type) && isEmpty) {
      const [field] = [...type.fields].sort((a, b) => fillerRank(a) - fillerRank(b) || byCodeUnits(a.name, b.name));
      if (field !== undefined) usage.keepField(name, field.name);
      return true;
    }
    if (type.kind === 'INPUT_OBJECT' && isEmpty) {
      const [field] = [...type.inputFields].sort((a, b) => fillerRank(a) - fillerRank(b) || byCodeUnits(a.name, b.name));
      if (field !== undefined) usage.keepField(name, field.name);
      return true;
    }
    if (type.kind === 'ENUM' && used.values.size === 0) {
      const [value] = type.enumValues.map((each) => each.name).sort(byCodeUnits);
      if (value !== undefined) usage.keepValue(name, value);
      return true;
    }
  }
  return false;
}

/** Prefers fields that bring no other types. */
function fillerRank(field: IntrospectionInputValue | FieldsType['fields'][number]): number {
  const needsArguments = 'args' in field && field.args.some(isRequired);
  return (needsArguments ? 2 : 0) + (isLeaf(namedRef(field.type)) ? 0 : 1);
}
