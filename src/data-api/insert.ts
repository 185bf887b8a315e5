import type { Backend } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { TRUE } from '../ir/bool-exp.ts';
import type { InputValidation } from '../ir/input-validation.ts';
import type { Insert, OnConflict } from '../ir/mutation.ts';
import type { Operand } from '../ir/value.ts';
import { anyJson, type Codec, leaf, list, literal, mapOf, nonEmptyText, object, optional, required } from '../metadata/codec.ts';
import { conflictKey, updateOnConflict } from '../schema/fields/on-conflict.ts';
import { validated } from '../schema/fields/write-access.ts';
import { type FlatRow, flatRows, insertRows } from '../schema/fields/write-rows.ts';
import type { WriteTable } from '../schema/fields/write-table.ts';
import type { Json } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { dataArguments } from './arguments.ts';
import { type DataContext, requireWritable, writeOutput, writtenColumn } from './data-context.ts';
import { INSERT_ERRORS } from './data-errors.ts';
import { isAdminRole, unknownColumn } from './data-names.ts';
import { dataOperation, type DataTarget, targetFields } from './data-operation.ts';
import { columnOperand } from './operand.ts';
import { writtenArguments, writtenValues } from './written-input.ts';

interface Conflict {
  readonly action: 'ignore' | 'update';
  readonly constraint?: string | undefined;
  readonly constraintOn?: readonly string[] | undefined;
}

interface InsertArguments extends DataTarget {
  readonly objects: readonly ReadonlyMap<string, Json>[];
  readonly onConflict?: Conflict | undefined;
  readonly returning?: readonly string[] | undefined;
}

const oneOrMore: Codec<readonly string[]> = leaf(
  '[Text]',
  (json, path) => (typeof json === 'string' ? [nonEmptyText.decode(json, path)] : list(nonEmptyText).decode(json, path)),
  (value) => [...value],
  { description: 'A name, or a list of names.' },
);

const conflictCodec = object('OnConflict', {
  action: required(literal('ConflictAction', ['ignore', 'update'])),
  constraint: optional(nonEmptyText),
  constraintOn: optional(oneOrMore),
});

const insertArguments = (backend: Backend): Codec<InsertArguments> =>
  dataArguments(
    ['table', 'objects'],
    object('InsertQuery', {
      ...targetFields(backend),
      objects: required(list(mapOf(anyJson))),
      onConflict: optional(conflictCodec),
      returning: optional(list(nonEmptyText)),
    }),
  );

export const insertOperation = dataOperation<InsertArguments>({
  type: 'insert',
  action: 'insert',
  args: insertArguments,
  changes: 'database',
  errors: INSERT_ERRORS,
  documentation: {
    summary: 'Inserts rows into a tracked table.',
    example: { table: 'author', objects: [{ name: 'Author 1' }], returning: ['id'] },
  },
  root: (args, context) => ({ alias: 'insert', mutation: insert(args, context) }),
});

function insert({ objects, onConflict, returning }: InsertArguments, context: DataContext): Insert {
  const { table, path } = context;
  requireWritable(context, 'insert');
  if (objects.length === 0) throw new SvcError('unexpected-payload', 'objects should not be empty', { path: at(path, 'objects') });
  const output = writeOutput(context, returning);
  const rows = objects.map((row, i) => flatRow(row, context, at(at(path, 'objects'), i)));
  const columns = new Set(rows.flatMap(({ values }) => [...values.keys()]));
  context.requester.size.addFields(columns.size, 1);
  const conflict = onConflict === undefined ? null : conflictClause(onConflict, columns, context);
  return insertRows(table, flatRows(table, rows, conflict, insertValidations(objects, conflict, table)), path, output);
}

/** Returns the validations of the insert permission, and those of the update permission if existing rows may change. */
function insertValidations(
  objects: InsertArguments['objects'],
  conflict: OnConflict | null,
  table: WriteTable,
): readonly InputValidation[] {
  const { insert, update } = table;
  const rows = () => objects.map((row) => writtenValues(table, row));
  const updates = () => rows().map((row) => ({ kind: 'json', json: writtenArguments(table, { $set: row }) }) as const);
  const inserted = insert === null ? {} : validated(insert, () => rows().map((json) => ({ kind: 'json', json }) as const));
  const updated = !conflict?.update || update === null ? {} : validated(update, updates);
  return [...(inserted.validations ?? []), ...(updated.validations ?? [])];
}

function flatRow(row: ReadonlyMap<string, Json>, context: DataContext, path: Path): FlatRow {
  const { types } = context.table.source.shared;
  const values = new Map<string, Operand>();
  for (const [name, json] of row) {
    const { type } = writtenColumn(context, 'insert', name, path);
    values.set(name, columnOperand(types, type, json, at(path, name)));
  }
  return { path, values };
}

/** @param columns columns of the request, which an update writes under the update permission */
function conflictClause({ action, constraint, constraintOn }: Conflict, columns: ReadonlySet<string>, context: DataContext): OnConflict {
  const { requester, table } = context;
  const path = at(context.path, 'on_conflict');
  for (const name of constraintOn ?? []) {
    const known = table.selected?.columns.has(name) === true || table.insertColumns().has(name);
    if (!known) throw unknownColumn(requester, name, 'insert', at(path, 'constraint_on'));
  }
  if (constraint !== undefined && !isAdminRole(requester.role)) requireConstraint(constraint, context);
  const { primaryKey, uniqueConstraints } = table.info.catalog;
  const key = constraint === undefined ? constraintOn : [primaryKey, ...uniqueConstraints].find((one) => one?.name === constraint)?.columns;
  const target = {
    constraint: constraint ?? null,
    columns: constraint === undefined ? (constraintOn ?? []) : [],
    ...(key === undefined || key.length === 0 ? {} : conflictKey(table.info.catalog, key)),
  };
  if (action === 'ignore') return { ...target, update: null };
  if (constraint === undefined && constraintOn === undefined) {
    const message = "Expecting 'constraint' or 'constraint_on' when the 'action' is 'update'";
    throw new SvcError('unexpected-payload', message, { path });
  }
  if (table.update === null) {
    const message = `upsert is not allowed for role "${requester.role}" since update permissions are not defined`;
    throw new SvcError('permission-denied', message, { path });
  }
  for (const name of columns) writtenColumn(context, 'update', name, path);
  return { ...target, update: updateOnConflict(table.update, [...columns], TRUE) };
}

/** Accepts keys only: an error of the database about another constraint would reveal whether it exists. */
function requireConstraint(name: string, { table, printedTable, path }: DataContext): void {
  const { primaryKey, uniqueConstraints } = table.info.catalog;
  if (primaryKey?.name === name || uniqueConstraints.some((key) => key.name === name)) return;
  throw new SvcError('constraint-error', `constraint "${name}" for table "${printedTable}" does not exist`, { path });
}
