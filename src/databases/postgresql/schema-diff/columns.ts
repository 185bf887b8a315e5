import { allSettings, isSameSequence, outOfBounds, ownedSequences, settingsOf } from './sequences.ts';
import type { Column, SequenceOptions, SchemaSnapshot, Table } from './snapshot.ts';
import { key, type DiffStatement, tableKeys } from './statement.ts';
import { type ColumnPair, isRetyped, type TablePair } from './table-pair.ts';
import { typeChange } from './type-change.ts';

/** Maximum length of a name in PostgreSQL, in bytes. */
const MAX_NAME = 63;
/** First version in which `not null` is a constraint with a name. */
const NAMED_NOT_NULL = 180_000;

/** Returns whether PostgreSQL would choose the same name by itself. */
function isUsualName(name: string | null, ...parts: readonly string[]): boolean {
  const usual = parts.join('_');
  return name === null || (name === usual && Buffer.byteLength(usual) <= MAX_NAME);
}

function isPlainNotNull(table: Table, { notNull, name, plain }: Column): boolean {
  return (
    (notNull?.definition ?? null) === null ||
    (notNull?.definition === `NOT NULL ${name}` && isUsualName(notNull.plain, table.plain, plain, 'not_null'))
  );
}

function typeOf({ type, collation }: Column): string {
  return collation === null ? type : `${type} collate ${collation}`;
}

function identityOf(table: Table, { identity, sequence, plain }: Column): string {
  if (sequence === null) return `generated ${identity} as identity`;
  const isNamed = !isUsualName(sequence.plain, table.plain, plain, 'seq') || sequence.schema !== table.schema;
  const settings = [...(isNamed ? [`sequence name ${sequence.name}`] : []), ...settingsOf(sequence)];
  return `generated ${identity} as identity${settings.length === 0 ? '' : ` (${settings.join(' ')})`}`;
}

/** A column as `create table` and `add column` read it. */
export function columnDefinition(table: Table, column: Column): string {
  const { name, generated, identity, notNull } = column;
  const named = isPlainNotNull(table, column) ? '' : `constraint ${notNull?.name} `;
  return [
    `${name} ${typeOf(column)}`,
    ...(generated === null ? [] : [`generated always as (${generated.expression}) ${generated.isStored ? 'stored' : 'virtual'}`]),
    ...(column.default === null ? [] : [`default ${column.default}`]),
    ...(identity === null ? [] : [identityOf(table, column)]),
    ...(notNull === null ? [] : [`${named}not null${/ NO INHERIT\b/.test(notNull.definition ?? '') ? ' no inherit' : ''}`]),
  ].join(' ');
}

/** Statements for the columns of a table that stays. */
export function columnStatements(pair: TablePair, from: SchemaSnapshot, to: SchemaSnapshot): readonly DiffStatement[] {
  return [
    ...releasedDefaults(pair.from, [...pair.dropped, ...pair.replaced.map((each) => each.from)], from),
    ...pair.dropped.map((column) => dropColumn(pair.from, column, from, `The values of the column ${column.name} are lost`)),
    ...pair.replaced.flatMap((each) => replaceColumn(pair, each, from)),
    ...pair.added.map((column) => addColumn(pair.to, column)),
    ...pair.kept.flatMap((each) => [
      ...expressionStatements(pair, each),
      ...typeStatements(pair, each),
      ...defaultStatements(pair, each),
      ...notNullStatements(pair, each, from, to),
      ...identityStatements(pair, each),
    ]),
  ];
}

/**
 * Statements that drop defaults which use a sequence of another column, before the sequence or that column is dropped.
 * @param columns columns that are dropped
 */
export function releasedDefaults(table: Table, columns: readonly Column[], from: SchemaSnapshot): readonly DiffStatement[] {
  const isOwn = (column: Column, name: string): boolean => {
    const owner = from.sequences.find(({ options }) => options.name === name)?.owner;
    return owner?.table === table.name && owner.column === column.name;
  };
  return columns
    .filter((column) => column.sequences.some((name) => !isOwn(column, name)))
    .map((column) => alter(table, column, 'drop defaults', `alter column ${column.name} drop default`));
}

function alter(table: Table, { name }: Column, phase: DiffStatement['phase'], action: string): DiffStatement {
  return { phase, sql: `alter table ${table.name} ${action}`, touches: tableKeys(table.name, [name]) };
}

function usesText({ usedBy }: Column): string | undefined {
  return usedBy.length === 0 ? undefined : `${usedBy.join(', ')} would have to be dropped before`;
}

function dropColumn(table: Table, column: Column, from: SchemaSnapshot, note: string): DiffStatement {
  const phase = column.generated === null ? 'drop columns' : 'drop generated columns';
  const dropped = alter(table, column, phase, `drop column ${column.name}`);
  const owned = ownedSequences(from, table.name, [column]);
  const columns = [column.name, ...(column.generated?.columns ?? [])];
  return {
    ...dropped,
    touches: [...dropped.touches, ...owned.users],
    note,
    refused: usesText(column),
    blocks: [...columns.map((name) => key('column', table.name, name)), ...owned.sequences],
  };
}

function addColumn(table: Table, column: Column): DiffStatement {
  const phase = column.generated === null ? 'add columns' : 'add generated columns';
  const isFilled = column.notNull === null || column.default !== null || column.identity !== null || column.generated !== null;
  const added = {
    ...alter(table, column, phase, `add column ${columnDefinition(table, column)}`),
    touches: tableKeys(table.name, [column.name, ...(column.generated?.columns ?? [])]),
    blocks: [key('column', table.name, column.name)],
  };
  return isFilled ? added : { ...added, note: 'This fails if the table has rows: add a default for them' };
}

function replaceColumn({ from, to }: TablePair, pair: ColumnPair, snapshot: SchemaSnapshot): readonly DiffStatement[] {
  const isComputed = pair.from.generated !== null && pair.to.generated !== null;
  const note = isComputed
    ? `The values of the column ${pair.to.name} are computed again`
    : `The values of the column ${pair.to.name} are lost`;
  return [dropColumn(from, pair.from, snapshot, note), addColumn(to, pair.to)];
}

function expressionStatements({ to }: TablePair, pair: ColumnPair): readonly DiffStatement[] {
  if (pair.from.generated === null || pair.to.generated !== null) return [];
  return [alter(to, pair.to, 'drop generated columns', `alter column ${pair.to.name} drop expression`)];
}

function typeStatements({ to }: TablePair, pair: ColumnPair): readonly DiffStatement[] {
  if (!isRetyped(pair) || pair.to.generated !== null) return [];
  const { using, note, refused } = typeChange(pair.from, pair.to);
  const action = `alter column ${pair.to.name} type ${typeOf(pair.to)}${using === undefined ? '' : ` using ${using}`}`;
  const reasons = [refused, usesText(pair.from)].filter((each) => each !== undefined);
  return [
    {
      ...alter(to, pair.to, 'change types', action),
      note,
      refused: reasons.length === 0 ? undefined : reasons.join(', and '),
      blocks: [key('column', to.name, pair.to.name)],
      usesEnum: pair.to.enum,
    },
  ];
}

function defaultStatements({ to }: TablePair, pair: ColumnPair): readonly DiffStatement[] {
  const [before, after] = [pair.from.default, pair.to.default];
  const isConverted = pair.from.base !== pair.to.base;
  if (before === after && !isConverted) return [];
  const { name } = pair.to;
  const isDropped = before !== null && (after === null || isConverted || pair.from.sequences.length > 0);
  return [
    ...(isDropped ? [alter(to, pair.to, 'drop defaults', `alter column ${name} drop default`)] : []),
    ...(after === null ? [] : [alter(to, pair.to, 'set defaults', `alter column ${name} set default ${after}`)]),
  ];
}

function notNullStatements({ to }: TablePair, pair: ColumnPair, from: SchemaSnapshot, target: SchemaSnapshot): readonly DiffStatement[] {
  const [before, after] = [pair.from.notNull, pair.to.notNull];
  const { name } = pair.to;
  const set = (action: string): DiffStatement => alter(to, pair.to, 'set nullability', action);
  const dropped = set(`alter column ${name} drop not null`);
  if (after === null) return before === null ? [] : [dropped];
  const areNamed = from.version >= NAMED_NOT_NULL && target.version >= NAMED_NOT_NULL;
  const added: DiffStatement =
    areNamed && !isPlainNotNull(to, pair.to)
      ? set(`add constraint ${after.name} ${after.definition}`)
      : set(`alter column ${name} set not null`);
  if (before === null) return [{ ...added, note: `This fails if ${name} is null in a row` }];
  if (!areNamed || (before.name === after.name && before.definition === after.definition)) return [];
  if (before.definition === after.definition) return [set(`rename constraint ${before.name} to ${after.name}`)];
  return [dropped, added];
}

function identityStatements({ to }: TablePair, pair: ColumnPair): readonly DiffStatement[] {
  const [before, after] = [pair.from, pair.to];
  const { name } = after;
  if (after.identity === null)
    return before.identity === null
      ? []
      : [{ ...alter(to, after, 'drop defaults', `alter column ${name} drop identity`), note: 'The current value of its sequence is lost' }];
  if (before.identity === null)
    return [
      {
        ...alter(to, after, 'set identity', `alter column ${name} add ${identityOf(to, after)}`),
        note: `The sequence starts at ${after.sequence?.start ?? 1}. If the table has rows, set it to a greater value with setval`,
      },
    ];
  const kind = before.identity === after.identity ? [] : [`set generated ${after.identity}`];
  return [
    ...(kind.length === 0 ? [] : [alter(to, after, 'set identity', `alter column ${name} ${kind.join(' ')}`)]),
    ...(before.sequence === null || after.sequence === null ? [] : identitySequence(to, after, before.sequence, after.sequence)),
  ];
}

function identitySequence(table: Table, column: Column, before: SequenceOptions, after: SequenceOptions): readonly DiffStatement[] {
  const statements: DiffStatement[] = [];
  if (before.name !== after.name)
    statements.push({
      phase: 'set identity',
      sql: `alter sequence ${before.name} rename to ${after.name.slice(after.schema.length + 1)}`,
      touches: tableKeys(table.name, [column.name]),
    });
  if (!isSameSequence(before, after)) {
    const refused = outOfBounds(before, after);
    const actions = [...allSettings(after).map((each) => `set ${each}`), ...(refused === undefined ? [] : ['restart'])];
    statements.push({ ...alter(table, column, 'set identity', `alter column ${column.name} ${actions.join(' ')}`), refused });
  }
  return statements;
}
