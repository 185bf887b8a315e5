/** Characters of a name or value of a client that a message repeats. */
const LONGEST = 200;

/** A text of a client as a message may repeat it: what is long is cut. */
export function shortened(text: string, longest: number = LONGEST): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`;
}
