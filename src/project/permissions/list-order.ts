/** Lists of a GraphQL response whose order the query determines: those of fields with `order_by`. */
import {
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';

/** A field with a selection set. Fields without one are values, in which each list has its order. */
export interface FieldOrder {
  /** True if the field has `order_by`. For an object such as an aggregate, its lists are ordered then. */
  readonly isOrdered: boolean;
  /** Fields with a selection set, by response key. */
  readonly fields: ReadonlyMap<string, FieldOrder>;
}

/** Maximum number of selections of a query, repeated fragments included. */
const MAX_SELECTIONS = 100_000;

const NO_FIELDS: FieldOrder = { isOrdered: false, fields: new Map() };

/** A selection set with the fragments that it is a part of, which it must not spread again. */
interface OpenSet {
  readonly set: SelectionSetNode;
  readonly spread: ReadonlySet<string>;
}

interface Scope {
  /** Number of selections that are left: fragments can repeat each other without end. */
  left: number;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: JsonObject;
  readonly defaults: ReadonlyMap<string, ValueNode>;
}

/** Returns the root object of the response. A query that cannot be parsed has no fields. */
export function fieldOrderOf(query: string, variables: JsonObject): FieldOrder {
  try {
    const { definitions } = parse(query);
    const operation = definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
    if (operation === undefined) return NO_FIELDS;
    const fragments = definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : []));
    const defaults = (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, defaultValue] as const],
    );
    const scope: Scope = { left: MAX_SELECTIONS, fragments: new Map(fragments), variables, defaults: new Map(defaults) };
    return { isOrdered: false, fields: fieldsOf([{ set: operation.selectionSet, spread: new Set() }], scope) };
  } catch (thrown) {
    if (thrown instanceof GraphQLError) return NO_FIELDS;
    throw thrown;
  }
}

function fieldsOf(sets: readonly OpenSet[], scope: Scope): ReadonlyMap<string, FieldOrder> {
  /** Selection sets of fields with one response key, which are merged. */
  const merged = new Map<string, { isOrdered: boolean; readonly sets: OpenSet[] }>();
  const collect = (set: SelectionSetNode, spread: ReadonlySet<string>): void => {
    for (const selection of set.selections) {
      scope.left -= 1;
      if (scope.left < 0) throw new GraphQLError(`the query selects more than ${MAX_SELECTIONS} fields`);
      if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet, spread);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const name = selection.name.value;
        const fragment = scope.fragments.get(name);
        if (fragment !== undefined && !spread.has(name)) collect(fragment.selectionSet, new Set([...spread, name]));
      } else if (selection.selectionSet !== undefined) {
        const key = (selection.alias ?? selection.name).value;
        const field = merged.get(key) ?? { isOrdered: false, sets: [] };
        const order = selection.arguments?.find(({ name }) => name.value === 'order_by');
        if (order !== undefined && isGiven(order.value, scope)) field.isOrdered = true;
        field.sets.push({ set: selection.selectionSet, spread });
        merged.set(key, field);
      }
    }
  };
  for (const { set, spread } of sets) collect(set, spread);
  return new Map([...merged].map(([key, field]) => [key, { isOrdered: field.isOrdered, fields: fieldsOf(field.sets, scope) }]));
}

/** Returns false for null, an empty list and an empty object, which do not order anything. */
function isGiven(node: ValueNode, scope: Scope): boolean {
  switch (node.kind) {
    case Kind.NULL:
      return false;
    case Kind.LIST:
      return node.values.some((value) => isGiven(value, scope));
    case Kind.OBJECT:
      return node.fields.some(({ value }) => isGiven(value, scope));
    case Kind.VARIABLE: {
      const value = scope.variables[node.name.value];
      const byDefault = scope.defaults.get(node.name.value);
      return value === undefined ? byDefault !== undefined && isGiven(byDefault, scope) : isGivenJson(value);
    }
    default:
      return true;
  }
}

function isGivenJson(value: Json): boolean {
  if (isJsonArray(value)) return value.some(isGivenJson);
  if (isJsonObject(value)) return Object.values(value).some(isGivenJson);
  return value !== null;
}
