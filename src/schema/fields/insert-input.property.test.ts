/** Rows in the document and equal rows in a variable are translated to the same rows. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { translate } from '../../../test/support/translate.ts';
import { writingCache } from '../../../test/support/writing-fixture.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { Insert, InsertRows } from '../../ir/mutation.ts';
import type { Operand } from '../../ir/value.ts';
import { isJsonArray, isJsonObject, type Json, printJson } from '../../util/json.ts';
import { printPath } from '../../util/path.ts';
import { variablePart, type Variables } from '../../graphql-engine/constraint.ts';
import { SEED } from '../../../test/support/deep.ts';

const cache = writingCache();
/** Number of cases, in short runs too: they are cheap, and fewer cases might all be rejected. */
const CASES = 400;

function optional<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined });
}

/** Omits optional keys. */
function given(row: Record<string, unknown>): Json {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Json;
}

const text = fc.constantFrom<Json>('a', '', 'x"y\\', null, 3, true);
const { row } = fc.letrec<{ row: Json; article: Json }>((tie) => ({
  row: fc
    .record({
      name: optional(text),
      email: optional(text),
      rating: optional(fc.constantFrom<Json>(1, '2.5', null, [])),
      data: optional(fc.constantFrom<Json>({ k: [1, null] }, 'x', null)),
      tags: optional(fc.constantFrom<Json>(['a'], [], null, '{a,b}', ['a', null])),
      articles: optional(
        fc.oneof(
          { maxDepth: 3 },
          fc.constant<Json>(null),
          fc.array(tie('article'), { maxLength: 2 }).map((data): Json => ({ data })),
          tie('article').map((data): Json => ({ data })),
        ),
      ),
      nonsense: fc.option(fc.constant<Json>(1), { nil: undefined, freq: 20 }),
    })
    .map(given),
  article: fc
    .record({
      title: optional(text),
      author_id: fc.option(fc.constant<Json>(1), { nil: undefined, freq: 9 }),
      editor: optional(
        fc.oneof(
          { maxDepth: 3 },
          fc.constant<Json>(null),
          tie('row').map((data): Json => ({ data, on_conflict: null })),
        ),
      ),
    })
    .map(given),
}));

/** Prints a GraphQL literal. */
function literalOf(json: Json): string {
  if (isJsonArray(json)) return `[${json.map(literalOf).join(', ')}]`;
  if (!isJsonObject(json)) return printJson(json);
  return `{${Object.entries(json)
    .map(([key, value]) => `${key}: ${literalOf(value)}`)
    .join(', ')}}`;
}

/** Returns the rows with all values resolved; paths are compared as texts. */
function settled(rows: InsertRows, variables: Variables): Json {
  const nested = (items: readonly { readonly name: string; readonly rows: InsertRows }[]): Json =>
    items.map(({ name, rows: inner }) => ({ name, rows: settled(inner, variables) }));
  return {
    columns: rows.columns.map(({ name }) => name),
    rows: rows.rows.map((one) => ({
      path: printPath(one.path),
      values: Object.fromEntries([...one.values].map(([column, operand]) => [column, bound(operand, variables)])),
      before: nested(one.before),
      after: nested(one.after),
    })),
  };
}

function bound({ value }: Operand, variables: Variables): Json {
  if (value.kind === 'literal') return value.json;
  if (value.kind !== 'variable') throw new Error('an unexpected kind of value');
  return value.check(variablePart(variables, value.name, value.path) ?? null, value.at);
}

/** Returns the rows, or path and code of the error: messages about literals and JSON differ. */
function outcome(query: string, variables: Variables): Json {
  try {
    const root = translate(cache, query, { variables }).roots[0]?.root as { readonly mutation: Insert };
    return settled(root.mutation.rows, variables);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return 'refused';
  }
}

it('translates rows in the document and in a variable equally', () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(row, fc.array(row, { maxLength: 3 })), (objects) => {
      const written = outcome(`mutation { insert_author(objects: ${literalOf(objects)}) { affected_rows } }`, {});
      const sent = outcome('mutation ($o: [author_insert_input!]!) { insert_author(objects: $o) { affected_rows } }', { o: objects });
      expect(sent).toEqual(written);
      if (written !== 'refused') accepted++;
    }),
    { numRuns: CASES, seed: SEED },
  );
  // About one case in seven is accepted.
  expect(accepted).toBeGreaterThan(CASES / 20);
});
