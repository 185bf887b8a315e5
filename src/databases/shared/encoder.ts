/**
 * Encoders of kinds whose database reads a text that does not fit its type as another value, or refuses it only when it meets a row:
 * the service checks such texts itself. No number passes through an IEEE double.
 */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { Operand } from '../../ir/value.ts';
import { isJsonNumber, type Json, numberText, printJson } from '../../util/json.ts';
import { listItems } from './list-items.ts';
import { jsonText, refuseValue } from './value-text.ts';

/** Returns the text of a parameter; `null` for SQL NULL. @throws SvcError data-exception */
export type ValueEncoding = (json: Json) => string | null;

interface ScalarTexts {
  /** Returns whether values of the type are JSON documents. */
  isJson(type: CatalogType): boolean;
  /**
   * Returns the text that the database reads as a value.
   * @param text of a string, number or other JSON value
   * @throws SvcError data-exception
   */
  scalar(type: CatalogType, text: string): string;
}

/** Returns the encoder of a kind. It encodes a list as a JSON array of texts. */
export function encoderOf({ isJson, scalar }: ScalarTexts): (operand: Operand) => ValueEncoding {
  return ({ type, list, value }) => {
    const encode = (json: Json): string => {
      if (isJson(type)) return value.kind === 'session' && typeof json === 'string' ? jsonText(type, json) : printJson(json);
      return scalar(type, typeof json === 'string' ? json : isJsonNumber(json) ? numberText(json) : printJson(json));
    };
    const orNull = (json: Json): string | null => (json === null ? null : encode(json));
    // A list in a session variable has the type of an array.
    if (!list && !type.array) return orNull;
    return (json) => (json === null ? null : JSON.stringify((listItems(json) ?? refuseValue(type, json)).map(orNull)));
  };
}
