/**
 * Data flow between the statements of one transaction, for databases in which a statement cannot read the rows of an earlier one: the
 * source keeps these rows. Statements are indexes in the transaction, cells are indexes in a row, and failures are indexes in
 * `failures` of the statement. Types only.
 */
export interface StatementFlow {
  /** Runs only if one of these returned a row. Default: always. */
  readonly ifAny?: readonly number[];
  /** Does not run if one of these found a row, returned or not. */
  readonly ifNone?: readonly number[];
  /** Parameters that the source sets from earlier rows. */
  readonly inputs: readonly FlowInput[];
  /** Cell that has to be `1` in every row. */
  readonly check?: { readonly cell: number; readonly failure: number };
  /** Cell that is `1` in the rows that are returned; other rows are only found. */
  readonly returned?: number;
  /** Statements that together have to return the same number of rows. */
  readonly sameCountAs?: { readonly statements: readonly number[]; readonly failure: number };
  /** Statements of which one has to have returned a row, checked after this statement whether or not it ran. */
  readonly requiresAny?: { readonly statements: readonly number[]; readonly failure: number };
  /** Handling of a row whose key exists: it is ignored, or the statements from `again` on run once more. */
  readonly onDuplicate?: 'ignore' | { readonly again: number };
  /** The text is repeated for each row of the request. */
  readonly rows?: RepeatedRows;
  /** Its cells hold related rows, which the database may truncate. */
  readonly mayBeCut?: boolean;
  /** Columns of its row in the answer. There is one row, whether or not the statement ran. */
  readonly outputs: readonly FlowOutput[];
}

export interface FlowInput {
  readonly parameter: number;
  readonly statements: readonly number[];
  readonly cell: number;
  /** See `TransactionLocalValue`. */
  readonly row: number | null;
}

export interface RepeatedRows {
  readonly before: string;
  /** Repeated for each row, separated by commas. */
  readonly row: string;
  readonly after: string;
  /** One item for each of the first parameters, which belong to `row`: whether its value is a JSON array with an item per row. */
  readonly lists: readonly boolean[];
}

export type FlowOutput =
  /** Number of rows that these wrote. */
  | { readonly kind: 'count'; readonly statements: readonly number[] }
  /** JSON of the rows of these: an array of all, or the first one. */
  | { readonly kind: 'list' | 'first'; readonly statements: readonly number[]; readonly cell: number };
