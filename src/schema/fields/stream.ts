/** `T_stream`: the rows of a table in the order of one column, in batches. */
import { supports } from '../../catalog/catalog.ts';
import { and, type BoolExp, guarded, TRUE } from '../../ir/bool-exp.ts';
import type { SelectRoot } from '../../ir/select.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { CollectedField, InputValue, InputField, InputObjectType, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { builtin, NON_NEGATIVE_INT } from '../../graphql-engine/input/built-in-scalars.ts';
import { ARGUMENT_DESCRIPTIONS, quoted } from './descriptions.ts';
import { entriesOf, nonNullArgument, invalid } from './input.ts';
import type { RoleColumn, RoleTable } from './role-table.ts';
import { roleTypeName } from './role-table.ts';
import { selectRows, withinLimit } from './select.ts';

/** `batch_size`, `cursor` and `where`. */
export function streamArguments(table: RoleTable): ReadonlyMap<string, InputField> {
  const cursor = lazy(() => cursorType(table));
  const args = new Map<string, InputField>();
  const add = (key: 'batch_size' | 'cursor' | 'where', type: InputTypeRef): void => {
    const name = table.source.field(key);
    args.set(name, { name, description: ARGUMENT_DESCRIPTIONS[key], type });
  };
  add('batch_size', builtin(NON_NEGATIVE_INT, true));
  add('cursor', listTypeRef(typeRef(roleTypeName(table, 'stream_cursor_input'), cursor), true));
  add(
    'where',
    typeRef(roleTypeName(table, 'bool_exp'), () => table.boolExp().type),
  );
  return args;
}

function cursorType(table: RoleTable): InputObjectType {
  const { source, info } = table;
  const value = lazy(() => cursorValueType(table));
  return {
    kind: 'input-object',
    name: roleTypeName(table, 'stream_cursor_input'),
    description: `Streaming cursor of the table ${quoted(source.info, info.name)}`,
    derivedFrom: info,
    fields: lazy(() => {
      const ordering = source.shared.cursorOrdering();
      const fields = new Map<string, InputField>();
      const add = (name: string, description: string, type: InputTypeRef): void => {
        fields.set(name, { name, description, type });
      };
      add(source.field('initial_value'), 'Stream column input with initial value', typeRef(value().name, value, true));
      add(
        source.field('ordering'),
        'cursor ordering',
        typeRef(ordering.name, () => ordering),
      );
      return fields;
    }),
  };
}

/** Returns the columns by which rows can be streamed. */
export function cursorColumns(table: RoleTable): readonly RoleColumn[] {
  return [...table.columns.values()].filter(({ place }) => place.sortable && supports(place.type, '_gt') && supports(place.type, '_lt'));
}

function cursorValueType(table: RoleTable): InputObjectType {
  return {
    kind: 'input-object',
    name: roleTypeName(table, 'stream_cursor_value_input'),
    description: 'Initial value of the column from where the streaming should start',
    fields: lazy(
      () => new Map(cursorColumns(table).map(({ name, place }) => [name, { name, description: null, type: place.input(false) }] as const)),
    ),
  };
}

/** @throws SvcError for a cursor that is not one column, and for empty batches */
export function streamRoot(table: RoleTable, field: CollectedField, alias: string): SelectRoot {
  const { source, access } = table;
  const { column, start, direction } = cursorOf(table, field);
  const { read, place } = column;
  const after: BoolExp = {
    kind: 'compare',
    left: read,
    operator: direction === 'asc' ? '_gt' : '_lt',
    argument: { kind: 'operand', operand: { value: { kind: 'cursor', start: start.value() }, type: place.type, list: false } },
    nullSafe: false,
  };
  const where = nonNullArgument(field.args, source.field('where'));
  const size = nonNullArgument(field.args, source.field('batch_size'));
  const batchSize = size === null ? null : Number(size.json());
  // Such a stream would never return a row.
  if (size !== null && batchSize === 0) throw invalid('expected a batch of at least 1 row, but found 0', size.path);
  const rows = withinLimit(table, {
    where: guarded(access.filter, and(after, where === null ? TRUE : table.boolExp().condition(where))),
    distinctOn: [],
    // Rows with a null value are never after a cursor.
    orderBy: [{ term: { kind: 'read', read }, direction, nulls: direction === 'asc' ? 'last' : 'first' }],
    limit: batchSize,
    ties: true,
    offset: null,
  });
  return { alias, cursor: read, query: selectRows(table, field, table.relation, rows, 'list') };
}

interface Cursor {
  readonly column: RoleColumn;
  readonly start: InputValue;
  readonly direction: 'asc' | 'desc';
}

function cursorOf(table: RoleTable, field: CollectedField): Cursor {
  const { source } = table;
  const argument = field.args.get(source.field('cursor')) as InputValue;
  const cursors = argument.items().filter((item) => !item.isNull());
  const [cursor] = cursors;
  if (cursor === undefined) throw invalid('one streaming column field is expected', argument.path);
  if (cursors.length > 1) throw severalColumns(argument);
  const entries = new Map(entriesOf(cursor).map((entry) => [entry.field.name, entry.input]));
  const initial = entries.get(source.field('initial_value')) as InputValue;
  const values = entriesOf(initial);
  const [value] = values;
  if (value === undefined) throw invalid('one streaming column field is expected', initial.path);
  if (values.length > 1) throw severalColumns(initial);
  const ordering = nonNullArgument(entries, source.field('ordering'));
  const column = table.columns.get(value.field.name) as RoleColumn;
  return { column, start: value.input, direction: ordering?.enumValue().value === 'desc' ? 'desc' : 'asc' };
}

function severalColumns({ path }: InputValue): SvcError {
  return new SvcError('not-supported', 'multiple column cursors are not supported yet', { path });
}
