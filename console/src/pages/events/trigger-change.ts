import type { Change } from '../../api/changes.ts';
import { readEntries } from '../../api/entries.ts';
import { readOperation } from '../../api/metadata.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { memberOf, type TableAddress, tableSteps, withMember } from '../../model/table-entry.ts';

/** @throws Error if the trigger does not exist */
async function addressOf(source: string, kind: string, name: string): Promise<TableAddress> {
  const summary = await readOperation('get_event_summary', {});
  const triggers = isObject(summary) ? objectsIn(summary['event_triggers']) : [];
  const table = triggers.find((each) => each['source'] === source && each['name'] === name)?.['table'];
  if (table === undefined) throw new Error(`The event trigger ${name} no longer exists in ${source}.`);
  return { source, kind, table };
}

/** A trigger with its table. */
export interface TableTrigger {
  readonly address: TableAddress;
  readonly trigger: JsonObject;
}

/** Reads a trigger from the metadata. @throws Error if the trigger does not exist */
export async function readTrigger(source: string, kind: string, name: string): Promise<TableTrigger> {
  const address = await addressOf(source, kind, name);
  const { entries } = await readEntries([address]);
  const trigger = memberOf(entries[0] ?? null, 'event_triggers', 'name', name);
  if (trigger === undefined) throw new Error(`The event trigger ${name} no longer exists in ${source}.`);
  return { address, trigger };
}

/**
 * Replaces a trigger, or deletes it with `null`. Being a change of its table, it can be undone.
 * @param before trigger as it was stored when the draft began; undefined if none was read
 * @throws Error if the trigger does not exist
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
