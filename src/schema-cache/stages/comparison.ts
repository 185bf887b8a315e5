/** Operators of one column or scalar computed field in a permission's boolean expression. */
import type { Comparison, ComparisonField, TypeSystem } from '../../backend/type-system.ts';
import { type CatalogType, supports } from '../../catalog/catalog.ts';
import { and, type BoolExp, type Compare, type Read } from '../../ir/bool-exp.ts';
import type { Operand } from '../../ir/value.ts';
import { describeJson } from '../../metadata/codec.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { Defect } from '../inconsistency.ts';
import { resolveOperand } from './operand.ts';

/** The left side of a comparison. */
export interface ComparedValue {
  /** Name in messages: `column "c"`. */
  readonly label: string;
  readonly read: Read;
  readonly type: CatalogType;
  readonly nullable: boolean;
}

/** The right side of a column comparison. */
export interface ColumnReference {
  readonly read: Read;
  readonly type: CatalogType;
  readonly nullable: boolean;
  readonly name: string;
  readonly row: 'self' | 'root';
  readonly levels: number;
}

/** Other spellings. A leading `$` stands for `_`. */
const ALIASES: Readonly<Record<string, string>> = { _ne: '_neq', _cneq: '_cne' };

const COLUMN_OPERATORS: Readonly<Record<string, string>> = {
  _ceq: '_eq',
  _cne: '_neq',
  _cgt: '_gt',
  _clt: '_lt',
  _cgte: '_gte',
  _clte: '_lte',
};

/** Differences between the conditions of permissions and those of requests. */
export interface OperatorRules {
  /** If true, equality treats NULL like any other value. */
  readonly nullSafe: boolean;
  /** @throws Defect, SvcError */
  operand(types: TypeSystem, type: CatalogType, list: boolean, json: Json): Operand;
}

const PERMISSION_RULES: OperatorRules = { nullSafe: true, operand: resolveOperand };

/** @throws Defect, SvcError */
export function resolveOperators(
  types: TypeSystem,
  subject: ComparedValue,
  operators: JsonObject,
  columnAt: (reference: Json) => ColumnReference,
  rules: OperatorRules = PERMISSION_RULES,
): readonly BoolExp[] {
  const scope: Scope = { types, rules, columnAt };
  return Object.entries(operators).map(([written, value]) => {
    const underscored = written.startsWith('$') ? `_${written.slice(1)}` : written;
    const operator = ALIASES[underscored] ?? underscored;
    const overColumns = COLUMN_OPERATORS[operator];
    if (overColumns !== undefined) return compareColumns(scope, subject, overColumns, columnAt(value));
    return resolveOperator(scope, subject, operator, written, value);
  });
}

interface Scope {
  readonly types: TypeSystem;
  readonly rules: OperatorRules;
  readonly columnAt: (reference: Json) => ColumnReference;
}

function compareColumns({ types, rules }: Scope, subject: ComparedValue, operator: string, right: ColumnReference): BoolExp {
  const { type } = subject;
  if (type.schema !== right.type.schema || type.name !== right.type.name || type.array !== right.type.array) {
    throw new Defect(
      `incompatible column types: ${subject.label} has type "${types.print(type)}", column "${right.name}" has type "${types.print(right.type)}"`,
    );
  }
  rejectUnsupported(types, subject, operator);
  const nullSafe = rules.nullSafe && (operator === '_eq' || operator === '_neq') && (subject.nullable || right.nullable);
  return { kind: 'compare-columns', left: subject.read, operator, right: right.read, rightRow: right.row, levels: right.levels, nullSafe };
}

/** @throws Defect if the database does not have the operator for the type */
function rejectUnsupported(types: TypeSystem, { label, type }: ComparedValue, operator: string): void {
  if (supports(type, operator)) return;
  throw new Defect(`${label} has type "${types.print(type)}", for which the database has no operator "${operator}"`);
}

function compare(subject: ComparedValue, operator: string, operand: Operand, nullSafe = false): Compare {
  return { kind: 'compare', left: subject.read, operator, argument: { kind: 'operand', operand }, nullSafe };
}

function resolveOperator(scope: Scope, subject: ComparedValue, operator: string, written: string, value: Json): BoolExp {
  const { types, rules } = scope;
  const { type } = subject;
  if (value !== null) rejectUnsupported(types, subject, operator);
  switch (operator) {
    case '_is_null':
      if (typeof value !== 'boolean') throw new Defect(`parsing Bool failed, expected Bool, but encountered ${describeJson(value)}`);
      return { kind: 'is-null', left: subject.read, isNull: value };
    case '_eq':
    case '_neq':
      if (value === null) return { kind: 'is-null', left: subject.read, isNull: operator === '_eq' };
      return compare(subject, operator, rules.operand(types, type, false, value), rules.nullSafe && subject.nullable);
    case '_in':
    case '_nin':
      return compare(subject, operator, rules.operand(types, type, true, value));
  }
  if (['_gt', '_lt', '_gte', '_lte'].includes(operator) && (type.array || types.scalar(type).ordered)) {
    return compare(subject, operator, rules.operand(types, type, false, value));
  }
  const comparison = (type.array ? types.arrayComparisons : types.scalar(type).comparisons).find(({ name }) => name === operator);
  if (comparison === undefined) throw new Defect(`unknown operator: ${written}`);
  return resolveComparison(scope, subject, comparison, value);
}

function resolveComparison(scope: Scope, subject: ComparedValue, comparison: Comparison, value: Json): BoolExp {
  const { types, rules, columnAt } = scope;
  const { argument, name } = comparison;
  switch (argument.kind) {
    case 'same':
      return compare(subject, name, rules.operand(types, subject.type, false, value));
    case 'list':
      return compare(subject, name, rules.operand(types, subject.type, true, value));
    case 'type':
      return compare(subject, name, rules.operand(types, argument.type, argument.list, value));
    case 'input':
      return {
        kind: 'compare',
        left: subject.read,
        operator: name,
        argument: { kind: 'fields', fields: resolveFields(scope, name, argument.fields, value) },
        nullSafe: false,
      };
    case 'cast': {
      const items = Object.entries(expectObject(name, value)).flatMap(([key, operators]) => {
        const target = argument.targets.find((each) => each.key === key);
        if (target === undefined) throw new Defect(`cannot cast column of type "${types.print(subject.type)}" to type "${key}"`);
        const cast: ComparedValue = { ...subject, read: { kind: 'cast', read: subject.read, type: target.type }, type: target.type };
        return resolveOperators(types, cast, expectObject(key, operators), columnAt, rules);
      });
      return and(...items);
    }
  }
}

function expectObject(name: string, value: Json): JsonObject {
  if (!isJsonObject(value)) throw new Defect(`parsing ${name} failed, expected Object, but encountered ${describeJson(value)}`);
  return value;
}

function resolveFields(
  { types, rules }: Scope,
  operator: string,
  fields: readonly ComparisonField[],
  value: Json,
): Readonly<Record<string, Operand>> {
  const object = expectObject(operator, value);
  const unknown = Object.keys(object).find((key) => !fields.some((field) => field.name === key));
  if (unknown !== undefined) throw new Defect(`unknown field "${unknown}" of ${operator}`);
  const operands: Record<string, Operand> = {};
  for (const field of fields) {
    const item = object[field.name] ?? field.default;
    if (item !== undefined && item !== null) operands[field.name] = rules.operand(types, field.type, false, item);
    else if (field.required) throw new Defect(`the key '${field.name}' was not present`);
  }
  return operands;
}
