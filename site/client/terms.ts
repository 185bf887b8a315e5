/** Terms of the search index and of queries. Names such as `_cne`, `--server-port` and `not-supported` are one term each. */

const NAME = /[\p{L}\p{N}_$@-]*[\p{L}\p{N}][\p{L}\p{N}_]*/gu;
const PART = /[\p{L}\p{N}]+/gu;

/** Names in a text, without the hyphens before an option. */
export function namesIn(text: string): string[] {
  return (text.toLowerCase().match(NAME) ?? []).map((name) => name.replace(/^[-@$]+/, ''));
}

/** Names in a text and the words that they consist of. */
export function termsIn(text: string): string[] {
  return namesIn(text).flatMap((name) => {
    const parts = name.match(PART) ?? [];
    return parts.length === 1 && parts[0] === name ? [name] : [name, ...parts];
  });
}

/** Words in the plural are found by the singular, and the other way round. Applies to words only: names are as they are. */
export function singular(term: string): string {
  return /^\p{L}{3,}s$/u.test(term) && !term.endsWith('ss') ? term.slice(0, -1) : term;
}
