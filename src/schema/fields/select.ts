/** `T`, the type of a row: columns, relationships, computed fields, and their translation. */
import { and, guarded, type Read } from '../../ir/bool-exp.ts';
import type { Join, Relation } from '../../ir/relation.ts';
import type { AggregateQuery, Field, SelectQuery, RowSet, RowsQuery } from '../../ir/select.ts';
import { nodeIdField, nodeInterfaces } from '../relay/node.ts';
import { meaningOf } from '../../graphql-engine/meaning.ts';
import type { CollectedField, InputField, ObjectType, OutputField } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { typenameField } from './typename.ts';
import { builtin, STRING_SCALAR } from '../../graphql-engine/input/built-in-scalars.ts';
import { smallerLimit } from './arguments.ts';
import { commentOr, tableDescription } from './descriptions.ts';
import { nonNullArgument } from './input.ts';
import { jsonPathValue } from './json-path.ts';
import { keyCondition } from './primary-key.ts';
import {
  type RoleColumn,
  type RoleComputedField,
  type RoleRelationship,
  type RoleTable,
  type RowType,
  type ScalarComputedField,
  type TableComputedField,
  roleTypeName,
} from './role-table.ts';

const NO_ARGS: ReadonlyMap<string, InputField> = new Map();

export function rowType(table: RoleTable): RowType {
  const type: ObjectType = {
    kind: 'object',
    name: table.name,
    description: tableDescription(table.source.info, table.info),
    fields: lazy(() => rowFields(table)),
    ...(table.node === null ? {} : { interfaces: nodeInterfaces(table.node) }),
  };
  return { type, fields: (parent) => parent.select(type).map(translateField) };
}

function translateField(field: CollectedField): Field {
  if (field.field === null) return typenameField(field);
  return meaningOf(field.field, 'row-field').toField(field);
}

function rowFields(table: RoleTable): ReadonlyMap<string, OutputField> {
  const fields = new Map<string, OutputField>();
  const add = (field: OutputField): void => {
    if (!fields.has(field.name)) fields.set(field.name, field);
  };
  // A column of this name is hidden.
  if (table.node !== null) add(nodeIdField(table.node));
  for (const column of table.columns.values()) add(columnField(table, column));
  for (const relationship of table.relationships) {
    if (relationship.target.hasRows) add(relationshipField(relationship));
    if (relationship.info.kind === 'array' && relationship.target.access.allowAggregations) add(aggregateField(table, relationship));
    if (relationship.info.kind === 'array' && relationship.target.node !== null && relationship.target.hasRows)
      add(connectionField(table, relationship));
  }
  for (const field of table.joinedFields()) add(field);
  for (const field of table.computedFields)
    if (field.kind === 'scalar') add(scalarComputedField(table, field));
    else if (field.target.hasRows) add(tableComputedField(field));
  return fields;
}

function columnField(table: RoleTable, column: RoleColumn): OutputField {
  const { place, info, read } = column;
  return {
    name: column.name,
    description: commentOr(info.comment, info.catalog.comment),
    type: place.output(!column.nullable),
    args: place.json ? pathArgument(table) : NO_ARGS,
    meaning: {
      kind: 'row-field',
      toField: (field) => ({
        ...readField(table, field, read, place.json),
        ...(place.upperCase ? { upperCase: true as const } : {}),
      }),
    },
  };
}

function pathArgument(table: RoleTable): ReadonlyMap<string, InputField> {
  const name = table.source.field('path');
  return new Map([[name, { name, description: 'JSON select path', type: builtin(STRING_SCALAR) }]]);
}

function readField(table: RoleTable, field: CollectedField, read: Read, json: boolean): Extract<Field, { kind: 'read' }> {
  const path = json ? nonNullArgument(field.args, table.source.field('path')) : null;
  return {
    kind: 'read',
    alias: field.responseKey,
    read,
    jsonPath: path === null ? null : jsonPathValue(path.value(), path.path),
  };
}

/** Returns the related row of an object relationship; the permission's limit does not apply. */
export function singleRow(target: Pick<RoleTable, 'access'>): RowSet {
  return { where: target.access.filter, distinctOn: [], orderBy: [], limit: null, offset: null };
}

/** Returns true if the role sees every row of the table. A field that leads to a row that may be hidden is nullable. */
function seesAllRows({ access: { filter, limit } }: RoleTable): boolean {
  return filter.kind === 'constant' && filter.value && limit !== 0;
}

function relationshipField({ info, name, target }: RoleRelationship): OutputField {
  const single = info.kind === 'object';
  const row = typeRef(target.name, () => target.rows().type, !single || (!info.nullable && seesAllRows(target)));
  return {
    name,
    description: commentOr(info.comment, single ? 'An object relationship' : 'An array relationship'),
    type: single ? row : listTypeRef(row, true),
    get args() {
      return single ? NO_ARGS : target.selectArguments().args;
    },
    meaning: {
      kind: 'row-field',
      toField: (field) => {
        const query = single
          ? selectRows(target, field, target.relation, singleRow(target), 'single')
          : listQuery(target, field, target.relation);
        return related(field, info.join, query);
      },
    },
  };
}

function aggregateField(table: RoleTable, { info, target }: RoleRelationship): OutputField {
  return {
    name: table.source.field(info.name, 'aggregate'),
    description: 'An aggregate relationship',
    type: typeRef(roleTypeName(target, 'aggregate'), () => target.aggregate().type, true),
    get args() {
      return target.selectArguments().args;
    },
    meaning: { kind: 'row-field', toField: (field) => related(field, info.join, aggregateQuery(target, field, target.relation)) },
  };
}

function connectionField(table: RoleTable, { info, target }: RoleRelationship): OutputField {
  const { type, args, query } = target.connection();
  return {
    name: table.source.field(info.name, 'connection'),
    description: commentOr(info.comment, 'An array relationship connection'),
    type: typeRef(type.name, () => type, true),
    args,
    meaning: { kind: 'row-field', toField: (field) => related(field, info.join, query(field, target.relation)) },
  };
}

function related(field: CollectedField, join: Join | null, query: SelectQuery): Field {
  return { kind: 'related', alias: field.responseKey, join, query };
}

function scalarComputedField(table: RoleTable, computed: ScalarComputedField): OutputField {
  const args = new Map(computed.place.json ? pathArgument(table) : NO_ARGS);
  addArgument(args, computed);
  return {
    name: computed.name,
    description: computed.description,
    type: computed.place.output(false),
    args,
    meaning: {
      kind: 'row-field',
      toField: (field) => readField(table, field, computed.read(computed.arguments.call(field)), computed.place.json),
    },
  };
}

function tableComputedField(computed: TableComputedField): OutputField {
  const { target } = computed;
  return {
    name: computed.name,
    description: computed.description,
    type: listTypeRef(typeRef(target.name, () => target.rows().type, true)),
    get args() {
      const args = new Map(target.selectArguments().args);
      addArgument(args, computed);
      return args;
    },
    meaning: {
      kind: 'row-field',
      toField: (field) => related(field, null, listQuery(target, field, { kind: 'function', call: computed.arguments.call(field) })),
    },
  };
}

function addArgument(args: Map<string, InputField>, computed: RoleComputedField): void {
  const argument = computed.arguments.argument;
  if (argument !== null) args.set(argument.name, argument);
}

/** Returns the query of a field: these rows, with the fields of its selection. */
export function selectRows(table: RoleTable, field: CollectedField, from: Relation, rows: RowSet, shape: RowsQuery['shape']): RowsQuery {
  return { kind: 'rows', shape, from, rows, fields: table.rows().fields(field) };
}

/** Returns a list of rows with the arguments of `field`; the permission's limit is an upper bound. */
export function listQuery(table: RoleTable, field: CollectedField, from: Relation, shape: RowsQuery['shape'] = 'list'): RowsQuery {
  return selectRows(table, field, from, withinLimit(table, table.selectArguments().rows(field)), shape);
}

/** Limits a list of rows to the number that the permission allows. */
export function withinLimit({ access }: Pick<RoleTable, 'access'>, rows: RowSet): RowSet {
  return { ...rows, limit: smallerLimit(rows.limit, access.limit) };
}

/** The permission's limit applies to the nodes only. */
export function aggregateQuery(table: RoleTable, field: CollectedField, from: Relation): AggregateQuery {
  const rows = table.selectArguments().rows(field);
  return { kind: 'aggregate', from, rows, nodesLimit: table.access.limit, fields: table.aggregate().fields(field) };
}

/** Returns one row by its key; the role's filter applies, its limit does not. */
export function rowByKey(table: RoleTable, field: CollectedField, key: readonly RoleColumn[]): RowsQuery {
  // The engine has checked that these required arguments are present.
  const conditions = key.flatMap((column) => {
    const input = field.args.get(column.name);
    return input === undefined ? [] : [keyCondition(column, input)];
  });
  const rows: RowSet = { ...singleRow(table), where: guarded(table.access.filter, and(...conditions)) };
  return selectRows(table, field, table.relation, rows, 'single');
}
