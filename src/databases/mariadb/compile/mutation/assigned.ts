/** What an update assigns to a column. */
import type { Assignment } from '../../../../ir/mutation.ts';
import type { Operand } from '../../../../ir/value.ts';
import { parameter, type Sql, sql } from '../../../../sql/fragment.ts';
import type { Row } from '../../../shared/row.ts';
import { isJsonArray, isJsonObject, type Json, printJson } from '../../../../util/json.ts';
import { familyOf } from '../../families.ts';
import { BIGINT } from '../../type-of.ts';
import { jsonKeyText, jsonPathText } from '../../coerce/json-path.ts';
import { operandSql, placeholderSql } from '../operand.ts';
import { writtenSql } from './values.ts';

/** The value of an assignment as conditions read it. */
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
      // Nothing is at no path; the database would refuse to take away the whole.
      return sql`if(${path} = '$', ${old}, json_remove(${old}, ${path}))`;
    }
  }
}

/** What is added to a number may be less than zero, whatever the number. */
function signed(operand: Operand): Operand {
  return familyOf(operand.type).kind === 'integer' ? { ...operand, type: BIGINT } : operand;
}

/**
 * Two documents as one: the keys of both objects, of which those of the right one win, or the items of both. MariaDB would merge what
 * objects have in common down to their leaves; without the keys of the other one, they have nothing in common.
 */
function appended(operand: Operand, old: Sql): Sql {
  const own = sql`json_merge_patch(${old}, ${withoutKeys(operand)})`;
  return sql`json_merge_preserve(if(${areObjects(operand, old)}, ${own}, ${old}), ${placeholderSql(operand)})`;
}

function prepended(operand: Operand, old: Sql): Sql {
  const path = sql`concat('$.', json_quote(\`:keys\`.\`k\`))`;
  const keys = sql`json_table(json_keys(${placeholderSql(operand)}), '$[*]' columns (\`k\` longtext character set utf8mb4 path '$')) as \`:keys\``;
  const entries = sql`json_objectagg(\`:keys\`.\`k\`, json_extract(${placeholderSql(operand)}, ${path}))`;
  const rest = sql`(select coalesce(${entries}, json_object()) from ${keys} where not json_exists(${old}, ${path}))`;
  return sql`if(${areObjects(operand, old)}, json_merge_preserve(${rest}, ${old}), json_merge_preserve(${placeholderSql(operand)}, ${old}))`;
}

function areObjects(operand: Operand, old: Sql): Sql {
  return sql`json_type(${old}) = 'OBJECT' and json_type(${placeholderSql(operand)}) = 'OBJECT'`;
}

/** An object that takes away, when it is merged, the keys that the value has. */
function withoutKeys(operand: Operand): Sql {
  const encode = (json: Json): string =>
    printJson(isJsonObject(json) ? Object.fromEntries(Object.keys(json).map((key) => [key, null])) : {});
  return parameter({ operand, key: '', encode });
}

function pathSql(operand: Operand, encode: (json: Json) => string): Sql {
  return parameter({ operand, key: '', encode });
}
