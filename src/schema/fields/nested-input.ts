/** `T_obj_rel_insert_input` and `T_arr_rel_insert_input`: rows of a related table inside a row. */
import { invariant } from '../../errors/svc-error.ts';
import type { OnConflict } from '../../ir/mutation.ts';
import type { InputValue, InputField, InputObjectType } from '../../graphql-engine/types.ts';
import { lazy, listTypeRef, typeRef } from '../../graphql-engine/types.ts';
import { quoted } from './descriptions.ts';
import { conflictArgument } from './insert-input.ts';
import type { NestedInput, WriteTable } from './write-table.ts';

/** Cost of a statement, in values: rows that may update existing rows need a statement each. */
const STATEMENT_COST = 8;

export function nestedInput(table: WriteTable, kind: 'object' | 'array'): NestedInput {
  const { source, info } = table;
  const dataName = source.field('data');
  const conflict = lazy(() => conflictArgument(table));
  const type: InputObjectType = {
    kind: 'input-object',
    name: source.tableType(info, kind === 'object' ? 'obj_rel_insert_input' : 'arr_rel_insert_input'),
    description: `input type for inserting ${kind} relation for remote table ${quoted(source.info, info.name)}`,
    fields: lazy(() => {
      const row = typeRef(source.tableType(info, 'insert_input'), () => table.insertInput().type, true);
      const fields = new Map<string, InputField>();
      fields.set(dataName, { name: dataName, description: null, type: kind === 'object' ? row : listTypeRef(row, true) });
      const argument = conflict();
      if (argument !== null) fields.set(argument.name, argument);
      return fields;
    }),
  };
  return {
    type,
    rows: (input, determined, alone) => {
      const inputs = new Map<string, InputValue>(input.entries().map((entry) => [entry.field.name, entry.input]));
      const data = inputs.get(dataName);
      invariant(data !== undefined, 'a required field is there');
      const name = conflict()?.name;
      const conflictInput = name === undefined ? undefined : inputs.get(name);
      const onConflict = conflictInput === undefined || conflictInput.isNull() ? null : conflictInput;
      const target = table.insertInput();
      const rows =
        kind === 'object' ? target.rows([data], onConflict, determined, alone) : target.rowsOfList(data, onConflict, determined, alone);
      if (rows.onConflict !== null && needsStatement(table, rows.onConflict, input)) input.charge(STATEMENT_COST);
      return rows.rows.length === 0 && rows.uniform === undefined ? null : rows;
    },
  };
}

/**
 * Returns true if the rows need a statement of their own. Rows that update nothing share one, and so do rows of data (`isData`) with
 * equal clauses: their statements are counted when their keys are compared.
 */
function needsStatement(table: WriteTable, clause: OnConflict, input: InputValue): boolean {
  if (clause.update === null) return false;
  return !input.isData || table.onConflict()?.isCommon(clause) !== true;
}
