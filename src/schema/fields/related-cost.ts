/**
 * What questions about related rows cost the database, in values of an operation. A condition on a column
 * is a comparison per row; one on related rows is a plan of its own, run for each row.
 */
import type { BoolExp, Read } from '../../ir/bool-exp.ts';
import type { Input } from '../../graphql-engine/types.ts';

/** Looking up related rows: 5-10 us for each row, where an index finds them. */
const LOOKUP_COST = 25;
/** An aggregate reads all related rows, and no two of them share their work. */
const AGGREGATE_COST = 100;

/** A condition or an order by related rows, of which the role sees those that `filter` lets through. @throws SvcError */
export function chargeLookup(input: Pick<Input, 'costs'>, filter: BoolExp): void {
  input.costs(LOOKUP_COST + costOf(filter));
}

/** A condition or an order by an aggregate of related rows. @throws SvcError */
export function chargeAggregate(input: Pick<Input, 'costs'>, filter: BoolExp): void {
  input.costs(AGGREGATE_COST + costOf(filter));
}

/** So many reads of a column whose mask may ask for related rows. @throws SvcError */
export function chargeReads(
  input: Pick<Input, 'costs'>,
  { mask }: Pick<Extract<Read, { readonly mask?: BoolExp }>, 'mask'>,
  reads: number,
): void {
  const cost = mask === undefined ? 0 : costOf(mask);
  if (cost > 0) input.costs(reads * cost);
}

/** Rules are few, and asked about over and over. */
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
