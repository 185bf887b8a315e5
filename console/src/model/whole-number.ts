/** The whole number that a field holds. @param what it is, for the message @throws Error where it holds something else */
export function wholeNumberOf(text: string, what: string): number {
  if (!/^\d{1,15}$/.test(text.trim())) throw new Error(`${what} is a whole number.`);
  return Number(text);
}
