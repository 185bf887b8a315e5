/** How the rows of a statement become its answer: their texts are JSON already, and are put together unread. */
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import type { TextCell } from './client/answers.ts';
import type { JsonRow, Statement } from '../../backend/connection.ts';

/** What stands in the rows of a statement. */
export type Layout =
  /** One root; each row has one cell, an object of its list, or the only object. */
  | { readonly kind: 'root'; readonly isList: boolean }
  /** Several; each row has the number of its root and such an object. */
  | { readonly kind: 'roots'; readonly isList: readonly boolean[] }
  /** Each row has what one key leads to; between two of them stands the value of a parameter that is not sent, and a semicolon. */
  | { readonly kind: 'keys'; readonly holeName: number };

export interface BigQueryStatement extends Statement {
  readonly layout: Layout;
}

/** @throws Error where the statement is not one of this kind of database */
export function layoutOf(statement: Statement): Layout {
  const { layout } = statement as Partial<BigQueryStatement>;
  if (layout === undefined) throw new Error('invariant: the statement is none of BigQuery');
  return layout;
}

type Row = readonly TextCell[];

/** One cell for each root, or one for the keys. */
export function answerOf(layout: Layout, rows: readonly Row[], values: readonly (string | null)[]): JsonRow {
  switch (layout.kind) {
    case 'root':
      return [cellOf(layout.isList, rows, 0)];
    case 'roots': {
      const byRoot: Row[][] = layout.isList.map(() => []);
      for (const row of rows) byRoot[Number((row[0] ?? []).join(''))]?.push(row);
      return layout.isList.map((isList, i) => cellOf(isList, byRoot[i] ?? [], 1));
    }
    case 'keys':
      return [joined(rows, 0, bytesOfText(`${values[layout.holeName] ?? ''};`))];
  }
}

const [OPEN, CLOSE, COMMA, NULL] = ['[', ']', ',', 'null'].map(bytesOfText) as [Bytes, Bytes, Bytes, Bytes];

/** Null: there is no such object. */
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
