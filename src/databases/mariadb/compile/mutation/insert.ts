/**
 * Inserts with nested inserts, level by level: what the rows of a level depend on, the rows, what depends on them. Rows without a
 * conflict clause are one statement for a level.
 */
import type { RaisedFailure, ResultPiece } from '../../../../backend/backend.ts';
import { emptyAnswer, returnedFields } from '../../../shared/mutation-output.ts';
import { arrayFailure, groups, type NestedGroup, objectFailure, unitedColumns } from '../../../shared/nested-inserts.ts';
import type { Insert, InsertColumn, InsertRow, InsertRows, RowKey } from '../../../../ir/mutation.ts';
import { ROOT } from '../../../../util/path.ts';
import { readOthers, readsTable, readsUnnamed } from '../../../../ir/reads-elsewhere.ts';
import { join, sql } from '../../../../sql/fragment.ts';
import { rowObjectSql } from '../query.ts';
import { answer } from './answer.ts';
import { checkFailure, flagSql, lostFailure, unaskable, withoutKey } from './checks.ts';
import { type Cells, insertRowsInto, insertUniform, type Fills, type LevelRow, NOTHING_FILLED } from './insert-rows.ts';
import type { Program } from './program.ts';
import { isNoneOf, rowsOfKeys, usableKey } from './row-key.ts';
import { upsertRow } from './upsert.ts';

/** Values in one statement; the protocol's bound on parameters is 65,535. */
const MAX_VALUES = 20_000;
const DEFAULT_SCHEMA = '';

export function compileInsert(program: Program, insert: Insert): readonly ResultPiece[] {
  const { rows, output, path, table } = insert;
  if (rows.rows.length === 0 && rows.uniform === undefined) return [emptyAnswer(output)];
  const returned = returnedFields(output);
  // What others have is read when all is written.
  const isReadLater = returned.some(readOthers);
  const key = usableKey(rows.key);
  if (isReadLater && key === null) throw withoutKey(table, 'returned with others that they are related to', path);
  const tree = new InsertTree(program, insert);
  const level: Level =
    rows.uniform === undefined
      ? { common: rows, columns: rows.columns, rows: rows.rows.map((row) => ({ row, fills: NOTHING_FILLED })), awaited: null }
      : { common: rows, columns: rows.columns, rows: [], awaited: null };
  const cells: Cells = { json: isReadLater ? [] : returned, key: isReadLater ? key : null, columns: [] };
  const { writes, reads } = tree.insert(level, cells);
  const last = program.next - 1;
  if (!isReadLater || key === null) return answer(program, last, output, { writes: tree.writes, reads, cell: 1 });
  const index = program.add(path, ({ context, fails }) => {
    const found = rowsOfKeys(context, table, key, { statements: reads, cell: 1 });
    const objects = returned.map((fields) => rowObjectSql(context, fields, found.row));
    return {
      sql: sql`select ${join(objects, sql`, `)} from ${found.from} order by ${found.position}`,
      ifAny: writes,
      sameAs: { statements: reads, failure: fails(lostFailure(table, path)) },
      mayBeCut: true,
    };
  });
  return answer(program, index, output, { writes: tree.writes, reads: [index], cell: 0 });
}

/** The rows of one table that stand at the same place of the tree and have the same conflict clause. */
interface Level {
  /** What all of its rows have in common. */
  readonly common: InsertRows;
  readonly columns: readonly InsertColumn[];
  readonly rows: readonly LevelRow[];
  /** Of every row: what is raised where it is not written; null when nobody waits for it. */
  readonly awaited: readonly RaisedFailure[] | null;
}

interface Written {
  readonly writes: readonly number[];
  /** Statements that give the rows with the cells that were asked for. */
  readonly reads: readonly number[];
  /** Where the cells of each row are; those of rows of unknown number are left out. */
  readonly places: readonly { readonly statements: readonly number[]; readonly row: number }[];
}

class InsertTree {
  /** All statements that write. */
  readonly writes: number[] = [];
  readonly #program: Program;
  readonly #root: Insert;

  constructor(program: Program, root: Insert) {
    this.#program = program;
    this.#root = root;
  }

  insert(level: Level, wanted: Cells): Written {
    const fills = this.#insertBefore(level);
    const below = groups(level.rows, ({ row }) => row.after);
    const own = below.flatMap(({ columns }) => columns.map(({ local, type }) => ({ name: local, type })));
    const checkedKey = this.#keyOfCheck(level.common);
    const cells: Cells = { ...wanted, key: wanted.key ?? checkedKey, columns: distinct([...wanted.columns, ...own]) };
    const written = this.#write(level, fills, cells, checkedKey === null);
    this.writes.push(...written.writes);
    if (checkedKey !== null) this.#check(level.common, checkedKey, written, 1 + cells.json.length);
    const cellOf = (column: string): number =>
      1 + cells.json.length + (cells.key === null ? 0 : 1) + cells.columns.findIndex(({ name }) => name === column);
    for (const group of below) this.#insertAfter(group, written, cellOf);
    return written;
  }

  /** Objects that rows depend on. @returns by row what it gets from others */
  #insertBefore({ rows }: Level): readonly Fills[] {
    const own: (Map<string, Fills extends ReadonlyMap<string, infer F> ? F : never> | undefined)[] = [];
    for (const group of groups(rows, ({ row }) => row.before)) {
      const nested = group.members.map((member) => member.nested);
      const level: Level = {
        common: group.common,
        columns: unitedColumns(nested.map((one) => one.rows)),
        rows: nested.map((one) => ({ row: onlyRow(one.rows), fills: NOTHING_FILLED })),
        awaited: nested.map((one) => objectFailure(one, DEFAULT_SCHEMA)),
      };
      const columns = distinct(group.columns.map(({ remote, type }) => ({ name: remote, type })));
      const { places } = this.insert(level, { json: [], key: null, columns });
      const first = this.#cellsBefore(group.common, { json: [], key: null, columns });
      group.members.forEach(({ owner }, i) => {
        const place = places[i];
        if (place === undefined) throw new Error('invariant: rows that others refer to have places');
        const filled = own[owner] ?? new Map((rows[owner] as LevelRow).fills);
        own[owner] = filled;
        for (const { local, remote, type } of group.columns) {
          const cell = first + columns.findIndex(({ name }) => name === remote);
          filled.set(local, { value: { kind: 'kept', ...place, cell }, type });
        }
      });
    }
    return rows.map(({ fills }, i) => own[i] ?? fills);
  }

  /** Cells in front of those of `columns`, as `insert` makes them. */
  #cellsBefore(common: InsertRows, wanted: Cells): number {
    return 1 + wanted.json.length + (wanted.key === null && this.#keyOfCheck(common) === null ? 0 : 1);
  }

  /** Rows that depend on others. */
  #insertAfter({ common, columns, members }: NestedGroup, { places }: Written, cellOf: (column: string) => number): void {
    const rows: LevelRow[] = [];
    const nothing: Cells = { json: [], key: null, columns: [] };
    for (const { nested, owner } of members) {
      const place = places[owner];
      if (place === undefined) throw new Error('invariant: a row that others depend on has a place');
      const fills: Fills = new Map(
        columns.map(({ local, remote, type }) => [remote, { value: { kind: 'kept', ...place, cell: cellOf(local) }, type }]),
      );
      if (nested.rows.uniform !== undefined) {
        this.insert({ common: nested.rows, columns: nested.rows.columns, rows: [{ row: NO_ROW, fills }], awaited: null }, nothing);
      } else for (const row of nested.rows.rows) rows.push({ row, fills });
    }
    if (rows.length === 0) return;
    this.insert({ common, columns: unitedColumns(members.map(({ nested }) => nested.rows)), rows, awaited: null }, nothing);
  }

  #write(level: Level, fills: readonly Fills[], cells: Cells, checks: boolean): Written {
    const { common, columns } = level;
    const { path } = this.#root;
    if (common.uniform !== undefined) {
      const statement = insertUniform(this.#program, { common, columns, cells, checks, path }, common.uniform, fills[0] ?? NOTHING_FILLED);
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

  /** Row by row: what becomes of one depends on what is there. */
  #upsert({ common, columns, awaited }: Level, rows: readonly LevelRow[], cells: Cells, checks: boolean): Written {
    const { path } = this.#root;
    const parts = rows.map((row, i) => {
      const failure = row.row.after.length > 0 ? arrayFailure(common.table, row.row, DEFAULT_SCHEMA) : awaited?.[i];
      return upsertRow(this.#program, { common, columns, cells, checks, path }, row, failure ?? null);
    });
    return {
      writes: parts.flatMap(({ writes }) => writes),
      reads: parts.flatMap(({ reads }) => reads),
      places: parts.map(({ reads }) => ({ statements: reads, row: 0 })),
    };
  }

  /** The key by which rows are checked behind the statement: where the check reads others of the table, of which these are none. */
  #keyOfCheck({ check, table, key }: InsertRows): RowKey | null {
    if (!readsTable(check, table)) return null;
    if (readsUnnamed(check)) throw unaskable(table, this.#root.path);
    const usable = usableKey(key);
    if (usable === null) throw withoutKey(table, 'checked by others of it', this.#root.path);
    return usable;
  }

  #check({ table, check, onConflict }: InsertRows, key: RowKey, { writes, reads }: Written, cell: number): void {
    const { path } = this.#root;
    // Rows that were there before are under the check of updates.
    const inserted = onConflict === null ? reads : reads.filter((statement) => writes.includes(statement));
    this.#program.add(path, ({ context, fails }) => {
      const kept = { statements: inserted, cell };
      const found = rowsOfKeys(context, table, key, kept);
      context.unseen = { table, isOther: isNoneOf(context, key, kept) };
      return {
        sql: sql`select ${flagSql(context, check, found.row)} from ${found.from}`,
        ifAny: inserted,
        check: { cell: 0, failure: fails(checkFailure(path)) },
        sameAs: { statements: inserted, failure: fails(lostFailure(table, path)) },
      };
    });
  }
}

const NO_ROW: InsertRow = { path: ROOT, values: new Map(), before: [], after: [] };

/** Neighbours with values for the same columns: the word `default` would count nothing up in a session where zero is a number. */
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
