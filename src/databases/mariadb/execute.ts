/**
 * Prepared statements in a session. The driver does not tell how many warnings there were for rows, though the last packet of an answer
 * has the number: it is read from there, which saves a question to the server behind each statement.
 */
import type { Connection, PoolConnection, ResultSetHeader } from 'mysql2/promise';
import type { ResultBudget } from '../../backend/result-budget.ts';

export type Row = readonly (Buffer | null)[];

/** Cells are texts as they came. */
export interface Answer {
  /** Null where the statement gives none. */
  readonly rows: readonly Row[] | null;
  /** Rows that it has written. */
  readonly affectedRows: number;
  /** Whether the server warns of anything. */
  readonly warns: boolean;
}

/** What the answers of one or several statements are kept in. */
export interface Keeping {
  readonly intake: ResultBudget;
  /** What the statement writes stands, whatever becomes of its answer. */
  readonly isDone: boolean;
  /** Bytes, up to now. */
  taken: number;
}

const NO_ROW: Row = [];

/** What the driver's own command and packets are. */
interface DriverPacket {
  isEOF(): boolean;
  eofWarningCount(): number;
  readInt8(): number;
  readLengthCodedBuffer(): Buffer | null;
}
/** What a command does with the packet that comes; returns what it does with the next one. */
type Step = (this: DriverCommand, packet: DriverPacket) => Step;
interface DriverCommand {
  execute(packet: DriverPacket | null | undefined, connection: object): boolean;
  readField: Step;
  row: Step;
  readonly _fieldCount: number;
  _receivedFieldsCount: number;
  _rowParser: { next(packet: DriverPacket): Row };
  /** Ours: what is kept of a row that came. */
  takes?: (row: Row) => Row;
}
interface DriverConnection {
  execute(options: object, done: (error: Error | null, result: ResultSetHeader | readonly Row[]) => void): DriverCommand;
  query(text: string, done: (error: Error | null) => void): void;
}

/** Nobody asks what the columns are, all of them are texts: to read their descriptions takes longer than a small row. */
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

/** A row of the binary protocol: a byte, a bit for each column that is null, and the texts of the others. */
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
 * @param keeping of the cells; absent: all are
 * @throws Error of the driver, SvcError of an intake that takes no more
 */
export function execute(connection: Connection, text: string, values: readonly (string | null)[], keeping?: Keeping): Promise<Answer> {
  const driver = (connection as PoolConnection).connection as unknown as DriverConnection;
  return new Promise((resolve, reject) => {
    let warnings = 0;
    let isRefused = false;
    const command = driver.execute({ sql: text, values: [...values], rowsAsArray: true }, (error, result) => {
      if (error !== null) reject(error);
      else if (isRefused && keeping !== undefined) reject(keeping.intake.refusal(keeping.isDone));
      else if ('affectedRows' in result) resolve({ rows: null, affectedRows: result.affectedRows, warns: result.warningStatus !== 0 });
      else resolve({ rows: result, affectedRows: 0, warns: warnings !== 0 });
    });
    const read = command.execute;
    command.readField = skipColumn;
    if (keeping !== undefined) {
      command.takes = (row) => {
        let bytes = 0;
        for (const cell of row) bytes += cell?.length ?? 0;
        isRefused ||= !keeping.intake.take(bytes);
        if (isRefused) return NO_ROW;
        keeping.taken += bytes;
        return row;
      };
    }
    command.execute = function (packet, of) {
      if (packet?.isEOF() === true) warnings = packet.eofWarningCount();
      return read.call(this, packet, of);
    };
  });
}

/** A statement without values, rows and results: `commit`. @throws Error of the driver */
export function command(connection: Connection, text: string): Promise<void> {
  const driver = (connection as PoolConnection).connection as unknown as DriverConnection;
  return new Promise((resolve, reject) => driver.query(text, (error) => (error === null ? resolve() : reject(error))));
}
