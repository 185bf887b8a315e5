/** Text for a terminal: names and messages may come from a service or a database, and must not control the terminal. */
import { STYLE_CODE } from '../util/paint.ts';

/** Control characters except line feeds and tabs, line separators, and characters that change the direction of a text. */
const CONTROL = String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]`;
const CONTROLS = new RegExp(CONTROL, 'g');
const STYLES_AND_CONTROLS = new RegExp(`${STYLE_CODE.source}|${CONTROL}`, 'g');

/** Control characters and ends of lines, those of Unicode included. */
const NOT_IN_A_LINE = /[\p{Cc}\u2028\u2029]/gu;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Returns a text as one line, with control characters and ends of lines as escapes such as `\u000a`. */
export function printableLine(text: string): string {
  return text.replace(NOT_IN_A_LINE, escaped);
}

/** Returns a text with control characters as escapes such as `\u001b`. @param colours whether the styles of `util/paint.ts` stay */
export function printable(text: string, colours = false): string {
  return text.replace(colours ? STYLES_AND_CONTROLS : CONTROLS, (found) => (found.length > 1 ? found : escaped(found)));
}

/** Returns a message for standard error. A line of it that looks like another message is indented. */
export function printableMessage(text: string): string {
  return printable(text).replace(/\n(?=(?:error|warning):)/g, '\n  ');
}
