/**
 * Inserts with nested inserts, level by level: first the rows that a level depends on, then its rows, then the rows that depend on them. A
 * level is one statement where possible, whatever its number of rows. The statements do not depend on written values, which they find by
 * the numbers of the rows.
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
import { countMore } from './transaction-local-rows.ts';
import { LevelKeys } from './level-keys.ts';
import type { TransactionLocalKeys, Program, SettingSlot, Write } from './program.ts';
import { readsChangedTables } from '../../../../ir/reads.ts';
import { combined, type Parts, separated } from './upsert-parts.ts';

const DEFAULT_SCHEMA = 'public';
const NOTHING_FILLED: Fills = new Map();
const NO_ROWS: readonly never[] = [];

export function compileInsert(program: Program, insert: Insert): readonly ResultPiece[] {
  const { rows, output, path } = insert;
  if (rows.rows.length === 0 && rows.uniform === undefined) return [emptyAnswer(output)];
  const absent = emptyAnswer(output);
  const written = { tables: addTables(rows, new Set()), contained: insert.contained };
  const flat = rows.rows.every((row) => row.before.length === 0 && row.after.length === 0);
  if (flat && !returnedFields(output).some((fields) => readsChangedTables(fields, written))) {
    const [batch, ...more] = plainBatches(rows, program.writes.numbersRows);
    if (batch !== undefined && more.length === 0) {
      const statement = program.writes.writeAndAnswer(
        program,
        insertWrite(rows, rows.columns, batch, { isNumbered: false, path, contained: insert.contained, alone: true }),
        output,
      );
      return [{ statement, column: 0, absent }];
    }
  }
  const tree = new InsertTree(program, insert);
  const slots = tree.insertAll(rows, returnedFields(output).length > 0);
  const statement = program.writes.answerFromStored(program, { path, table: insert.table, slots }, output);
  for (const slot of slots) program.releaseSlot(slot);
  return [{ statement, column: 0, absent }];
}

function plainBatches({ columns, rows, uniform }: InsertRows, numbersRows: boolean): readonly Batch[] {
  if (uniform !== undefined) return [{ kind: 'uniform', rows: uniform, fills: NOTHING_FILLED }];
  return batches(
    columns,
    rows.map((row) => ({ row, fills: NOTHING_FILLED, number: null })),
    numbersRows,
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

/** Results of a level that later statements need. */
interface Needed {
  /** True if the answer needs the rows. */
  readonly rows: boolean;
  /** Columns of each row that the rows above need; `null` without rows above. */
  readonly keys: readonly string[] | null;
}

interface Written {
  /** Slots with the rows, if they are needed. */
  readonly slots: readonly SettingSlot[];
  /** Released by the caller. */
  readonly keys: LevelKeys | null;
}

class InsertTree {
  readonly #program: Program;
  readonly #root: Insert;
  readonly #counts: boolean;
  #first = true;
  #levels = 0;
  /** True if there is one row without nested rows. */
  readonly #alone: boolean;

  constructor(program: Program, root: Insert) {
    this.#program = program;
    this.#root = root;
    this.#counts = countsRows(root.output);
    const [first, ...more] = root.rows.rows;
    this.#alone = more.length === 0 && first?.before.length === 0 && first.after.length === 0;
  }

  insertAll(rows: InsertRows, keep: boolean): readonly SettingSlot[] {
    if (rows.uniform === undefined) {
      const level: Level = {
        common: rows,
        columns: rows.columns,
        rows: rows.rows.map((row) => ({ row, fills: NOTHING_FILLED })),
        awaited: null,
      };
      return this.#insert(level, { rows: keep, keys: null }).slots;
    }
    const slot = keep ? this.#program.acquireSlot() : null;
    this.#writeUniform(rows, rows.uniform, NOTHING_FILLED, slot);
    return slot === null ? [] : [slot];
  }

  /** Inserts the rows that a level depends on, its rows, and the rows that depend on them. */
  #insert(level: Level, needed: Needed): Written {
    const { common, awaited } = level;
    const { fills, slots: sources } = this.#insertBefore(level);
    const below = groups(level.rows, ({ row }) => row.after);
    const keys = this.#keysOf(needed, below);
    const absent: RaisedFailure[] = [];
    const rows = level.rows.map(({ row }, i): LevelRow => {
      const failure = row.after.length > 0 ? arrayFailure(common.table, row, DEFAULT_SCHEMA) : awaited?.[i];
      const number = failure === undefined ? null : absent.push(failure) - 1;
      return { row, fills: fills[i] as Fills, number };
    });
    const parts = this.#partsOf(level, rows, needed.rows);
    const slots: SettingSlot[] = [];
    const written = parts.written.flatMap((part) => batches(level.columns, part, this.#program.writes.numbersRows));
    if (!this.#program.writes.numbersRows) {
      this.#program.addExtraStatements(
        written.length - parts.written.length,
        this.#root.path,
        'rows that others refer to are written one by one',
      );
    }
    for (const batch of written) {
      const slot = needed.rows ? this.#program.acquireSlot() : null;
      this.#write(level, batch, slot, keys, absent);
      if (slot !== null) slots.push(slot);
    }
    if (parts.repeated.length > 0) this.#repeat(parts.repeated, keys);
    for (const slot of sources) this.#program.releaseSlot(slot);
    if (keys === null) return { slots, keys };
    keys.addTexts(rows, parts.texts);
    for (const group of below) this.#insertAfter(group, rows, keys);
    if (needed.keys === null) keys.release();
    return { slots, keys };
  }

  /** Allocates the keys of a level: all columns that other rows need. */
  #keysOf(needed: Needed, below: readonly NestedGroup[]): LevelKeys | null {
    if (below.length === 0 && needed.keys === null) return null;
    const columns = below.flatMap((group) => group.columns.map(({ local }) => local));
    return new LevelKeys(this.#program, `${this.#levels++}`, [...new Set([...(needed.keys ?? []), ...columns])]);
  }

  /** Inserts the objects that rows depend on. @returns values from them by row, and the slots with these values */
  #insertBefore({ rows }: Level): { readonly fills: readonly Fills[]; readonly slots: readonly SettingSlot[] } {
    const slots: SettingSlot[] = [];
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
      if (keys === null) throw new Error('invariant: keys that are needed are stored');
      slots.push(...keys.slots);
      group.members.forEach(({ owner }, number) => {
        const fills = own[owner] ?? new Map((rows[owner] as Level['rows'][number]).fills);
        own[owner] = fills;
        for (const column of group.columns) fills.set(column.local, keys.fill(number, column.remote, column.type));
      });
    }
    return { fills: rows.map(({ fills }, i) => own[i] ?? fills), slots };
  }

  /** Inserts rows that depend on others. */
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

  /**
   * Splits rows into statements: PostgreSQL does not update a row twice in one statement.
   * @param inOrder whether the answer needs their order
   */
  #partsOf({ common: { onConflict } }: Level, rows: readonly LevelRow[], inOrder: boolean): Parts {
    if (onConflict === null || onConflict.update === null) return { written: [rows], repeated: NO_ROWS, texts: null };
    const parts =
      onConflict.key === undefined || !this.#program.combinesRows
        ? { written: separated(rows), repeated: NO_ROWS, texts: null }
        : combined(rows, onConflict.key, inOrder, !inOrder && this.#root.contained ? onConflict.update : null);
    if (parts.texts !== null) this.#program.hasCombined = true;
    this.#program.addExtraStatements(parts.written.length - 1, this.#root.path, 'nested rows with a conflict clause repeat the same key');
    return parts;
  }

  /** Counts rows as written that would change nothing. Rows that refer to them find the first row with their key. */
  #repeat(repeated: Parts['repeated'], keys: LevelKeys | null): void {
    for (const { row, of } of repeated) {
      if (keys !== null && row.number !== null && of.number !== null) keys.repeat(row.number, of.number);
    }
    if (this.#counts) this.#program.add(this.#root.path, 0, () => countMore(repeated.length));
  }

  #writeUniform(rows: InsertRows, uniform: UniformRows, fills: Fills, slot: SettingSlot | null): void {
    const batch: Batch = { kind: 'uniform', rows: uniform, fills };
    this.#add(insertWrite(rows, rows.columns, batch, this.#options(false)), slot, null);
  }

  #write(
    { common, columns }: Level,
    batch: Batch,
    slot: SettingSlot | null,
    keys: LevelKeys | null,
    absent: readonly RaisedFailure[],
  ): void {
    const { path } = this.#root;
    const numbers = batch.kind === 'uniform' ? [] : batch.rows.flatMap(({ number }) => (number === null ? [] : [number]));
    if (batch.kind === 'uniform' || keys === null || numbers.length === 0) {
      this.#add(insertWrite(common, columns, batch, this.#options(false)), slot, null);
      return;
    }
    const isNumbered = batch.rows.length > 1;
    const location = keys.keep(numbers);
    let next = location.row;
    const rows = batch.rows.map((row) => (row.number === null ? row : { ...row, number: next++ }));
    const failures = numbers.map((number) => absent[number] as RaisedFailure);
    const stored: TransactionLocalKeys = {
      slot: location.slot,
      columns: keys.columns,
      first: location.row,
      absent: failures,
      path,
      isNumbered,
    };
    this.#add(insertWrite(common, columns, { kind: batch.kind, rows }, this.#options(isNumbered)), slot, stored);
  }

  #options(isNumbered: boolean): InsertOptions {
    const { path, contained } = this.#root;
    return { isNumbered, path, contained, alone: this.#alone };
  }

  #add(write: Write, slot: SettingSlot | null, keys: TransactionLocalKeys | null): void {
    const count = !this.#counts ? null : this.#first ? 'first' : 'more';
    this.#first = false;
    this.#program.writes.writeAndStore(this.#program, write, { slot, count, keys });
  }
}

function onlyRow({ rows }: InsertRows): InsertRow {
  const [only] = rows;
  if (only === undefined || rows.length > 1) throw new Error('invariant: an object relationship has one row');
  return only;
}
