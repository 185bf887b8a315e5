/** Mutation root fields of a table. A role has those that its permissions allow. */
import { and } from '../../ir/bool-exp.ts';
import type { WrittenJson } from '../../ir/input-validation.ts';
import type { Delete, MutationOutput, MutationRoot, Update, UpdateMany } from '../../ir/mutation.ts';
import { invariant } from '../../errors/svc-error.ts';
import type { TableInfo } from '../../schema-cache/schema-cache.ts';
import { at } from '../../util/path.ts';
import type {
  CollectedField,
  InputValue,
  InputField,
  InputObjectType,
  OutputField,
  OutputTypeRef,
  RootMeaning,
} from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { describeRoot, quoted } from './descriptions.ts';
import { nonNullArgument } from './input.ts';
import { conflictArgument } from './insert-input.ts';
import { hasKey, primaryKeyColumns, keyCondition, keyFields } from './primary-key.ts';
import type { RoleColumn, RoleTable } from './role-table.ts';
import { deleteAccess, insertAccess, updateAccess, writtenObject } from './write-access.ts';
import type { WriteSource } from './write-context.ts';
import { deleteRows, insertRows, updateRows } from './write-rows.ts';
import type { WriteTable } from './write-table.ts';

export const MUTATION_KEYS = ['insert', 'insert_one', 'update', 'update_by_pk', 'update_many', 'delete', 'delete_by_pk'] as const;
export type MutationKey = (typeof MUTATION_KEYS)[number];

/** Returns true if the role has the root field. */
export function mutationIsVisible({ context, reading, writer }: WriteSource, table: TableInfo, key: MutationKey): boolean {
  const select = reading.selectsRows(table) ? reading.access(table) : null;
  switch (key) {
    case 'insert':
      return insertAccess(context, table, writer) !== null;
    case 'insert_one':
      return select !== null && insertAccess(context, table, writer) !== null;
    case 'update':
      return updateAccess(context, table, writer) !== null;
    case 'update_many':
      return !context.options.hideUpdateManyFields && updateAccess(context, table, writer) !== null;
    case 'update_by_pk':
      return select !== null && hasKey(table, select) && updateAccess(context, table, writer) !== null;
    case 'delete':
      return deleteAccess(context, table, writer) !== null;
    case 'delete_by_pk':
      return select !== null && hasKey(table, select) && deleteAccess(context, table, writer) !== null;
  }
}

/** Parts of a root besides its name and description. */
interface Shape {
  readonly type: OutputTypeRef;
  readonly args: ReadonlyMap<string, InputField>;
  mutation(field: CollectedField): MutationRoot['mutation'];
}

/** Returns the root field; it must be visible. */
export function mutationField(source: WriteSource, info: TableInfo, key: MutationKey, name: string): OutputField | undefined {
  const table = source.table(info.name);
  const shape = table === null ? null : shapeOf(table, key);
  if (shape === null) return undefined;
  const meaning: RootMeaning = {
    kind: 'mutation',
    source: source.context.info.name,
    translate: (field, alias) => ({ alias, mutation: shape.mutation(field) }),
  };
  return { name, description: describeRoot(source.context.info, info, key), type: shape.type, args: shape.args, meaning };
}

function shapeOf(table: WriteTable, key: MutationKey): Shape | null {
  switch (key) {
    case 'insert':
      return insertShape(table);
    case 'insert_one':
      return table.selected === null ? null : insertOneShape(table, table.selected);
    case 'update':
      return updateShape(table);
    case 'update_many':
      return updateManyShape(table);
    case 'update_by_pk':
      return withKey(table, (selected, columns) => updateByKeyShape(table, selected, columns));
    case 'delete':
      return deleteShape(table);
    case 'delete_by_pk':
      return withKey(table, (selected, columns) => deleteByKeyShape(table, selected, columns));
  }
}

function withKey(table: WriteTable, make: (selected: RoleTable, columns: readonly RoleColumn[]) => Shape): Shape | null {
  const columns = table.selected === null ? null : primaryKeyColumns(table.selected);
  return table.selected === null || columns === null ? null : make(table.selected, columns);
}

function responseReference({ source, info, response }: WriteTable): OutputTypeRef {
  return typeRef(source.tableType(info, 'mutation_response'), () => response().type);
}

function rowReference(selected: RoleTable): OutputTypeRef {
  return typeRef(selected.name, () => selected.rows().type);
}

function rowOutput(selected: RoleTable, field: CollectedField): MutationOutput {
  return { kind: 'row', fields: selected.rows().fields(field) };
}

function argument(args: ReadonlyMap<string, InputValue>, name: string): InputValue {
  const input = args.get(name);
  invariant(input !== undefined, 'a required argument is there');
  return input;
}

function byName(fields: readonly (InputField | null)[]): ReadonlyMap<string, InputField> {
  return new Map(fields.flatMap((field) => (field === null ? [] : [[field.name, field] as const])));
}

function insertShape(table: WriteTable): Shape {
  const { source, info } = table;
  const objects = source.field('objects');
  const row = typeRef(source.tableType(info, 'insert_input'), () => table.insertInput().type, true);
  const conflict = conflictArgument(table);
  return {
    type: responseReference(table),
    args: byName([{ name: objects, description: 'the rows to be inserted', type: listTypeRef(row, true) }, conflict]),
    mutation: (field) => {
      const list = argument(field.args, objects);
      const rows = table.insertInput().rowsOfList(list, conflictOf(field, conflict), new Set(), true);
      return insertRows(table, rows, list.path, table.response().output(field));
    },
  };
}

function insertOneShape(table: WriteTable, selected: RoleTable): Shape {
  const { source, info } = table;
  const object = source.field('object');
  const row = typeRef(source.tableType(info, 'insert_input'), () => table.insertInput().type, true);
  const conflict = conflictArgument(table);
  return {
    type: rowReference(selected),
    args: byName([{ name: object, description: 'the row to be inserted', type: row }, conflict]),
    mutation: (field) => {
      const input = argument(field.args, object);
      const rows = table.insertInput().rows([input], conflictOf(field, conflict), new Set(), true);
      return insertRows(table, rows, input.path, rowOutput(selected, field));
    },
  };
}

function conflictOf(field: CollectedField, conflict: InputField | null): InputValue | null {
  return conflict === null ? null : nonNullArgument(field.args, conflict.name);
}

function whereField(table: WriteTable, description: string): InputField {
  const { source, info } = table;
  return {
    name: source.field('where'),
    description,
    type: typeRef(source.tableType(info, 'bool_exp'), () => table.boolExp().type, true),
  };
}

function update(
  table: WriteTable,
  condition: Update['where'],
  get: (name: string) => InputValue | null,
  path: CollectedField['path'],
  output: MutationOutput,
  written: () => WrittenJson,
): Update {
  return updateRows(table, condition, { assignments: table.operators().assignments(get, path) }, output, written);
}

const UPDATED_ROWS = 'filter the rows which have to be updated';

function updateShape(table: WriteTable): Shape {
  const where = whereField(table, UPDATED_ROWS);
  return {
    type: responseReference(table),
    args: byName([where, ...table.operators().fields.values()]),
    mutation: (field) =>
      update(
        table,
        table.boolExp().condition(argument(field.args, where.name)),
        (name) => nonNullArgument(field.args, name),
        at(field.path, 'args'),
        table.response().output(field),
        () => writtenObject(field.args),
      ),
  };
}

function updateByKeyShape(table: WriteTable, selected: RoleTable, columns: readonly RoleColumn[]): Shape {
  const { source, info } = table;
  const name = source.field('pk_columns');
  const type: InputObjectType = {
    kind: 'input-object',
    name: source.tableType(info, 'pk_columns_input'),
    description: `primary key columns input for table: ${quoted(source.info, info.name)}`,
    fields: lazy(() => keyFields(columns)),
  };
  const key: InputField = { name, description: null, type: typeRef(type.name, () => type, true) };
  return {
    type: rowReference(selected),
    args: byName([key, ...table.operators().fields.values()]),
    mutation: (field) => {
      const inputs = new Map(
        argument(field.args, name)
          .entries()
          .map((entry) => [entry.field.name, entry.input]),
      );
      const condition = keyOf(columns, inputs);
      return update(
        table,
        condition,
        (operator) => nonNullArgument(field.args, operator),
        at(field.path, 'args'),
        rowOutput(selected, field),
        () => writtenObject(field.args),
      );
    },
  };
}

function keyOf(columns: readonly RoleColumn[], inputs: ReadonlyMap<string, InputValue>): Update['where'] {
  return and(...columns.map((column) => keyCondition(column, argument(inputs, column.name))));
}

function updateManyShape(table: WriteTable): Shape {
  const { source, info } = table;
  const name = source.field('updates');
  const where = whereField(table, UPDATED_ROWS);
  const type: InputObjectType = {
    kind: 'input-object',
    name: source.tableType(info, 'updates'),
    description: null,
    fields: lazy(() => byName([...table.operators().fields.values(), where])),
  };
  const updates: InputField = {
    name,
    description: 'updates to execute, in order',
    type: listTypeRef(
      typeRef(type.name, () => type, true),
      true,
    ),
  };
  return {
    type: listTypeRef(responseReference(table)),
    args: byName([updates]),
    mutation: (field): UpdateMany => {
      const batches = argument(field.args, name)
        .items()
        .map((item) => {
          const inputs = new Map(item.entries().map((entry) => [entry.field.name, entry.input]));
          const condition = table.boolExp().condition(argument(inputs, where.name));
          const output = table.response().output(field);
          return update(
            table,
            condition,
            (operator) => nonNullArgument(inputs, operator),
            item.path,
            output,
            () => item.written(),
          );
        });
      return { kind: 'update-many', updates: batches.some(({ assignments }) => assignments.length > 0) ? batches : [] };
    },
  };
}

function remove(table: WriteTable, condition: Delete['where'], field: CollectedField, output: MutationOutput): Delete {
  return deleteRows(table, condition, output, () => writtenObject(field.args));
}

function deleteShape(table: WriteTable): Shape {
  const where = whereField(table, 'filter the rows which have to be deleted');
  return {
    type: responseReference(table),
    args: byName([where]),
    mutation: (field) => remove(table, table.boolExp().condition(argument(field.args, where.name)), field, table.response().output(field)),
  };
}

function deleteByKeyShape(table: WriteTable, selected: RoleTable, columns: readonly RoleColumn[]): Shape {
  return {
    type: rowReference(selected),
    args: keyFields(columns),
    mutation: (field) => remove(table, keyOf(columns, field.args), field, rowOutput(selected, field)),
  };
}
