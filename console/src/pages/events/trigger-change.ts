import type { Change } from '../../api/changes.ts';
import { readEntries } from '../../api/entries.ts';
import { ask } from '../../api/metadata.ts';
import { objectsIn } from '../../api/sections.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { memberOf, type TableAddress, tableSteps, withMember } from '../../model/table-entry.ts';

/** @throws Error when there is no such trigger */
async function addressOf(source: string, kind: string, name: string): Promise<TableAddress> {
  const summary = await ask('get_event_summary', {});
  const triggers = isObject(summary) ? objectsIn(summary['event_triggers']) : [];
  const table = triggers.find((each) => each['source'] === source && each['name'] === name)?.['table'];
  if (table === undefined) throw new Error(`There is no event trigger ${name} in ${source} any more.`);
  return { source, kind, table };
}

/** What the metadata says of a trigger. @throws Error when there is no such trigger */
export async function readTrigger(source: string, kind: string, name: string): Promise<JsonObject> {
  const { entries } = await readEntries([await addressOf(source, kind, name)]);
  const trigger = memberOf(entries[0] ?? null, 'event_triggers', 'name', name);
  if (trigger === undefined) throw new Error(`There is no event trigger ${name} in ${source} any more.`);
  return trigger;
}

/**
 * The change that puts another trigger in its place, or deletes it; as one of its table it can be undone.
 * @throws Error when there is no such trigger
 */
export async function changeOfTrigger(
  source: string,
  kind: string,
  name: string,
  title: string,
  trigger: JsonObject | null,
): Promise<Change> {
  const address = await addressOf(source, kind, name);
  return {
    title,
    tables: [address],
    review: trigger === null,
    steps: ([entry]) =>
      entry === null || entry === undefined ? [] : tableSteps(address, entry, withMember(entry, 'event_triggers', 'name', name, trigger)),
  };
}
