/** Inserts into one table without their `returning` clause. */
import type { BoolExp } from '../../../../ir/bool-exp.ts';
import type { InsertColumn, InsertRows, OnConflict } from '../../../../ir/mutation.ts';
import { EMPTY, identifier, join, type Sql, sql } from '../../../../sql/fragment.ts';
import type { Path } from '../../../../util/path.ts';
import { conditionSql } from '../bool-exp.ts';
import type { Context } from '../context.ts';
import { aliasRow, ownScope, type Row } from '../../../shared/row.ts';
import { operandSql } from '../operand.ts';
import { qualified } from '../type-name.ts';
import { type Batch, sourceSql } from './insert-source.ts';
import { checkSql } from './write.ts';
import type { Write } from './program.ts';

export interface InsertOptions {
  /** True if the statement reports the number of each written row. */
  readonly isNumbered: boolean;
  readonly path: Path;
  /** See `Insert`. */
  readonly contained: boolean;
  /** The request inserts no other rows. */
  readonly alone: boolean;
}

export function insertWrite(
  { table, onConflict, check }: InsertRows,
  columns: readonly InsertColumn[],
  batch: Batch,
  { isNumbered, path, contained, alone }: InsertOptions,
): Write {
  const several = batch.kind === 'uniform' || batch.rows.length > 1 || !alone;
  const unchanged = contained && (onConflict === null || onConflict.update === null);
  const rows = batch.kind === 'uniform' ? batch.rows : batch.rows.map(({ row }) => row);
  return {
    path,
    kind: 'insert',
    ...(several ? { rows: { table, columns, unchanged, rows } } : {}),
    command(context, alias) {
      const { prefix, rows } = sourceSql(context, columns, batch, isNumbered);
      const conflict = onConflict === null ? EMPTY : conflictSql(context, onConflict, alias);
      return sql`${prefix}insert into ${qualified(table)} as ${alias} ${rows}${conflict}`;
    },
    check: (context, row) => insertCheck(context, check, onConflict, row),
  };
}

function conflictSql(context: Context, conflict: OnConflict, alias: Sql): Sql {
  const { update } = conflict;
  const target = sql` on conflict${targetSql(conflict)}`;
  if (update === null) return sql`${target} do nothing`;
  const assignments = new Map(update.columns.map((column) => [column, sql`excluded.${identifier(column)}`]));
  for (const [column, operand] of update.presets) assignments.set(column, operandSql(operand));
  if (assignments.size === 0) return sql`${target} do nothing`;
  const list = [...assignments].map(([column, value]) => sql`${identifier(column)} = ${value}`);
  const { where } = update;
  const filter = where.kind === 'constant' && where.value ? EMPTY : sql` where ${conditionSql(context, where, ownScope(aliasRow(alias)))}`;
  return sql`${target} do update set ${join(list, sql`, `)}${filter}`;
}

/** Compiles the conflict target; empty for any conflict. */
function targetSql({ constraint, columns = [] }: OnConflict): Sql {
  if (constraint !== null) return sql` on constraint ${identifier(constraint)}`;
  return columns.length === 0 ? EMPTY : sql` (${join(columns.map(identifier), sql`, `)})`;
}

/** Compiles the check of a row. In a row that the conflict clause has updated, `xmax` is the lock of the update; in a new row it is 0. */
function insertCheck(context: Context, check: BoolExp, onConflict: OnConflict | null, row: Row): Sql | null {
  const inserted = checkSql(context, check, row);
  const update = onConflict?.update ?? null;
  if (update === null) return inserted;
  const updated = update.check === null ? null : checkSql(context, update.check, row);
  if (inserted === null && updated === null) return null;
  return sql`case when ${row.column('xmax')} = 0 then ${inserted ?? sql`true`} else ${updated ?? sql`true`} end`;
}
