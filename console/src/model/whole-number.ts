/** Reads the whole number in a form field. @param label of the field, for the message @throws Error for anything else */
export function wholeNumberOf(text: string, label: string): number {
  if (!/^\d{1,15}$/.test(text.trim())) throw new Error(`${label}: enter a whole number.`);
  return Number(text);
}
