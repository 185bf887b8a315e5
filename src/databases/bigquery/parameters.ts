/** Values with the types of their columns: the database compares nothing with a value of another type. */
import type { Parameter } from '../../sql/fragment.ts';
import type { JsonObject } from '../../util/json.ts';
import type { QueryParameter } from './client/client.ts';
import { ROW_LIMIT, ROW_OFFSET } from './type-of.ts';

/** Types whose values go as texts, and are read in the statement. */
const AS_TEXT: ReadonlySet<string> = new Set([
  'GEOGRAPHY',
  'INTERVAL',
  'JSON',
  'RANGE<DATE>',
  'RANGE<DATETIME>',
  'RANGE<TIMESTAMP>',
  'STRUCT',
]);

const KNOWN: ReadonlySet<string> = new Set([
  'BIGNUMERIC',
  'BOOL',
  'BYTES',
  'DATE',
  'DATETIME',
  'FLOAT64',
  'INT64',
  'NUMERIC',
  'STRING',
  'TIME',
  'TIMESTAMP',
]);

/** The type that a value of a type is sent as. */
export function sentType(name: string): string {
  if (name === 'INT' || name === ROW_LIMIT.name || name === ROW_OFFSET.name) return 'INT64';
  return AS_TEXT.has(name) || !KNOWN.has(name) ? 'STRING' : name;
}

/**
 * The values of a statement by the names of its placeholders.
 * @param rowLimit what a level of an answer has at most
 */
export function queryParameters(
  parameters: readonly Parameter[],
  values: readonly (string | null)[],
  rowLimit: number,
): readonly QueryParameter[] {
  return parameters.map(({ operand: { type, list } }, i): QueryParameter => {
    const name = `p${i + 1}`;
    const text = values[i] ?? null;
    const parameterType = { type: sentType(type.name) };
    if (list || type.array) {
      return { name, parameterType: { type: 'ARRAY', arrayType: parameterType }, parameterValue: { arrayValues: itemsOf(text) } };
    }
    return { name, parameterType, parameterValue: { value: ownValue(type.name, text, rowLimit) } };
  });
}

function ownValue(type: string, text: string | null, rowLimit: number): string | null {
  if (type === ROW_OFFSET.name) return text ?? '0';
  if (type !== ROW_LIMIT.name) return text;
  return String(text === null ? rowLimit : Math.min(Number(text), rowLimit));
}

/** Nothing is known to be in a list that is null, nor outside of it: as in one with a null alone. */
function itemsOf(text: string | null): JsonObject[] {
  const items = text === null ? [null] : (JSON.parse(text) as readonly (string | null)[]);
  return items.map((value) => ({ value }));
}
