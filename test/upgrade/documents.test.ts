/** Documents of earlier releases load in this one: consistent, and complete. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

const folder = new URL('./documents/', import.meta.url);
const names = readdirSync(folder).filter((name) => /^\d.*\.json$/.test(name));
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { HOOK_URL: 'http://127.0.0.1:9' });
  await service.sql(read('database.sql'));
});
afterAll(() => service.stop());

/** Paths and values of a document that are missing in another, which may have more keys. */
function missing(in_: Json | undefined, json: Json, path = '$'): readonly string[] {
  if (isJsonArray(json)) {
    if (!isJsonArray(in_)) return [path];
    // The order of lists of objects does not matter.
    return json.flatMap((item, i) => (in_.some((other) => missing(other, item).length === 0) ? [] : [`${path}[${i}]`]));
  }
  if (!isJsonObject(json)) return in_ !== undefined && JSON.stringify(in_) === JSON.stringify(json) ? [] : [path];
  return Object.entries(json).flatMap(([key, value]) => missing(isJsonObject(in_) ? in_[key] : undefined, value as Json, `${path}.${key}`));
}

it('has documents of at least three releases', () => {
  expect(names.length).toBeGreaterThanOrEqual(3);
});

it.each(names)('loads the metadata of the release %s', async (name) => {
  const metadata = parseJson(read(name)) as JsonObject;
  expect(await service.metadata('replace_metadata', { metadata, allow_inconsistent_metadata: false }, { version: 2 })).toMatchObject({
    is_consistent: true,
  });
  expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true, inconsistent_objects: [] });
  const exported = await service.metadata('export_metadata', {});
  expect(missing(exported, metadata)).toEqual([]);
});
