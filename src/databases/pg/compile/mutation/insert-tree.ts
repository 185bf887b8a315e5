/**
 * Inserts with nested inserts, object by object: what a row depends on, the row, what depends on it.
 * The statements are known beforehand; values of rows written before are read from kept rows.
 */
import type { RaisedFailure, ResultPiece } from '../../../../backend/backend.ts';
import { nameKey, type QualifiedName } from '../../../../catalog/catalog.ts';
import type { Insert, InsertRow, InsertRows } from '../../../../ir/mutation.ts';
import { sql } from '../../../../sql/fragment.ts';
import { answerSql, countsRows, emptyAnswer, returnedFields } from './answer.ts';
import { insertWrite } from './insert.ts';
import { type Batch, batches, type Filled } from './insert-source.ts';
import { countedRows, keptRows, keptValue } from './kept-rows.ts';
import type { Program, Slot } from './program.ts';
import { readElsewhere } from './reads-elsewhere.ts';
import { type Keeping, writeAndAnswer, writeAndKeep } from './write.ts';

const NOTHING_FILLED: Filled = new Map();

export function compileInsert(program: Program, insert: Insert): readonly ResultPiece[] {
  const { rows, output, path } = insert;
  if (rows.rows.length === 0 && rows.uniform === undefined) return [emptyAnswer(output)];
  const absent = emptyAnswer(output);
  const written = { tables: new Set(writtenTables(rows)), contained: insert.contained };
  const flat = rows.rows.every((row) => row.before.length === 0 && row.after.length === 0);
  if (flat && !returnedFields(output).some((fields) => readElsewhere(fields, written))) {
    const [batch, ...more] = batches(rows, NOTHING_FILLED, rows.rows);
    if (batch !== undefined && more.length === 0) {
      const statement = writeAndAnswer(program, insertWrite(rows, NOTHING_FILLED, batch, path), output);
      return [{ statement, column: 0, absent }];
    }
  }
  const tree = new InsertTree(program, insert);
  const slots = tree.insert(rows, NOTHING_FILLED, returnedFields(output).length > 0);
  const statement = program.add(
    path,
    1,
    ({ context }) => sql`select ${answerSql(context, output, keptRows(context, insert.table, slots), countedRows())}`,
  );
  for (const slot of slots) program.giveBack(slot);
  return [{ statement, column: 0, absent }];
}

function writtenTables(rows: InsertRows): readonly string[] {
  return [
    nameKey(rows.table),
    ...rows.rows.flatMap((row) => [...row.before, ...row.after].flatMap((nested) => writtenTables(nested.rows))),
  ];
}

class InsertTree {
  private readonly program: Program;
  private readonly root: Insert;
  private readonly counts: boolean;
  private first = true;

  constructor(program: Program, root: Insert) {
    this.program = program;
    this.root = root;
    this.counts = countsRows(root.output);
  }

  /** @returns the slots with the rows, when they are to be kept */
  insert(rows: InsertRows, filled: Filled, keep: boolean): readonly Slot[] {
    const slots: Slot[] = [];
    let plain: InsertRow[] = [];
    const flush = (): void => {
      for (const batch of batches(rows, filled, plain)) {
        const slot = keep ? this.program.takeSlot() : null;
        this.write(rows, filled, batch, { slot, required: null });
        if (slot !== null) slots.push(slot);
      }
      plain = [];
    };
    for (const row of rows.rows) {
      if (row.before.length === 0 && row.after.length === 0) {
        plain.push(row);
        continue;
      }
      flush();
      const slot = keep ? this.program.takeSlot() : null;
      this.insertNested(rows, row, filled, slot, null);
      if (slot !== null) slots.push(slot);
    }
    flush();
    return slots;
  }

  /**
   * One row and what belongs to it.
   * @param kept where the row goes that others read
   * @param required raised when there is no row
   */
  private insertNested(rows: InsertRows, row: InsertRow, filled: Filled, kept: Slot | null, required: RaisedFailure | null): void {
    const own = new Map(filled);
    const sources: Slot[] = [];
    for (const nested of row.before) {
      const { table } = nested.rows;
      const [only] = nested.rows.rows;
      if (only === undefined || nested.rows.rows.length > 1) throw new Error('invariant: an object relationship has one row');
      const slot = this.program.takeSlot();
      this.insertNested(nested.rows, only, NOTHING_FILLED, slot, {
        code: 'not-supported',
        message: `cannot proceed to insert object relation "${nested.name}" since insert to table "${printTable(table)}" affects zero rows`,
        path: nested.path,
      });
      sources.push(slot);
      for (const { local, remote } of nested.columns) own.set(local, (context) => keptValue(context, table, slot, remote));
    }
    const slot = kept === null && row.after.length > 0 ? this.program.takeSlot() : kept;
    const noParent: RaisedFailure = {
      code: 'not-supported',
      message: `cannot proceed to insert array relations since insert to table "${printTable(rows.table)}" affects zero rows`,
      path: row.path,
    };
    this.write(rows, own, { kind: 'values', rows: [row] }, { slot, required: row.after.length > 0 ? noParent : required });
    for (const source of sources) this.program.giveBack(source);
    if (slot === null) return;
    for (const nested of row.after) {
      const fill: Filled = new Map(
        nested.columns.map(({ local, remote }) => [remote, (context) => keptValue(context, rows.table, slot, local)]),
      );
      this.insert(nested.rows, fill, false);
    }
    if (kept === null) this.program.giveBack(slot);
  }

  private write(rows: InsertRows, filled: Filled, batch: Batch, keeping: Omit<Keeping, 'count'>): void {
    const count = !this.counts ? null : this.first ? 'first' : 'more';
    this.first = false;
    writeAndKeep(this.program, insertWrite(rows, filled, batch, this.root.path), { ...keeping, count });
  }
}

function printTable(table: QualifiedName): string {
  return table.schema === 'public' ? table.name : `${table.schema}.${table.name}`;
}
