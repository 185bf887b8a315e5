/** SQL that may change what metadata depends on. A table that is new does not: nothing depends on it yet. */
const DEFINITION_WORDS = /\b(?:alter|drop|rename|replace|create function|comment on)\b/i;

/** Whether SQL contains a word of definitions that change existing objects. */
export function mayChangeCatalog(sql: string): boolean {
  return DEFINITION_WORDS.test(sql);
}
