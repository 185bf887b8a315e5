/** `T_aggregate_having`: conditions on the aggregates of a group. */
import type { AggregateFunction, AggregateResults } from '../../backend/type-system.ts';
import { guarded } from '../../ir/bool-exp.ts';
import type { Having } from '../../ir/select.ts';
import type { InputField, InputObjectType, InputTypeRef, InputValue } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { aggregateOperands } from './aggregate-operands.ts';
import { countPredicate } from './aggregate-predicate.ts';
import { comparisonType } from './comparison.ts';
import { quoted } from './descriptions.ts';
import { entriesOf, itemsOf } from './input.ts';
import { type RoleTable, roleTypeName } from './role-table.ts';

export interface HavingType {
  readonly type: InputObjectType;
  condition(input: InputValue): Having;
}

interface HavingField {
  readonly field: InputField;
  condition(input: InputValue): Having;
}

export function havingType(table: RoleTable): HavingType {
  const { source } = table;
  const fields = lazy(() => new Map([...logic(), count(table), ...functions(table)].map((each) => [each.field.name, each])));
  const type: InputObjectType = {
    kind: 'input-object',
    name: roleTypeName(table, 'aggregate_having'),
    description: `conditions on groups of ${quoted(source.info, table.info.name)}; all of them must hold`,
    isCondition: true,
    fields: lazy(() => new Map([...fields()].map(([name, { field }]) => [name, field]))),
  };
  const condition = (input: InputValue): Having =>
    all(entriesOf(input).flatMap((entry) => fields().get(entry.field.name)?.condition(entry.input) ?? []));
  const logic = (): readonly HavingField[] => {
    const one = typeRef(type.name, () => type);
    const list = listTypeRef(typeRef(type.name, () => type, true));
    const make = (name: string, ref: InputTypeRef, translate: HavingField['condition']): HavingField => ({
      field: { name: source.field(name), description: null, type: ref },
      condition: translate,
    });
    return [
      make('_and', list, (input) => ({ kind: 'and', items: itemsOf(input).map(condition) })),
      make('_not', one, (input) => ({ kind: 'not', item: condition(input) })),
      make('_or', list, (input) => ({ kind: 'or', items: itemsOf(input).map(condition) })),
    ];
  };
  return { type, condition };
}

function all(items: readonly Having[]): Having {
  const [only] = items;
  return only !== undefined && items.length === 1 ? only : { kind: 'and', items };
}

function count(table: RoleTable): HavingField {
  const predicate = countPredicate(table);
  return {
    field: predicate.field,
    condition(input) {
      const { filter, ...rest } = predicate.read(input);
      return {
        kind: 'aggregate',
        ...rest,
        filter: filter === null ? null : guarded(table.access.filter, filter),
        type: table.source.shared.types.basic.integer,
      };
    },
  };
}

/** Returns the conditions on sums, averages and so on. Functions with the same results share a type, because schemas have many tables. */
function functions(table: RoleTable): readonly HavingField[] {
  const { types } = table.source.shared;
  const made: HavingField[] = [];
  for (const aggregate of types.aggregates) {
    const results = types.grouping?.results.find(({ functions: names }) => names.includes(aggregate.name));
    if (results === undefined) continue;
    const operands = comparedOperands(table, aggregate, results);
    if (operands.size === 0) continue;
    const [first = aggregate.name] = results.functions;
    const type: InputObjectType = {
      kind: 'input-object',
      name: roleTypeName(table, first, 'having'),
      description: `conditions on aggregates of columns; all of them must hold`,
      fields: lazy(() => new Map([...operands].map(([name, { field }]) => [name, field]))),
    };
    made.push({
      field: { name: table.source.field(aggregate.name), description: null, type: typeRef(type.name, () => type) },
      condition: (input) => all(entriesOf(input).flatMap((entry) => operands.get(entry.field.name)?.condition(entry.input) ?? [])),
    });
  }
  return made;
}

function comparedOperands(table: RoleTable, aggregate: AggregateFunction, results: AggregateResults): ReadonlyMap<string, HavingField> {
  const { source } = table;
  const made = new Map<string, HavingField>();
  for (const { name, read, type } of aggregateOperands(table, aggregate)) {
    const result = results.result(type);
    if (result === null || source.shared.scalar(result) === null) continue;
    const comparison = comparisonType(source.shared, result);
    made.set(name, {
      field: { name, description: null, type: typeRef(comparison.type.name, () => comparison.type) },
      condition: (input) => ({
        kind: 'aggregate',
        function: aggregate.name,
        arguments: [read],
        distinct: false,
        filter: null,
        type: result,
        predicate: comparison.comparisons(input, result, source.options),
      }),
    });
  }
  return made;
}
