import { type JsonObject, objectOf } from '../model/json.ts';
import { readOperation } from './metadata.ts';

/** Reads sections of the metadata without the rest of the document. @throws Failure */
export async function readSections(sections: readonly string[], signal?: AbortSignal): Promise<JsonObject> {
  return objectOf(await readOperation('export_metadata', { only: { sections } }, { signal }));
}
