import type { Column, Sequence, SequenceOptions, SchemaSnapshot, Table } from './snapshot.ts';
import { key, type DiffStatement, tableKeys } from './statement.ts';
import { tableChanges } from './table-pair.ts';

const LIMITS: Readonly<Record<string, string>> = { smallint: '32767', integer: '2147483647', bigint: '9223372036854775807' };

/** Settings of a sequence as `create sequence` reads them, without those that are the default. */
export function settingsOf(options: SequenceOptions): readonly string[] {
  const { increment, minimum, maximum, start, cache, cycle, type } = options;
  const isAscending = !increment.startsWith('-');
  return [
    ...(increment === '1' ? [] : [`increment by ${increment}`]),
    ...(isAscending && minimum === '1' ? [] : [`minvalue ${minimum}`]),
    ...(isAscending && maximum === LIMITS[type] ? [] : [`maxvalue ${maximum}`]),
    ...(isAscending && start === minimum ? [] : [`start with ${start}`]),
    ...(cache === '1' ? [] : [`cache ${cache}`]),
    ...(cycle ? ['cycle'] : []),
  ];
}

/** All settings of a sequence, as `alter sequence` reads them. */
export function allSettings({ increment, minimum, maximum, start, cache, cycle }: SequenceOptions): readonly string[] {
  return [
    `increment by ${increment}`,
    `minvalue ${minimum}`,
    `maxvalue ${maximum}`,
    `start with ${start}`,
    `cache ${cache}`,
    cycle ? 'cycle' : 'no cycle',
  ];
}

/** Returns whether two sequences have the same settings, whatever their names are. */
export function isSameSequence(a: SequenceOptions, b: SequenceOptions): boolean {
  return a.type === b.type && allSettings(a).join() === allSettings(b).join();
}

/** Reason why the current value of a sequence may be outside of its new bounds; `undefined` if it fits. */
export function outOfBounds(from: SequenceOptions, to: SequenceOptions): string | undefined {
  const isCut = BigInt(to.maximum) < BigInt(from.maximum) && to.maximum !== LIMITS[to.type];
  return isCut || BigInt(to.minimum) > BigInt(from.minimum)
    ? 'the current value of the sequence may be outside of its new bounds, and the statement restarts it'
    : undefined;
}

/** Statements for sequences, except those of identity columns. */
export function sequenceStatements(from: SchemaSnapshot, to: SchemaSnapshot): readonly DiffStatement[] {
  const dropped = droppedColumns(from, to);
  const [before, after] = [byName(from.sequences), byName(to.sequences)];
  return [
    ...from.sequences.flatMap((sequence) => {
      const next = after.get(sequence.options.name);
      return next === undefined ? drop(sequence, from, dropped) : changed(sequence, next, dropped);
    }),
    ...to.sequences.flatMap((sequence) => (before.has(sequence.options.name) ? [] : created(sequence))),
  ];
}

/** Keys of columns that are dropped, maybe to be added again. The sequences that they own are dropped with them. */
function droppedColumns(from: SchemaSnapshot, to: SchemaSnapshot): ReadonlySet<string> {
  const { dropped, pairs } = tableChanges(from, to);
  const keysOf = (table: string, columns: readonly Column[]): readonly string[] => columns.map(({ name }) => key('column', table, name));
  return new Set([
    ...dropped.flatMap(({ name, columns }) => keysOf(name, columns)),
    ...[...pairs].flatMap(([name, pair]) => keysOf(name, [...pair.dropped, ...pair.replaced.map((each) => each.from)])),
  ]);
}

function isOwnerIn(columns: ReadonlySet<string>, { owner }: Sequence): boolean {
  return owner !== null && columns.has(key('column', owner.table, owner.column));
}

function byName(sequences: readonly Sequence[]): ReadonlyMap<string, Sequence> {
  return new Map(sequences.map((sequence) => [sequence.options.name, sequence]));
}

function ownerOf({ owner }: Sequence): string {
  return owner === null ? 'none' : `${owner.table}.${owner.column}`;
}

function ownerKeys({ owner }: Sequence): readonly string[] {
  return owner === null ? [] : tableKeys(owner.table, [owner.column]);
}

function created(sequence: Sequence): readonly DiffStatement[] {
  const { name, type } = sequence.options;
  const self = key('sequence', name);
  return [
    {
      phase: 'create sequences',
      sql: ['create sequence', name, `as ${type}`, ...settingsOf(sequence.options)].join(' '),
      touches: [self],
      blocks: [self],
    },
    ...(sequence.owner === null ? [] : [assigned(sequence)]),
  ];
}

function assigned(sequence: Sequence): DiffStatement {
  const { name } = sequence.options;
  return {
    phase: 'assign sequences',
    sql: `alter sequence ${name} owned by ${ownerOf(sequence)}`,
    touches: [key('sequence', name), ...ownerKeys(sequence)],
  };
}

function changed(before: Sequence, after: Sequence, droppedColumns: ReadonlySet<string>): readonly DiffStatement[] {
  const { name, type } = after.options;
  const self = key('sequence', name);
  const statements: DiffStatement[] = [];
  if (ownerOf(before) !== ownerOf(after) || isOwnerIn(droppedColumns, before)) {
    if (before.owner !== null)
      statements.push({ phase: 'release sequences', sql: `alter sequence ${name} owned by none`, touches: [self, ...ownerKeys(before)] });
    if (after.owner !== null) statements.push(assigned(after));
  }
  if (!isSameSequence(before.options, after.options)) {
    const refused = outOfBounds(before.options, after.options);
    const restart = refused === undefined ? [] : ['restart'];
    const typed = before.options.type === type ? [] : [`as ${type}`];
    statements.push({
      phase: 'change sequences',
      sql: ['alter sequence', name, ...typed, ...allSettings(after.options), ...restart].join(' '),
      touches: [self],
      refused,
    });
  }
  return statements;
}

/** A sequence is dropped with the column that owns it. */
function drop(sequence: Sequence, from: SchemaSnapshot, droppedColumns: ReadonlySet<string>): readonly DiffStatement[] {
  if (isOwnerIn(droppedColumns, sequence)) return [];
  const { name } = sequence.options;
  const self = key('sequence', name);
  const touches = [self, ...from.tables.flatMap((table) => usersIn(table, name))];
  const note = 'The current value of the sequence is lost';
  return [{ phase: 'drop sequences', sql: `drop sequence ${name}`, touches, note, blocks: [self] }];
}

interface OwnedSequences {
  /** Keys of the sequences. */
  readonly sequences: readonly string[];
  /** Keys of the columns whose defaults use them. */
  readonly users: readonly string[];
}

/** Returns the sequences that are dropped with some columns of a table. */
export function ownedSequences(from: SchemaSnapshot, table: string, columns: readonly Column[]): OwnedSequences {
  const isOwned = ({ owner }: Sequence): boolean => owner?.table === table && columns.some(({ name }) => name === owner.column);
  const names = from.sequences.filter(isOwned).map(({ options }) => options.name);
  return {
    sequences: names.map((name) => key('sequence', name)),
    users: names.flatMap((name) => from.tables.flatMap((each) => usersIn(each, name))),
  };
}

function usersIn({ name, columns }: Table, sequence: string): readonly string[] {
  return columns.flatMap((column) => (column.sequences.includes(sequence) ? tableKeys(name, [column.name]) : []));
}
