/**
 * Resolves boolean expressions of permissions (filter, check and `_where`) to IR. Names are those of the database. Conditions on related
 * rows do not include the permission filters of the related table: the rule applies exactly as written.
 */
import type { CatalogDistribution } from '../../catalog/catalog.ts';
import { and, type BoolExp, not, or } from '../../ir/bool-exp.ts';
import type { Join, Relation } from '../../ir/relation.ts';
import { describeJson } from '../../metadata/codec.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { Defect } from '../inconsistency.ts';
import { type ColumnReference, resolveOperators, type ComparedValue } from './comparison.ts';
import { callFor, takesArguments } from './computed-field.ts';
import { type RecordedLookups, printTable, type StageSource, type TableFields } from './lookups.ts';

export interface ExpressionScope {
  readonly source: StageSource;
  readonly lookups: RecordedLookups;
  /** The table that the expression is about. */
  readonly row: TableFields;
  /** The table of the permission: `$` in column comparisons. */
  readonly root: TableFields;
  /** Number of `exists` conditions between `row` and `root`. */
  readonly levels: number;
  /** Relations of these conditions, starting at the root. */
  readonly path: readonly Relationship[];
}

/** Relates a row to the rows that a condition is about. */
interface Relationship {
  readonly from: TableFields;
  readonly join: Join | null;
  /** `null` for rows of a function. */
  readonly to: TableFields | null;
}

/** @throws Defect, or SvcError from the checks of values */
export function resolveBoolExp(scope: ExpressionScope, json: Json): BoolExp {
  if (!isJsonObject(json)) throw new Defect(`parsing BoolExp failed, expected Object, but encountered ${describeJson(json)}`);
  return and(...Object.entries(json).map(([key, value]) => resolveKey(scope, key, value)));
}

function resolveKey(scope: ExpressionScope, key: string, value: Json): BoolExp {
  switch (key.startsWith('$') ? `_${key.slice(1)}` : key) {
    case '_and':
      return and(...resolveList(scope, key, value));
    case '_or':
      return or(...resolveList(scope, key, value));
    case '_not':
      return not(resolveBoolExp(scope, value));
    case '_exists':
      return resolveExists(scope, value);
    default:
      return resolveField(scope, key, value);
  }
}

function resolveList(scope: ExpressionScope, key: string, value: Json): readonly BoolExp[] {
  if (!isJsonArray(value)) throw new Defect(`parsing ${key} failed, expected Array, but encountered ${describeJson(value)}`);
  return value.map((item) => resolveBoolExp(scope, item));
}

function inside(scope: ExpressionScope, row: TableFields, join: Join | null, ofFunction = false): ExpressionScope {
  const step = { from: scope.row, join, to: ofFunction ? null : row };
  return { ...scope, row, levels: scope.levels + 1, path: [...scope.path, step] };
}

function resolveExists(scope: ExpressionScope, value: Json): BoolExp {
  if (!isJsonObject(value)) throw new Defect(`parsing _exists failed, expected Object, but encountered ${describeJson(value)}`);
  const table = value['_table'] ?? value['$table'];
  const where = value['_where'] ?? value['$where'];
  if (table === undefined) throw new Defect("the key '_table' was not present");
  if (where === undefined) throw new Defect("the key '_where' was not present");
  const name = scope.source.backend.tableName.decode(table, ROOT);
  const fields = scope.lookups.fields(name);
  if (fields === undefined) throw new Defect(`table "${printTable(scope.source, name)}" is not tracked`);
  return { kind: 'exists', join: null, from: relationOf(fields), where: resolveBoolExp(inside(scope, fields, null), where) };
}

function relationOf({ name, stored }: TableFields): Relation {
  return { kind: 'table', name, ...(stored ? { stored } : {}) };
}

function resolveField(scope: ExpressionScope, key: string, value: Json): BoolExp {
  const { row, source, lookups } = scope;
  const column = row.columns.get(key);
  if (column !== undefined) {
    const { type, nullable } = column.catalog;
    return resolveComparisons(scope, { label: `column "${key}"`, read: { kind: 'column', column: key, type }, type, nullable }, value);
  }
  const relationship = row.relationships.get(key);
  if (relationship !== undefined) {
    const fields = lookups.fields(relationship.target);
    if (fields === undefined) throw new Defect(`table "${printTable(source, relationship.target)}" is not tracked`);
    const where = resolveBoolExp(inside(scope, fields, relationship.join), value);
    return { kind: 'exists', join: relationship.join, from: relationOf(fields), where };
  }
  const computed = row.computedFields.get(key);
  if (computed === undefined) throw new Defect(`"${key}" does not exist`);
  if (takesArguments(computed)) throw new Defect('Computed columns with input arguments can not be part of the where clause');
  const call = callFor(computed);
  if (computed.returns.kind === 'scalar') {
    const { type } = computed.returns;
    return resolveComparisons(
      scope,
      { label: `computed field "${key}"`, read: { kind: 'computed-field', call, type }, type, nullable: true },
      value,
    );
  }
  const fields = lookups.fields(computed.returns.table);
  if (fields === undefined) throw new Defect(`table "${printTable(source, computed.returns.table)}" is not tracked`);
  return { kind: 'exists', join: null, from: { kind: 'function', call }, where: resolveBoolExp(inside(scope, fields, null, true), value) };
}

/** An object of operators, or a bare value (including null) that the column must equal. */
function resolveComparisons(scope: ExpressionScope, subject: ComparedValue, value: Json): BoolExp {
  if (!subject.type.array && !scope.source.backend.types.scalar(subject.type).hasEquality) {
    throw new Defect('JSON column can not be part of boolean expression');
  }
  const operators: JsonObject = isJsonObject(value) ? value : { _eq: value };
  const columnAt = (reference: Json) => resolveColumnReference(scope, reference);
  return and(...resolveOperators(scope.source.backend.types, subject, operators, columnAt));
}

/** `"c"` and `["c"]` refer to the same row, `["$", "c"]` to the root row. */
function resolveColumnReference(scope: ExpressionScope, reference: Json): ColumnReference {
  const steps = isJsonArray(reference) ? reference : [reference];
  const fromRoot = steps.length === 2 && steps[0] === '$';
  const name = fromRoot ? steps[1] : steps[0];
  if (typeof name !== 'string' || steps.length > 2) {
    throw new Defect(
      `parsing a column reference failed, expected String or an Array of "$" and String, but encountered ${describeJson(reference)}`,
    );
  }
  if (steps.length === 2 && !fromRoot) throw new Defect('Relationship references are not supported in column comparison RHS');
  const table = fromRoot ? scope.root : scope.row;
  const column = table.columns.get(name);
  if (column === undefined) {
    if (table.relationships.has(name)) throw new Defect('Relationship references are not supported in column comparison RHS');
    throw new Defect(`"${name}" does not exist`);
  }
  const { type, nullable } = column.catalog;
  const otherRow = fromRoot && scope.levels > 0;
  if (otherRow) for (const step of scope.path) rejectDifferentServers(scope, step);
  return {
    read: { kind: 'column', column: name, type },
    type,
    nullable,
    name,
    row: otherRow ? 'root' : 'self',
    levels: otherRow ? scope.levels : 0,
  };
}

/** Columns of two rows can only be compared on a server that has both rows. @throws Defect */
function rejectDifferentServers({ source, lookups }: ExpressionScope, { from, join, to }: Relationship): void {
  if (to === null || areColocated(lookups.tracked(from.name)?.distribution, lookups.tracked(to.name)?.distribution, join)) return;
  const [one, other] = [from, to].map(({ name }) => `"${printTable(source, name)}"`);
  throw new Defect(`rows of ${other} cannot be compared with those of ${one}, because they may be on different servers`);
}

/**
 * Returns true if a row and all rows that are joined to it are on the same server. Also true if that is unknown: then the database accepts
 * or rejects the comparison.
 */
function areColocated(one: CatalogDistribution | undefined, other: CatalogDistribution | undefined, join: Join | null): boolean {
  if (one === undefined || other === undefined || other.kind === 'reference') return true;
  const isSpread = one.kind === 'distributed' || one.kind === 'schema';
  if (other.kind === 'local') return !isSpread;
  if (!isSpread || one.group !== other.group) return false;
  const [local, remote] = [one, other].map((each) => (each.kind === 'distributed' ? each.column : null));
  return remote === null || join?.columns.some((pair) => pair.local === local && pair.remote === remote) === true;
}
