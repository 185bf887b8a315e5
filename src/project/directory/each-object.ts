/** Visits the objects of a list of the document. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { DocumentPath } from './read-metadata.ts';

export function eachObject(list: Json | undefined, at: DocumentPath, visit: (item: JsonObject, at: DocumentPath) => void): void {
  if (isJsonArray(list)) for (const [i, item] of list.entries()) if (isJsonObject(item)) visit(item, [...at, i]);
}
