/**
 * Inserts with nested inserts, level by level: what the rows of a level depend on, the rows, what depends on them. A
 * level is one statement where its rows allow that, whatever their number. The statements are known beforehand; values
 * of rows written before are found by the number of the row.
 */
import type { RaisedFailure, ResultPiece } from '../../../../backend/backend.ts';
import { emptyAnswer, returnedFields } from '../../../shared/mutation-output.ts';
import { arrayFailure, groups, type NestedGroup, objectFailure, unitedColumns } from '../../../shared/nested-inserts.ts';
import { nameKey } from '../../../../catalog/catalog.ts';
import type { Insert, InsertRow, InsertRows, UniformRows } from '../../../../ir/mutation.ts';
import { countsRows } from './answer.ts';
import { type InsertOptions, insertWrite } from './insert.ts';
import type { Fill, Fills, Level, LevelRow } from './insert-level.ts';
import { type Batch, batches } from './insert-source.ts';
import { countMore } from './kept-rows.ts';
import { LevelKeys } from './level-keys.ts';
import type { KeepKeys, Program, Slot, Write } from './program.ts';
import { readElsewhere } from '../../../../ir/reads-elsewhere.ts';
import { apart, type Parts, united } from './upsert-parts.ts';

const DEFAULT_SCHEMA = 'public';
const NOTHING_FILLED: Fills = new Map();
const NO_ROWS: readonly never[] = [];

export function compileInsert(program: Program, insert: Insert): readonly ResultPiece[] {
  const { rows, output, path } = insert;
  if (rows.rows.length === 0 && rows.uniform === undefined) return [emptyAnswer(output)];
  const absent = emptyAnswer(output);
  const written = { tables: addTables(rows, new Set()), contained: insert.contained };
  const flat = rows.rows.every((row) => row.before.length === 0 && row.after.length === 0);
  if (flat && !returnedFields(output).some((fields) => readElsewhere(fields, written))) {
    const [batch, ...more] = plainBatches(rows, program.writing.marksRows);
    if (batch !== undefined && more.length === 0) {
      const statement = program.writing.writeAndAnswer(
        program,
        insertWrite(rows, rows.columns, batch, { marked: false, path, contained: insert.contained, alone: true }),
        output,
      );
      return [{ statement, column: 0, absent }];
    }
  }
  const tree = new InsertTree(program, insert);
  const slots = tree.insertAll(rows, returnedFields(output).length > 0);
  const statement = program.writing.answerKept(program, { path, table: insert.table, slots }, output);
  for (const slot of slots) program.giveBack(slot);
  return [{ statement, column: 0, absent }];
}

function plainBatches({ columns, rows, uniform }: InsertRows, marksRows: boolean): readonly Batch[] {
  if (uniform !== undefined) return [{ kind: 'uniform', rows: uniform, fills: NOTHING_FILLED }];
  return batches(
    columns,
    rows.map((row) => ({ row, fills: NOTHING_FILLED, number: null })),
    marksRows,
  );
}

function addTables({ table, rows }: InsertRows, tables: Set<string>): ReadonlySet<string> {
  tables.add(nameKey(table));
  for (const { before, after } of rows) {
    for (const nested of before) addTables(nested.rows, tables);
    for (const nested of after) addTables(nested.rows, tables);
  }
  return tables;
}

/** What is to be kept of a level. */
interface Wanted {
  /** Whether the answer needs the rows. */
  readonly rows: boolean;
  /** Columns that the rows above need of each row; null when no row is above. */
  readonly keys: readonly string[] | null;
}

interface Written {
  /** With the rows, when they are to be kept. */
  readonly slots: readonly Slot[];
  /** Whoever wanted them gives them back. */
  readonly keys: LevelKeys | null;
}

class InsertTree {
  readonly #program: Program;
  readonly #root: Insert;
  readonly #counts: boolean;
  #first = true;
  #levels = 0;
  /** One row with nothing below or above. */
  readonly #alone: boolean;

  constructor(program: Program, root: Insert) {
    this.#program = program;
    this.#root = root;
    this.#counts = countsRows(root.output);
    const [first, ...more] = root.rows.rows;
    this.#alone = more.length === 0 && first?.before.length === 0 && first.after.length === 0;
  }

  insertAll(rows: InsertRows, keep: boolean): readonly Slot[] {
    if (rows.uniform === undefined) {
      const level: Level = {
        common: rows,
        columns: rows.columns,
        rows: rows.rows.map((row) => ({ row, fills: NOTHING_FILLED })),
        awaited: null,
      };
      return this.#insert(level, { rows: keep, keys: null }).slots;
    }
    const slot = keep ? this.#program.takeSlot() : null;
    this.#writeUniform(rows, rows.uniform, NOTHING_FILLED, slot);
    return slot === null ? [] : [slot];
  }

  /** What the rows of a level depend on, the rows, what depends on them. */
  #insert(level: Level, wanted: Wanted): Written {
    const { common, awaited } = level;
    const { fills, slots: sources } = this.#insertBefore(level);
    const below = groups(level.rows, ({ row }) => row.after);
    const keys = this.#keysOf(wanted, below);
    const absent: RaisedFailure[] = [];
    const rows = level.rows.map(({ row }, i): LevelRow => {
      const failure = row.after.length > 0 ? arrayFailure(common.table, row, DEFAULT_SCHEMA) : awaited?.[i];
      const number = failure === undefined ? null : absent.push(failure) - 1;
      return { row, fills: fills[i] as Fills, number };
    });
    const parts = this.#partsOf(level, rows, wanted.rows);
    const slots: Slot[] = [];
    const written = parts.written.flatMap((part) => batches(level.columns, part, this.#program.writing.marksRows));
    if (!this.#program.writing.marksRows) {
      this.#program.addApart(written.length - parts.written.length, this.#root.path, 'rows that others refer to are written one by one');
    }
    for (const batch of written) {
      const slot = wanted.rows ? this.#program.takeSlot() : null;
      this.#write(level, batch, slot, keys, absent);
      if (slot !== null) slots.push(slot);
    }
    if (parts.repeated.length > 0) this.#repeat(parts.repeated, keys);
    for (const slot of sources) this.#program.giveBack(slot);
    if (keys === null) return { slots, keys };
    keys.tell(rows, parts.texts);
    for (const group of below) this.#insertAfter(group, rows, keys);
    if (wanted.keys === null) keys.giveBack();
    return { slots, keys };
  }

  /** Room for the keys of a level: all columns that others need of it. */
  #keysOf(wanted: Wanted, below: readonly NestedGroup[]): LevelKeys | null {
    if (below.length === 0 && wanted.keys === null) return null;
    const columns = below.flatMap((group) => group.columns.map(({ local }) => local));
    return new LevelKeys(this.#program, `${this.#levels++}`, [...new Set([...(wanted.keys ?? []), ...columns])]);
  }

  /** Objects that rows depend on. @returns by row what it gets from them, and the slots that this is read from */
  #insertBefore({ rows }: Level): { readonly fills: readonly Fills[]; readonly slots: readonly Slot[] } {
    const slots: Slot[] = [];
    const own: (Map<string, Fill> | undefined)[] = [];
    for (const group of groups(rows, ({ row }) => row.before)) {
      const nested = group.members.map((member) => member.nested);
      const level: Level = {
        common: group.common,
        columns: unitedColumns(nested.map((one) => one.rows)),
        rows: nested.map((one) => ({ row: onlyRow(one.rows), fills: NOTHING_FILLED })),
        awaited: nested.map((one) => objectFailure(one, DEFAULT_SCHEMA)),
      };
      const remote = group.columns.map((column) => column.remote);
      const { keys } = this.#insert(level, { rows: false, keys: remote });
      if (keys === null) throw new Error('invariant: keys that are wanted are kept');
      slots.push(...keys.slots);
      group.members.forEach(({ owner }, number) => {
        const fills = own[owner] ?? new Map((rows[owner] as Level['rows'][number]).fills);
        own[owner] = fills;
        for (const column of group.columns) fills.set(column.local, keys.fill(number, column.remote, column.type));
      });
    }
    return { fills: rows.map(({ fills }, i) => own[i] ?? fills), slots };
  }

  /** Rows that depend on others. */
  #insertAfter({ common, columns, members }: NestedGroup, owners: readonly LevelRow[], keys: LevelKeys): void {
    const rows = members.flatMap(({ nested, owner }): Level['rows'] => {
      const { number } = owners[owner] as LevelRow;
      if (number === null) throw new Error('invariant: a row that others depend on has a number');
      const fills: Fills = new Map(columns.map(({ local, remote, type }) => [remote, keys.fill(number, local, type)]));
      if (nested.rows.uniform !== undefined) this.#writeUniform(nested.rows, nested.rows.uniform, fills, null);
      return nested.rows.rows.map((row) => ({ row, fills }));
    });
    if (rows.length === 0) return;
    this.#insert(
      { common, columns: unitedColumns(members.map(({ nested }) => nested.rows)), rows, awaited: null },
      { rows: false, keys: null },
    );
  }

  /** PostgreSQL updates no row twice in one statement. @param inOrder whether the rows are asked for in their order */
  #partsOf({ common: { onConflict } }: Level, rows: readonly LevelRow[], inOrder: boolean): Parts {
    if (onConflict === null || onConflict.update === null) return { written: [rows], repeated: NO_ROWS, texts: null };
    const parts =
      onConflict.key === undefined || !this.#program.unites
        ? { written: apart(rows), repeated: NO_ROWS, texts: null }
        : united(rows, onConflict.key, inOrder, !inOrder && this.#root.contained ? onConflict.update : null);
    if (parts.texts !== null) this.#program.hasUnited = true;
    this.#program.addApart(parts.written.length - 1, this.#root.path, 'nested rows with a conflict clause repeat the same key');
    return parts;
  }

  /** Rows that would change nothing: they are as if they had been written, and those that refer to them find the first. */
  #repeat(repeated: Parts['repeated'], keys: LevelKeys | null): void {
    for (const { row, of } of repeated) {
      if (keys !== null && row.number !== null && of.number !== null) keys.repeat(row.number, of.number);
    }
    if (this.#counts) this.#program.add(this.#root.path, 0, () => countMore(repeated.length));
  }

  #writeUniform(rows: InsertRows, uniform: UniformRows, fills: Fills, slot: Slot | null): void {
    const batch: Batch = { kind: 'uniform', rows: uniform, fills };
    this.#add(insertWrite(rows, rows.columns, batch, this.#options(false)), slot, null);
  }

  #write({ common, columns }: Level, batch: Batch, slot: Slot | null, keys: LevelKeys | null, absent: readonly RaisedFailure[]): void {
    const { path } = this.#root;
    const numbers = batch.kind === 'uniform' ? [] : batch.rows.flatMap(({ number }) => (number === null ? [] : [number]));
    if (batch.kind === 'uniform' || keys === null || numbers.length === 0) {
      this.#add(insertWrite(common, columns, batch, this.#options(false)), slot, null);
      return;
    }
    const marked = batch.rows.length > 1;
    const place = keys.keep(numbers);
    let next = place.row;
    const rows = batch.rows.map((row) => (row.number === null ? row : { ...row, number: next++ }));
    const failures = numbers.map((number) => absent[number] as RaisedFailure);
    const kept: KeepKeys = { slot: place.slot, columns: keys.columns, first: place.row, absent: failures, path, marked };
    this.#add(insertWrite(common, columns, { kind: batch.kind, rows }, this.#options(marked)), slot, kept);
  }

  #options(marked: boolean): InsertOptions {
    const { path, contained } = this.#root;
    return { marked, path, contained, alone: this.#alone };
  }

  #add(write: Write, slot: Slot | null, keys: KeepKeys | null): void {
    const count = !this.#counts ? null : this.#first ? 'first' : 'more';
    this.#first = false;
    this.#program.writing.writeAndKeep(this.#program, write, { slot, count, keys });
  }
}

function onlyRow({ rows }: InsertRows): InsertRow {
  const [only] = rows;
  if (only === undefined || rows.length > 1) throw new Error('invariant: an object relationship has one row');
  return only;
}
