/** Entries of tables in the metadata. */
import { isList, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { TableAddress } from '../model/table-entry.ts';
import { labelOf } from '../model/steps.ts';
import { ask } from './metadata.ts';

export interface Entries {
  readonly version: number;
  /** In the order asked for; null for tables that are not tracked. */
  readonly entries: readonly (JsonObject | null)[];
}

function isSameTable(a: Json | undefined, b: Json): boolean {
  return a !== undefined && labelOf(withSchema(a)) === labelOf(withSchema(b));
}

function withSchema(table: Json): Json {
  return typeof table === 'string' ? { schema: 'public', name: table } : table;
}

/** @throws Failure */
export async function readEntries(tables: readonly TableAddress[], signal?: AbortSignal): Promise<Entries> {
  const only = { tables: tables.map(({ source, table }) => ({ source, table })) };
  const exported = await ask('export_metadata', { only }, { version: 2, signal });
  const { metadata, resource_version: version } = exported as JsonObject;
  const sources = isObject(metadata) && isList(metadata['sources']) ? metadata['sources'].filter(isObject) : [];
  return {
    version: Number(version),
    entries: tables.map(({ source, table }) => {
      const list = sources.find(({ name }) => name === source)?.['tables'];
      return (isList(list) ? list.filter(isObject) : []).find((entry) => isSameTable(entry['table'], table)) ?? null;
    }),
  };
}

/** The whole document. @throws Failure */
export async function readMetadata(signal?: AbortSignal): Promise<{ readonly version: number; readonly metadata: JsonObject }> {
  const exported = (await ask('export_metadata', {}, { version: 2, signal })) as JsonObject;
  return { version: Number(exported['resource_version']), metadata: exported['metadata'] as JsonObject };
}
