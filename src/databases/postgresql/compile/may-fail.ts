/**
 * Conditions that can fail because of the values of a row. The database may evaluate a condition for any row it reads, in any order with
 * other conditions, and a failure would reveal rows that are filtered out. Comparisons of types that were proven total never fail; all
 * others may.
 */
import { type AggregatePredicate, type BoolExp, type BoolExpLeaf, type Compare, type Read, someLeaf } from '../../../ir/bool-exp.ts';
import { postgresqlScalar } from '../types.ts';
import { areTotalTogether, isTotal, isTotalCast } from './total-types.ts';

export function mayFail(exp: BoolExp): boolean {
  return someLeaf(exp, leafMayFail);
}

function leafMayFail(exp: BoolExpLeaf): boolean {
  switch (exp.kind) {
    case 'constant':
      return false;
    case 'compare':
      return compareMayFail(exp);
    case 'is-null':
      return readMayFail(exp.left);
    case 'compare-columns':
      return !areTotalTogether(exp.left.type, exp.right.type) || readMayFail(exp.left) || readMayFail(exp.right);
    case 'exists':
      return exp.from.kind === 'function' || mayFail(exp.where);
    case 'aggregate-predicate':
      return aggregateMayFail(exp);
  }
}

function compareMayFail({ left, operator, argument }: Compare): boolean {
  if (readMayFail(left) || !isTotal(left.type) || argument.kind === 'fields') return true;
  // The items of a list of arrays are parsed when the first row is compared.
  if (argument.operand.list && argument.operand.type.array) return true;
  if (left.type.array) return false;
  const comparison = postgresqlScalar(left.type).comparisons.find(({ name }) => name === operator);
  if (comparison === undefined) return false;
  // Before version 18 no pattern can be matched with a nondeterministic collation, and since then not all patterns can.
  return comparison.mayFail === true || (comparison.pattern !== undefined && left.type.collation?.deterministic === false);
}

function aggregateMayFail(exp: AggregatePredicate): boolean {
  // Sums of floating point numbers overflow.
  if (exp.function !== 'count' && !exp.function.startsWith('bool')) return true;
  // Distinct values are found by comparison.
  if (exp.distinct && exp.arguments.some(({ type }) => !isTotal(type))) return true;
  return exp.from.kind === 'function' || mayFail(exp.where) || exp.arguments.some(readMayFail);
}

/** Returns whether reading a value of a row can fail because of the row's other values. */
export function readMayFail(read: Read): boolean {
  switch (read.kind) {
    case 'column':
      return false;
    case 'computed-field':
      return true;
    case 'cast':
      return !isTotalCast(read.read.type, read.type) || readMayFail(read.read);
  }
}
