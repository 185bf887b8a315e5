/** Evaluates a rule for one existing row, part by part: for each part, the service counts whether it matches the row. */
import { isJsonArray, isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';
import { failure } from '../failure.ts';
import type { ServerClient } from '../server-client.ts';

export interface EvaluatedPart {
  /** 0 for the rule itself. */
  readonly depth: number;
  readonly text: string;
  /** `null` for SQL NULL, with which a row does not pass. */
  readonly value: boolean | null;
}

interface Part {
  readonly depth: number;
  readonly text: string;
  readonly rule: JsonObject;
}

/** Maximum number of evaluated parts. A rule with more is also evaluated as a whole. */
const MAX_PARTS = 200;

const LISTS: ReadonlySet<string> = new Set(['_and', '_or', '$and', '$or']);

/** Returns the parts of a rule, each before its own parts. */
function partsOf(rule: Json): readonly Part[] {
  const parts: Part[] = [];
  let isCut = false;
  const add = (depth: number, text: string, own: JsonObject, wrap: (inside: JsonObject) => JsonObject): void => {
    if (parts.length < MAX_PARTS) parts.push({ depth, text, rule: wrap(own) });
    else isCut = true;
  };
  const visit = (part: Json, depth: number, wrap: (inside: JsonObject) => JsonObject): void => {
    if (!isJsonObject(part)) return;
    const entries = Object.entries(part);
    if (entries.length === 0) add(depth, 'always', {}, wrap);
    for (const [key, value] of entries) {
      if (LISTS.has(key) && isJsonArray(value)) {
        add(depth, key, { [key]: value }, wrap);
        for (const item of value) visit(item, depth + 1, wrap);
      } else if (key === '_not' || key === '$not') {
        add(depth, key, { [key]: value }, wrap);
        visit(value, depth + 1, wrap);
      } else if (key === '_exists' || key === '$exists') add(depth, `${key} ${printJson(value)}`, { [key]: value }, wrap);
      else if (isJsonObject(value) && !Object.keys(value).every((each) => /^[_$]/.test(each))) {
        // A relationship: its parts are about the related row.
        add(depth, key, { [key]: value }, wrap);
        visit(value, depth + 1, (inside) => wrap({ [key]: inside }));
      } else if (isJsonObject(value))
        for (const [operator, operand] of Object.entries(value))
          add(depth, `${key} ${operator} ${printJson(operand)}`, { [key]: { [operator]: operand } }, wrap);
      else add(depth, `${key} = ${printJson(value)}`, { [key]: value }, wrap);
    }
  };
  visit(rule, 0, (inside) => inside);
  if (!isCut || !isJsonObject(rule)) return parts;
  return [{ depth: 0, text: `the whole rule (the first ${MAX_PARTS} parts follow)`, rule }, ...parts];
}

/**
 * @param row values of columns that identify the row
 * @param rule rule with the values of session variables
 * @throws ProjectFailure also if there is not exactly one such row
 */
export async function evaluateRow(
  server: ServerClient,
  queryPath: string,
  place: { readonly source: string; readonly table: Json },
  row: JsonObject,
  rule: Json,
): Promise<readonly EvaluatedPart[]> {
  const isRow = Object.entries(row).map(
    ([column, value]): JsonObject => ({ [column]: value === null ? { _is_null: true } : { _eq: value } }),
  );
  const count = (where: Json): JsonObject => ({ type: 'count', args: { ...place, where } });
  const parts = partsOf(rule);
  const counting = [
    count({ _and: isRow }),
    ...parts.flatMap((part) => [count({ _and: [...isRow, part.rule] }), count({ _and: [...isRow, { _not: part.rule }] })]),
  ];
  const { status, body } = await server.send(queryPath, { body: { type: 'bulk', args: counting } });
  if (status !== 200 || !isJsonArray(body))
    throw failure('server', isJsonObject(body) && typeof body['error'] === 'string' ? body['error'] : printJson(body));
  const counts = body.map((answer) => (isJsonObject(answer) ? Number(answer['count']) : 0));
  if (counts[0] !== 1)
    throw failure(
      'row',
      `${counts[0] === 0 ? 'no row matches' : `${counts[0]} rows match`} ${printJson(row)}: name columns that match one row`,
    );
  return parts.map(({ depth, text }, i) => ({
    depth,
    text,
    value: counts[1 + 2 * i] === 1 ? true : counts[2 + 2 * i] === 1 ? false : null,
  }));
}

/** Returns a line for each part. */
export function printEvaluation(parts: readonly EvaluatedPart[]): string {
  return parts.map(({ depth, text, value }) => `${String(value).padEnd(5)}  ${'  '.repeat(depth)}${text}`).join('\n');
}

/** Returns whether the row passes: all top-level parts are true. */
export function passes(parts: readonly EvaluatedPart[]): boolean {
  return parts.every(({ depth, value }) => depth > 0 || value === true);
}
