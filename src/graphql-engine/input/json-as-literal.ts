/** JSON as GraphQL literals, for documents to other servers. */
import { isJsonArray, isJsonNumber, type Json, numberText } from '../../util/json.ts';
import { isGraphqlName } from '../../model/graphql-name.ts';

/** Half of a surrogate pair, which GraphQL rejects in strings. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Returns `null` for JSON that GraphQL cannot express: keys that are not names, texts that are not valid Unicode.
 * @param isEnum if true, texts are names of enum values
 */
export function jsonAsLiteral(json: Json, isEnum = false): string | null {
  if (json === null || typeof json === 'boolean') return String(json);
  if (isJsonNumber(json)) return numberText(json);
  if (typeof json === 'string') {
    if (isEnum) return isGraphqlName(json) ? json : null;
    return LONE_SURROGATE.test(json) ? null : JSON.stringify(json);
  }
  const isList = isJsonArray(json);
  const parts: string[] = [];
  for (const [key, value] of Object.entries(json)) {
    const text = jsonAsLiteral(value as Json, isEnum);
    if (text === null || !(isList || isGraphqlName(key))) return null;
    parts.push(isList ? text : `${key}: ${text}`);
  }
  return isList ? `[${parts.join(', ')}]` : `{${parts.join(', ')}}`;
}
