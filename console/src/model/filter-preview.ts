/** Conditions of permissions as `where` arguments for an administrator: session variables are replaced by their values. */
import { childrenOf, type FilterNode, printFilter } from './filter-tree.ts';
import { variableHeader } from './persona.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';

/** Thrown for a condition that cannot be previewed before it is saved. */
export class NotPreviewable extends Error {
  /** True if only the value of a session variable is missing. */
  readonly needsValue: boolean;
  constructor(message: string, needsValue = false) {
    super(message);
    this.needsValue = needsValue;
  }
}

/**
 * @param variables session variables, names without `x-svc-`
 * @param columnNames GraphQL names of the table's columns
 * @throws NotPreviewable for conditions that only permissions have, and for variables without a value
 */
export function whereOfFilter(
  node: FilterNode,
  variables: Readonly<Record<string, string>>,
  columnNames: ReadonlyMap<string, string>,
): JsonObject {
  const convert = (each: FilterNode, isHere: boolean): JsonObject => {
    switch (each.kind) {
      case 'all':
        return each.children.length === 0 ? {} : { _and: each.children.map((child) => convert(child, isHere)) };
      case 'any':
        return { _or: each.children.map((child) => convert(child, isHere)) };
      case 'not':
        return { _not: convert(each.child, isHere) };
      case 'relation':
        return { [each.name]: convert(each.child, false) };
      case 'exists':
        throw new NotPreviewable('Conditions with “exists” cannot be previewed before they are saved');
      case 'raw':
        throw new NotPreviewable(`${JSON.stringify(each.key)} cannot be previewed before it is saved`);
      case 'test':
        return {
          [isHere ? (columnNames.get(each.column) ?? each.column) : each.column]: Object.fromEntries(
            each.tests.map(([operator, value]) => test(operator ?? '_eq', value, variables)),
          ),
        };
    }
  };
  return convert(node, true);
}

function test(operator: string, value: Json, variables: Readonly<Record<string, string>>): readonly [string, Json] {
  const name = operator.replace(/^\$/, '_');
  if (/^_c(?:eq|ne|gt|lt|gte|lte)$/.test(name))
    throw new NotPreviewable('Comparisons of columns cannot be previewed before they are saved');
  return [name, withSession(value, variables, /^_n?in$/.test(name))];
}

function withSession(value: Json, variables: Readonly<Record<string, string>>, isMany: boolean): Json {
  if (isList(value)) return value.map((item) => withSession(item, variables, false));
  if (isObject(value)) return value;
  if (typeof value !== 'string' || !/^x-svc-/i.test(value)) return value;
  const name = value.slice('x-svc-'.length).toLowerCase();
  const sessionValue = variables[name];
  if (sessionValue === undefined || sessionValue === '') throw new NotPreviewable(`Enter a value for ${variableHeader(name)}`, true);
  if (isMany && /^\{.*\}$/s.test(sessionValue)) {
    return sessionValue
      .slice(1, -1)
      .split(',')
      .map((item) => item.trim().replace(/^"(.*)"$/, '$1'))
      .filter((item) => item !== '');
  }
  return sessionValue;
}

/** Splits a condition into the parts that hold or fail for a row on their own, with their text. */
export function partsOfFilter(node: FilterNode): readonly { readonly text: string; readonly node: FilterNode }[] {
  if (node.kind === 'all' || node.kind === 'any' || node.kind === 'not') return childrenOf(node).flatMap(partsOfFilter);
  return [{ text: JSON.stringify(printFilter(node)), node }];
}
