/** Sections of the metadata, without the rest of the document. */
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import { ask } from './metadata.ts';

/** @returns an object with the sections that there are @throws Failure */
export async function readSections(sections: readonly string[], signal?: AbortSignal): Promise<JsonObject> {
  const exported = await ask('export_metadata', { only: { sections } }, { signal });
  return isObject(exported) ? exported : {};
}

/** The objects of a list; none where there is no list. */
export function objectsIn(json: Json | undefined): readonly JsonObject[] {
  return isList(json) ? json.filter(isObject) : [];
}
