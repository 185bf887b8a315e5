/** Separates names that an error suggests from sentences that say what to do: the service lists both as `suggestions`. */
import { type Json, textsIn } from './json.ts';

/** Messages about unknown fields, arguments, enum values and directives. */
const UNKNOWN = /^field '(\w+)' not found|no argument named '(\w+)'$|but found '(\w+)'$|^directive '(\w+)' is not defined/;
/** The message about a variable whose type does not fit; the type that does is suggested. */
const OTHER_TYPE = /^variable '\w+' is declared as '/;

export interface Suggestions {
  /** Names that may have been meant instead of the wrong one. */
  readonly names: readonly string[];
  /** Sentences that say what to do. */
  readonly remedies: readonly string[];
}

/** Returns the unknown name that an error is about. */
export function unknownName(message: string): string | undefined {
  return UNKNOWN.exec(message)
    ?.slice(1)
    .find((each) => each !== undefined);
}

/** @param json `suggestions` of an error of the service */
export function suggestionsOf(message: string, json: Json | undefined): Suggestions {
  const texts = textsIn(json);
  return UNKNOWN.test(message) || OTHER_TYPE.test(message) ? { names: texts, remedies: [] } : { names: [], remedies: texts };
}
