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

/** A trigger with the table that it is of. */
export interface TableTrigger {
  readonly address: TableAddress;
  readonly trigger: JsonObject;
}

/** What the metadata says of a trigger. @throws Error when there is no such trigger */
export async function readTrigger(source: string, kind: string, name: string): Promise<TableTrigger> {
  const address = await addressOf(source, kind, name);
  const { entries } = await readEntries([address]);
  const trigger = memberOf(entries[0] ?? null, 'event_triggers', 'name', name);
  if (trigger === undefined) throw new Error(`There is no event trigger ${name} in ${source} any more.`);
  return { address, trigger };
}

/**
 * The change that puts another trigger in its place, or deletes it; as one of its table it can be undone.
 * @param before the trigger as it was stored when the draft began; undefined if it is deleted unseen
 * @throws Error when there is no such trigger
 */
export async function changeOfTrigger(
  source: string,
  kind: string,
  name: string,
  title: string,
  trigger: JsonObject | null,
  before?: JsonObject,
): Promise<Change> {
  const address = await addressOf(source, kind, name);
  return {
    title,
    tables: [address],
    review: trigger === null,
    steps: ([entry]) => {
      if (entry === null || entry === undefined) return [];
      return tableSteps(address, entry, withMember(entry, 'event_triggers', 'name', name, trigger));
    },
    ...(before === undefined
      ? {}
      : {
          draft: {
            before,
            now: ([entry]) => memberOf(entry ?? null, 'event_triggers', 'name', name) ?? null,
            after: () => trigger,
          },
        }),
  };
}
