/**
 * Statements that write, with the answer where that is possible, otherwise with their rows stored for later statements. The check is a
 * returned column: the statement fails if it is false or null in a row.
 */
import type { RaisedFailure } from '../../../../backend/backend.ts';
import type { BoolExp } from '../../../../ir/bool-exp.ts';
import type { MutationOutput } from '../../../../ir/mutation.ts';
import { identifier, isEmpty, join, type Sql, sql } from '../../../../sql/fragment.ts';
import type { Path } from '../../../../util/path.ts';
import { conditionSql } from '../bool-exp.ts';
import type { Context } from '../context.ts';
import { aliasRow, ownScope, type Row } from '../../../shared/row.ts';
import { projection } from '../projection.ts';
import { answerSql, rowSql, type RowSource } from './answer.ts';
import { storeKeys, keyColumnsSql } from './transaction-local-keys.ts';
import { countedRows, countRows, storeRows, transactionLocalRows } from './transaction-local-rows.ts';
import type { MutationDraft, StoredResults, TransactionLocalRows, Program, Write, WriteCompiler } from './program.ts';

const ROWS = identifier('written');
const CHECKED = sql`":checked"`;

/** Compiles a check of a row; `null` if it always holds. */
export function checkSql(context: Context, check: BoolExp, row: Row): Sql | null {
  return check.kind === 'constant' && check.value ? null : conditionSql(context, check, ownScope(row));
}

/** Compiles the statement before `returning`, and the check of its rows. */
function startOf(
  write: Write,
  context: Context,
): { readonly alias: Sql; readonly row: Row; readonly command: Sql; readonly check: Sql | null } {
  const alias = context.alias();
  const command = write.command(context, alias);
  const row = aliasRow(alias);
  return { alias, row, command, check: write.check(context, row) };
}

/** See `WriteCompiler.writeAndAnswer`. */
function writeAndAnswer(program: Program, write: Write, output: MutationOutput): number {
  return program.add(
    write.path,
    1,
    (draft) => {
      const { context } = draft;
      const { row, command, check } = startOf(write, context);
      const columns = projection(row, ROWS);
      const rows: RowSource = {
        from: ROWS,
        row: columns.row,
        ordered: () => ({
          from: sql`(select *, row_number() over () as ":position" from ${ROWS}) as ${ROWS}`,
          row: columns.row,
          position: sql`${ROWS}.":position"`,
        }),
      };
      let answer: Sql;
      if (check === null) {
        answer = output.kind === 'row' ? rowSql(context, output.fields, rows) : sql`select ${answerSql(context, output, rows, COUNT)}`;
      } else {
        const json = answerSql(context, output, rows, COUNT);
        answer = sql`select case when ${hold(ROWS)} then ${json} else ${draft.raise(checkFailure(write.path))}::text::json end`;
      }
      return withRows(command, [columns.columns(), ...checkColumn(check)], answer);
    },
    write.rows,
  );
}

const COUNT = sql`(select count(*) from ${ROWS})`;

function hold(rows: Sql): Sql {
  return sql`(select coalesce(bool_and(${CHECKED} is true), true) from ${rows})`;
}

/** See `WriteCompiler.writeAndStore`. */
function writeAndStore(program: Program, write: Write, stored: StoredResults): void {
  program.add(
    write.path,
    0,
    (draft) => {
      const { alias, row, command, check } = startOf(write, draft.context);
      const items = storedItems(draft, write, stored, check !== null);
      if (items.length === 0) return command;
      // `t.*` alone would be expanded.
      const whole = stored.slot === null ? [] : [sql`coalesce(${alias}.*) as ":row"`];
      const keys = stored.keys === null ? [] : keyColumnsSql(stored.keys, row);
      return withRows(command, [...whole, ...keys, ...checkColumn(check)], sql`select ${join(items, sql`, `)} from ${ROWS}`);
    },
    write.rows,
  );
}

function storedItems(draft: MutationDraft, write: Write, { slot, count, keys }: StoredResults, checked: boolean): readonly Sql[] {
  const items: Sql[] = [];
  if (checked) items.push(sql`case when not bool_and(${CHECKED} is true) then ${draft.raise(checkFailure(write.path))} end`);
  if (keys !== null) items.push(...storeKeys(draft, ROWS, keys));
  if (slot !== null) items.push(storeRows(slot, sql`":row"`));
  if (count !== null) items.push(countRows(count === 'first'));
  return items;
}

function checkColumn(check: Sql | null): readonly Sql[] {
  return check === null ? [] : [sql`${check} as ${CHECKED}`];
}

function withRows(command: Sql, columns: readonly Sql[], select: Sql): Sql {
  const list = columns.filter((column) => !isEmpty(column));
  const returning = list.length === 0 ? sql`true as ":any"` : join(list, sql`, `);
  return sql`with ${ROWS} as (${command} returning ${returning}) ${select}`;
}

export function checkFailure(path: Path): RaisedFailure {
  return { code: 'permission-error', message: 'check constraint of an insert/update permission has failed', path };
}

function answerFromStored(program: Program, { path, table, slots }: TransactionLocalRows, output: MutationOutput): number {
  return program.add(
    path,
    1,
    ({ context }) => sql`select ${answerSql(context, output, transactionLocalRows(context, table, slots), countedRows())}`,
  );
}

/** Writes of PostgreSQL. */
export function writeCompilerOf(newContext: () => Context): WriteCompiler {
  return { newContext, writeAndAnswer, writeAndStore, answerFromStored, numbersRows: true };
}
