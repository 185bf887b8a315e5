/** Combines the conditions and values of a request with the filters, checks, presets and hooks of the role. */
import { isContained } from '../../catalog/catalog.ts';
import { invariant } from '../../errors/svc-error.ts';
import { type BoolExp, guarded, TRUE } from '../../ir/bool-exp.ts';
import type { InputValidation, WrittenJson } from '../../ir/input-validation.ts';
import type { Assignment, Delete, Insert, InsertRows, MutationOutput, OnConflict, Update } from '../../ir/mutation.ts';
import type { Operand } from '../../ir/value.ts';
import type { Path } from '../../util/path.ts';
import { insertIsContained } from './insert-input.ts';
import { keyed } from './row-key.ts';
import { validated } from './write-access.ts';
import type { WriteTable } from './write-table.ts';

export interface Changes {
  /** Includes the role's presets. */
  readonly assignments: readonly Assignment[];
  /** Columns that are reset to their defaults. */
  readonly defaults?: readonly string[];
}

/** @param written returns the input for the hook of the permission */
export function updateRows(
  table: WriteTable,
  condition: BoolExp,
  { assignments, defaults }: Changes,
  output: MutationOutput,
  written: () => WrittenJson,
): Update {
  const access = table.update;
  invariant(access !== null, 'only tables that can be updated have the root');
  const nothing = assignments.length === 0 && (defaults === undefined || defaults.length === 0);
  return {
    kind: 'update',
    table: table.info.name,
    where: guarded(access.filter, condition),
    ...keyed(table.info.catalog),
    assignments,
    ...(defaults === undefined ? {} : { defaults }),
    check: access.check ?? TRUE,
    output,
    contained: isContained(table.info.catalog, 'update'),
    ...(nothing ? {} : validated(access, () => [written()])),
  };
}

/** @param written returns the input for the hook of the permission */
export function deleteRows(table: WriteTable, condition: BoolExp, output: MutationOutput, written: () => WrittenJson): Delete {
  const access = table.delete;
  invariant(access !== null, 'only tables that rows can be deleted from have the root');
  return {
    kind: 'delete',
    table: table.info.name,
    where: guarded(access.filter, condition),
    ...keyed(table.info.catalog),
    output,
    contained: isContained(table.info.catalog, 'delete'),
    ...validated(access, () => [written()]),
  };
}

/** Returns the IR of an insert. */
export function insertRows(table: WriteTable, rows: InsertRows, path: Path, output: MutationOutput): Insert {
  return { kind: 'insert', table: table.info.name, rows, output, path, contained: insertIsContained(table, rows) };
}

export interface FlatRow {
  readonly path: Path;
  /** Values by column, without presets. */
  readonly values: ReadonlyMap<string, Operand>;
}

/** Returns rows of one table without nested rows. */
export function flatRows(
  table: WriteTable,
  rows: readonly FlatRow[],
  onConflict: OnConflict | null,
  validations: readonly InputValidation[],
): InsertRows {
  const access = table.insert;
  invariant(access !== null, 'only tables that take rows have the root');
  const used = new Set([...rows.flatMap(({ values }) => [...values.keys()]), ...access.presets.keys()]);
  return {
    table: table.info.name,
    columns: table.info.catalog.columns.flatMap(({ name, type }) => (used.has(name) ? [{ name, type }] : [])),
    rows: rows.map(({ path, values }) => ({ path, values: new Map([...values, ...access.presets]), before: [], after: [] })),
    onConflict,
    check: access.check,
    ...keyed(table.info.catalog),
    ...(validations.length === 0 ? {} : { validations }),
  };
}
