/** Conditions of the rows page: tests of columns that are all joined by AND, or all by OR. */
import { isList, isObject, type Json, type JsonObject } from './json.ts';

export interface FilterPart {
  readonly column: string;
  readonly operator: string;
  readonly value: Json;
}

export interface RowFilter {
  readonly join: '_and' | '_or';
  readonly parts: readonly FilterPart[];
}

/** Splits a condition into its tests; undefined for any other condition. */
export function readRowFilter(where: JsonObject): RowFilter | undefined {
  const join = Object.keys(where).length === 1 && isList(where['_or']) ? '_or' : '_and';
  const list = isList(where[join]) && Object.keys(where).length === 1 ? where[join] : [where];
  const parts: FilterPart[] = [];
  for (const each of list) {
    if (!isObject(each)) return undefined;
    const before = parts.length;
    for (const [column, tests] of Object.entries(each)) {
      if (column.startsWith('_') || !isObject(tests)) return undefined;
      for (const [operator, value] of Object.entries(tests)) {
        if (!operator.startsWith('_') || isObject(value)) return undefined;
        parts.push({ column, operator, value });
      }
    }
    // Several tests in one object are joined by AND.
    if (join === '_or' && parts.length !== before + 1) return undefined;
  }
  return { join, parts };
}

export function printRowFilter({ join, parts }: RowFilter): JsonObject {
  const tests = parts.map(({ column, operator, value }) => ({ [column]: { [operator]: value } }));
  const [only] = tests;
  return only === undefined ? {} : tests.length === 1 ? only : { [join]: tests };
}
