/** What a rule says of one row that is there, part by part: the service counts whether the row is among those of each part. */
import { isJsonArray, isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';
import { failure } from '../failure.ts';
import type { ServerClient } from '../server-client.ts';

export interface JudgedPart {
  /** 0: the rule itself. */
  readonly depth: number;
  readonly text: string;
  /** null: the database cannot tell, and the row does not pass. */
  readonly value: boolean | null;
}

interface Part {
  readonly depth: number;
  readonly text: string;
  readonly rule: JsonObject;
}

/** Parts that are told, the first ones; of a rule that has more, the whole is looked at too. */
const MOST_PARTS = 200;

const LISTS: ReadonlySet<string> = new Set(['_and', '_or', '$and', '$or']);

/** The parts of a rule, each in front of what is inside of it. */
function partsOf(rule: Json): readonly Part[] {
  const parts: Part[] = [];
  let isCut = false;
  const add = (depth: number, text: string, own: JsonObject, wrap: (inside: JsonObject) => JsonObject): void => {
    if (parts.length < MOST_PARTS) parts.push({ depth, text, rule: wrap(own) });
    else isCut = true;
  };
  const visit = (given: Json, depth: number, wrap: (inside: JsonObject) => JsonObject): void => {
    if (!isJsonObject(given)) return;
    const entries = Object.entries(given);
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
        // A relationship: what is inside is about the row that it leads to.
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
  return [{ depth: 0, text: `the whole rule, of which the first ${MOST_PARTS} parts are told`, rule }, ...parts];
}

/**
 * @param row values of columns that tell it from all others
 * @param rule with the session's values in it
 * @throws ProjectFailure also when there is no such row, or more than one
 */
export async function judgeRow(
  server: ServerClient,
  queryPath: string,
  place: { readonly source: string; readonly table: Json },
  row: JsonObject,
  rule: Json,
): Promise<readonly JudgedPart[]> {
  const isRow = Object.entries(row).map(
    ([column, value]): JsonObject => ({ [column]: value === null ? { _is_null: true } : { _eq: value } }),
  );
  const count = (where: Json): JsonObject => ({ type: 'count', args: { ...place, where } });
  const parts = partsOf(rule);
  const asked = [
    count({ _and: isRow }),
    ...parts.flatMap((part) => [count({ _and: [...isRow, part.rule] }), count({ _and: [...isRow, { _not: part.rule }] })]),
  ];
  const { status, body } = await server.send(queryPath, { body: { type: 'bulk', args: asked } });
  if (status !== 200 || !isJsonArray(body))
    throw failure('server', isJsonObject(body) && typeof body['error'] === 'string' ? body['error'] : printJson(body));
  const counts = body.map((answer) => (isJsonObject(answer) ? Number(answer['count']) : 0));
  if (counts[0] !== 1)
    throw failure('row', `${counts[0] === 0 ? 'there is no row' : `${counts[0]} rows are`} like ${printJson(row)}: one is wanted`);
  return parts.map(({ depth, text }, i) => ({
    depth,
    text,
    value: counts[1 + 2 * i] === 1 ? true : counts[2 + 2 * i] === 1 ? false : null,
  }));
}

/** A rule for people: a line for each part. */
export function printJudged(parts: readonly JudgedPart[]): string {
  return parts.map(({ depth, text, value }) => `${String(value).padEnd(5)}  ${'  '.repeat(depth)}${text}`).join('\n');
}

/** Whether the row passes: all parts at the top hold. */
export function passes(parts: readonly JudgedPart[]): boolean {
  return parts.every(({ depth, value }) => depth > 0 || value === true);
}
