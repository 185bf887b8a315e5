/**
 * How the statements of one transaction depend on each other's rows, for databases in which a statement cannot hand rows to the
 * next one: the source keeps them and does what is said here. Statements are named by their place in the transaction, cells by
 * their place in a row, failures by their place in `failures` of the statement. Types only.
 */
export interface StatementFlow {
  /** It is only run where one of these has given a row; absent: it always is. */
  readonly ifAny?: readonly number[];
  /** It is not run where one of these has met a row, given or not. */
  readonly ifNone?: readonly number[];
  /** Parameters that the source fills. */
  readonly takes: readonly Taken[];
  /** What has to hold in every row: a cell with the text `1`. */
  readonly check?: { readonly cell: number; readonly failure: number };
  /** Rows without the text `1` in this cell are met, but not given. */
  readonly given?: number;
  /** It has to give as many rows as these together. */
  readonly sameAs?: { readonly statements: readonly number[]; readonly failure: number };
  /** These have to give a row, one of them: asked behind this statement, whether it was run or not. */
  readonly some?: { readonly statements: readonly number[]; readonly failure: number };
  /** What becomes of a row that is there already: it is left alone, or looked for again, from that statement on. */
  readonly onDuplicate?: 'ignore' | { readonly again: number };
  /** The text stands for one with as many rows as the request has. */
  readonly rows?: RepeatedRows;
  /** Its cells hold related rows, which the database may have cut. */
  readonly mayBeCut?: true;
  /** The columns of its row in the answer. There is always one, whether the statement was run or not. */
  readonly gives: readonly GivenCell[];
}

export interface Taken {
  readonly parameter: number;
  readonly statements: readonly number[];
  readonly cell: number;
  /** See `KeptValue`. */
  readonly row: number | null;
}

export interface RepeatedRows {
  readonly before: string;
  /** Comes once for each row, with commas between. */
  readonly row: string;
  readonly after: string;
  /** How many of the parameters are those of `row`; they come first. Of each, whether its value is a JSON array, an item for each row. */
  readonly lists: readonly boolean[];
}

export type GivenCell =
  /** How many rows these have written. */
  | { readonly kind: 'count'; readonly statements: readonly number[] }
  /** The JSON of the rows of these: all as an array, or the first one alone. */
  | { readonly kind: 'list' | 'first'; readonly statements: readonly number[]; readonly cell: number };
