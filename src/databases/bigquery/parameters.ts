/** Parameters of statements, typed like the columns that they are compared with: BigQuery does not convert between types. */
import type { Parameter } from '../../sql/fragment.ts';
import type { JsonObject } from '../../util/json.ts';
import type { BigQueryParameter } from './client/client.ts';
import { ROW_LIMIT, ROW_OFFSET } from './base-type.ts';

/** Types whose values are sent as text and converted in the statement. */
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

/** Returns the parameter type for values of a type. */
export function sentType(name: string): string {
  if (name === 'INT' || name === ROW_LIMIT.name || name === ROW_OFFSET.name) return 'INT64';
  return AS_TEXT.has(name) || !KNOWN.has(name) ? 'STRING' : name;
}

/** @param rowLimit maximum rows of each list in an answer */
export function namedParameters(
  parameters: readonly Parameter[],
  values: readonly (string | null)[],
  rowLimit: number,
): readonly BigQueryParameter[] {
  return parameters.map(({ operand: { type, list } }, i): BigQueryParameter => {
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

/** Membership in a null list is unknown, as in a list with a single null. */
function itemsOf(text: string | null): JsonObject[] {
  const items = text === null ? [null] : (JSON.parse(text) as readonly (string | null)[]);
  return items.map((value) => ({ value }));
}
