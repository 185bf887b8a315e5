/** `T_stream`: the rows of a table in the order of one column, batch after batch. */
import { supports } from '../../catalog/catalog.ts';
import { and, type BoolExp, guarded, TRUE } from '../../ir/bool-exp.ts';
import type { SelectRoot } from '../../ir/select.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { CollectedField, Input, InputField, InputObjectType, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, listOf, named } from '../../graphql-engine/types.ts';
import { builtin, NON_NEGATIVE_INT } from '../../graphql-engine/input/built-in-scalars.ts';
import { ARGUMENT_DESCRIPTIONS, quoted } from './descriptions.ts';
import { entriesOf, given, invalid } from './input.ts';
import type { RoleColumn, RoleTable } from './role-table.ts';
import { typeOf } from './role-table.ts';
import { rowsQuery, withinLimit } from './select.ts';

/** `batch_size`, `cursor` and `where`. */
export function streamArguments(table: RoleTable): ReadonlyMap<string, InputField> {
  const cursor = lazy(() => cursorType(table));
  const args = new Map<string, InputField>();
  const add = (key: 'batch_size' | 'cursor' | 'where', type: InputTypeRef): void => {
    const name = table.source.field(key);
    args.set(name, { name, description: ARGUMENT_DESCRIPTIONS[key], type });
  };
  add('batch_size', builtin(NON_NEGATIVE_INT, true));
  add('cursor', listOf(named(typeOf(table, 'stream_cursor_input'), cursor), true));
  add(
    'where',
    named(typeOf(table, 'bool_exp'), () => table.boolExp().type),
  );
  return args;
}

function cursorType(table: RoleTable): InputObjectType {
  const { source, info } = table;
  const value = lazy(() => cursorValueType(table));
  return {
    kind: 'input-object',
    name: typeOf(table, 'stream_cursor_input'),
    description: `Streaming cursor of the table ${quoted(source.info, info.name)}`,
    settledBy: info,
    fields: lazy(() => {
      const ordering = source.shared.cursorOrdering();
      const fields = new Map<string, InputField>();
      const add = (name: string, description: string, type: InputTypeRef): void => {
        fields.set(name, { name, description, type });
      };
      add(source.field('initial_value'), 'Stream column input with initial value', named(value().name, value, true));
      add(
        source.field('ordering'),
        'cursor ordering',
        named(ordering.name, () => ordering),
      );
      return fields;
    }),
  };
}

/** Columns in whose order rows can be streamed. */
export function cursorColumns(table: RoleTable): readonly RoleColumn[] {
  return [...table.columns.values()].filter(({ place }) => place.sortable && supports(place.type, '_gt') && supports(place.type, '_lt'));
}

function cursorValueType(table: RoleTable): InputObjectType {
  return {
    kind: 'input-object',
    name: typeOf(table, 'stream_cursor_value_input'),
    description: 'Initial value of the column from where the streaming should start',
    fields: lazy(
      () => new Map(cursorColumns(table).map(({ name, place }) => [name, { name, description: null, type: place.input(false) }] as const)),
    ),
  };
}

/** @throws SvcError for a cursor that is not one column, and for batches of no rows */
export function streamRoot(table: RoleTable, field: CollectedField, alias: string): SelectRoot {
  const { source, access } = table;
  const { column, start, direction } = cursorOf(table, field);
  const { read, place } = column;
  const behind: BoolExp = {
    kind: 'compare',
    left: read,
    operator: direction === 'asc' ? '_gt' : '_lt',
    argument: { kind: 'operand', operand: { value: { kind: 'cursor', start: start.value() }, type: place.type, list: false } },
    nullSafe: false,
  };
  const where = given(field.args, source.field('where'));
  const size = given(field.args, source.field('batch_size'));
  const batchSize = size === null ? null : Number(size.json());
  // It would never come to its first row.
  if (size !== null && batchSize === 0) throw invalid('expected a batch of at least 1 row, but found 0', size.path);
  const rows = withinLimit(table, {
    where: guarded(access.filter, and(behind, where === null ? TRUE : table.boolExp().condition(where))),
    distinctOn: [],
    // No row without a value is behind a cursor.
    orderBy: [{ term: { kind: 'read', read }, direction, nulls: direction === 'asc' ? 'last' : 'first' }],
    limit: batchSize,
    ties: true,
    offset: null,
  });
  return { alias, cursor: read, query: rowsQuery(table, field, table.relation, rows, 'list') };
}

interface Cursor {
  readonly column: RoleColumn;
  readonly start: Input;
  readonly direction: 'asc' | 'desc';
}

function cursorOf(table: RoleTable, field: CollectedField): Cursor {
  const { source } = table;
  const argument = field.args.get(source.field('cursor')) as Input;
  const cursors = argument.items().filter((item) => !item.isNull());
  const [cursor] = cursors;
  if (cursor === undefined) throw invalid('one streaming column field is expected', argument.path);
  if (cursors.length > 1) throw severalColumns(argument);
  const entries = new Map(entriesOf(cursor).map((entry) => [entry.field.name, entry.input]));
  const initial = entries.get(source.field('initial_value')) as Input;
  const values = entriesOf(initial);
  const [value] = values;
  if (value === undefined) throw invalid('one streaming column field is expected', initial.path);
  if (values.length > 1) throw severalColumns(initial);
  const ordering = given(entries, source.field('ordering'));
  const column = table.columns.get(value.field.name) as RoleColumn;
  return { column, start: value.input, direction: ordering?.enumValue().value === 'desc' ? 'desc' : 'asc' };
}

function severalColumns({ path }: Input): SvcError {
  return new SvcError('not-supported', 'multiple column cursors are not supported yet', { path });
}
