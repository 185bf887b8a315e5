import type { Backend } from '../../backend/backend.ts';
import { isContained } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { TRUE } from '../../ir/bool-exp.ts';
import type { InputValidation } from '../../ir/input-validation.ts';
import type { Insert, InsertRow, OnConflict } from '../../ir/mutation.ts';
import type { Operand } from '../../ir/value.ts';
import { anyJson, type Codec, leaf, list, literal, mapOf, nonEmptyText, object, optional, required } from '../../metadata/codec.ts';
import type { Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { legacyArguments } from './arguments.ts';
import { type DataContext, dataOperation, type Target, targetFields } from './data-operation.ts';
import { columnOperand } from './operand.ts';
import { noSuchColumn } from './table-access.ts';
import { type WriteAccess, writeAccess, writeAccessIfAny, writeOutput, writtenColumn } from './write-access.ts';
import { validated, writtenArguments, writtenValues } from './written-input.ts';
import { INSERT_ERRORS } from './data-errors.ts';

interface Conflict {
  readonly action: 'ignore' | 'update';
  readonly constraint?: string | undefined;
  readonly constraintOn?: readonly string[] | undefined;
}

interface InsertArguments extends Target {
  readonly objects: readonly ReadonlyMap<string, Json>[];
  readonly onConflict?: Conflict | undefined;
  readonly returning?: readonly string[] | undefined;
}

const oneOrMore: Codec<readonly string[]> = leaf(
  '[Text]',
  (json, path) => (typeof json === 'string' ? [nonEmptyText.decode(json, path)] : list(nonEmptyText).decode(json, path)),
  (value) => [...value],
);

const conflictCodec = object('OnConflict', {
  action: required(literal('ConflictAction', ['ignore', 'update'])),
  constraint: optional(nonEmptyText),
  constraintOn: optional(oneOrMore),
});

const insertArguments = (backend: Backend): Codec<InsertArguments> =>
  legacyArguments(
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
  const { info, path } = context;
  const access = writeAccess(context, 'insert');
  if (objects.length === 0) throw new SvcError('unexpected-payload', 'objects should not be empty', { path: at(path, 'objects') });
  const output = writeOutput(context, returning);
  const given = new Set<string>();
  const rows = objects.map((row, i) => insertRow(row, given, access, context, at(at(path, 'objects'), i)));
  const written = new Set([...given, ...access.presets.keys()]);
  const updateAccess = onConflict?.action === 'update' ? writeAccessIfAny(context, 'update') : null;
  const conflict = onConflict === undefined ? null : conflictClause(onConflict, given, updateAccess, context);
  const updates = conflict !== null && conflict.update !== null;
  return {
    kind: 'insert',
    table: info.name,
    rows: {
      table: info.name,
      columns: info.catalog.columns.flatMap(({ name, type }) => (written.has(name) ? [{ name, type }] : [])),
      rows,
      onConflict: conflict,
      check: access.check ?? TRUE,
      validations: insertValidations(objects, access, updateAccess, context),
    },
    output,
    path,
    contained: isContained(info.catalog, 'insert') && (!updates || isContained(info.catalog, 'update')),
  };
}

/** Those of the insert permission, and of the update permission where rows that are there already may change. */
function insertValidations(
  objects: InsertArguments['objects'],
  access: WriteAccess,
  updateAccess: WriteAccess | null,
  context: DataContext,
): readonly InputValidation[] {
  const rows = objects.map((row) => writtenValues(context, row));
  const updated = updateAccess === null ? [] : validated(updateAccess, () => rows.map((row) => writtenArguments(context, { $set: row })));
  return [...validated(access, () => rows), ...updated];
}

/** @param given takes up the names of the columns */
function insertRow(row: ReadonlyMap<string, Json>, given: Set<string>, access: WriteAccess, context: DataContext, path: Path): InsertRow {
  const { types } = context.reader.source.backend;
  const values = new Map<string, Operand>();
  for (const [name, json] of row) {
    const { type } = writtenColumn(context, access, 'insert', name, path);
    values.set(name, columnOperand(types, type, json, at(path, name)));
    given.add(name);
  }
  for (const [name, preset] of access.presets) values.set(name, preset);
  return { path, values, before: [], after: [] };
}

/** An update writes all columns that the request gave, under the update permission. */
function conflictClause(
  { action, constraint, constraintOn }: Conflict,
  given: ReadonlySet<string>,
  access: WriteAccess | null,
  context: DataContext,
): OnConflict {
  const path = at(context.path, 'on_conflict');
  for (const name of constraintOn ?? []) {
    if (!context.info.catalog.columns.some((column) => column.name === name)) throw noSuchColumn(name, at(path, 'constraint_on'));
  }
  const target = { constraint: constraint ?? null, columns: constraint === undefined ? (constraintOn ?? []) : [] };
  if (action === 'ignore') return { ...target, update: null };
  if (constraint === undefined && constraintOn === undefined) {
    const message = "Expecting 'constraint' or 'constraint_on' when the 'action' is 'update'";
    throw new SvcError('unexpected-payload', message, { path });
  }
  if (access === null) {
    const message = `upsert is not allowed for role "${context.reader.role}" since update permissions are not defined`;
    throw new SvcError('permission-denied', message, { path });
  }
  for (const name of given) writtenColumn(context, access, 'update', name, path);
  const { presets, filter, check } = access;
  return { ...target, update: { columns: [...given], presets, where: filter, check } };
}
