/** Characters of a client's text that a message repeats. */
const LONGEST = 200;

/** A text of a client as a message may repeat it: what is long is cut. */
export function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${text.length} characters)`;
}
