/**
 * Whether a condition can fail because of the values of a row. The database may ask it of any row it
 * reads, in any order with other conditions, and a failure would tell about rows that are filtered
 * out. Comparisons of types that were proven total never fail; all others may.
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
  // Items of a list of arrays are read one by one, when the first row is compared.
  if (argument.operand.list && argument.operand.type.array) return true;
  if (left.type.array) return false;
  const comparison = postgresqlScalar(left.type).comparisons.find(({ name }) => name === operator);
  if (comparison === undefined) return false;
  // No version before 18 matches patterns by a collation that takes different texts for equal, and none all of them.
  return comparison.mayFail === true || (comparison.pattern !== undefined && left.type.collation?.deterministic === false);
}

function aggregateMayFail(exp: AggregatePredicate): boolean {
  // Sums of floating point numbers overflow.
  if (exp.function !== 'count' && !exp.function.startsWith('bool')) return true;
  // Different values are found by comparing them.
  if (exp.distinct && exp.arguments.some(({ type }) => !isTotal(type))) return true;
  return exp.from.kind === 'function' || mayFail(exp.where) || exp.arguments.some(readMayFail);
}

/** Whether reading a value of a row can fail because of its other values. */
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
