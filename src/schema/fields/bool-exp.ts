/** `T_bool_exp`: conditions on rows over columns, relationships, aggregates and computed fields. */
import { and, type BoolExp, guarded, not, or, TRUE } from '../../ir/bool-exp.ts';
import type { Join, Relation } from '../../ir/relation.ts';
import type { InputValue, InputField, InputObjectType, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { quoted } from './descriptions.ts';
import { entriesOf, itemsOf } from './input.ts';
import { chargeLookup, chargeReads } from './related-cost.ts';
import { type BoolExpType, type RoleTable, roleTypeName } from './role-table.ts';

interface BoolExpField {
  readonly field: InputField;
  condition(input: InputValue): BoolExp;
}

export function boolExpType(table: RoleTable): BoolExpType {
  const fields = lazy(() => boolExpFields(table, self));
  const type: InputObjectType = {
    kind: 'input-object',
    name: roleTypeName(table, 'bool_exp'),
    description: `Boolean expression to filter rows from the table ${quoted(table.source.info, table.info.name)}. All fields are combined with a logical 'AND'.`,
    fields: lazy(() => new Map([...fields()].map(([name, { field }]) => [name, field]))),
    isCondition: true,
  };
  const self: BoolExpType = {
    type,
    condition: (input) => and(...entriesOf(input).map((entry) => fields().get(entry.field.name)?.condition(entry.input) ?? TRUE)),
  };
  return self;
}

function boolExpFields(table: RoleTable, self: BoolExpType): ReadonlyMap<string, BoolExpField> {
  const { source } = table;
  const { options } = source;
  const fields = new Map<string, BoolExpField>();
  const add = (name: string, type: InputTypeRef, condition: (input: InputValue) => BoolExp): void => {
    if (!fields.has(name)) fields.set(name, { field: { name, description: null, type }, condition });
  };
  const own = typeRef(self.type.name, () => self.type, true);

  add(source.field('_and'), listTypeRef(own), (input) => and(...itemsOf(input).map(self.condition)));
  add(source.field('_or'), listTypeRef(own), (input) => or(...itemsOf(input).map(self.condition)));
  add(source.field('_not'), { ...own, nonNull: false }, (input) => not(self.condition(input)));
  for (const column of table.columns.values()) {
    const comparison = column.place.comparison();
    add(
      column.name,
      typeRef(comparison.type.name, () => comparison.type),
      (input) => {
        const condition = comparison.condition(input, column.read, options);
        chargeReads(input, column.read, condition.kind === 'and' ? condition.items.length : 1);
        return condition;
      },
    );
  }
  for (const { info, name, target } of table.relationships) {
    add(name, boolExpOf(target), (input) => exists(target, info.join, target.relation, input));
    if (info.kind !== 'array' || !target.access.allowAggregations || options.hideAggregationPredicates) continue;
    const typeName = roleTypeName(target, 'aggregate_bool_exp');
    add(
      source.field(info.name, 'aggregate'),
      typeRef(typeName, () => target.aggregatePredicate().type),
      (input) => target.aggregatePredicate().predicate(input, info),
    );
  }
  for (const computed of table.computedFields) {
    const call = computed.arguments.plain;
    if (call === null) continue;
    if (computed.kind === 'scalar') {
      const comparison = computed.place.comparison();
      add(
        computed.name,
        typeRef(comparison.type.name, () => comparison.type),
        (input) => comparison.condition(input, computed.read(call), options),
      );
    } else {
      add(computed.name, boolExpOf(computed.target), (input) => exists(computed.target, null, { kind: 'function', call }, input));
    }
  }
  return fields;
}

function boolExpOf(target: RoleTable): InputTypeRef {
  return typeRef(roleTypeName(target, 'bool_exp'), () => target.boolExp().type);
}

function exists(target: RoleTable, join: Join | null, from: Relation, input: InputValue): BoolExp {
  return visibleRow(input, target, join, from, () => target.boolExp().condition(input));
}

/** Returns the condition that at least one row is visible to the role and fulfils `condition`. */
export function visibleRow(
  cost: Pick<InputValue, 'charge'>,
  { access }: Pick<RoleTable, 'access'>,
  join: Join | null,
  from: Relation,
  condition: () => BoolExp,
): BoolExp {
  chargeLookup(cost, access.filter);
  return { kind: 'exists', join, from, where: guarded(access.filter, condition()) };
}
