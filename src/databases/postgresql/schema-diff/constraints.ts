import type { TableConstraint, Index, Table } from './snapshot.ts';
import { key, type DiffStatement, tableKeys } from './statement.ts';
import { mapByName, type TableChanges, type TablePair } from './table-pair.ts';

/** PostgreSQL prints a list of `varchar` in one of two ways, depending on how often the definition was printed and read. */
const LIST_OF_TEXTS = /\(ARRAY\[((?:'(?:[^']|'')*'::character varying(?:, )?)+)\]\)::text\[\]/g;

function isSameDefinition(one: string, other: string): boolean {
  return one === other || normalised(one) === normalised(other);
}

function normalised(definition: string): string {
  return definition.replace(
    LIST_OF_TEXTS,
    (_, list: string) => `ARRAY[${list.replace(/('(?:[^']|'')*'::character varying)/g, '($1)::text')}]`,
  );
}

/** A constraint or an index of one of the two versions of a table, or of both. */
interface Change<T extends TableConstraint | Index> {
  readonly before: T | undefined;
  readonly after: T | undefined;
}

function changesIn<T extends TableConstraint | Index>(
  from: readonly T[],
  to: readonly T[],
  isKept: (before: T, after: T) => boolean,
): readonly Change<T>[] {
  const [before, after] = [mapByName(from), mapByName(to)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [one, other] = [before.get(name), after.get(name)];
    return one !== undefined && other !== undefined && isKept(one, other) ? [] : [{ before: one, after: other }];
  });
}

interface PairChanges {
  readonly indexes: readonly Change<Index>[];
  /** All but foreign keys. */
  readonly constraints: readonly Change<TableConstraint>[];
}

function pairChanges({ from, to, rebuilt }: TablePair): PairChanges {
  const isKept = (one: TableConstraint | Index, other: TableConstraint | Index): boolean =>
    isSameDefinition(one.definition, other.definition) && ![...one.columns, ...other.columns].some((column) => rebuilt.has(column));
  return {
    indexes: changesIn(from.indexes, to.indexes, isKept),
    constraints: changesIn(othersOf(from), othersOf(to), isKept),
  };
}

function othersOf({ constraints }: Table): readonly TableConstraint[] {
  return constraints.filter(({ kind }) => kind !== 'f');
}

function foreignKeysOf({ constraints }: Table): readonly TableConstraint[] {
  return constraints.filter(({ kind }) => kind === 'f');
}

/**
 * Constraints that `create table` contains: all but foreign keys, and keys of the same columns as an earlier one, which PostgreSQL would
 * merge with it.
 */
export function inlineConstraints({ constraints }: Table): readonly TableConstraint[] {
  const isKey = ({ kind }: TableConstraint): boolean => kind === 'p' || kind === 'u';
  const columnsOf = ({ columns }: TableConstraint): string => [...columns].sort().join();
  return constraints.filter((each, i) => {
    if (each.kind === 'f') return false;
    const isRepeated = (other: TableConstraint, j: number): boolean => j < i && isKey(other) && columnsOf(other) === columnsOf(each);
    return !isKey(each) || !constraints.some(isRepeated);
  });
}

/** Statements for the constraints and indexes of all tables, except the constraints that `create table` contains. */
export function constraintStatements(changes: TableChanges): readonly DiffStatement[] {
  const found = new Map([...changes.pairs].map(([name, pair]) => [name, pairChanges(pair)]));
  const droppedIndexes = new Set(
    [...found.values()].flatMap(({ indexes, constraints }) => [
      ...indexes.flatMap(({ before }) => before?.name ?? []),
      ...constraints.flatMap(({ before }) => before?.index ?? []),
    ]),
  );
  const droppedTables = new Set(changes.dropped.map(({ name }) => name));
  const isInTheWay = (table: Table, { references, index }: TableConstraint): boolean =>
    (references?.table !== table.name && droppedTables.has(references?.table ?? '')) || droppedIndexes.has(index ?? '');
  return [
    ...changes.dropped.flatMap((table) =>
      foreignKeysOf(table)
        .filter((constraint) => isInTheWay(table, constraint))
        .flatMap((before) => constraintChange(table, { before, after: undefined })),
    ),
    ...[...changes.pairs].flatMap(([name, pair]) => [
      ...(found.get(name)?.indexes ?? []).flatMap((change) => indexChange(pair.to, change)),
      ...(found.get(name)?.constraints ?? []).flatMap((change) => constraintChange(pair.to, change)),
      ...changesIn(foreignKeysOf(pair.from), foreignKeysOf(pair.to), (one, other) =>
        isForeignKeyKept(changes, pair, one, other, droppedIndexes),
      ).flatMap((change) => constraintChange(pair.to, change)),
    ]),
    ...changes.created.flatMap((table) => [
      ...table.indexes.flatMap((after) => indexChange(table, { before: undefined, after })),
      ...table.constraints
        .filter((each) => !inlineConstraints(table).includes(each))
        .flatMap((after) => constraintChange(table, { before: undefined, after })),
    ]),
  ];
}

function isForeignKeyKept(
  { pairs }: TableChanges,
  pair: TablePair,
  one: TableConstraint,
  other: TableConstraint,
  droppedIndexes: ReadonlySet<string>,
): boolean {
  if (one.definition !== other.definition || droppedIndexes.has(one.index ?? '')) return false;
  const target = pairs.get(one.references?.table ?? '');
  const isMoved = [pair, ...(target === undefined ? [] : [target])].some(({ from, to }) => from.isUnlogged !== to.isUnlogged);
  const isRebuilt =
    one.columns.some((column) => pair.rebuilt.has(column)) || one.references?.columns.some((column) => target?.rebuilt.has(column));
  return !isMoved && isRebuilt !== true;
}

function columnKeys(table: Table, { columns, references }: Pick<TableConstraint, 'columns' | 'references'>): readonly string[] {
  return [
    ...columns.map((column) => key('column', table.name, column)),
    ...(references?.columns ?? []).map((column) => key('column', references?.table ?? '', column)),
  ];
}

/** The statements that replace a constraint or index touch the same objects, so that both are done or none. */
function changeStatements<T extends TableConstraint | Index>(
  table: Table,
  { before, after }: Change<T>,
  drop: (before: T) => Pick<DiffStatement, 'phase' | 'sql'>,
  add: (after: T) => Pick<DiffStatement, 'phase' | 'sql'>,
): readonly DiffStatement[] {
  const both = [before, after].flatMap((each) => (each === undefined ? [] : [partsOf(each)]));
  const touches = [
    ...tableKeys(table.name),
    ...both.flatMap((each) => [...columnKeys(table, each), ...referenceKeys(table, each), ...ownKeys(table, each)]),
  ];
  return [
    // While a constraint or an index exists, its columns and the key that it references have to stay as they are.
    ...(before === undefined
      ? []
      : [{ ...drop(before), touches, blocks: [...columnKeys(table, partsOf(before)), ...ownKeys(table, partsOf(before))] }]),
    ...(after === undefined ? [] : [{ ...add(after), touches, blocks: ownKeys(table, partsOf(after)) }]),
  ];
}

interface Parts extends Pick<TableConstraint, 'columns' | 'references' | 'index'> {
  /** Absent for an index. */
  readonly constraint?: TableConstraint;
}

function partsOf(object: TableConstraint | Index): Parts {
  return 'kind' in object ? { ...object, constraint: object } : { columns: object.columns, references: null, index: object.name };
}

/** Keys of the object itself. A table has one primary key. */
function ownKeys(table: Table, { index, constraint }: Parts): readonly string[] {
  return [
    ...(index === null ? [] : [key('index', index)]),
    ...(constraint === undefined ? [] : [key('constraint', table.name, constraint.name)]),
    ...(constraint?.kind === 'p' ? [key('primary key', table.name)] : []),
  ];
}

/** A logged table cannot reference an unlogged one. */
function referenceKeys(table: Table, { references }: Parts): readonly string[] {
  if (references === null) return [];
  return [...tableKeys(references.table), key('persistence', references.table), key('persistence', table.name)];
}

function indexChange(table: Table, change: Change<Index>): readonly DiffStatement[] {
  return changeStatements(
    table,
    change,
    ({ name }) => ({ phase: 'drop indexes', sql: `drop index ${name}` }),
    ({ definition }) => ({ phase: 'create indexes', sql: definition }),
  );
}

function constraintChange(table: Table, change: Change<TableConstraint>): readonly DiffStatement[] {
  return changeStatements(
    table,
    change,
    ({ kind, name }) => ({
      phase: kind === 'f' ? 'drop foreign keys' : 'drop constraints',
      sql: `alter table ${table.name} drop constraint ${name}`,
    }),
    ({ kind, name, definition }) => ({
      phase: kind === 'f' ? 'add foreign keys' : 'add constraints',
      sql: `alter table ${table.name} add constraint ${name} ${definition}`,
    }),
  );
}
