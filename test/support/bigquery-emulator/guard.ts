/** Finds constructs in a resolved statement that BigQuery rejects although the engine runs them. */
import type { Tree, TreeValue } from './engine.ts';
import { invalidQuery } from './errors.ts';
import { found, rangeOf } from './names.ts';

const CORRELATED =
  'Correlated subqueries that reference other tables are not supported unless they can be de-correlated, such as by transforming them into an efficient JOIN.';

/**
 * @param bodies byte ranges of the text that are bodies of table functions: these may be correlated unless they contain LIMIT
 * @throws ApiError
 */
export function refuseWhatBigQueryRefuses(statement: Tree, bodies: readonly (readonly [number, number])[]): void {
  const isBody = (scan: Tree): boolean => {
    const place = placeOf(scan);
    return place !== undefined && bodies.some(([start, end]) => place >= start && place < end);
  };
  for (const { node } of found(statement, ['resolvedSubqueryExprNode'])) refuseSubquery(node, isBody);
  for (const { node } of found(statement, ['resolvedAggregateFunctionCallNode'])) refuseAggregate(node);
  for (const { node } of found(statement, ['functionGroupList'])) {
    for (const group of node as unknown as readonly Tree[]) refuseWindow(group);
  }
  for (const { node } of found(statement, ['resolvedJoinScanNode'])) refuseJoin(node);
}

function placeOf(node: Tree): number | undefined {
  try {
    return rangeOf(node).start;
  } catch {
    return undefined;
  }
}

function has(value: TreeValue | undefined, kinds: readonly string[]): boolean {
  return found(value, kinds).next().done !== true;
}

const TABLE_SCAN = ['resolvedTableScanNode'];

function refuseSubquery(node: Tree, isBody: (scan: Tree) => boolean): void {
  const parameters = (node['parameterList'] ?? []) as readonly Tree[];
  if (parameters.length === 0) return;
  const scan = node['subquery'] as Tree;
  const tables = [...found(scan, TABLE_SCAN)].map((one) => one.node);
  if (tables.length === 0) return;
  const type = node['subqueryType'] as string;
  if (type === 'SCALAR' || type === 'ARRAY') {
    if (!tables.every(isBody)) throw invalidQuery(CORRELATED);
    if (isCutDirectly(scan)) throw invalidQuery(CORRELATED);
    return;
  }
  // EXISTS and IN become semi joins, which need an equality between both sides and all rows of the inner side.
  // Nested subqueries are checked on their own.
  const own = withoutSubqueries(scan);
  if (has(own, ['resolvedLimitOffsetScanNode', 'resolvedAggregateScanNode', 'resolvedAnalyticScanNode'])) throw invalidQuery(CORRELATED);
  if (type === 'EXISTS' && !conjunctsBelow(scan).some(isEqualityOfSides)) {
    throw invalidQuery('LEFT SEMI JOIN cannot be used without a condition that is an equality of fields from both sides of the join.');
  }
}

/** Returns whether LIMIT applies to the table function itself and not to the array of its rows. */
function isCutDirectly(scan: Tree): boolean {
  for (const { node } of found(scan, ['resolvedLimitOffsetScanNode'])) {
    if (has(withoutSubqueries(node) as Tree, TABLE_SCAN)) return true;
  }
  return false;
}

function withoutSubqueries(value: TreeValue | undefined): TreeValue {
  if (Array.isArray(value)) return (value as readonly TreeValue[]).map(withoutSubqueries);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value ?? null;
  return Object.fromEntries(
    Object.entries(value as Tree)
      .filter(([name]) => name !== 'resolvedSubqueryExprNode')
      .map(([name, below]) => [name, withoutSubqueries(below)]),
  );
}

/** The conjuncts of the filters of a scan. */
function conjunctsBelow(scan: Tree): readonly Tree[] {
  return [...found(withoutSubqueries(scan) as Tree, ['filterExpr', 'joinExpr'])].flatMap(({ node }) => conjuncts(node));
}

function conjuncts(expression: Tree): readonly Tree[] {
  const call = functionCall(expression);
  if (call?.name === 'ZetaSQL:$and') return call.parts.flatMap(conjuncts);
  return [expression];
}

function functionCall(expression: Tree): { readonly name: string; readonly parts: readonly Tree[] } | undefined {
  const call = (expression['resolvedFunctionCallBaseNode'] as Tree | undefined)?.['resolvedFunctionCallNode'] as Tree | undefined;
  if (call === undefined) return undefined;
  const base = call['parent'] as Tree;
  return {
    name: (base['function'] as Tree)['name'] as string,
    parts: (base['argumentList'] ?? []) as readonly Tree[],
  };
}

function columnRefs(expression: Tree): readonly Tree[] {
  return [...found(expression, ['resolvedColumnRefNode'])].map(({ node }) => node);
}

function isEqualityOfSides(expression: Tree): boolean {
  const call = functionCall(expression);
  if (call === undefined || !['ZetaSQL:$equal', 'ZetaSQL:$is_not_distinct_from'].includes(call.name)) return false;
  const sides = call.parts.map((part) => {
    const refs = columnRefs(part);
    if (refs.length === 0) return undefined;
    const outer = refs.filter((ref) => ref['isCorrelated'] === true).length;
    return outer === refs.length ? 'outer' : outer === 0 ? 'inner' : undefined;
  });
  return sides.includes('outer') && sides.includes('inner');
}

function refuseAggregate(node: Tree): void {
  refuseNullOrder((node['orderByItemList'] ?? []) as readonly Tree[], 'aggregate functions', false);
  const limit = node['limit'] as Tree | null | undefined;
  if (limit !== null && limit !== undefined && !has(limit, ['resolvedLiteralNode'])) {
    throw invalidQuery('LIMIT in aggregate function arguments must be a constant integer');
  }
}

function refuseWindow(node: Tree): void {
  const order = node['orderBy'] as Tree | null | undefined;
  if (order !== null && order !== undefined) {
    refuseNullOrder((order['orderByItemList'] ?? []) as readonly Tree[], 'analytic functions', true);
  }
}

/** @param allowsDefault whether the default order of nulls may be written out */
function refuseNullOrder(items: readonly Tree[], where: string, allowsDefault: boolean): void {
  for (const item of items) {
    const order = item['nullOrder'];
    if (order === undefined || order === 'ORDER_UNSPECIFIED') continue;
    const isDescending = item['isDescending'] === true;
    const isDefault = (order === 'NULLS_LAST') === isDescending;
    if (isDefault && allowsDefault) continue;
    throw invalidQuery(
      `${String(order).replace('_', ' ')} not supported with ${isDescending ? 'descending' : 'ascending'} sort order in ${where}.`,
    );
  }
}

function refuseJoin(node: Tree): void {
  const condition = node['joinExpr'] as Tree | null | undefined;
  if (condition !== null && condition !== undefined) {
    for (const { node: subquery } of found(condition, ['resolvedSubqueryExprNode'])) {
      if (has(subquery, TABLE_SCAN)) throw invalidQuery('Unsupported subquery with table in join predicate.');
    }
    for (const part of conjuncts(condition)) refuseKeyTypes(part);
  }
  const kind = node['joinType'];
  if (kind !== 'LEFT' && kind !== 'RIGHT' && kind !== 'FULL') return;
  const columnsOf = (side: string): ReadonlySet<string> =>
    new Set([...found(node[side], ['columnList'])].flatMap(({ node: list }) => (list as unknown as readonly Tree[]).map(idOf)));
  const [left, right] = [columnsOf('leftScan'), columnsOf('rightScan')];
  const isEquality = (expression: Tree): boolean => {
    const call = functionCall(expression);
    if (call === undefined || !['ZetaSQL:$equal', 'ZetaSQL:$is_not_distinct_from'].includes(call.name)) return false;
    const sides = call.parts.map((part) => {
      const ids = columnRefs(part).map((ref) => idOf(ref['column'] as Tree));
      if (ids.length === 0) return undefined;
      return ids.every((id) => left.has(id)) ? 'left' : ids.every((id) => right.has(id)) ? 'right' : undefined;
    });
    return sides.includes('left') && sides.includes('right');
  };
  if (condition === null || condition === undefined || !conjuncts(condition).some(isEquality)) {
    throw invalidQuery(`${kind} OUTER JOIN cannot be used without a condition that is an equality of fields from both sides of the join.`);
  }
}

/** Equality that joins cannot hash. */
function refuseKeyTypes(expression: Tree): void {
  const call = functionCall(expression);
  if (call?.name !== 'ZetaSQL:$equal') return;
  for (const part of call.parts) {
    for (const ref of columnRefs(part)) {
      const kind = ((ref['column'] as Tree)['type'] as Tree)['typeKind'];
      if (kind === 'TYPE_STRUCT' && 'resolvedColumnRefNode' in part) {
        throw invalidQuery('Equality is not defined for arguments of type STRUCT as a key of a join');
      }
    }
  }
}

function idOf(column: Tree): string {
  return String(column['columnId']);
}
