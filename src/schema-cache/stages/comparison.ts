/** Operators of one column or scalar computed field inside a permission's boolean expression. */
import type { Comparison, ComparisonField, TypeSystem } from '../../backend/backend.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import { and, type BoolExp, type Compare } from '../../ir/bool-exp.ts';
import type { Read } from '../../ir/read.ts';
import type { Operand } from '../../ir/value.ts';
import { describeJson } from '../../metadata/codec.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { Defect } from '../inconsistency.ts';
import { resolveOperand } from './operand.ts';

/** What is compared. */
export interface Subject {
  /** As in `column "c"`. */
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

/** Other spellings. `$` in front is one for `_`. */
const ALIASES: Readonly<Record<string, string>> = { _ne: '_neq', _cneq: '_cne' };

const COLUMN_OPERATORS: Readonly<Record<string, string>> = {
  _ceq: '_eq',
  _cne: '_neq',
  _cgt: '_gt',
  _clt: '_lt',
  _cgte: '_gte',
  _clte: '_lte',
};

/** @throws Defect, SvcError */
export function resolveOperators(
  types: TypeSystem,
  subject: Subject,
  operators: JsonObject,
  columnAt: (reference: Json) => ColumnReference,
): readonly BoolExp[] {
  return Object.entries(operators).map(([written, value]) => {
    const underscored = written.startsWith('$') ? `_${written.slice(1)}` : written;
    const operator = ALIASES[underscored] ?? underscored;
    const overColumns = COLUMN_OPERATORS[operator];
    if (overColumns !== undefined) return compareColumns(subject, overColumns, columnAt(value));
    return resolveOperator(types, subject, operator, written, value, columnAt);
  });
}

function compareColumns(subject: Subject, operator: string, right: ColumnReference): BoolExp {
  const { type } = subject;
  if (type.schema !== right.type.schema || type.name !== right.type.name || type.array !== right.type.array) {
    const print = (t: CatalogType): string => (t.array ? `${t.name}[]` : t.name);
    throw new Defect(
      `incompatible column types: ${subject.label} has type "${print(type)}", column "${right.name}" has type "${print(right.type)}"`,
    );
  }
  const nullSafe = (operator === '_eq' || operator === '_neq') && (subject.nullable || right.nullable);
  return { kind: 'compare-columns', left: subject.read, operator, right: right.read, rightRow: right.row, levels: right.levels, nullSafe };
}

function compare(subject: Subject, operator: string, operand: Operand, nullSafe = false): Compare {
  return { kind: 'compare', left: subject.read, operator, argument: { kind: 'operand', operand }, nullSafe };
}

function resolveOperator(
  types: TypeSystem,
  subject: Subject,
  operator: string,
  written: string,
  value: Json,
  columnAt: (reference: Json) => ColumnReference,
): BoolExp {
  const { type } = subject;
  switch (operator) {
    case '_is_null':
      if (typeof value !== 'boolean') throw new Defect(`parsing Bool failed, expected Bool, but encountered ${describeJson(value)}`);
      return { kind: 'is-null', left: subject.read, isNull: value };
    case '_eq':
    case '_neq':
      // Equality is null-safe in permissions, so null is a value like any other.
      if (value === null) return { kind: 'is-null', left: subject.read, isNull: operator === '_eq' };
      return compare(subject, operator, resolveOperand(types, type, false, value), subject.nullable);
    case '_in':
    case '_nin':
      return compare(subject, operator, resolveOperand(types, type, true, value));
  }
  if (['_gt', '_lt', '_gte', '_lte'].includes(operator) && (type.array || types.scalar(type).ordered)) {
    return compare(subject, operator, resolveOperand(types, type, false, value));
  }
  const comparison = (type.array ? types.arrayComparisons : types.scalar(type).comparisons).find(({ name }) => name === operator);
  if (comparison === undefined) throw new Defect(`unknown operator: ${written}`);
  return resolveComparison(types, subject, comparison, value, columnAt);
}

function resolveComparison(
  types: TypeSystem,
  subject: Subject,
  comparison: Comparison,
  value: Json,
  columnAt: (reference: Json) => ColumnReference,
): BoolExp {
  const { argument, name } = comparison;
  switch (argument.kind) {
    case 'same':
      return compare(subject, name, resolveOperand(types, subject.type, false, value));
    case 'list':
      return compare(subject, name, resolveOperand(types, subject.type, true, value));
    case 'type':
      return compare(subject, name, resolveOperand(types, argument.type, argument.list, value));
    case 'input':
      return {
        kind: 'compare',
        left: subject.read,
        operator: name,
        argument: { kind: 'fields', fields: resolveFields(types, name, argument.fields, value) },
        nullSafe: false,
      };
    case 'cast': {
      const items = Object.entries(expectObject(name, value)).flatMap(([key, operators]) => {
        const target = argument.targets.find((each) => each.key === key);
        if (target === undefined) throw new Defect(`cannot cast ${subject.label} to type "${key}"`);
        const cast: Subject = { ...subject, read: { kind: 'cast', read: subject.read, type: target.type }, type: target.type };
        return resolveOperators(types, cast, expectObject(key, operators), columnAt);
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
  types: TypeSystem,
  operator: string,
  fields: readonly ComparisonField[],
  value: Json,
): Readonly<Record<string, Operand>> {
  const given = expectObject(operator, value);
  const unknown = Object.keys(given).find((key) => !fields.some((field) => field.name === key));
  if (unknown !== undefined) throw new Defect(`unknown field "${unknown}" of ${operator}`);
  const operands: Record<string, Operand> = {};
  for (const field of fields) {
    const item = given[field.name] ?? field.default;
    if (item !== undefined && item !== null) operands[field.name] = resolveOperand(types, field.type, false, item);
    else if (field.required) throw new Defect(`the key '${field.name}' was not present`);
  }
  return operands;
}
