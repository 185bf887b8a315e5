/** Lists in session variables, for databases that do not read them. */
import { isJsonArray, type Json, parseJson } from '../../util/json.ts';

/** Returns the items of a list, of a text with a JSON array or with items in braces, or the one value; `null` for any other text. */
export function listItems(json: Json): readonly Json[] | null {
  if (isJsonArray(json)) return json;
  if (typeof json !== 'string') return [json];
  const text = json.trim();
  if (text.startsWith('[')) return parsedItems(text);
  return text.startsWith('{') && text.endsWith('}') ? bracedItems(text.slice(1, -1)) : null;
}

function parsedItems(text: string): readonly Json[] | null {
  try {
    const parsed = parseJson(text);
    return isJsonArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Reads `a,"b c",null`; returns `null` for any other text. */
function bracedItems(text: string): readonly Json[] | null {
  const items: Json[] = [];
  if (text.trim() === '') return items;
  const item = /\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}]*?))\s*(,|$)/suy;
  for (;;) {
    const found = item.exec(text);
    if (found === null) return null;
    const [, quoted, plain = '', end] = found;
    if (quoted === undefined && plain === '') return null;
    items.push(quoted !== undefined ? quoted.replaceAll(/\\(.)/gsu, '$1') : /^null$/i.test(plain) ? null : plain);
    if (end === '') return items;
  }
}
