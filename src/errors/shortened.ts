/** Maximum length of a client's name or value in a message, in characters. */
const LONGEST = 200;

/** Returns a client's text for a message, truncated if it is long. */
export function shortened(text: string, longest: number = LONGEST): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`;
}
