/** Values that updates assign to columns. */
import type { Assignment } from '../../../../ir/mutation.ts';
import type { Operand } from '../../../../ir/value.ts';
import { parameter, type Sql, sql } from '../../../../sql/fragment.ts';
import type { Row } from '../../../shared/row.ts';
import { isJsonArray, isJsonObject, type Json, printJson } from '../../../../util/json.ts';
import { familyOf } from '../../families.ts';
import { BIGINT } from '../../base-type.ts';
import { jsonKeyText, jsonPathText } from '../../coerce/json-path.ts';
import { operandSql, parameterSql } from '../operand.ts';
import { writtenSql } from './values.ts';

/** Compiles the new value for conditions. */
export function newValueSql(assignment: Assignment, row: Row): Sql {
  return assignment.operator === 'set' ? operandSql(assignment.operand) : assignedSql(assignment, row);
}

export function assignedSql({ column, operator, operand }: Assignment, row: Row): Sql {
  const old = row.column(column);
  switch (operator) {
    case 'set':
      return writtenSql(operand);
    case 'inc':
      return sql`${old} + ${operandSql(signed(operand))}`;
    case 'mul':
      return sql`${old} * ${operandSql(signed(operand))}`;
    case 'append':
      return appended(operand, old);
    case 'prepend':
      return prepended(operand, old);
    case 'delete-key':
      return sql`if(json_type(${old}) = 'OBJECT', json_remove(${old}, ${pathSql(operand, (json) => `$${jsonKeyText(String(json))}`)}), ${old})`;
    case 'delete-elem':
      return sql`if(json_type(${old}) = 'ARRAY', json_remove(${old}, ${pathSql(operand, (json) => jsonPathText([json]))}), ${old})`;
    case 'delete-at-path': {
      const path = pathSql(operand, (json) => jsonPathText(isJsonArray(json) ? json : []));
      // Without a path, nothing is removed; the server would refuse to remove the whole document.
      return sql`if(${path} = '$', ${old}, json_remove(${old}, ${path}))`;
    }
  }
}

/** The operand of `_inc` and `_mul` may be negative for unsigned columns, too. */
function signed(operand: Operand): Operand {
  return familyOf(operand.type).kind === 'integer' ? { ...operand, type: BIGINT } : operand;
}

/**
 * Concatenates documents: the keys of both objects, where those of the right one win, or the items of both. `json_merge_preserve` would
 * merge common keys recursively, so they are removed from the other object first.
 */
function appended(operand: Operand, old: Sql): Sql {
  const own = sql`json_merge_patch(${old}, ${withoutKeys(operand)})`;
  return sql`json_merge_preserve(if(${areObjects(operand, old)}, ${own}, ${old}), ${parameterSql(operand)})`;
}

function prepended(operand: Operand, old: Sql): Sql {
  const path = sql`concat('$.', json_quote(\`:keys\`.\`k\`))`;
  const keys = sql`json_table(json_keys(${parameterSql(operand)}), '$[*]' columns (\`k\` longtext character set utf8mb4 path '$')) as \`:keys\``;
  const entries = sql`json_objectagg(\`:keys\`.\`k\`, json_extract(${parameterSql(operand)}, ${path}))`;
  const rest = sql`(select coalesce(${entries}, json_object()) from ${keys} where not json_exists(${old}, ${path}))`;
  return sql`if(${areObjects(operand, old)}, json_merge_preserve(${rest}, ${old}), json_merge_preserve(${parameterSql(operand)}, ${old}))`;
}

function areObjects(operand: Operand, old: Sql): Sql {
  return sql`json_type(${old}) = 'OBJECT' and json_type(${parameterSql(operand)}) = 'OBJECT'`;
}

/** Compiles a merge patch that removes the keys of the value. */
function withoutKeys(operand: Operand): Sql {
  const encode = (json: Json): string =>
    printJson(isJsonObject(json) ? Object.fromEntries(Object.keys(json).map((key) => [key, null])) : {});
  return parameter({ operand, key: '', encode });
}

function pathSql(operand: Operand, encode: (json: Json) => string): Sql {
  return parameter({ operand, key: '', encode });
}
