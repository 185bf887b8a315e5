/** Assembles the rows of a statement into its answer. The texts of cells are JSON already and are not parsed. */
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import type { TextCell } from './client/answers.ts';
import type { JsonRow, Statement } from '../../backend/connection.ts';

/** Content of the rows of a statement. */
export type ResultLayout =
  /** One root; each row has one cell, an object of the list or the only object. */
  | { readonly kind: 'root'; readonly isList: boolean }
  /** Several roots; each row has the index of its root and an object. */
  | { readonly kind: 'roots'; readonly isList: readonly boolean[] }
  /** One cell for each key, joined with the value of a parameter that is not sent and a semicolon. */
  | { readonly kind: 'keys'; readonly placeholderName: number };

export interface BigQueryStatement extends Statement {
  readonly layout: ResultLayout;
}

/** @throws Error if the statement was not compiled for BigQuery */
export function layoutOf(statement: Statement): ResultLayout {
  const { layout } = statement as Partial<BigQueryStatement>;
  if (layout === undefined) throw new Error('invariant: the statement was compiled for another database');
  return layout;
}

type Row = readonly TextCell[];

/** Returns one cell for each root, or a single one for keys. */
export function answerOf(layout: ResultLayout, rows: readonly Row[], values: readonly (string | null)[]): JsonRow {
  switch (layout.kind) {
    case 'root':
      return [cellOf(layout.isList, rows, 0)];
    case 'roots': {
      const byRoot: Row[][] = layout.isList.map(() => []);
      for (const row of rows) byRoot[Number((row[0] ?? []).join(''))]?.push(row);
      return layout.isList.map((isList, i) => cellOf(isList, byRoot[i] ?? [], 1));
    }
    case 'keys':
      return [joined(rows, 0, bytesOfText(`${values[layout.placeholderName] ?? ''};`))];
  }
}

const [OPEN, CLOSE, COMMA, NULL] = ['[', ']', ',', 'null'].map(bytesOfText) as [Bytes, Bytes, Bytes, Bytes];

/** Returns `null` if there is no object. */
function cellOf(isList: boolean, rows: readonly Row[], column: number): readonly Bytes[] | null {
  if (!isList) return rows[0] === undefined ? null : joined(rows.slice(0, 1), column, COMMA);
  const pieces = joined(rows, column, COMMA);
  pieces.unshift(OPEN);
  pieces.push(CLOSE);
  return pieces;
}

function joined(rows: readonly Row[], column: number, separator: Bytes): Bytes[] {
  const pieces: Bytes[] = [];
  for (const row of rows) {
    if (pieces.length > 0) pieces.push(separator);
    for (const piece of row[column] ?? [NULL]) pieces.push(piece);
  }
  return pieces;
}
