/** Source of a regular expression with one group: a name in SQL without comments, with or without a schema and quotes. */
export const SQL_NAME = String.raw`((?:"[^"]*"|${'`'}[^${'`'}]*${'`'}|[\p{L}\p{N}_$]+)(?:\s*\.\s*(?:"[^"]*"|${'`'}[^${'`'}]*${'`'}|[\p{L}\p{N}_$]+))*)`;
