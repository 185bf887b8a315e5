/** Introspection from the `INFORMATION_SCHEMA` views of each dataset. */
import { stableId } from '../shared/stable-id.ts';
import {
  type Catalog,
  type CatalogColumn,
  type CatalogFunction,
  type CatalogScope,
  type CatalogTable,
  type CatalogTableKind,
  nameKey,
  type QualifiedName,
} from '../../catalog/catalog.ts';
import { runCooperatively, type Cooperative } from '../../util/cooperative.ts';
import { isReservedName } from './compile/dialect.ts';
import { parseType, baseType } from './base-type.ts';

type Row = readonly (string | null)[];
export type CatalogQuery = (text: string) => Promise<readonly Row[]>;

const KINDS: Readonly<Record<string, CatalogTableKind>> = {
  'BASE TABLE': 'table',
  CLONE: 'table',
  SNAPSHOT: 'table',
  EXTERNAL: 'foreign-table',
  VIEW: 'view',
  'MATERIALIZED VIEW': 'materialized-view',
};

const OF_TABLES = ['tables', 'columns', 'descriptions', 'options'] as const;
const OF_FUNCTIONS = ['routines', 'parameters'] as const;
type View = (typeof OF_TABLES)[number] | (typeof OF_FUNCTIONS)[number];

/** @param schema a validated name */
function viewsOf(schema: string): Readonly<Record<View, string>> {
  // Pseudo-columns such as `_PARTITIONTIME` have no position: no result can have columns with their names.
  const from = (view: string): string => `from \`${schema}\`.INFORMATION_SCHEMA.${view}`;
  return {
    tables: `select table_name, table_type ${from('TABLES')} order by table_name`,
    columns: `select table_name, column_name, data_type, is_nullable ${from('COLUMNS')} where ordinal_position is not null and ifnull(is_hidden, 'NO') = 'NO' order by table_name, ordinal_position`,
    descriptions: `select table_name, column_name, description ${from('COLUMN_FIELD_PATHS')} where field_path = column_name and description is not null`,
    options: `select table_name, option_value ${from('TABLE_OPTIONS')} where option_name = 'description'`,
    routines: `select routine_name, routine_type ${from('ROUTINES')} order by routine_name`,
    parameters: `select specific_name, parameter_name, data_type ${from('PARAMETERS')} where parameter_name is not null order by specific_name, ordinal_position`,
  };
}

interface Found {
  readonly dataset: string;
  readonly rows: Readonly<Record<View, readonly Row[]>>;
}

/** @param datasets validated names */
export async function readCatalog(query: CatalogQuery, datasets: readonly string[], scope: CatalogScope = {}): Promise<Catalog> {
  const found = await Promise.all(datasets.map((dataset) => readDataset(query, dataset, scope)));
  return runCooperatively(build(found, scope));
}

/** Skips views without relevant content, because each query of a view is billed. */
async function readDataset(query: CatalogQuery, dataset: string, { tables, functions }: CatalogScope): Promise<Found> {
  const isRequested = (names: readonly QualifiedName[] | undefined): boolean => names?.some(({ schema }) => schema === dataset) ?? true;
  const views = new Set<View>([...(isRequested(tables) ? OF_TABLES : []), ...(isRequested(functions) ? OF_FUNCTIONS : [])]);
  const texts = viewsOf(dataset);
  const read = async (view: View): Promise<readonly [View, readonly Row[]]> => [view, views.has(view) ? await query(texts[view]) : []];
  const rows = await Promise.all([...OF_TABLES, ...OF_FUNCTIONS].map(read));
  return { dataset, rows: Object.fromEntries(rows) as Found['rows'] };
}

function* build(found: readonly Found[], scope: CatalogScope): Cooperative<Catalog> {
  const tables = new Map<string, CatalogTable>();
  const functions = new Map<string, readonly CatalogFunction[]>();
  const [ofTables, ofFunctions] = [nameFilter(scope.tables), nameFilter(scope.functions)];
  for (const { dataset, rows } of found) {
    const columns = yield* groups(rows.columns);
    const descriptions = new Map(rows.descriptions.map(([table, column, text]) => [`${table ?? ''}\u0000${column ?? ''}`, text ?? null]));
    const options = new Map(rows.options.map(([table, value]) => [table, literalText(value ?? '')]));
    for (const [table = '', type] of rows.tables) {
      yield;
      const name = { schema: dataset, name: table ?? '' };
      if (!ofTables(name)) continue;
      const own = (columns.get(table) ?? []).flatMap((row) =>
        columnOf(row, descriptions.get(`${table ?? ''}\u0000${row[1] ?? ''}`) ?? null),
      );
      tables.set(nameKey(name), tableOf(name, KINDS[type ?? ''] ?? 'foreign-table', options.get(table) ?? null, own));
    }
    const parameters = yield* groups(rows.parameters);
    for (const [routine, type] of rows.routines) {
      yield;
      const name = { schema: dataset, name: routine ?? '' };
      if (ofFunctions(name) && type === 'TABLE FUNCTION') functions.set(nameKey(name), [functionOf(name, parameters.get(routine) ?? [])]);
    }
  }
  // BigQuery has no versions.
  return { tables, functions, version: 0 };
}

function nameFilter(names: readonly QualifiedName[] | undefined): (name: QualifiedName) => boolean {
  if (names === undefined) return () => true;
  const keys = new Set(names.map(nameKey));
  return (name) => keys.has(nameKey(name));
}

/** Groups rows by their first cell. */
function* groups(rows: readonly Row[]): Cooperative<ReadonlyMap<string | null | undefined, readonly Row[]>> {
  const found = new Map<string | null | undefined, Row[]>();
  for (const row of rows) {
    yield;
    const group = found.get(row[0]);
    if (group === undefined) found.set(row[0], [row]);
    else group.push(row);
  }
  return found;
}

/** Hides columns with names that compiled statements reserve. */
function columnOf([, name = '', type, nullable]: Row, comment: string | null): readonly CatalogColumn[] {
  if (name === null || isReservedName(name)) return [];
  return [
    {
      name,
      type: parseType(type ?? ''),
      // Repeated columns are never null, but a mask may make them null.
      nullable: nullable !== 'NO',
      hasDefault: false,
      generated: false,
      identity: false,
      comment,
      position: stableId(name),
    },
  ];
}

function tableOf(name: QualifiedName, kind: CatalogTableKind, comment: string | null, columns: readonly CatalogColumn[]): CatalogTable {
  return {
    id: stableId(nameKey(name)),
    name,
    kind,
    comment,
    columns,
    // Views may call `rand()`, and files of external tables may change while a statement runs.
    ...(kind === 'table' ? { snapshotBound: true } : {}),
    // Keys are not enforced, so nothing may rely on them.
    primaryKey: null,
    uniqueConstraints: [],
    otherConstraints: [],
    foreignKeys: [],
    insertable: false,
    updatable: false,
    deletable: false,
  };
}

function functionOf(name: QualifiedName, parameters: readonly Row[]): CatalogFunction {
  return {
    id: stableId(nameKey(name)),
    name,
    comment: null,
    volatility: 'stable',
    variadic: false,
    arguments: parameters.map(([, argument, type]) => ({ name: argument ?? '', type: parseType(type ?? ''), hasDefault: false })),
    returns: { ...baseType('TABLE'), kind: 'pseudo' },
    returnsTable: null,
    returnsSet: true,
    aggregate: false,
  };
}

/** Reads an option, which is written as a literal: `"a \"b\""`. */
function literalText(literal: string): string | null {
  try {
    const text: unknown = JSON.parse(literal);
    return typeof text === 'string' && text !== '' ? text : null;
  } catch {
    return literal === '' ? null : literal;
  }
}
