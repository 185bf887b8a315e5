/** `T_order_by` and `T_aggregate_order_by`: order through relationships and aggregates. */
import type { Join } from '../../ir/relation.ts';
import type { OrderBy, OrderTerm } from '../../ir/select.ts';
import type { InputValue, InputField, InputObjectType, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, typeRef } from '../../graphql-engine/types.ts';
import { aggregateOperands } from './aggregate-operands.ts';
import { quoted } from './descriptions.ts';
import { chargeAggregate, chargeLookup, chargeReads } from './related-cost.ts';
import type { AggregateOrderByType, OrderByType, RoleTable } from './role-table.ts';
import { roleTypeName } from './role-table.ts';
import type { Read } from '../../ir/bool-exp.ts';

interface OrderField {
  readonly field: InputField;
  terms(input: InputValue): readonly OrderBy[];
}

/** Translates one `order_by` value for a term. */
export function ordered<Term>(input: InputValue, term: Term): OrderBy<Term> {
  const value = input.enumValue().value;
  const direction = value.startsWith('desc') ? 'desc' : 'asc';
  const nulls = value.endsWith('_first') ? 'first' : value.endsWith('_last') ? 'last' : direction === 'desc' ? 'first' : 'last';
  return { term, direction, nulls };
}

/** Keeps the order of the request; null values are ignored. */
function termsOf(input: InputValue, fields: ReadonlyMap<string, OrderField>): readonly OrderBy[] {
  return input.entries().flatMap((entry) => (entry.input.isNull() ? [] : (fields.get(entry.field.name)?.terms(entry.input) ?? [])));
}

export function orderByType(table: RoleTable): OrderByType {
  const fields = lazy(() => orderFields(table));
  const type: InputObjectType = {
    kind: 'input-object',
    name: roleTypeName(table, 'order_by'),
    description: `Ordering options when selecting data from ${quoted(table.source.info, table.info.name)}.`,
    fields: lazy(() => new Map([...fields()].map(([name, { field }]) => [name, field]))),
  };
  return {
    type,
    terms: (input) => termsOf(input, fields()),
    get empty() {
      const isSortable = [...table.columns.values()].some(({ place }) => place.sortable);
      return !isSortable && table.relationships.length === 0 && orderableComputedFields(table).length === 0;
    },
  };
}

function orderableComputedFields(table: RoleTable): RoleTable['computedFields'] {
  return table.computedFields.filter(
    (computed) => computed.arguments.plain !== null && (computed.kind === 'table' || computed.place.sortable),
  );
}

function orderByReference(table: RoleTable): InputTypeRef {
  const orderBy = table.source.shared.orderBy();
  return typeRef(orderBy.name, () => orderBy);
}

function orderFields(table: RoleTable): ReadonlyMap<string, OrderField> {
  const { source } = table;
  const fields = new Map<string, OrderField>();
  const add = (name: string, type: InputTypeRef, terms: OrderField['terms']): void => {
    if (!fields.has(name)) fields.set(name, { field: { name, description: null, type }, terms });
  };
  const addRead = (name: string, read: Read): void =>
    add(name, orderByReference(table), (input) => {
      if (read.kind !== 'cast') chargeReads(input, read, 1);
      return [ordered(input, { kind: 'read', read })];
    });
  const addAggregate = (name: string, target: RoleTable, from: Pick<RelatedAggregate, 'join' | 'from'>): void =>
    add(
      name,
      typeRef(roleTypeName(target, 'aggregate_order_by'), () => target.aggregateOrderBy().type),
      (input) =>
        target.aggregateOrderBy().terms(input, (functionName, reads) => {
          chargeAggregate(input, target.access.filter);
          return { kind: 'related-aggregate', ...from, where: target.access.filter, function: functionName, arguments: reads };
        }),
    );

  for (const { name, read, place } of table.columns.values()) if (place.sortable) addRead(name, read);
  for (const { info, name, target } of table.relationships) {
    if (info.kind === 'array') {
      addAggregate(source.field(info.name, 'aggregate'), target, { join: info.join, from: target.relation });
    } else if (!target.orderBy().empty) {
      add(
        name,
        typeRef(roleTypeName(target, 'order_by'), () => target.orderBy().type),
        (input) =>
          target
            .orderBy()
            .terms(input)
            .map((nested) => ({ ...nested, term: relatedTerm(input, info.join, target, nested.term) })),
      );
    }
  }
  for (const computed of orderableComputedFields(table)) {
    const call = computed.arguments.plain;
    if (call === null) continue;
    if (computed.kind === 'scalar') addRead(computed.name, computed.read(call));
    else addAggregate(source.field(computed.info.name, 'aggregate'), computed.target, { join: null, from: { kind: 'function', call } });
  }
  return fields;
}

/** Orders by a term of the related row, if the role may see that row. */
export function relatedTerm(
  cost: Pick<InputValue, 'charge'>,
  join: Join,
  target: Pick<RoleTable, 'relation' | 'access'>,
  term: OrderTerm,
): OrderTerm {
  chargeLookup(cost, target.access.filter);
  return { kind: 'related', join, from: target.relation, where: target.access.filter, term };
}

type RelatedAggregate = Extract<OrderTerm, { readonly kind: 'related-aggregate' }>;

export function aggregateOrderByType(table: RoleTable): AggregateOrderByType {
  const { source } = table;
  const quotedName = quoted(source.info, table.info.name);
  const operations = lazy(() => {
    const made = new Map<string, { readonly field: InputField; readonly terms: AggregateOrderByType['terms'] }>();
    const countName = source.field('count');
    made.set(countName, {
      field: { name: countName, description: null, type: orderByReference(table) },
      terms: (input, wrap) => [ordered(input, wrap('count', []))],
    });
    for (const aggregate of table.source.shared.types.aggregates) {
      const operands = aggregateOperands(table, aggregate);
      if (operands.length === 0) continue;
      const reads = new Map(operands.map((operand) => [operand.name, operand.read]));
      const type: InputObjectType = {
        kind: 'input-object',
        name: roleTypeName(table, aggregate.name, 'order_by'),
        description: `order by ${aggregate.name}() on columns of table ${quotedName}`,
        fields: lazy(
          () =>
            new Map(operands.map(({ name }): [string, InputField] => [name, { name, description: null, type: orderByReference(table) }])),
        ),
      };
      const name = source.field(aggregate.name);
      made.set(name, {
        field: { name, description: null, type: typeRef(type.name, () => type) },
        terms: (input, wrap) =>
          input.entries().flatMap((entry) => {
            const read = reads.get(entry.field.name);
            return read === undefined || entry.input.isNull() ? [] : [ordered(entry.input, wrap(aggregate.name, [read]))];
          }),
      });
    }
    return made;
  });
  const type: InputObjectType = {
    kind: 'input-object',
    name: roleTypeName(table, 'aggregate_order_by'),
    description: `order by aggregate values of table ${quotedName}`,
    derivedFrom: table.info,
    fields: lazy(() => new Map([...operations()].map(([name, { field }]) => [name, field]))),
  };
  return {
    type,
    terms: (input, wrap) =>
      input
        .entries()
        .flatMap((entry) => (entry.input.isNull() ? [] : (operations().get(entry.field.name)?.terms(entry.input, wrap) ?? []))),
  };
}
