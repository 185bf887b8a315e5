/** Introspection of strict tables, whose columns have fixed types. */
import { stableId } from '../../../src/databases/shared/stable-id.ts';
import {
  type Catalog,
  type CatalogColumn,
  type CatalogForeignKey,
  type CatalogKey,
  type CatalogScope,
  type CatalogTable,
  nameKey,
} from '../../../src/catalog/catalog.ts';
import { groupBy } from '../../../src/util/group-by.ts';
import { isOffered, typeOf } from './types.ts';

type Row = readonly (string | null)[];

const STRICT = "t.schema = 'main' and t.type = 'table' and t.strict and t.name not like 'sqlite\\_%' escape '\\'";
const READS = {
  tables: `select t.name from pragma_table_list as t where ${STRICT} order by t.name`,
  columns: `select t.name, c.name, c.type, c.\`notnull\`, c.pk, c.hidden, c.cid from pragma_table_list as t join pragma_table_xinfo(t.name) as c where ${STRICT} order by c.cid`,
  unique: `select t.name, i.name, c.name from pragma_table_list as t join pragma_index_list(t.name) as i join pragma_index_info(i.name) as c where ${STRICT} and i.origin = 'u' order by i.seq, c.seqno`,
  references: `select t.name, f.id, f.\`table\`, f.\`from\`, f.\`to\` from pragma_table_list as t join pragma_foreign_key_list(t.name) as f where ${STRICT} order by f.id, f.seq`,
};

/** @param query returns the rows of a statement */
export async function readCatalog(query: (text: string) => Promise<readonly Row[]>, scope: CatalogScope = {}): Promise<Catalog> {
  const read = async (text: string): Promise<ReadonlyMap<string, readonly Row[]>> => groupBy(await query(text), ([table]) => table ?? '');
  const [columns, unique, references] = [await read(READS.columns), await read(READS.unique), await read(READS.references)];
  const requested = scope.tables === undefined ? null : new Set(scope.tables.map(nameKey));
  const tables = new Map<string, CatalogTable>();
  for (const [name = ''] of await query(READS.tables)) {
    const key = nameKey({ schema: 'main', name: name ?? '' });
    if (requested?.has(key) === false) continue;
    const rows = (table: ReadonlyMap<string, readonly Row[]>): readonly Row[] => table.get(name ?? '') ?? [];
    tables.set(key, tableOf(name ?? '', rows(columns), rows(unique), rows(references)));
  }
  return { tables, functions: new Map(), version: 0 };
}

function tableOf(name: string, columns: readonly Row[], unique: readonly Row[], references: readonly Row[]): CatalogTable {
  const keyed = columns.filter(([, , , , pk]) => pk !== '0').sort((a, b) => Number(a[4]) - Number(b[4]));
  return {
    id: stableId(name),
    name: { schema: 'main', name },
    kind: 'table',
    comment: null,
    columns: columns.flatMap(columnOf),
    stored: true,
    // The file is read only once.
    snapshotBound: true,
    primaryKey: keyed.length === 0 ? null : { name: `${name}_pkey`, columns: keyed.map(([, column]) => column ?? '') },
    uniqueConstraints: [...groupBy(unique, ([, index]) => index ?? '')].map(
      ([index, rows]): CatalogKey => ({ name: index, columns: rows.map(([, , column]) => column ?? '') }),
    ),
    otherConstraints: [],
    foreignKeys: [...groupBy(references, ([, id]) => id)].flatMap(([id, rows]) => foreignKeyOf(`${name}_fkey_${id ?? ''}`, rows)),
    insertable: false,
    updatable: false,
    deletable: false,
  };
}

/** Columns of other types, and those with names that statements reserve, are not offered. */
function columnOf([, name = '', declared, notNull, pk, hidden, position]: Row): readonly CatalogColumn[] {
  const type = declared === 'INT' ? 'INTEGER' : (declared ?? '');
  if (name === null || name.startsWith(':') || !isOffered(type)) return [];
  return [
    {
      name,
      type: typeOf(type),
      nullable: notNull === '0' && pk === '0',
      hasDefault: false,
      generated: hidden !== '0',
      identity: false,
      comment: null,
      position: Number(position),
    },
  ];
}

/** References without named target columns are not offered. */
function foreignKeyOf(name: string, rows: readonly Row[]): readonly CatalogForeignKey[] {
  const [, , target = ''] = rows[0] ?? [];
  if (rows.some(([, , , , to]) => to === null || to === undefined)) return [];
  return [
    {
      name,
      columns: rows.map(([, , , from]) => from ?? ''),
      target: { schema: 'main', name: target ?? '' },
      targetColumns: rows.map(([, , , , to]) => to ?? ''),
      // SQLite checks them only in sessions that enable it.
      unvalidated: true,
    },
  ];
}
