/** JSON as a literal of GraphQL, for documents to other servers. */
import { isJsonArray, isJsonNumber, type Json, numberText } from '../../util/json.ts';

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;
/** Half of a pair: GraphQL refuses it in texts. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Returns `null` for what GraphQL cannot write: keys that are no names, texts that are no Unicode.
 * @param isEnum texts are names of enum values
 */
export function literalText(json: Json, isEnum = false): string | null {
  if (json === null || typeof json === 'boolean') return String(json);
  if (isJsonNumber(json)) return numberText(json);
  if (typeof json === 'string') {
    if (isEnum) return NAME.test(json) ? json : null;
    return LONE_SURROGATE.test(json) ? null : JSON.stringify(json);
  }
  const isList = isJsonArray(json);
  const parts: string[] = [];
  for (const [key, value] of Object.entries(json)) {
    const text = literalText(value as Json, isEnum);
    if (text === null || !(isList || NAME.test(key))) return null;
    parts.push(isList ? text : `${key}: ${text}`);
  }
  return isList ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
}
