/** `R_aggregate_bool_exp`: comparisons of an aggregate over related rows, for `where`. */
import type { AggregatePredicateFunction } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import { type AggregatePredicate, type BoolExp, guarded, type Read } from '../../ir/bool-exp.ts';
import { predicateColumnsTypeName } from '../../schema-cache/naming.ts';
import type { RelationshipInfo } from '../../schema-cache/schema-cache.ts';
import type { EnumSchemaType, InputValue, InputField, InputObjectType, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { selectedColumns } from './arguments.ts';
import { BOOLEAN_SCALAR, builtin } from '../../graphql-engine/input/built-in-scalars.ts';
import { comparisonType } from './comparison.ts';
import { entriesOf, invalid } from './input.ts';
import { chargeAggregate } from './related-cost.ts';
import { type AggregatePredicateType, type RoleTable, roleTypeName } from './role-table.ts';
import { columnEnum } from './select-column.ts';

/** One key of `R_aggregate_bool_exp`. */
interface Predicate {
  readonly field: InputField;
  /** `filter`: condition on the rows, without the filter of the permission. */
  read(
    input: InputValue,
  ): Pick<AggregatePredicate, 'function' | 'arguments' | 'distinct' | 'predicate'> & { readonly filter: BoolExp | null };
  condition(input: InputValue, relationship: RelationshipInfo): BoolExp;
}

interface PredicateArguments {
  readonly type: InputTypeRef;
  reads(input: InputValue, distinct: boolean): readonly Read[];
}

export function aggregatePredicateType(table: RoleTable): AggregatePredicateType {
  const predicates = lazy(() => {
    const { types } = table.source.shared;
    const made = [countPredicate(table)];
    for (const definition of types.aggregatePredicates) {
      const args = columnArguments(table, definition);
      if (args !== null) made.push(makePredicate(table, definition.name, args, definition.resultType));
    }
    return new Map(made.map((predicate) => [predicate.field.name, predicate]));
  });
  return {
    type: {
      kind: 'input-object',
      name: roleTypeName(table, 'aggregate_bool_exp'),
      description: null,
      fields: lazy(() => new Map([...predicates()].map(([name, { field }]) => [name, field]))),
    },
    predicate: (input, relationship) => {
      const [entry, ...others] = entriesOf(input);
      const predicate = entry === undefined ? undefined : predicates().get(entry.field.name);
      if (entry === undefined || predicate === undefined || others.length > 0) {
        throw invalid('exactly one predicate should be specified', input.path);
      }
      return predicate.condition(entry.input, relationship);
    },
  };
}

/** `count` of `R_aggregate_bool_exp`. */
export function countPredicate(table: RoleTable): Predicate {
  return makePredicate(table, 'count', countArguments(table), table.source.shared.types.basic.integer);
}

function makePredicate(table: RoleTable, functionName: string, args: PredicateArguments | null, resultType: CatalogType): Predicate {
  const { source } = table;
  const result = comparisonType(source.shared, resultType);
  const names = predicateNames(table);
  const type: InputObjectType = {
    kind: 'input-object',
    name: roleTypeName(table, 'aggregate_bool_exp', functionName),
    description: null,
    fields: lazy(() => predicateFields(table, names, args, result.type)),
  };
  const read: Predicate['read'] = (input) => {
    const inputs = new Map(entriesOf(input).map((entry) => [entry.field.name, entry.input]));
    const present = (name: string): InputValue | null => {
      const value = inputs.get(name);
      return value === undefined || value.isNull() ? null : value;
    };
    const argument = present(names.arguments);
    const filter = present(names.filter);
    const predicate = inputs.get(names.predicate);
    const distinct = present(names.distinct)?.json() === true;
    if (predicate === undefined) throw invalid(`missing required field '${names.predicate}'`, input.path);
    return {
      filter: filter === null ? null : table.boolExp().condition(filter),
      function: functionName,
      arguments: argument === null || args === null ? [] : args.reads(argument, distinct),
      distinct,
      predicate: result.comparisons(predicate, resultType, source.options),
    };
  };
  return {
    field: { name: source.field(functionName), description: null, type: typeRef(type.name, () => type) },
    read,
    condition: (input, relationship) => {
      chargeAggregate(input, table.access.filter);
      const { filter, ...aggregate } = read(input);
      const where = filter === null ? table.access.filter : guarded(table.access.filter, filter);
      return { kind: 'aggregate-predicate', join: relationship.join, from: table.relation, where, ...aggregate };
    },
  };
}

type PredicateNames = Readonly<Record<'arguments' | 'distinct' | 'filter' | 'predicate', string>>;

function predicateNames({ source }: RoleTable): PredicateNames {
  return {
    arguments: source.field('arguments'),
    distinct: source.field('distinct'),
    filter: source.field('filter'),
    predicate: source.field('predicate'),
  };
}

function predicateFields(
  table: RoleTable,
  names: PredicateNames,
  args: PredicateArguments | null,
  comparisons: InputObjectType,
): ReadonlyMap<string, InputField> {
  const made: InputField[] = [];
  const add = (name: string, type: InputTypeRef): void => {
    made.push({ name, description: null, type });
  };
  if (args !== null) add(names.arguments, args.type);
  add(names.distinct, builtin(BOOLEAN_SCALAR));
  add(
    names.filter,
    typeRef(roleTypeName(table, 'bool_exp'), () => table.boolExp().type),
  );
  add(
    names.predicate,
    typeRef(comparisons.name, () => comparisons, true),
  );
  return new Map(made.map((field) => [field.name, field]));
}

function countArguments(table: RoleTable): PredicateArguments | null {
  const column = table.selectColumn();
  if (column === null) return null;
  return {
    type: listTypeRef(typeRef(column.name, () => column, true)),
    reads: (input, distinct) => selectedColumns(table, input, distinct),
  };
}

/** Accepts one column of the function's type, or several under names (`X`, `Y`); null if the table has none. */
function columnArguments(table: RoleTable, definition: AggregatePredicateFunction): PredicateArguments | null {
  const { source, info } = table;
  const argumentType = definition.argumentType;
  const enumType = columnEnum(
    table,
    predicateColumnsTypeName(source.info, info, definition.name),
    `select "${roleTypeName(table, 'aggregate_bool_exp', definition.name, 'arguments_columns')}" columns of table "${info.name.name}"`,
    ({ place: { type } }) => !type.array && type.schema === argumentType.schema && type.name === argumentType.name,
  );
  if (enumType === null) return null;
  if (definition.argumentNames === null) return { type: reference(enumType), reads: (input) => columnRead(table, input) };
  return severalArguments(table, definition.name, definition.argumentNames, enumType);
}

function columnRead(table: RoleTable, input: InputValue): readonly Read[] {
  const column = table.columns.get(input.enumValue().value);
  return column === undefined ? [] : [column.read];
}

function reference(type: EnumSchemaType): InputTypeRef {
  return typeRef(type.name, () => type, true);
}

function severalArguments(table: RoleTable, functionName: string, names: readonly string[], enumType: EnumSchemaType): PredicateArguments {
  const type: InputObjectType = {
    kind: 'input-object',
    name: roleTypeName(table, 'aggregate_bool_exp', functionName, 'arguments'),
    description: null,
    fields: lazy(() => new Map(names.map((name): [string, InputField] => [name, { name, description: null, type: reference(enumType) }]))),
  };
  return {
    type: typeRef(type.name, () => type, true),
    reads: (input) => {
      const inputs = new Map(entriesOf(input).map((entry) => [entry.field.name, entry.input]));
      return names.flatMap((name) => {
        const column = inputs.get(name);
        return column === undefined ? [] : columnRead(table, column);
      });
    },
  };
}
