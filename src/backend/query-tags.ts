/** Description of a request in the comment or labels of its statements, for administrators of the database. */
export interface QueryTags {
  /** Comment before and after the statement; either may be empty. */
  readonly before: string;
  readonly after: string;
  /** Labels for databases that have them. Values are not encoded. */
  readonly labels: ReadonlyMap<string, string>;
  /** True if no other request has the same tags: such statements are not worth preparing. */
  readonly isUnique: boolean;
}

/** Returns the text of a statement with its comment. */
export function taggedText(text: string, tags: QueryTags | undefined): string {
  return tags === undefined ? text : tags.before + text + tags.after;
}
