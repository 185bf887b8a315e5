/** `T_insert_input`: values for columns and rows of related tables, and their translation to rows. */
import { isContained } from '../../catalog/catalog.ts';
import { invariant, SvcError } from '../../errors/svc-error.ts';
import type { InputValidation, WrittenJson } from '../../ir/input-validation.ts';
import type { InsertRow, InsertRows, NestedArray, NestedColumn, NestedObject, OnConflict } from '../../ir/mutation.ts';
import type { Join } from '../../ir/relation.ts';
import type { Operand } from '../../ir/value.ts';
import type { RelationshipInfo } from '../../schema-cache/schema-cache.ts';
import type { Path } from '../../util/path.ts';
import type { InputValue, InputField, InputObjectType, InputTypeRef } from '../../graphql-engine/types.ts';
import { lazy, typeRef } from '../../graphql-engine/types.ts';
import { BOOLEAN_SCALAR, builtin } from '../../graphql-engine/input/built-in-scalars.ts';
import { columnValue } from './column-value.ts';
import { commentOr, quoted } from './descriptions.ts';
import { requireDistributionValue } from './distribution.ts';
import { invalid } from './input.ts';
import { keyed } from './row-key.ts';
import { rowKeys, uniformRows } from './uniform-rows.ts';
import { validated } from './write-access.ts';
import type { InsertInput, WriteTable } from './write-table.ts';

/** A row while its fields are read. */
interface Draft {
  readonly values: Map<string, Operand>;
  readonly relations: {
    readonly relationship: RelationshipInfo;
    readonly target: WriteTable;
    readonly name: string;
    readonly input: InputValue;
  }[];
}

interface RowPlace {
  /** Columns that the parent row fills. */
  readonly determined: ReadonlySet<string>;
  /** True if no other row is on the same level of the tree. */
  readonly alone: boolean;
}

interface RowField {
  readonly field: InputField;
  add(input: InputValue, draft: Draft): void;
}

/** `T_insert_input` and the translation of its values to rows. */
export function insertInput(table: WriteTable): InsertInput {
  const { source, info } = table;
  const fields = lazy(() => rowFields(table));
  const type: InputObjectType = {
    kind: 'input-object',
    name: source.tableType(info, 'insert_input'),
    description: `input type for inserting data into table ${quoted(source.info, info.name)}`,
    fields: lazy(() => new Map([...fields()].map(([name, { field }]) => [name, field]))),
  };
  const keys = lazy(() => rowKeys(table));
  const nested = lazy(() => new Set([...fields().keys()].filter((name) => !table.insertColumns().has(name))));
  const rows: InsertInput['rows'] = (items, onConflict, determined, alone) =>
    insertRows(table, fields(), items, onConflict, { determined, alone: alone && items.length === 1 });
  return {
    type,
    rows,
    rowsOfList: (list, onConflict, determined, alone) =>
      (alone ? uniformRows(table, keys(), list, onConflict, determined) : null) ??
      rows(list.asData(MAX_ROWS_IN_PLAN, alone ? nested() : null).items(), onConflict, determined, alone),
  };
}

/** Maximum rows in a plan that may serve other requests: with more, it depends on too many facts. */
const MAX_ROWS_IN_PLAN = 8;

/** Returns `on_conflict` of a root or a nested insert; null if the table has no conflict clauses. */
export function conflictArgument(table: WriteTable): InputField | null {
  const type = table.onConflict()?.type;
  if (type === undefined) return null;
  return { name: table.source.field('on_conflict'), description: 'upsert condition', type: typeRef(type.name, () => type) };
}

function rowFields(table: WriteTable): ReadonlyMap<string, RowField> {
  const { source, info } = table;
  const fields = new Map<string, RowField>();
  const add = (name: string, description: string | null, type: InputTypeRef, read: RowField['add']): void => {
    if (!fields.has(name)) fields.set(name, { field: { name, description, type }, add: read });
  };
  for (const column of table.insertColumns().values()) {
    const description = commentOr(column.info.comment, column.info.catalog.comment);
    add(column.name, description, column.place.input(false), (input, draft) => {
      draft.values.set(column.info.name, columnValue(input, column));
    });
  }
  for (const relationship of info.relationships.values()) {
    const target = table.related(relationship.target);
    if (target === null || !target.isNestable) continue;
    const { name } = relationship;
    const single = relationship.kind === 'object';
    const type = typeRef(
      source.tableType(target.info, single ? 'obj_rel_insert_input' : 'arr_rel_insert_input'),
      () => (single ? target.objectInput() : target.arrayInput()).type,
    );
    add(name, null, type, (input, draft) => {
      if (input.isNull()) return;
      if (target.insert === null) {
        const message = `rows cannot be inserted into ${quoted(source.info, target.info.name)}`;
        throw new SvcError('not-supported', message, { path: input.path });
      }
      draft.relations.push({ relationship, target, name, input });
    });
  }
  // An input type must have a field, even if every column has a preset.
  if (fields.size === 0) add('_PLACEHOLDER', 'placeholder (do not use)', builtin(BOOLEAN_SCALAR), () => undefined);
  return fields;
}

function insertRows(
  table: WriteTable,
  fields: ReadonlyMap<string, RowField>,
  items: readonly InputValue[],
  onConflict: InputValue | null,
  place: RowPlace,
): InsertRows {
  const access = table.insert;
  invariant(access !== null, 'only tables that take rows have an input type');
  const rows = items.map((item) => insertRow(table, fields, item, place));
  const clause = onConflict === null ? null : (table.onConflict()?.clause(onConflict) ?? null);
  const validations = validationsOf(table, items, onConflict, clause);
  return {
    table: table.info.name,
    columns: columnsOf(table, rows),
    rows,
    onConflict: clause,
    check: access.check,
    ...keyed(table.info.catalog),
    ...(validations.length === 0 ? {} : { validations }),
  };
}

/** Columns of the last rows of each table: nested rows come in small groups, most of which have the same columns. */
const lastColumns = new WeakMap<WriteTable, InsertRows['columns']>();

function columnsOf(table: WriteTable, rows: readonly InsertRow[]): InsertRows['columns'] {
  const last = lastColumns.get(table);
  if (last !== undefined && rows.every(({ values }) => values.size === last.length && last.every(({ name }) => values.has(name)))) {
    return last;
  }
  const used = new Set<string>();
  for (const { values } of rows) for (const name of values.keys()) used.add(name);
  const columns = table.info.catalog.columns.flatMap(({ name, type }) => (used.has(name) ? [{ name, type }] : []));
  lastColumns.set(table, columns);
  return columns;
}

/** Returns the validations of the insert permission, and those of the update permission if existing rows may change. */
function validationsOf(
  table: WriteTable,
  items: readonly InputValue[],
  onConflict: InputValue | null,
  clause: OnConflict | null,
): readonly InputValidation[] {
  const { insert, update } = table;
  if (items.length === 0 || insert === null) return [];
  const inserted = validated(insert, () => items.map((item) => item.written())).validations ?? [];
  if (onConflict === null || clause === null || clause.update === null || update === null) return inserted;
  const columns = new Set(clause.update.columns);
  const updated = validated(update, () => items.map((item) => updateArguments(table, item, columns, onConflict))).validations ?? [];
  return [...inserted, ...updated];
}

/** Returns the arguments of the update that replaces the insert of an existing row. */
function updateArguments(table: WriteTable, item: InputValue, columns: ReadonlySet<string>, onConflict: InputValue): WrittenJson {
  const { source } = table;
  const set = item.entries().flatMap(({ field: { name }, input }): readonly (readonly [string, WrittenJson])[] => {
    const column = table.insertColumns().get(name);
    return column === undefined || !columns.has(column.info.name) ? [] : [[name, input.written()]];
  });
  const where = onConflict.entries().filter(({ field, input }) => field.name === source.field('where') && !input.isNull());
  return {
    kind: 'object',
    entries: [
      ...where.map(({ field, input }) => [field.name, input.written()] as const),
      [source.field('_set'), { kind: 'object', entries: set }],
    ],
  };
}

const NOTHING: readonly never[] = [];
const NO_PRESETS: ReadonlyMap<string, Operand> = new Map();

/** A column that the parent row fills cannot have a value of its own. */
function rejectDeterminedValues(table: WriteTable, { values }: Draft, determined: ReadonlySet<string>, path: Path): void {
  const conflicting = [...determined].filter((column) => values.has(column));
  if (conflicting.length === 0) return;
  throw invalid(
    `cannot insert ${printColumns(table, conflicting)} columns as their values are already being determined by parent insert`,
    path,
  );
}

function insertRow(table: WriteTable, fields: ReadonlyMap<string, RowField>, item: InputValue, { determined, alone }: RowPlace): InsertRow {
  const draft: Draft = { values: new Map(), relations: [] };
  for (const { field, input } of item.entries()) fields.get(field.name)?.add(input, draft);
  if (determined.size > 0) rejectDeterminedValues(table, draft, determined, item.path);
  const presets = table.insert?.presets ?? NO_PRESETS;
  if (draft.relations.length === 0) {
    for (const [column, preset] of presets) draft.values.set(column, preset);
    requireDistributionValue(table.info.catalog, (column) => draft.values.has(column) || determined.has(column), item.path);
    return { path: item.path, values: draft.values, before: NOTHING, after: NOTHING };
  }
  const known = new Set([...draft.values.keys(), ...determined]);
  const before: NestedObject[] = [];
  const after: (NestedObject | NestedArray)[] = [];
  for (const { relationship, target, name, input } of draft.relations) {
    const { columns } = relationship.join;
    if (relationship.insertionOrder === 'before-parent') {
      rejectDeterminedColumns(table, relationship, known, input.path);
      const rows = target.objectInput().rows(input, new Set(), alone);
      invariant(rows !== null, 'an object relationship has one row');
      // Presets take precedence over values of the related row.
      const filled = columns.filter(({ local }) => !presets.has(local));
      before.push({ kind: 'object', name, path: input.path, columns: typedColumns(target, filled, 'remote'), rows });
      continue;
    }
    const filled = new Set(columns.map(({ remote }) => remote));
    const single = relationship.kind === 'object';
    const rows = (single ? target.objectInput() : target.arrayInput()).rows(input, filled, alone);
    if (rows === null) continue;
    const nested = { name, path: input.path, columns: typedColumns(table, withoutPresets(target, columns), 'local'), rows };
    after.push(single ? { kind: 'object', ...nested } : { kind: 'array', ...nested });
  }
  for (const [column, preset] of presets) draft.values.set(column, preset);
  const fills = (column: string): boolean => before.some(({ columns }) => columns.some(({ local }) => local === column));
  requireDistributionValue(table.info.catalog, (column) => draft.values.has(column) || determined.has(column) || fills(column), item.path);
  return { path: item.path, values: draft.values, before, after };
}

/** Returns true if writing the rows is known to change nothing else; see `Contained` of the IR. */
export function insertIsContained(table: WriteTable, rows: InsertRows): boolean {
  const { catalog } = table.info;
  if (!isContained(catalog, 'insert')) return false;
  if (rows.onConflict !== null && rows.onConflict.update !== null && !isContained(catalog, 'update')) return false;
  const nestedIsContained = (nested: NestedObject | NestedArray): boolean => {
    const target = table.related(nested.rows.table);
    return target !== null && insertIsContained(target, nested.rows);
  };
  return rows.rows.every(({ before, after }) => before.every(nestedIsContained) && after.every(nestedIsContained));
}

/** A related row cannot set a column that the row, its parent or another related row sets. */
function rejectDeterminedColumns(table: WriteTable, { name, join }: RelationshipInfo, known: Set<string>, path: Path): void {
  const local = join.columns.map((pair) => pair.local);
  const determined = local.filter((column) => known.has(column));
  if (determined.length > 0) {
    throw invalid(
      `cannot insert object relationship "${name}" as ${printColumns(table, determined)} column values are already determined`,
      path,
    );
  }
  for (const column of local) known.add(column);
}

function withoutPresets(target: WriteTable, columns: Join['columns']): Join['columns'] {
  return columns.filter(({ remote }) => target.insert?.presets.has(remote) !== true);
}

/** @param side the side of the join with the table that provides the values */
function typedColumns({ info }: WriteTable, columns: Join['columns'], side: 'local' | 'remote'): readonly NestedColumn[] {
  return columns.map((pair) => {
    const column = info.catalog.columns.find(({ name }) => name === pair[side]);
    invariant(column !== undefined, 'a relationship joins columns that are there');
    return { ...pair, type: column.type };
  });
}

/** Prints columns by their GraphQL names. */
function printColumns(table: WriteTable, columns: readonly string[]): string {
  return columns
    .map((column) => {
      const info = table.info.columns.get(column);
      return `"${info === undefined ? column : table.source.columnName(info)}"`;
    })
    .join(', ');
}
