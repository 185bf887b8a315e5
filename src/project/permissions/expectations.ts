/** Compares the response of a permission test with its expectations. */
import { structuredPatch } from 'diff';
import { isJsonArray, isJsonObject, type Json, jsonEqual, type JsonObject, objectsIn } from '../../util/json.ts';
import { indented } from '../directory/write-metadata.ts';
import { inOrderOf } from './compare-lists.ts';
import { fieldOrderOf } from './list-order.ts';
import type { PermissionTest } from './test-files.ts';

/** Maximum number of lines of a difference. */
const MAX_LINES = 60;
/** Maximum number of different lines that are looked for. */
const MAX_EDITS = 2000;
/** Number of equal lines around a difference. */
const CONTEXT = 6;

/**
 * Returns what differs: `unexpected rows`, then a diff from the expected to the received value.
 * @returns `undefined` if the response is as expected
 */
export function differenceOf({ query, variables, expect }: PermissionTest, response: JsonObject): string | undefined {
  const data = response['data'] ?? null;
  const errors = objectsIn(response['errors']);
  const received: Record<string, Json> = {};
  const expected: Record<string, Json> = {};
  for (const [key, value] of Object.entries(expect)) {
    const actual = actualOf(key, value, { data, errors, order: () => inOrderOf(value, data, fieldOrderOf(query, variables)) });
    if (jsonEqual(actual, value)) continue;
    expected[key] = value;
    received[key] = actual;
  }
  const keys = Object.keys(expected);
  if (keys.length === 0) return undefined;
  if (errors.length > 0) received['errors'] = errors.map(shownError);
  else if (keys.some((key) => key !== 'data' && key !== 'ids')) received['data'] ??= data;
  return `unexpected ${keys.join(', ')}\n${printDifference(expected, received)}`;
}

interface Received {
  readonly data: Json;
  readonly errors: readonly JsonObject[];
  /** Returns the data in the order of the expected data. */
  order(): Json;
}

/** Returns what the response has for a key of `expect`. */
function actualOf(key: string, expected: Json, { data, errors, order }: Received): Json {
  switch (key) {
    case 'data':
      return order();
    case 'error': {
      const codes = errors.map(codeOf);
      return codes.find((code) => jsonEqual(code, expected)) ?? codes[0] ?? null;
    }
    case 'denied':
      return errors.length > 0;
    case 'rows':
      return listsOf(data).reduce((sum, list) => sum + list.length, 0);
    default: {
      const ids = listsOf(data).flatMap((list) => list.flatMap((row) => (isJsonObject(row) ? [row['id'] ?? null] : [])));
      return inOrderOf(expected, ids, { isOrdered: false, fields: new Map() });
    }
  }
}

/** Returns the rows of each root field. */
function listsOf(data: Json): readonly (readonly Json[])[] {
  if (!isJsonObject(data)) return [];
  return Object.values(data).map((value) => (isJsonArray(value) ? value : value === null ? [] : [value]));
}

function codeOf(error: JsonObject): Json {
  return isJsonObject(error['extensions']) ? (error['extensions']['code'] ?? null) : null;
}

function shownError(error: JsonObject): JsonObject {
  return { code: codeOf(error), message: error['message'] ?? null };
}

function printDifference(expected: JsonObject, received: JsonObject): string {
  const options = { context: CONTEXT, maxEditLength: MAX_EDITS };
  const patch = structuredPatch('', '', `${indented(expected)}\n`, `${indented(received)}\n`, '', '', options);
  if (patch === undefined) return `- expected\n+ received\n  … more than ${MAX_EDITS} lines differ`;
  const { hunks } = patch;
  const lines = hunks.flatMap(({ lines: own, oldStart }) => [...(oldStart > 1 ? ['  …'] : []), ...own.map(spaced)]);
  const shown = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), `  … ${lines.length - MAX_LINES} more lines`] : lines;
  return ['- expected', '+ received', ...shown].join('\n');
}

/** Returns the line of a patch with a space after its sign. */
function spaced(line: string): string {
  return `${line.slice(0, 1)} ${line.slice(1)}`;
}
