/**
 * Prepared statements of a session. The driver does not report the number of warnings for statements with rows, but the last packet of
 * an answer contains it; reading it there saves a round trip for each statement.
 */
import type { Connection, PoolConnection, ResultSetHeader } from 'mysql2/promise';
import type { ResultBudget } from '../../backend/result-budget.ts';

export type Row = readonly (Buffer | null)[];

/** Cells are texts as sent by the server. */
export interface ExecutionResult {
  /** `null` if the statement returns no rows. */
  readonly rows: readonly Row[] | null;
  readonly affectedRows: number;
  readonly warns: boolean;
}

/** Reservation of result memory for the answers of one or several statements. */
export interface ResultReservation {
  readonly budget: ResultBudget;
  /** The statement commits, whatever happens to its answer. */
  readonly isDone: boolean;
  /** Bytes reserved so far. */
  bytes: number;
}

const NO_ROW: Row = [];

/** Internals of the driver. */
interface DriverPacket {
  isEOF(): boolean;
  eofWarningCount(): number;
  readInt8(): number;
  readLengthCodedBuffer(): Buffer | null;
}
/** Handles a packet and returns the handler of the next one. */
type Step = (this: DriverCommand, packet: DriverPacket) => Step;
interface DriverCommand {
  execute(packet: DriverPacket | null | undefined, connection: object): boolean;
  readField: Step;
  row: Step;
  readonly _fieldCount: number;
  _receivedFieldsCount: number;
  _rowParser: { next(packet: DriverPacket): Row };
  /** Added here: reserves memory for a row. */
  takes?: (row: Row) => Row;
}
interface DriverConnection {
  execute(options: object, done: (error: Error | null, result: ResultSetHeader | readonly Row[]) => void): DriverCommand;
  query(text: string, done: (error: Error | null) => void): void;
}

/** Skips column descriptions: all columns are texts, and reading the descriptions takes longer than a small row. */
const skipColumn: Step = function () {
  return ++this._receivedFieldsCount < this._fieldCount ? skipColumn : endColumns;
};
const endColumns: Step = function () {
  const { takes } = this;
  this._rowParser = {
    next: (packet) => {
      const row = cellsOf(packet, this._fieldCount);
      return takes === undefined ? row : takes(row);
    },
  };
  return this.row;
};

/** Reads a row of the binary protocol: one byte, a bit for each null column, and the texts of the others. */
function cellsOf(packet: DriverPacket, count: number): Row {
  packet.readInt8();
  const nulls: number[] = [];
  for (let left = count + 2; left > 0; left -= 8) nulls.push(packet.readInt8());
  const cells: (Buffer | null)[] = [];
  for (let bit = 2; bit < count + 2; bit++) {
    const isNull = ((nulls[bit >> 3] as number) >> (bit & 7)) & 1;
    cells.push(isNull === 1 ? null : packet.readLengthCodedBuffer());
  }
  return cells;
}

/**
 * @param reservation for the cells; without one, they are not limited
 * @throws Error of the driver, SvcError if the budget is exhausted
 */
export function execute(
  connection: Connection,
  text: string,
  values: readonly (string | null)[],
  reservation?: ResultReservation,
): Promise<ExecutionResult> {
  const driver = (connection as PoolConnection).connection as unknown as DriverConnection;
  return new Promise((resolve, reject) => {
    let warnings = 0;
    let isRefused = false;
    const command = driver.execute({ sql: text, values: [...values], rowsAsArray: true }, (error, result) => {
      if (error !== null) reject(error);
      else if (isRefused && reservation !== undefined) reject(reservation.budget.refusal(reservation.isDone));
      else if ('affectedRows' in result) resolve({ rows: null, affectedRows: result.affectedRows, warns: result.warningStatus !== 0 });
      else resolve({ rows: result, affectedRows: 0, warns: warnings !== 0 });
    });
    const read = command.execute;
    command.readField = skipColumn;
    if (reservation !== undefined) {
      command.takes = (row) => {
        let bytes = 0;
        for (const cell of row) bytes += cell?.length ?? 0;
        isRefused ||= !reservation.budget.take(bytes);
        if (isRefused) return NO_ROW;
        reservation.bytes += bytes;
        return row;
      };
    }
    command.execute = function (packet, of) {
      if (packet?.isEOF() === true) warnings = packet.eofWarningCount();
      return read.call(this, packet, of);
    };
  });
}

/** Runs a statement without values, rows and result, such as `commit`. @throws Error of the driver */
export function command(connection: Connection, text: string): Promise<void> {
  const driver = (connection as PoolConnection).connection as unknown as DriverConnection;
  return new Promise((resolve, reject) => driver.query(text, (error) => (error === null ? resolve() : reject(error))));
}
