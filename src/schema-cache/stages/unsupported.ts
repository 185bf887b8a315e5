import type { Metadata } from '../../metadata/metadata.ts';
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { inconsistent } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency } from '../schema-cache.ts';

/** The record type of a section's entries. */
const TYPES: Readonly<Record<string, string>> = {
  remote_schemas: 'remote_schema',
  actions: 'action',
  cron_triggers: 'cron_trigger',
};

const NAME_KEYS = ['name'];

function nameOf(section: string, entry: Json): string {
  if (isJsonObject(entry)) {
    for (const key of NAME_KEYS) {
      const name = entry[key];
      if (typeof name === 'string') return name;
    }
  }
  return section;
}

/** Objects of features that do not exist here are reported, so that none is silently without effect. */
export function unsupportedSections(metadata: Metadata): readonly Inconsistency[] {
  const records: Inconsistency[] = [];
  for (const [section, json] of metadata.other) {
    const type = TYPES[section] ?? section;
    for (const entry of isJsonArray(json) ? json : [json]) {
      const name = nameOf(section, entry);
      const object = { objectId: objectId.section(section, name), type, name: `${type} ${name}`, definition: entry };
      records.push(inconsistent(object, `${section} are not supported yet`));
    }
  }
  return records;
}
