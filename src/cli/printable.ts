/** Text for a terminal: names and messages may come from a service or a database, and must not control the terminal. */
import { STYLE_CODE } from '../util/paint.ts';

/** Control characters except those of lines and tabs. */
const CONTROL = String.raw`\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]`;
const CONTROLS = new RegExp(CONTROL, 'g');
const STYLES_AND_CONTROLS = new RegExp(`${STYLE_CODE.source}|${CONTROL}`, 'g');

/** Returns a text with control characters as escapes such as `\u001b`. @param colours whether the styles of `util/paint.ts` stay */
export function printable(text: string, colours = false): string {
  return text.replace(colours ? STYLES_AND_CONTROLS : CONTROLS, (found) =>
    found.length > 1 ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
