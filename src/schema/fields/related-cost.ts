/**
 * Costs of conditions and orders on related rows for the database, in values of an operation. A condition on a column is one comparison per
 * row; one on related rows is a plan of its own that runs for each row.
 */
import type { BoolExp, Read } from '../../ir/bool-exp.ts';
import type { InputValue } from '../../graphql-engine/types.ts';

/** Lookup of related rows: 5-10 us for each row, if an index finds them. */
const LOOKUP_COST = 25;
/** An aggregate reads all related rows, and aggregates share no work. */
const AGGREGATE_COST = 100;

/** Charges a condition or an order on related rows that match `filter`. @throws SvcError */
export function chargeLookup(input: Pick<InputValue, 'charge'>, filter: BoolExp): void {
  input.charge(LOOKUP_COST + costOf(filter));
}

/** Charges a condition or an order on an aggregate of related rows. @throws SvcError */
export function chargeAggregate(input: Pick<InputValue, 'charge'>, filter: BoolExp): void {
  input.charge(AGGREGATE_COST + costOf(filter));
}

/** Charges reads of a column whose mask may read related rows. @throws SvcError */
export function chargeReads(
  input: Pick<InputValue, 'charge'>,
  { mask }: Pick<Extract<Read, { readonly mask?: BoolExp }>, 'mask'>,
  reads: number,
): void {
  const cost = mask === undefined ? 0 : costOf(mask);
  if (cost > 0) input.charge(reads * cost);
}

/** Returns the cost of one more copy of a condition in a statement. */
export function costOfBranch(condition: BoolExp): number {
  return 2 * (1 + sum(condition)) + Math.ceil(leavesOf(condition) / LEAVES_OF_VALUE);
}

/** Comparisons that cost as much to copy as a value costs to read. */
const LEAVES_OF_VALUE = 8;

function leavesOf(exp: BoolExp): number {
  switch (exp.kind) {
    case 'and':
    case 'or':
      return exp.items.reduce((total, item) => total + leavesOf(item), 0);
    case 'not':
      return leavesOf(exp.item);
    case 'guarded':
      return leavesOf(exp.guard) + leavesOf(exp.item);
    case 'exists':
    case 'aggregate-predicate':
      return 1 + leavesOf(exp.where);
    default:
      return 1;
  }
}

/** Cached, because there are few rules, which are used often. */
const known = new WeakMap<BoolExp, number>();

function costOf(rule: BoolExp): number {
  let cost = known.get(rule);
  if (cost === undefined) {
    cost = sum(rule);
    known.set(rule, cost);
  }
  return cost;
}

function sum(exp: BoolExp): number {
  switch (exp.kind) {
    case 'constant':
      return 0;
    case 'and':
    case 'or':
      return exp.items.reduce((total, item) => total + sum(item), 0);
    case 'not':
      return sum(exp.item);
    case 'guarded':
      return sum(exp.guard) + sum(exp.item);
    case 'compare':
    case 'is-null':
      return sumOfRead(exp.left);
    case 'compare-columns':
      return sumOfRead(exp.left) + sumOfRead(exp.right);
    case 'exists':
      return LOOKUP_COST + sum(exp.where);
    case 'aggregate-predicate':
      return AGGREGATE_COST + sum(exp.where);
  }
}

function sumOfRead(read: Read): number {
  if (read.kind === 'cast') return sumOfRead(read.read);
  return read.mask === undefined ? 0 : sum(read.mask);
}
