/** Updates and deletes: one statement each, and a second one if the answer reads changed tables. */
import type { ResultPiece } from '../../../../backend/backend.ts';
import { emptyAnswer, hasNothingToDo, returnedFields } from '../../../shared/mutation-output.ts';
import { nameKey } from '../../../../catalog/catalog.ts';
import type { BoolExp } from '../../../../ir/bool-exp.ts';
import type { Assignment, Delete, Update } from '../../../../ir/mutation.ts';
import { EMPTY, identifier, join, type Sql, sql } from '../../../../sql/fragment.ts';
import { ROOT } from '../../../../util/path.ts';
import { baseType } from '../../operators.ts';
import { filterSql } from '../bool-exp.ts';
import type { Context } from '../context.ts';
import { aliasRow, ownScope, type Row } from '../../../shared/row.ts';
import { operandSql } from '../operand.ts';
import { qualified } from '../type-name.ts';
import { countsRows } from './answer.ts';
import type { Program, Write } from './program.ts';
import { readsChangedTables } from '../../../../ir/reads.ts';
import { checkSql } from './write.ts';

const TEXT = baseType('text');
const INT = baseType('int4');

export function compileUpdate(program: Program, update: Update): readonly ResultPiece[] {
  if (hasNothingToDo(update)) return [emptyAnswer(update.output)];
  return compileWrite(program, update, {
    path: ROOT,
    kind: 'update',
    command(context, alias) {
      const row = aliasRow(alias);
      const list = [
        ...update.assignments.map((assignment) => sql`${identifier(assignment.column)} = ${assigned(assignment, row)}`),
        ...(update.defaults ?? []).map((column) => sql`${identifier(column)} = default`),
      ];
      return sql`update ${qualified(update.table)} as ${alias} set ${join(list, sql`, `)}${whereSql(context, update.where, row)}`;
    },
    check: (context, row) => checkSql(context, update.check, row),
  });
}

export function compileDelete(program: Program, deletion: Delete): readonly ResultPiece[] {
  return compileWrite(program, deletion, {
    path: ROOT,
    kind: 'delete',
    command: (context, alias) =>
      sql`delete from ${qualified(deletion.table)} as ${alias}${whereSql(context, deletion.where, aliasRow(alias))}`,
    check: () => null,
  });
}

function compileWrite(program: Program, { table, output, contained }: Update | Delete, write: Write): readonly ResultPiece[] {
  const absent = emptyAnswer(output);
  const written = { tables: new Set([nameKey(table)]), contained };
  const returned = returnedFields(output);
  if (!returned.some((fields) => readsChangedTables(fields, written))) {
    return [{ statement: program.writes.writeAndAnswer(program, write, output), column: 0, absent }];
  }
  const slot = program.acquireSlot();
  program.writes.writeAndStore(program, write, { slot, count: countsRows(output) ? 'first' : null, keys: null });
  const statement = program.writes.answerFromStored(program, { path: write.path, table, slots: [slot] }, output);
  program.releaseSlot(slot);
  return [{ statement, column: 0, absent }];
}

function whereSql(context: Context, where: BoolExp, row: Row): Sql {
  if (where.kind === 'constant' && where.value) return EMPTY;
  return sql` where ${filterSql(context, where, ownScope(row))}`;
}

function assigned({ column, operator, operand }: Assignment, row: Row): Sql {
  const old = row.column(column);
  switch (operator) {
    case 'set':
      return operandSql(operand);
    case 'inc':
      return sql`${old} + ${operandSql(operand)}`;
    case 'mul':
      return sql`${old} * ${operandSql(operand)}`;
    case 'append':
      return sql`${old} || ${operandSql(operand)}`;
    case 'prepend':
      return sql`${operandSql(operand)} || ${old}`;
    case 'delete-key':
      return sql`${old} - ${operandSql({ ...operand, type: TEXT, list: false })}`;
    case 'delete-elem':
      return sql`${old} - ${operandSql({ ...operand, type: INT, list: false })}`;
    case 'delete-at-path':
      return sql`${old} #- ${operandSql({ ...operand, type: TEXT, list: true })}`;
  }
}
