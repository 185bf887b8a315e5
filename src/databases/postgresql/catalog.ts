/** Introspection: three statements that return JSON. */
import { readFileSync } from 'node:fs';
import {
  type Catalog,
  type CatalogColumn,
  type CatalogForeignKey,
  type CatalogFunction,
  type CatalogKey,
  type CatalogScope,
  type CatalogTable,
  type CatalogTableKind,
  type CatalogType,
  nameKey,
  type QualifiedName,
} from '../../catalog/catalog.ts';
import { textOfBytes } from '../../util/bytes.ts';
import { runCooperatively, type Cooperative } from '../../util/cooperative.ts';
import { isPostgis } from './compile/operand.ts';
import type { JsonRow } from '../../backend/connection.ts';

type Query = (text: string, values: readonly (string | null)[]) => Promise<JsonRow>;

/** Parallel arrays, as `tables.sql` returns them. */
interface TableRows {
  readonly id: readonly number[];
  readonly schema: readonly string[];
  readonly name: readonly string[];
  readonly kind: readonly string[];
  readonly partition: readonly boolean[];
  readonly comment: readonly (string | null)[];
  /** Bits from `pg_relation_is_updatable`. */
  readonly events: readonly number[];
  readonly stored: readonly boolean[];
  readonly rowSecurity: readonly boolean[];
  readonly snapshotBound: readonly boolean[];
  readonly inherited: readonly boolean[];
  /** Bits like `events` for writes that may change other rows than the table's own. */
  readonly effects: readonly number[];
}

interface ColumnRows {
  readonly table: readonly number[];
  readonly position: readonly number[];
  readonly name: readonly string[];
  readonly type: readonly number[];
  readonly collation: readonly (number | null)[];
  readonly deterministic: readonly boolean[];
  readonly notNull: readonly boolean[];
  readonly hasDefault: readonly boolean[];
  readonly identity: readonly string[];
  readonly generated: readonly string[];
  readonly comment: readonly (string | null)[];
}

interface ConstraintRows {
  readonly table: readonly number[];
  readonly name: readonly string[];
  readonly kind: readonly string[];
  readonly columns: readonly (readonly number[] | null)[];
  readonly valid: readonly boolean[];
  readonly target: readonly number[];
  readonly targetColumns: readonly (readonly number[] | null)[];
}

/** A table outside of the scope that a foreign key references. */
interface TargetRow {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
}

interface FunctionRows {
  readonly id: readonly number[];
  readonly schema: readonly string[];
  readonly name: readonly string[];
  readonly comment: readonly (string | null)[];
  readonly volatility: readonly string[];
  readonly variadic: readonly boolean[];
  readonly argumentTypes: readonly (readonly number[])[];
  /** Names of all arguments, output arguments included; `null` if none has a name. */
  readonly argumentNames: readonly (readonly string[] | null)[];
  /** `null` if all are input arguments. */
  readonly argumentModes: readonly (readonly string[] | null)[];
  readonly defaults: readonly number[];
  readonly returns: readonly number[];
  readonly returnsSet: readonly boolean[];
}

interface TypeRow {
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly kind: string;
  readonly element: number;
  readonly base: number;
  readonly hasDefault: boolean;
  /** Types of the attributes of a composite type. */
  readonly attributes: readonly number[] | null;
  readonly comparisons: { readonly operators: readonly string[]; readonly methods: readonly string[] } | null;
  readonly table: QualifiedName | null;
}

const TABLES = statement('tables');
const FUNCTIONS = statement('functions');
const TYPES = statement('types');

const UPDATE = 1 << 2;
const INSERT = 1 << 3;
const DELETE = 1 << 4;

export const TABLE_KINDS: Readonly<Record<string, CatalogTableKind>> = {
  r: 'table',
  p: 'partitioned-table',
  v: 'view',
  m: 'materialized-view',
  f: 'foreign-table',
};

const TYPE_KINDS: Readonly<Record<string, CatalogType['kind']>> = {
  b: 'base',
  c: 'composite',
  e: 'enum',
  m: 'multirange',
  p: 'pseudo',
  r: 'range',
};

/** Operators with their symbols. */
const COMPARISONS = [
  ['_eq', '='],
  ['_neq', '<>'],
  ['_in', '='],
  ['_nin', '<>'],
  ['_gt', '>'],
  ['_gte', '>='],
  ['_lt', '<'],
  ['_lte', '<='],
] as const;

/** Operators of arrays and rows that depend on operators of their parts. */
const EQUALITY = ['_eq', '_neq', '_in', '_nin', '_contains', '_contained_in'];
const ORDER = ['_gt', '_gte', '_lt', '_lte', 'order_by'];

const VOLATILITIES: Readonly<Record<string, CatalogFunction['volatility']>> = { i: 'immutable', s: 'stable', v: 'volatile' };

/** Reads a statement from the folder `catalog`. */
export function statement(name: string): string {
  return readFileSync(new URL(`./catalog/${name}.sql`, import.meta.url), 'utf8');
}

/** Reads the objects that `scope` names, or all but those of the system. */
export async function readCatalog(query: Query, scope: CatalogScope = {}): Promise<Catalog> {
  const names = (list: readonly QualifiedName[] | undefined): string | null => (list === undefined ? null : JSON.stringify(list));
  const [tableRow, functionRow] = await Promise.all([query(TABLES, [names(scope.tables)]), query(FUNCTIONS, [names(scope.functions)])]);
  const columns = parseCell<ColumnRows>(tableRow, 1);
  const functions = parseCell<FunctionRows>(functionRow, 0);
  const used = new Set(columns.type);
  for (const types of functions.argumentTypes) for (const type of types) used.add(type);
  for (const type of functions.returns) used.add(type);
  const typeRow = await query(TYPES, [`{${[...used].join(',')}}`]);
  const types = new Types(parseCell<readonly TypeRow[]>(typeRow, 0));
  return {
    tables: await runCooperatively(
      buildTables(
        parseCell<TableRows>(tableRow, 0),
        await runCooperatively(columnsByTable(columns, types)),
        parseCell<ConstraintRows>(tableRow, 2),
        parseCell<readonly TargetRow[]>(tableRow, 3),
      ),
    ),
    functions: buildFunctions(functions, types),
    version: parseCell<number>(typeRow, 1),
  };
}

function parseCell<T>(row: JsonRow, index: number): T {
  return JSON.parse(textOfBytes(row[index] ?? [])) as T;
}

class Types {
  readonly #rows: ReadonlyMap<number, TypeRow>;
  readonly #known = new Map<number, CatalogType>();

  constructor(rows: readonly TypeRow[]) {
    this.#rows = new Map(rows.map((row) => [row.id, row]));
  }

  row(id: number): TypeRow | undefined {
    return this.#rows.get(id);
  }

  /** Always returns the same object for a type. */
  get(id: number): CatalogType {
    let type = this.#known.get(id);
    if (type === undefined) {
      type = this.#resolve(id);
      this.#known.set(id, type);
    }
    return type;
  }

  #resolve(id: number): CatalogType {
    const row = this.#rows.get(id);
    // The type was dropped between two statements.
    if (row === undefined) return { schema: 'pg_catalog', name: 'unknown', kind: 'pseudo', array: false };
    if (row.kind === 'd') return { ...this.get(row.base), domain: { schema: row.schema, name: row.name } };
    const element = row.element === 0 ? undefined : this.#rows.get(row.element);
    const { schema, name, kind } = element ?? row;
    // An array of a domain keeps the name of the domain, which its operators require.
    const type: CatalogType = { schema, name, kind: TYPE_KINDS[kind] ?? 'base', array: element !== undefined };
    const lacks = this.#lacksOf(row, isPostgis(type));
    return lacks.length === 0 ? type : { ...type, unsupported: lacks };
  }

  /** @param negates whether `<>` is compiled to the negation of `=` */
  #lacksOf(row: TypeRow, negates: boolean): readonly string[] {
    if (row.comparisons === null) {
      return [...(this.#has(row, 'equal') ? [] : EQUALITY), ...(this.#has(row, 'sorted') ? [] : ORDER)];
    }
    const { operators, methods } = row.comparisons;
    const lacks = COMPARISONS.filter(([, symbol]) => !operators.includes(symbol === '<>' && negates ? '=' : symbol)).map(([name]) => name);
    return methods.includes('btree') ? lacks : [...lacks, 'order_by'];
  }

  /** Returns whether a type has a default equality or order, which the database uses for parts of arrays and rows. */
  #has({ comparisons, base, element, attributes }: TypeRow, trait: 'equal' | 'sorted'): boolean {
    if (comparisons !== null) return comparisons.methods.includes('btree') || (trait === 'equal' && comparisons.methods.includes('hash'));
    const parts = base !== 0 ? [base] : element !== 0 ? [element] : (attributes ?? []);
    return parts.every((id) => {
      const part = this.#rows.get(id);
      return part === undefined || this.#has(part, trait);
    });
  }
}

function* columnsByTable(rows: ColumnRows, types: Types): Cooperative<ReadonlyMap<number, CatalogColumn[]>> {
  const tables = new Map<number, CatalogColumn[]>();
  for (const [i, table] of rows.table.entries()) {
    const typeId = rows.type[i] as number;
    const declared = types.row(typeId);
    const identity = rows.identity[i];
    const generated = rows.generated[i] !== '';
    const collation = rows.collation[i] ?? null;
    const type = types.get(typeId);
    const column: CatalogColumn = {
      name: rows.name[i] as string,
      type: collation === null ? type : { ...type, collation: { id: collation, deterministic: rows.deterministic[i] === true } },
      // NOT NULL of a domain does not count: a view may have an outer join, and a scalar subquery without a row stores null.
      nullable: rows.notNull[i] !== true,
      hasDefault: (rows.hasDefault[i] === true && !generated) || declared?.hasDefault === true,
      generated,
      identity: identity === 'a' ? 'always' : identity === 'd' ? 'by-default' : false,
      comment: rows.comment[i] ?? null,
      position: rows.position[i] as number,
    };
    const columns = tables.get(table);
    if (columns === undefined) tables.set(table, [column]);
    else columns.push(column);
    yield;
  }
  for (const columns of tables.values()) columns.sort((a, b) => a.position - b.position);
  return tables;
}

interface Constraints {
  primaryKey: CatalogKey | null;
  readonly unique: CatalogKey[];
  readonly foreign: CatalogForeignKey[];
  readonly other: string[];
}

function* buildTables(
  rows: TableRows,
  columns: ReadonlyMap<number, readonly CatalogColumn[]>,
  constraintRows: ConstraintRows,
  targets: readonly TargetRow[],
): Cooperative<ReadonlyMap<string, CatalogTable>> {
  const names = new Map<number, QualifiedName>(
    rows.id.map((id, i) => [id, { schema: rows.schema[i] as string, name: rows.name[i] as string }]),
  );
  const outside = new Map(targets.map((target) => [target.id, target]));
  const columnName = (table: number, position: number): string => {
    const target = outside.get(table);
    if (target !== undefined) return target.columns[position] ?? '';
    return columns.get(table)?.find((column) => column.position === position)?.name ?? '';
  };
  const constraints = yield* buildConstraints(constraintRows, columnName, (id) => {
    const target = outside.get(id);
    return target === undefined ? names.get(id) : { schema: target.schema, name: target.name };
  });
  const tables = new Map<string, CatalogTable>();
  for (const [i, id] of rows.id.entries()) {
    const name = names.get(id) as QualifiedName;
    const events = rows.events[i] ?? 0;
    const effects = rows.effects[i] ?? UPDATE | INSERT | DELETE;
    const found = constraints.get(id);
    tables.set(nameKey(name), {
      id,
      name,
      kind: TABLE_KINDS[rows.kind[i] as string] ?? 'table',
      ...(rows.partition[i] === true ? { partition: true } : {}),
      comment: rows.comment[i] ?? null,
      columns: columns.get(id) ?? [],
      primaryKey: found?.primaryKey ?? null,
      uniqueConstraints: found?.unique ?? [],
      otherConstraints: found?.other ?? [],
      foreignKeys: found?.foreign ?? [],
      insertable: (events & INSERT) !== 0,
      updatable: (events & UPDATE) !== 0,
      deletable: (events & DELETE) !== 0,
      stored: rows.stored[i] === true,
      snapshotBound: rows.snapshotBound[i] === true,
      ...(rows.rowSecurity[i] === true ? { rowSecurity: true } : {}),
      ...(rows.inherited[i] === true ? { inherited: true } : {}),
      sideEffects: { insert: (effects & INSERT) !== 0, update: (effects & UPDATE) !== 0, delete: (effects & DELETE) !== 0 },
    });
    yield;
  }
  return tables;
}

function* buildConstraints(
  rows: ConstraintRows,
  columnName: (table: number, position: number) => string,
  tableName: (id: number) => QualifiedName | undefined,
): Cooperative<ReadonlyMap<number, Constraints>> {
  const tables = new Map<number, Constraints>();
  for (const [i, table] of rows.table.entries()) {
    yield;
    let found = tables.get(table);
    if (found === undefined) {
      found = { primaryKey: null, unique: [], foreign: [], other: [] };
      tables.set(table, found);
    }
    const name = rows.name[i] as string;
    const columns = (rows.columns[i] ?? []).map((position) => columnName(table, position));
    switch (rows.kind[i]) {
      case 'p':
        found.primaryKey = { name, columns };
        break;
      case 'u':
        found.unique.push({ name, columns });
        break;
      case 'f': {
        const targetId = rows.target[i] as number;
        const target = tableName(targetId);
        const targetColumns = (rows.targetColumns[i] ?? []).map((position) => columnName(targetId, position));
        const unvalidated = rows.valid[i] === false ? { unvalidated: true as const } : {};
        if (target !== undefined) found.foreign.push({ name, columns, target, targetColumns, ...unvalidated });
        break;
      }
      default:
        found.other.push(name);
    }
  }
  return tables;
}

function buildFunctions(rows: FunctionRows, types: Types): ReadonlyMap<string, readonly CatalogFunction[]> {
  const functions = new Map<string, CatalogFunction[]>();
  rows.id.forEach((id, i) => {
    const name = { schema: rows.schema[i] as string, name: rows.name[i] as string };
    const modes = rows.argumentModes[i] ?? null;
    const argumentTypes = rows.argumentTypes[i] ?? [];
    const names = (rows.argumentNames[i] ?? []).filter((_, k) => modes === null || isInput(modes[k]));
    const firstDefault = argumentTypes.length - (rows.defaults[i] ?? 0);
    const returns = rows.returns[i] as number;
    const entry: CatalogFunction = {
      id,
      name,
      comment: rows.comment[i] ?? null,
      volatility: VOLATILITIES[rows.volatility[i] as string] ?? 'volatile',
      variadic: rows.variadic[i] === true,
      arguments: argumentTypes.map((type, k) => ({ name: names[k] ?? '', type: types.get(type), hasDefault: k >= firstDefault })),
      returns: types.get(returns),
      returnsTable: types.row(returns)?.table ?? null,
      returnsSet: rows.returnsSet[i] === true,
      aggregate: modes?.some((mode) => mode === 't' || mode === 'o' || mode === 'b') === true,
    };
    const overloads = functions.get(nameKey(name));
    if (overloads === undefined) functions.set(nameKey(name), [entry]);
    else overloads.push(entry);
  });
  return functions;
}

/** `in`, `inout` and `variadic`. */
function isInput(mode: string | undefined): boolean {
  return mode === 'i' || mode === 'b' || mode === 'v';
}
