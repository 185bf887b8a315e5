/** What conditions on rows of a table may speak of: its columns and relationships. */
import { overview } from '../../api/overview.ts';
import { readTableInfo, type TableInfo } from '../../api/table-info.ts';
import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { findTable, type Overview, type TableOverview, tableId } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { membersOf } from '../../model/table-entry.ts';

export interface Scope {
  readonly table: TableOverview;
  readonly info: TableInfo;
}

const MOST_KEPT = 200;
const kept = new Map<string, Promise<TableInfo>>();

/** The description of a table, of this version of the metadata. @throws Failure */
export async function scopeOf(table: TableOverview): Promise<Scope> {
  const key = JSON.stringify([overview.peek()?.version, table.source, tableId(table)]);
  const found = kept.get(key) ?? readTableInfo(table);
  kept.set(key, found);
  found.catch(() => kept.delete(key));
  for (const old of [...kept.keys()].slice(0, Math.max(0, kept.size - MOST_KEPT))) kept.delete(old);
  return { table, info: await found };
}

/** The relationships of a table within its source, with the tables that they lead to. */
export function relationsOf(
  { table, info }: Scope,
  data: Overview,
): readonly { readonly name: string; readonly target: TableOverview | undefined }[] {
  return ['object_relationships', 'array_relationships'].flatMap((key) =>
    membersOf(info.entry, key).map((member) => {
      const target = targetOf(member, info);
      return { name: String(member['name']), target: target === undefined ? undefined : tableNamed(data, table, target) };
    }),
  );
}

/** The table that a condition names, as `_exists` does. */
export function tableNamed(data: Overview, near: TableOverview, named: Json): TableOverview | undefined {
  const id = typeof named === 'string' ? named : labelOf(named);
  const defaultSchema = data.sources.find(({ name }) => name === near.source)?.defaultSchema ?? '';
  return findTable(data, near.source, id) ?? findTable(data, near.source, `${defaultSchema}.${id}`);
}

function targetOf(member: JsonObject, info: TableInfo): Json | undefined {
  const using = isObject(member['using']) ? member['using'] : {};
  const key = using['foreign_key_constraint_on'];
  if (isObject(key) && key['table'] !== undefined) return key['table'];
  if (typeof key === 'string' || isList(key)) {
    const columns = isList(key) ? key.map(String).join() : key;
    return info.foreignKeys.find((each) => each.columns.map(([column]) => column).join() === columns)?.table;
  }
  const manual = using['manual_configuration'];
  return isObject(manual) ? manual['remote_table'] : undefined;
}
