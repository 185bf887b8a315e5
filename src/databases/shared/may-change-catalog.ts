/** Words of SQL that may change objects that metadata depend on. `create table` is none of them: nothing depends on a new table. */
const DEFINITION_WORDS = /\b(?:alter|drop|rename|replace|create function|comment on)\b/i;

/** Returns whether SQL contains a word of definitions that change existing objects. */
export function mayChangeCatalog(sql: string): boolean {
  return DEFINITION_WORDS.test(sql);
}
