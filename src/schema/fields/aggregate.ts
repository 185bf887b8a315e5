/** `T_aggregate`, `T_aggregate_fields` and `T_sum_fields`: types and translation. */
import type { AggregateFunction } from '../../backend/type-system.ts';
import type { AggregateItem } from '../../ir/select.ts';
import { meaningOf } from '../../graphql-engine/meaning.ts';
import type { CollectedField, InputField, ObjectType, OutputField } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { aggregateOperands } from './aggregate-operands.ts';
import { selectedColumns } from './arguments.ts';
import { BOOLEAN_SCALAR, builtin, FLOAT_SCALAR, INT_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import { quoted } from './descriptions.ts';
import { groupsField } from './groups.ts';
import { nonNullArgument } from './input.ts';
import { type AggregateType, type RoleTable, roleTypeName } from './role-table.ts';
import { typenameField } from './typename.ts';

const NO_ARGS: ReadonlyMap<string, InputField> = new Map();

export function tableAggregateType(table: RoleTable): AggregateType {
  const { source } = table;
  const fieldsType = lazy(() => aggregateFieldsType(table));
  const type: ObjectType = {
    kind: 'object',
    name: roleTypeName(table, 'aggregate'),
    description: `aggregated selection of ${quoted(source.info, table.info.name)}`,
    fields: lazy(() => {
      const items = (field: CollectedField): readonly AggregateItem[] => field.select(fieldsType()).map(translateItem);
      const aggregateField = (nonNull: boolean): OutputField => ({
        name: source.field('aggregate'),
        description: null,
        type: typeRef(roleTypeName(table, 'aggregate_fields'), fieldsType, nonNull),
        args: NO_ARGS,
        meaning: {
          kind: 'aggregate-part',
          toPart: (field) => ({ kind: 'aggregate', alias: field.responseKey, fields: items(field) }),
        },
      });
      const aggregate = aggregateField(false);
      const nodes: OutputField = {
        name: source.field('nodes'),
        description: null,
        type: listTypeRef(
          typeRef(table.name, () => table.rows().type, true),
          true,
        ),
        args: NO_ARGS,
        meaning: {
          kind: 'aggregate-part',
          toPart: (field) => ({ kind: 'nodes', alias: field.responseKey, fields: table.rows().fields(field) }),
        },
      };
      if (!table.hasRows) return new Map([[aggregate.name, aggregate]]);
      const groups = groupsField(table, { field: aggregateField, items });
      return new Map([aggregate, ...(groups === null ? [] : [groups]), nodes].map((field) => [field.name, field]));
    }),
  };
  return {
    type,
    fields: (parent) =>
      parent.select(type).map((field) => {
        if (field.field === null) return typenameField(field);
        return meaningOf(field.field, 'aggregate-part').toPart(field);
      }),
  };
}

function translateItem(field: CollectedField): AggregateItem {
  return field.field === null ? typenameField(field) : meaningOf(field.field, 'aggregate-item').toItem(field);
}

function aggregateFieldsType(table: RoleTable): ObjectType {
  return {
    kind: 'object',
    name: roleTypeName(table, 'aggregate_fields'),
    description: `aggregate fields of ${quoted(table.source.info, table.info.name)}`,
    derivedFrom: table.info,
    fields: lazy(() => {
      const fields: OutputField[] = [countField(table)];
      for (const aggregate of table.source.shared.types.aggregates) {
        const field = functionField(table, aggregate);
        if (field !== null) fields.push(field);
      }
      return new Map(fields.map((field) => [field.name, field]));
    }),
  };
}

function countField(table: RoleTable): OutputField {
  const { source } = table;
  const columnsName = source.field('columns');
  const distinctName = source.field('distinct');
  const args = new Map<string, InputField>();
  const column = table.selectColumn();
  if (column !== null) {
    args.set(columnsName, { name: columnsName, description: null, type: listTypeRef(typeRef(column.name, () => column, true)) });
  }
  args.set(distinctName, { name: distinctName, description: null, type: builtin(BOOLEAN_SCALAR) });
  return {
    name: source.field('count'),
    description: null,
    type: builtin(INT_SCALAR, true),
    args,
    meaning: {
      kind: 'aggregate-item',
      toItem: (field) => {
        const distinct = nonNullArgument(field.args, distinctName)?.json() === true;
        const columns = selectedColumns(table, nonNullArgument(field.args, columnsName), distinct);
        return { kind: 'count', alias: field.responseKey, columns, distinct };
      },
    },
  };
}

function functionField(table: RoleTable, aggregate: AggregateFunction): OutputField | null {
  const operands = aggregateOperands(table, aggregate);
  if (operands.length === 0) return null;
  const type: ObjectType = {
    kind: 'object',
    name: roleTypeName(table, aggregate.name, 'fields'),
    description: `aggregate ${aggregate.name} on columns`,
    fields: lazy(
      () =>
        new Map(
          operands.map((operand): [string, OutputField] => [
            operand.name,
            {
              name: operand.name,
              description: operand.description === '' ? null : operand.description,
              type: aggregate.sameType || operand.computed ? operand.place.output(false) : builtin(FLOAT_SCALAR),
              args: NO_ARGS,
              meaning: { kind: 'operand', read: operand.read, columnType: operand.type },
            },
          ]),
        ),
    ),
  };
  return {
    name: table.source.field(aggregate.name),
    description: null,
    type: typeRef(type.name, () => type),
    args: NO_ARGS,
    meaning: {
      kind: 'aggregate-item',
      toItem: (field) => ({
        kind: 'function',
        alias: field.responseKey,
        function: aggregate.name,
        fields: field.select(type).map((item) => {
          if (item.field === null) return typenameField(item);
          const { read, columnType } = meaningOf(item.field, 'operand');
          return { kind: 'read', alias: item.responseKey, read, columnType };
        }),
      }),
    },
  };
}
