/**
 * Conditions of data operations, in the language of permissions. Unlike in a permission, only columns and relationships that the role may
 * select are visible, permission filters of related tables apply, equality is that of SQL, and texts are never session variables.
 */
import type { CatalogType } from '../catalog/catalog.ts';
import type { Comparison } from '../backend/type-system.ts';
import { SvcError } from '../errors/svc-error.ts';
import { and, type BoolExp, not, or, type Read } from '../ir/bool-exp.ts';
import { parseFailed, wrongType } from '../metadata/codec.ts';
import { Defect } from '../schema-cache/inconsistency.ts';
import { type ColumnReference, type OperatorRules, resolveOperators, type ComparedValue } from '../schema-cache/stages/comparison.ts';
import { takesArguments } from '../schema-cache/stages/computed-field.ts';
import { visibleRow } from '../schema/fields/bool-exp.ts';
import { chargeReads } from '../schema/fields/related-cost.ts';
import type { RoleTable } from '../schema/fields/role-table.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { literalOperand } from './operand.ts';
import { type Requester, requiredColumn, findComputedField, otherTable, findRelationship, unknownField } from './data-names.ts';

interface Scope {
  readonly requester: Requester;
  readonly row: RoleTable;
  /** Table of the operation: `$` in column comparisons. */
  readonly root: RoleTable;
  /** Number of `exists` conditions between `row` and `root`. */
  readonly levels: number;
}

/** Returns the condition `json` on a row of the table. @throws SvcError */
export function whereCondition(requester: Requester, table: RoleTable, json: Json, path: Path): BoolExp {
  requester.size.addJson(json);
  return expression({ requester, row: table, root: table, levels: 0 }, json, path);
}

function expression(scope: Scope, json: Json, path: Path): BoolExp {
  if (!isJsonObject(json)) throw wrongType('BoolExp', 'Object', json, path);
  return and(...Object.entries(json).map(([key, value]) => entry(scope, key, value, at(path, key))));
}

function entry(scope: Scope, key: string, value: Json, path: Path): BoolExp {
  switch (key.startsWith('$') ? `_${key.slice(1)}` : key) {
    case '_and':
      return and(...items(scope, value, path));
    case '_or':
      return or(...items(scope, value, path));
    case '_not':
      return not(expression(scope, value, path));
    case '_exists':
      return existsAnywhere(scope, value, path);
    default:
      return fieldCondition(scope, key, value, path);
  }
}

function items(scope: Scope, value: Json, path: Path): readonly BoolExp[] {
  if (!isJsonArray(value)) throw wrongType('[]', 'Array', value, path);
  return value.map((item, i) => expression(scope, item, at(path, i)));
}

function inside(scope: Scope, target: RoleTable, value: Json, path: Path): BoolExp {
  return expression({ ...scope, row: target, levels: scope.levels + 1 }, value, path);
}

function existsAnywhere(scope: Scope, value: Json, path: Path): BoolExp {
  if (!isJsonObject(value)) throw wrongType('_exists', 'Object', value, path);
  const table = value['_table'] ?? value['$table'];
  const where = value['_where'] ?? value['$where'];
  if (table === undefined) throw parseFailed("the key '_table' was not present", path);
  if (where === undefined) throw parseFailed("the key '_where' was not present", path);
  const tablePath = at(path, '_table');
  const { backend } = scope.row.source.info;
  const target = otherTable(scope.requester, backend.tableName.decode(table, tablePath), tablePath);
  return visibleRow(scope.requester.size, target, null, target.relation, () => inside(scope, target, where, at(path, '_where')));
}

function fieldCondition(scope: Scope, key: string, value: Json, path: Path): BoolExp {
  const { row } = scope;
  const column = row.columns.get(key);
  if (column !== undefined) {
    chargeReads(scope.requester.size, column.read, isJsonObject(value) ? Object.keys(value).length : 1);
    return comparisons(scope, `column "${key}"`, column.read, column.info.catalog, value, path);
  }
  const relationship = findRelationship(row, key);
  if (relationship !== undefined) {
    const { info, target } = relationship;
    return visibleRow(scope.requester.size, target, info.join, target.relation, () => inside(scope, target, value, path));
  }
  const computed = findComputedField(row, key);
  if (computed === undefined) throw unknownField(scope.requester, key, path);
  const call = computed.arguments.plain;
  if (call === null || takesArguments(computed.info)) {
    throw new SvcError('unexpected-payload', 'Computed columns with input arguments can not be part of the where clause', { path });
  }
  if (computed.kind === 'scalar') {
    const { type } = computed.place;
    return comparisons(scope, `computed field "${key}"`, computed.read(call), { type, nullable: true }, value, path);
  }
  const { target } = computed;
  return visibleRow(scope.requester.size, target, null, { kind: 'function', call }, () => inside(scope, target, value, path));
}

/** @param value object of operators, or a bare value that the column must equal */
function comparisons(
  scope: Scope,
  label: string,
  read: Read,
  { type, nullable }: { readonly type: CatalogType; readonly nullable: boolean },
  value: Json,
  path: Path,
): BoolExp {
  const { types } = scope.row.source.shared;
  if (isPlainJson(scope, type)) {
    throw new SvcError('unexpected-payload', 'JSON column can not be part of boolean expression', { path });
  }
  const subject: ComparedValue = { label, read, type, nullable };
  const operators = isJsonObject(value) ? Object.entries(value) : [['_eq', value] as const];
  return and(
    ...operators.map(([operator, argument]) => {
      const cost = type.array ? 0 : costOf(types.scalar(type).comparisons, operator);
      if (cost > 0) scope.requester.size.charge(cost);
      const place = isJsonObject(value) ? at(path, operator) : path;
      const rules: OperatorRules = { nullSafe: false, operand: (...of) => literalOperand(...of, place) };
      return withPlace(place, () => and(...resolveOperators(types, subject, { [operator]: argument }, reference(scope, place), rules)));
    }),
  );
}

function costOf(comparisons: readonly Comparison[], operator: string): number {
  const name = operator.startsWith('$') ? `_${operator.slice(1)}` : operator;
  return comparisons.find((comparison) => comparison.name === name)?.cost ?? 0;
}

function isPlainJson({ row }: Scope, type: CatalogType): boolean {
  return !type.array && !row.source.shared.types.scalar(type).hasEquality;
}

/** Adds the path of an operator to its error. */
function withPlace<T>(path: Path, resolve: () => T): T {
  try {
    return resolve();
  } catch (error) {
    throw error instanceof Defect ? new SvcError('unexpected-payload', error.message, { path, cause: error }) : error;
  }
}

/** Resolves the column of a comparison: `"c"` and `["c"]` are in the same row, `["$", "c"]` in that of the root. */
function reference(scope: Scope, path: Path): (json: Json) => ColumnReference {
  return (json) => {
    const steps = isJsonArray(json) ? json : [json];
    const fromRoot = steps.length === 2 && steps[0] === '$';
    const name = steps.at(-1);
    if (typeof name !== 'string' || steps.length > 2) throw wrongType('ColumnReference', 'String', json, path);
    if (steps.length === 2 && !fromRoot) throw new Defect('Relationship references are not supported in column comparison RHS');
    const table = fromRoot ? scope.root : scope.row;
    const { read, info } = requiredColumn(scope.requester, table, name, path);
    const { catalog } = info;
    const otherRow = fromRoot && scope.levels > 0;
    return {
      read,
      type: catalog.type,
      nullable: catalog.nullable,
      name,
      row: otherRow ? 'root' : 'self',
      levels: otherRow ? scope.levels : 0,
    };
  };
}
