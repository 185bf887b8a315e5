/** A condition of a permission as an argument `where` of an administrator: with the values of a session in the place of its variables. */
import { childrenOf, type FilterNode, printFilter } from './filter-tree.ts';
import { variableHeader } from './persona.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';

/** Why a condition cannot be tried before it is saved. */
export class NotPreviewable extends Error {
  /** Whether it is a value of the session that is missing, and no words for it. */
  readonly needsValue: boolean;
  constructor(message: string, needsValue = false) {
    super(message);
    this.needsValue = needsValue;
  }
}

/**
 * @param variables of the session, names without `x-svc-`
 * @param columnNames what GraphQL calls the columns of the table
 * @throws NotPreviewable for what only permissions can say, and for variables without a value
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
        throw new NotPreviewable('“there is a row of” is tried once it is saved');
      case 'raw':
        throw new NotPreviewable(`${JSON.stringify(each.key)} is tried once it is saved`);
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
  if (/^_c(?:eq|ne|gt|lt|gte|lte)$/.test(name)) throw new NotPreviewable('comparisons of columns are tried once they are saved');
  return [name, withSession(value, variables, /^_n?in$/.test(name))];
}

function withSession(value: Json, variables: Readonly<Record<string, string>>, isMany: boolean): Json {
  if (isList(value)) return value.map((item) => withSession(item, variables, false));
  if (isObject(value)) return value;
  if (typeof value !== 'string' || !/^x-svc-/i.test(value)) return value;
  const name = value.slice('x-svc-'.length).toLowerCase();
  const given = variables[name];
  if (given === undefined || given === '') throw new NotPreviewable(`give ${variableHeader(name)} a value`, true);
  if (isMany && /^\{.*\}$/s.test(given)) {
    return given
      .slice(1, -1)
      .split(',')
      .map((item) => item.trim().replace(/^"(.*)"$/, '$1'))
      .filter((item) => item !== '');
  }
  return given;
}

/** The parts of a condition that are true or false of a row by themselves, with their text. */
export function partsOfFilter(node: FilterNode): readonly { readonly text: string; readonly node: FilterNode }[] {
  if (node.kind === 'all' || node.kind === 'any' || node.kind === 'not') return childrenOf(node).flatMap(partsOfFilter);
  return [{ text: JSON.stringify(printFilter(node)), node }];
}
