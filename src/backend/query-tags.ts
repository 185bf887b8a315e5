/** What a statement says of the request that it is for, to people who look at the database. */
export interface QueryTags {
  /** Put before and behind the statement: a comment, or nothing. */
  readonly before: string;
  readonly after: string;
  /** The same without a text, for databases that know labels. Values are not encoded. */
  readonly labels: ReadonlyMap<string, string>;
  /** No other request has the same: statements with them will not come again. */
  readonly isUnique: boolean;
}

/** A statement's text with its comment. */
export function taggedText(text: string, tags: QueryTags | undefined): string {
  return tags === undefined ? text : tags.before + text + tags.after;
}
