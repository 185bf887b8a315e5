/** `<Scalar>_comparison_exp` and related input types, and their translation to conditions. */
import type { Comparison } from '../../backend/type-system.ts';
import { type CatalogType, supports } from '../../catalog/catalog.ts';
import { type AggregateComparison, and, type BoolExp, type ComparisonArgument, type Read } from '../../ir/bool-exp.ts';
import type { Operand } from '../../ir/value.ts';
import { comparisonTypeName, fieldName, sharedTypeName } from '../../schema-cache/naming.ts';
import type { EnumSchemaType, InputValue, InputField, InputObjectType, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef, nonNull } from '../../graphql-engine/types.ts';
import { BOOLEAN_SCALAR, builtin } from '../../graphql-engine/input/built-in-scalars.ts';
import { entriesOf, invalid, nullList, typeNameOf } from './input.ts';
import type { FieldOptions } from './options.ts';
import type { SharedTypes } from './shared-types.ts';

export interface ComparisonType {
  readonly type: InputObjectType;
  /** @param read left side; its type has this comparison type */
  condition(input: InputValue, read: Read, options: FieldOptions): BoolExp;
  /** Returns the comparisons alone, for the result of an aggregate. */
  comparisons(input: InputValue, type: CatalogType, options: FieldOptions): readonly AggregateComparison[];
}

type Operation =
  | { readonly kind: 'compare'; readonly operator: string; readonly argument: ComparisonArgument }
  | { readonly kind: 'is-null'; readonly isNull: boolean }
  | { readonly kind: 'cast'; readonly type: CatalogType; readonly comparison: ComparisonType; readonly input: InputValue };

interface Operator {
  readonly field: InputField;
  operation(input: InputValue, type: CatalogType, options: FieldOptions): readonly Operation[];
}

const ORDERED = ['_gt', '_gte', '_lt', '_lte'];

/** Returns the comparison type of a column of this type; created once per name and set of operators. */
export function comparisonType(shared: SharedTypes, type: CatalogType): ComparisonType {
  const scalar = shared.types.scalar(type);
  const name = comparisonTypeName(shared.convention, shared.types, type);
  const scalarName = shared.reference({ ...type, array: false });
  const printed = scalarName.kind === 'named' ? scalarName.name : scalar.graphql;
  const label = type.array ? `[${printed}]` : printed;
  const lacking = shared.unsupportedOperators.get(name) ?? [];
  return memo(shared, [name, ...lacking].join(' '), () =>
    makeType(name, `Boolean expression to compare columns of type "${label}". All fields are combined with logical 'AND'.`, () => {
      const reference = () => shared.reference(type);
      const operators = commonOperators(shared, reference, scalar.ordered, lacking);
      const more = type.array ? shared.types.arrayComparisons : scalar.comparisons;
      for (const comparison of more) if (!lacking.includes(comparison.name)) operators.push(backendOperator(shared, type, comparison));
      return operators;
    }),
  );
}

/** `<T>_enum_comparison_exp`. */
export function enumComparisonType(shared: SharedTypes, name: string, type: EnumSchemaType): ComparisonType {
  return makeType(name, `Boolean expression to compare columns of type "${type.name}". All fields are combined with logical 'AND'.`, () =>
    commonOperators(shared, () => typeRef(type.name, () => type), false),
  );
}

function memo(shared: SharedTypes, key: string, make: () => ComparisonType): ComparisonType {
  let made = shared.comparisons.get(key) as ComparisonType | undefined;
  if (made === undefined) {
    made = make();
    shared.comparisons.set(key, made);
  }
  return made;
}

function makeType(name: string, description: string | null, makeOperators: () => readonly Operator[]): ComparisonType {
  const operators = lazy(() => new Map(makeOperators().map((operator) => [operator.field.name, operator])));
  const type: InputObjectType = {
    kind: 'input-object',
    name,
    description,
    fields: lazy(() => new Map([...operators()].map(([key, operator]) => [key, operator.field]))),
  };
  const operations = (input: InputValue, of: CatalogType, options: FieldOptions): readonly Operation[] =>
    entriesOf(input).flatMap((entry) => operators().get(entry.field.name)?.operation(entry.input, of, options) ?? []);
  return {
    type,
    condition: (input, read, options) =>
      and(
        ...operations(input, read.type, options).map((operation): BoolExp => {
          if (operation.kind === 'is-null') return { kind: 'is-null', left: read, isNull: operation.isNull };
          if (operation.kind === 'compare') {
            const { operator, argument } = operation;
            return { kind: 'compare', operator, argument, left: read, nullSafe: false };
          }
          return operation.comparison.condition(operation.input, { kind: 'cast', read, type: operation.type }, options);
        }),
      ),
    comparisons: (input, of, options) =>
      operations(input, of, options).flatMap((operation): readonly AggregateComparison[] => {
        if (operation.kind === 'is-null') return [operation];
        if (operation.kind === 'compare' && operation.argument.kind === 'operand') {
          return [{ kind: 'compare', operator: operation.operator, operand: operation.argument.operand }];
        }
        throw invalid('this operator does not apply to the result of an aggregate', input.path);
      }),
  };
}

function commonOperators(
  shared: SharedTypes,
  reference: () => InputTypeRef,
  ordered: boolean,
  lacking: readonly string[] = [],
): Operator[] {
  const has = (name: string): boolean => !lacking.includes(name);
  const single = ordered ? ['_eq', '_neq', ...ORDERED] : ['_eq', '_neq'];
  const operators = single.filter(has).map((name) => operandOperator(shared, name, null, reference(), false, null));
  for (const name of ['_in', '_nin'].filter(has)) operators.push(operandOperator(shared, name, null, reference(), true, null));
  operators.push(isNullOperator(shared));
  return operators;
}

function isNullOperator(shared: SharedTypes): Operator {
  return {
    field: { name: fieldName(shared.convention, '_is_null'), description: null, type: builtin(BOOLEAN_SCALAR) },
    operation: (input, _type, options) => {
      if (input.isNull()) {
        if (options.nullCollapse) return [];
        throw invalid("expected a boolean for type 'Boolean', but found null", input.path);
      }
      return [{ kind: 'is-null', isNull: input.json() === true }];
    },
  };
}

/**
 * @param fixed type of the operand if it is not the column's
 * @param cost see `Comparison`
 */
function operandOperator(
  shared: SharedTypes,
  name: string,
  description: string | null,
  reference: InputTypeRef,
  list: boolean,
  fixed: CatalogType | null,
  cost = 0,
): Operator {
  return {
    field: { name: fieldName(shared.convention, name), description, type: list ? listTypeRef(nonNull(reference)) : reference },
    operation: (input, type, options) => {
      if (input.isNull()) {
        if (options.nullCollapse) return [];
        throw nullOperand(input);
      }
      // Another type behind the same comparison type may have the operator.
      if (!supports(type, name))
        throw invalid(`the database has no operator "${name}" for the type "${shared.types.print(type)}"`, input.path);
      if (cost > 0) input.charge(cost);
      const operand: Operand = { value: list ? input.listValue() : input.value(), type: fixed ?? type, list };
      return [{ kind: 'compare', operator: name, argument: { kind: 'operand', operand } }];
    },
  };
}

/** Returns the error of a null operand. */
export function nullOperand(input: Pick<InputValue, 'type' | 'path'>): Error {
  if (input.type.kind === 'list') return nullList(input.path);
  const name = typeNameOf(input);
  if (input.type.type().kind === 'enum') return invalid(`expected an enum value for type '${name}', but found null`, input.path);
  return invalid(`unexpected null value for type '${name}'`, input.path);
}

function backendOperator(shared: SharedTypes, type: CatalogType, comparison: Comparison): Operator {
  const { name, description, argument, cost } = comparison;
  switch (argument.kind) {
    case 'same':
      return operandOperator(shared, name, description, shared.reference(type), false, null, cost);
    case 'list':
      return operandOperator(shared, name, description, shared.reference(type), true, null, cost);
    case 'type':
      return operandOperator(shared, name, description, shared.reference(argument.type), argument.list, argument.type, cost);
    case 'input':
      return fieldsOperator(shared, comparison, argument);
    case 'cast':
      return castOperator(shared, comparison, argument);
  }
}

type InputArgument = Extract<Comparison['argument'], { readonly kind: 'input' }>;

function fieldsOperator(shared: SharedTypes, comparison: Comparison, argument: InputArgument): Operator {
  const fields = new Map(argument.fields.map((field) => [fieldName(shared.convention, field.name), field]));
  const type: InputObjectType = {
    kind: 'input-object',
    name: sharedTypeName(shared.convention, argument.name),
    description: argument.description,
    fields: lazy(
      () =>
        new Map(
          [...fields].map(([name, field]): [string, InputField] => [
            name,
            {
              name,
              description: null,
              type: shared.reference(field.type, field.required),
              ...(field.default === undefined ? {} : { default: field.default }),
            },
          ]),
        ),
    ),
  };
  return {
    field: {
      name: fieldName(shared.convention, comparison.name),
      description: comparison.description,
      type: typeRef(type.name, () => type),
    },
    operation: (input, _type, options) => {
      if (input.isNull() && options.nullCollapse) return [];
      const operands: Record<string, Operand> = {};
      for (const entry of entriesOf(input)) {
        const field = fields.get(entry.field.name);
        if (field === undefined) continue;
        if (entry.input.isNull()) throw nullOperand(entry.input);
        operands[field.name] = { value: entry.input.value(), type: field.type, list: false };
      }
      return [{ kind: 'compare', operator: comparison.name, argument: { kind: 'fields', fields: operands } }];
    },
  };
}

type CastArgument = Extract<Comparison['argument'], { readonly kind: 'cast' }>;

function castOperator(shared: SharedTypes, comparison: Comparison, argument: CastArgument): Operator {
  // The keys are type names, so they follow the scalars, not the fields.
  const targets = new Map(argument.targets.map((target) => [sharedTypeName(shared.convention, target.key), target.type]));
  const type: InputObjectType = {
    kind: 'input-object',
    name: sharedTypeName(shared.convention, argument.name),
    description: argument.description,
    fields: lazy(
      () =>
        new Map(
          [...targets].map(([name, target]): [string, InputField] => {
            const nested = comparisonType(shared, target).type;
            return [name, { name, description: null, type: typeRef(nested.name, () => nested) }];
          }),
        ),
    ),
  };
  return {
    field: {
      name: fieldName(shared.convention, comparison.name),
      description: comparison.description,
      type: typeRef(type.name, () => type),
    },
    operation: (input, _type, options) => {
      if (input.isNull() && options.nullCollapse) return [];
      return entriesOf(input).flatMap((entry): readonly Operation[] => {
        const target = targets.get(entry.field.name);
        if (target === undefined) return [];
        return [{ kind: 'cast', type: target, comparison: comparisonType(shared, target), input: entry.input }];
      });
    },
  };
}
