/**
 * Compares conditions by their form: does another one let more rows through? `wider` is certain: every row that passed before still
 * passes. If the form does not show it, the result is `changed`.
 */
import { type FilterNode, printFilter, readFilter } from './filter-tree.ts';
import { equalJson, isList, type Json } from './json.ts';

export type Reach = 'same' | 'wider' | 'narrower' | 'changed';

/** Compares two conditions; `null` and a missing condition let every row through. */
export function reachOf(before: Json | undefined, after: Json | undefined): Reach {
  const [old, next] = [readFilter(before ?? {}), readFilter(after ?? {})];
  const [isWider, isNarrower] = [implications()(old, next), implications()(next, old)];
  if (isWider) return isNarrower ? 'same' : 'wider';
  return isNarrower ? 'narrower' : 'changed';
}

/** A single test of a column, or a node that is compared as a whole. */
type Part = Exclude<FilterNode, { readonly kind: 'test' }> | { readonly kind: 'one'; column: string; operator: string; value: Json };

const ALL: ReadonlySet<string> = new Set(['all', 'test']);

/** Returns the parts that all have to hold. */
function conjunctsOf(node: FilterNode): readonly (FilterNode | Part)[] {
  if (node.kind === 'all') return node.children;
  if (node.kind !== 'test') return [node];
  return node.tests.map(([operator, value]) => ({
    kind: 'one',
    column: node.column,
    operator: (operator ?? '_eq').replace(/^\$/, '_'),
    value,
  }));
}

/** Returns a function that checks that every row that passes `a` also passes `b`; it compares each pair once. */
function implications(): (a: FilterNode, b: FilterNode) => boolean {
  const known = new Map<object, Map<object, boolean>>();
  const parts = new Map<FilterNode, readonly (FilterNode | Part)[]>();
  const partsOf = (node: FilterNode): readonly (FilterNode | Part)[] => {
    const found = parts.get(node) ?? conjunctsOf(node);
    parts.set(node, found);
    return found;
  };
  const implies = (a: FilterNode | Part, b: FilterNode | Part): boolean => {
    const row = known.get(a) ?? new Map<object, boolean>();
    known.set(a, row);
    const before = row.get(b);
    if (before !== undefined) return before;
    const result = compare(a, b);
    row.set(b, result);
    return result;
  };
  const compare = (a: FilterNode | Part, b: FilterNode | Part): boolean => {
    if (ALL.has(b.kind)) return partsOf(b as FilterNode).every((each) => implies(a, each));
    if (a.kind === 'any') return a.children.every((each) => implies(each, b));
    if (ALL.has(a.kind) && partsOf(a as FilterNode).some((each) => implies(each, b))) return true;
    if (b.kind === 'any') return b.children.some((each) => implies(a, each));
    if (a.kind === 'relation' && b.kind === 'relation') return a.name === b.name && implies(a.child, b.child);
    if (a.kind === 'exists' && b.kind === 'exists')
      return equalJson(a.table, b.table) && equalJson(a.rest, b.rest) && implies(a.child, b.child);
    // Negation reverses the comparison only if no value is null, which the form does not show.
    if (a.kind === 'not' && b.kind === 'not') return equalJson(printFilter(a.child), printFilter(b.child));
    if (a.kind === 'one' && b.kind === 'one') return a.column === b.column && isTestWithin(a, b);
    if (a.kind === 'raw' && b.kind === 'raw') return a.key === b.key && equalJson(a.json, b.json);
    return false;
  };
  return implies;
}

interface Test {
  readonly operator: string;
  readonly value: Json;
}

function isTestWithin(a: Test, b: Test): boolean {
  if (a.operator === b.operator && equalJson(a.value, b.value)) return true;
  if (b.operator !== '_in' || !isList(b.value)) return false;
  const listed = b.value;
  const values = a.operator === '_eq' ? [a.value] : a.operator === '_in' && isList(a.value) ? a.value : undefined;
  return values?.every((value) => listed.some((each) => equalJson(each, value))) ?? false;
}
