/**
 * Inserts with nested inserts, level by level: rows that a level depends on, then its rows, then rows that depend on them. Rows without a
 * conflict clause are one statement per level.
 */
import type { RaisedFailure, ResultPiece } from '../../../../backend/backend.ts';
import { emptyAnswer, returnedFields } from '../../../shared/mutation-output.ts';
import { arrayFailure, groups, type NestedGroup, objectFailure, unitedColumns } from '../../../shared/nested-inserts.ts';
import type { Insert, InsertColumn, InsertRow, InsertRows, RowKey } from '../../../../ir/mutation.ts';
import { ROOT } from '../../../../util/path.ts';
import { readsOtherRows, readsTable, readsUnnamedTables } from '../../../../ir/reads.ts';
import { join, sql } from '../../../../sql/fragment.ts';
import { rowObjectSql } from '../query.ts';
import { answer } from './answer.ts';
import { checkFailure, flagSql, lostFailure, uncheckable, withoutKey } from './checks.ts';
import { type Cells, insertRowsInto, insertUniform, type Fills, type LevelRow, NO_FILLS } from './insert-rows.ts';
import type { Program } from './program.ts';
import { excludesKeys, rowsOfKeys, usableKey } from './row-key.ts';
import { upsertRow } from './upsert.ts';

/** Maximum values of a statement; the protocol allows 65,535 parameters. */
const MAX_VALUES = 20_000;
const DEFAULT_SCHEMA = '';

export function compileInsert(program: Program, insert: Insert): readonly ResultPiece[] {
  const { rows, output, path, table } = insert;
  if (rows.rows.length === 0 && rows.uniform === undefined) return [emptyAnswer(output)];
  const returned = returnedFields(output);
  // Related rows are read after everything has been written.
  const isReadLater = returned.some(readsOtherRows);
  const key = usableKey(rows.key);
  if (isReadLater && key === null) throw withoutKey(table, 'returned with related rows', path);
  const tree = new InsertTree(program, insert);
  const level: Level =
    rows.uniform === undefined
      ? { common: rows, columns: rows.columns, rows: rows.rows.map((row) => ({ row, fills: NO_FILLS })), absentFailures: null }
      : { common: rows, columns: rows.columns, rows: [], absentFailures: null };
  const cells: Cells = { json: isReadLater ? [] : returned, key: isReadLater ? key : null, columns: [] };
  const { writes, reads } = tree.insert(level, cells);
  const last = program.next - 1;
  if (!isReadLater || key === null) return answer(program, last, output, { writes: tree.writes, reads, cell: 1 });
  const index = program.add(path, ({ context, declareFailure }) => {
    const found = rowsOfKeys(context, table, key, { statements: reads, cell: 1 });
    const objects = returned.map((fields) => rowObjectSql(context, fields, found.row));
    return {
      sql: sql`select ${join(objects, sql`, `)} from ${found.from} order by ${found.position}`,
      ifAny: writes,
      sameCountAs: { statements: reads, failure: declareFailure(lostFailure(table, path)) },
      mayBeCut: true,
    };
  });
  return answer(program, index, output, { writes: tree.writes, reads: [index], cell: 0 });
}

/** Rows of one table at the same place of the tree with the same conflict clause. */
interface Level {
  readonly common: InsertRows;
  readonly columns: readonly InsertColumn[];
  readonly rows: readonly LevelRow[];
  /** Failure to raise for each row that is not written; `null` if no other row depends on them. */
  readonly absentFailures: readonly RaisedFailure[] | null;
}

interface Written {
  readonly writes: readonly number[];
  /** Statements that return the rows with the requested cells. */
  readonly reads: readonly number[];
  /** Location of the cells of each row; empty if the number of rows is unknown. */
  readonly places: readonly { readonly statements: readonly number[]; readonly row: number }[];
}

class InsertTree {
  readonly writes: number[] = [];
  readonly #program: Program;
  readonly #root: Insert;

  constructor(program: Program, root: Insert) {
    this.#program = program;
    this.#root = root;
  }

  insert(level: Level, requested: Cells): Written {
    const fills = this.#insertBefore(level);
    const below = groups(level.rows, ({ row }) => row.after);
    const own = below.flatMap(({ columns }) => columns.map(({ local, type }) => ({ name: local, type })));
    const checkedKey = this.#keyOfCheck(level.common);
    const cells: Cells = { ...requested, key: requested.key ?? checkedKey, columns: distinct([...requested.columns, ...own]) };
    const written = this.#write(level, fills, cells, checkedKey === null);
    this.writes.push(...written.writes);
    if (checkedKey !== null) this.#check(level.common, checkedKey, written, 1 + cells.json.length);
    const cellOf = (column: string): number =>
      1 + cells.json.length + (cells.key === null ? 0 : 1) + cells.columns.findIndex(({ name }) => name === column);
    for (const group of below) this.#insertAfter(group, written, cellOf);
    return written;
  }

  /** Inserts rows that the level depends on. @returns the values that each row gets from them */
  #insertBefore({ rows }: Level): readonly Fills[] {
    const own: (Map<string, Fills extends ReadonlyMap<string, infer F> ? F : never> | undefined)[] = [];
    for (const group of groups(rows, ({ row }) => row.before)) {
      const nested = group.members.map((member) => member.nested);
      const level: Level = {
        common: group.common,
        columns: unitedColumns(nested.map((one) => one.rows)),
        rows: nested.map((one) => ({ row: onlyRow(one.rows), fills: NO_FILLS })),
        absentFailures: nested.map((one) => objectFailure(one, DEFAULT_SCHEMA)),
      };
      const columns = distinct(group.columns.map(({ remote, type }) => ({ name: remote, type })));
      const { places } = this.insert(level, { json: [], key: null, columns });
      const first = this.#cellsBefore(group.common, { json: [], key: null, columns });
      group.members.forEach(({ owner }, i) => {
        const place = places[i];
        if (place === undefined) throw new Error('invariant: referenced rows have places');
        const filled = own[owner] ?? new Map((rows[owner] as LevelRow).fills);
        own[owner] = filled;
        for (const { local, remote, type } of group.columns) {
          const cell = first + columns.findIndex(({ name }) => name === remote);
          filled.set(local, { value: { kind: 'transaction-local', ...place, cell }, type });
        }
      });
    }
    return rows.map(({ fills }, i) => own[i] ?? fills);
  }

  /** Number of cells before those of `columns`, as in `insert`. */
  #cellsBefore(common: InsertRows, requested: Cells): number {
    return 1 + requested.json.length + (requested.key === null && this.#keyOfCheck(common) === null ? 0 : 1);
  }

  /** Inserts rows that depend on the level. */
  #insertAfter({ common, columns, members }: NestedGroup, { places }: Written, cellOf: (column: string) => number): void {
    const rows: LevelRow[] = [];
    const nothing: Cells = { json: [], key: null, columns: [] };
    for (const { nested, owner } of members) {
      const place = places[owner];
      if (place === undefined) throw new Error('invariant: a referenced row has a place');
      const fills: Fills = new Map(
        columns.map(({ local, remote, type }) => [remote, { value: { kind: 'transaction-local', ...place, cell: cellOf(local) }, type }]),
      );
      if (nested.rows.uniform !== undefined) {
        this.insert({ common: nested.rows, columns: nested.rows.columns, rows: [{ row: NO_ROW, fills }], absentFailures: null }, nothing);
      } else for (const row of nested.rows.rows) rows.push({ row, fills });
    }
    if (rows.length === 0) return;
    this.insert({ common, columns: unitedColumns(members.map(({ nested }) => nested.rows)), rows, absentFailures: null }, nothing);
  }

  #write(level: Level, fills: readonly Fills[], cells: Cells, checks: boolean): Written {
    const { common, columns } = level;
    const { path } = this.#root;
    if (common.uniform !== undefined) {
      const statement = insertUniform(this.#program, { common, columns, cells, checks, path }, common.uniform, fills[0] ?? NO_FILLS);
      return { writes: [statement], reads: [statement], places: [] };
    }
    const rows = level.rows.map(({ row }, i): LevelRow => ({ row, fills: fills[i] as Fills }));
    if (common.onConflict !== null) return this.#upsert(level, rows, cells, checks);
    const writes: number[] = [];
    const places: Written['places'][number][] = [];
    for (const batch of batches(rows)) {
      const statement = insertRowsInto(this.#program, { common, columns, cells, checks, path }, batch);
      writes.push(statement);
      for (const row of batch.keys()) places.push({ statements: [statement], row });
    }
    return { writes, reads: writes, places };
  }

  /** Upserts row by row: the effect of each depends on existing rows. */
  #upsert({ common, columns, absentFailures }: Level, rows: readonly LevelRow[], cells: Cells, checks: boolean): Written {
    const { path } = this.#root;
    const parts = rows.map((row, i) => {
      const failure = row.row.after.length > 0 ? arrayFailure(common.table, row.row, DEFAULT_SCHEMA) : absentFailures?.[i];
      return upsertRow(this.#program, { common, columns, cells, checks, path }, row, failure ?? null);
    });
    return {
      writes: parts.flatMap(({ writes }) => writes),
      reads: parts.flatMap(({ reads }) => reads),
      places: parts.map(({ reads }) => ({ statements: reads, row: 0 })),
    };
  }

  /** Returns the key for a separate check after the statement: needed if the check reads other rows of the table. */
  #keyOfCheck({ check, table, key }: InsertRows): RowKey | null {
    if (!readsTable(check, table)) return null;
    if (readsUnnamedTables(check)) throw uncheckable(table, this.#root.path);
    const usable = usableKey(key);
    if (usable === null) throw withoutKey(table, 'checked against other rows of the table', this.#root.path);
    return usable;
  }

  #check({ table, check, onConflict }: InsertRows, key: RowKey, { writes, reads }: Written, cell: number): void {
    const { path } = this.#root;
    // Updated rows are subject to the check of updates.
    const inserted = onConflict === null ? reads : reads.filter((statement) => writes.includes(statement));
    this.#program.add(path, ({ context, declareFailure }) => {
      const kept = { statements: inserted, cell };
      const found = rowsOfKeys(context, table, key, kept);
      context.excluded = { table, isOther: excludesKeys(context, key, kept) };
      return {
        sql: sql`select ${flagSql(context, check, found.row)} from ${found.from}`,
        ifAny: inserted,
        check: { cell: 0, failure: declareFailure(checkFailure(path)) },
        sameCountAs: { statements: inserted, failure: declareFailure(lostFailure(table, path)) },
      };
    });
  }
}

const NO_ROW: InsertRow = { path: ROOT, values: new Map(), before: [], after: [] };

/**
 * Groups neighbours with values for the same columns. `default` cannot fill the gaps of other rows: it does not auto-increment in sessions
 * in which zero is an ordinary value (`NO_AUTO_VALUE_ON_ZERO`).
 */
function* batches(rows: readonly LevelRow[]): Iterable<readonly LevelRow[]> {
  let waiting: LevelRow[] = [];
  for (const row of rows) {
    const [first] = waiting;
    const width = row.row.values.size + row.fills.size;
    if (first !== undefined && (!areAlike(first, row) || waiting.length * width >= MAX_VALUES)) {
      yield waiting;
      waiting = [];
    }
    waiting.push(row);
  }
  if (waiting.length > 0) yield waiting;
}

function areAlike(a: LevelRow, b: LevelRow): boolean {
  return sameKeys(a.row.values, b.row.values) && sameKeys(a.fills, b.fills);
}

function sameKeys(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) if (!b.has(key)) return false;
  return true;
}

function distinct(columns: readonly InsertColumn[]): readonly InsertColumn[] {
  return [...new Map(columns.map((column) => [column.name, column])).values()];
}

function onlyRow({ rows }: InsertRows): InsertRow {
  const [only] = rows;
  if (only === undefined || rows.length > 1) throw new Error('invariant: an object relationship has one row');
  return only;
}
