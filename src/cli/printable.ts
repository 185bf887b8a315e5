/** Text for a terminal: names and messages may come from a service or a database, and must not control the terminal. */

/** Colours of `util/paint.ts`, and control characters except those of lines and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const CONTROLS = /\u001b\[(?:0|1|2|31|32|33|36)m|\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Returns a text with control characters as escapes such as `\\u001b`. @param colours whether colours stay */
export function printable(text: string, colours = false): string {
  return text.replace(CONTROLS, (found) =>
    colours && found.length > 1 ? found : found.replace(/^./s, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
