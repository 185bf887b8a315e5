/** Colours of texts on a terminal. */

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Returns a text with a style. */
export type Paint = (style: Style, text: string) => string;

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

/** Matches the beginning or the end of a styled text. */
export const STYLE_CODE = new RegExp(`\\u001b\\[(?:0|${Object.values(CODES).join('|')})m`);

/** Returns whether a stream shows colours. `NO_COLOR` (https://no-color.org) disables them. */
export function hasColours(terminal: boolean, environment: Readonly<Record<string, string | undefined>>): boolean {
  return terminal && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
}

/** Returns whether the output of a command has colours: `FORCE_COLOR` decides if it is set, such as in the log of a CI job. */
export function hasColoursOrForced(terminal: boolean, environment: Readonly<Record<string, string | undefined>>): boolean {
  const forced = environment['FORCE_COLOR'];
  return forced === undefined ? hasColours(terminal, environment) : forced !== '0' && forced !== 'false';
}

/** Returns the function for texts with colours, or that for texts without. */
export function painter(colour: boolean): Paint {
  return colour ? (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m` : (_style, text) => text;
}
