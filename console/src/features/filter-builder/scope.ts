/** Columns and relationships that conditions on a table can use. */
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

const MAX_CACHED = 200;
const cache = new Map<string, Promise<TableInfo>>();

/** Reads the description of a table, cached per version of the metadata. @throws Failure */
export async function scopeOf(table: TableOverview): Promise<Scope> {
  const key = JSON.stringify([overview.peek()?.version, table.source, tableId(table)]);
  const found = cache.get(key) ?? readTableInfo(table);
  cache.set(key, found);
  found.catch(() => cache.delete(key));
  for (const old of [...cache.keys()].slice(0, Math.max(0, cache.size - MAX_CACHED))) cache.delete(old);
  return { table, info: await found };
}

/** Relationships of a table within its source, with their target tables. */
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

/** Finds a table by its name in a condition, such as `_exists`. */
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
