/**
 * Prepared statements in a session. The driver does not tell how many warnings there were for rows, though the last packet of an answer
 * has the number: it is read from there, which saves a question to the server behind each statement.
 */
import type { Connection, FieldPacket, PoolConnection, ResultSetHeader } from 'mysql2/promise';

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

/** What the driver's own command and packets are. */
interface DriverPacket {
  isEOF(): boolean;
  eofWarningCount(): number;
}
interface DriverCommand {
  execute(packet: DriverPacket | null | undefined, connection: object): boolean;
}
interface DriverConnection {
  execute(
    options: object,
    done: (error: Error | null, result: ResultSetHeader | readonly Row[], fields: readonly FieldPacket[] | undefined) => void,
  ): DriverCommand;
  query(text: string, done: (error: Error | null) => void): void;
}

const typeCast = (field: { buffer(): Buffer | null }): Buffer | null => field.buffer();

/** @throws Error of the driver */
export function execute(connection: Connection, text: string, values: readonly (string | null)[]): Promise<Answer> {
  const driver = (connection as PoolConnection).connection as unknown as DriverConnection;
  return new Promise((resolve, reject) => {
    let warnings = 0;
    const command = driver.execute({ sql: text, values: [...values], rowsAsArray: true, typeCast }, (error, result) => {
      if (error !== null) reject(error);
      else if ('affectedRows' in result) resolve({ rows: null, affectedRows: result.affectedRows, warns: result.warningStatus !== 0 });
      else resolve({ rows: result, affectedRows: 0, warns: warnings !== 0 });
    });
    const read = command.execute;
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
