import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../model/json.ts';
import { Failure } from './failure.ts';
import { countLeft, type ImportResult, importAll, importValid, leftRows } from './import-rows.ts';

type Insert = (objects: readonly JsonObject[], singles: readonly JsonObject[]) => number;

/** Runs an import of rows with the numbers from 0. @returns its result and the number of objects of each request */
async function run(
  mode: typeof importAll,
  count: number,
  insert: Insert,
  isStopped: (requests: number) => boolean = () => false,
): Promise<ImportResult & { readonly sent: readonly number[] }> {
  const sent: number[] = [];
  const result = await mode({
    rows: Array.from({ length: count }, (_, row) => ({ row, object: { n: row } })),
    insert: async (objects, singles = []) => {
      sent.push(objects.length);
      return insert(objects, singles);
    },
    isStopped: () => isStopped(sent.length),
    onProgress: () => undefined,
  });
  return { ...result, sent };
}

const OBJECTS = '$.selectionSet.insert_member.args.objects';
const SINGLE = '$.selectionSet.single0.args.object';
const fail = (message: string, code: string, path?: string): never => {
  throw new Failure(message, { status: 200, code, path });
};
const numbers = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, index) => from + index);
const has = (objects: readonly JsonObject[], n: number): boolean => objects.some((object) => object['n'] === n);

describe('an import in batches', () => {
  it('does not know whether the rows of a lost answer were inserted', async () => {
    const lost = [
      new Failure('The service cannot be reached.', { code: 'unreachable' }),
      new Failure('Bad gateway', { status: 502, code: 'http-502' }),
      new Failure('the connection broke while the transaction was committed: it may be committed or not', {
        status: 200,
        code: 'postgres-error',
      }),
    ];
    for (const failure of lost) {
      const result = await run(importValid, 1200, (objects) => {
        if (has(objects, 500)) throw failure;
        return objects.length;
      });
      expect(result).toMatchObject({ inserted: 500, end: 'unknown', failure, rejected: [] });
      expect(result.uncertain).toEqual(numbers(500, 1000));
      expect(leftRows([], result)).toEqual([{ first: 1000, last: 1199, reason: 'not sent' }]);
    }
  });

  it('halves a batch only for errors of its rows', async () => {
    const wrong = await run(importValid, 8, (objects) =>
      has(objects, 5) ? fail('violates "positive"', 'permission-error', OBJECTS) : objects.length,
    );
    expect(wrong).toMatchObject({ inserted: 7, end: 'done', rejected: [{ row: 5, reason: 'violates "positive"' }], unsent: [] });
    for (const code of ['unexpected', 'timeout', 'concurrent-update', 'constraint-error']) {
      const result = await run(importValid, 600, () => fail('not possible', code, OBJECTS));
      expect(result).toMatchObject({ inserted: 0, end: 'failed', rejected: [], sent: [500], uncertain: [] });
      expect(result.failure?.message).toBe('not possible');
      expect(result.unsent.length).toBe(600);
    }
  });

  it('finds the row for which a trigger raises an error', async () => {
    const failure = new Failure('database query error', {
      ...{ status: 200, code: 'unexpected', path: OBJECTS, internal: { error: { status_code: 'P0001' } } },
    });
    const result = await run(importValid, 4, (objects) => {
      if (has(objects, 2)) throw failure;
      return objects.length;
    });
    expect(result).toMatchObject({ inserted: 3, end: 'done', rejected: [{ row: 2 }] });
  });

  it('lists the rows that were not sent after a stop and after too many rejected rows', async () => {
    const stopped = await run(
      importValid,
      1200,
      (objects) => objects.length,
      (requests) => requests === 1,
    );
    expect(stopped).toMatchObject({ inserted: 500, end: 'stopped' });
    const left = leftRows([{ row: 700, column: 'n', reason: 'the value is missing' }], {
      ...stopped,
      unsent: stopped.unsent.filter(({ row }) => row !== 700),
    });
    expect(left).toEqual([
      { first: 500, last: 699, reason: 'not sent' },
      { first: 700, last: 700, reason: 'n: the value is missing' },
      { first: 701, last: 1199, reason: 'not sent' },
    ]);
    expect(countLeft(left)).toBe(700);
    const limited = await run(importValid, 300, () => fail('wrong', 'data-exception', `${OBJECTS}[0].n`));
    expect(limited).toMatchObject({ inserted: 0, end: 'limit' });
    expect(limited.rejected.length).toBe(200);
    expect(countLeft(leftRows([], limited))).toBe(300);
  });
});

describe('an import of all rows or none', () => {
  it('finds every rejected row', async () => {
    const result = await run(importAll, 10, (objects, singles) => {
      const index = objects.findIndex(({ n }) => n === 3 || n === 7);
      if (index !== -1) return fail('wrong', 'constraint-violation', `${OBJECTS}[${index}]`);
      return singles.length > 0 ? fail('wrong', 'constraint-violation', SINGLE) : objects.length;
    });
    expect(result).toMatchObject({ inserted: 0, end: 'done', rejected: [{ row: 3 }, { row: 7 }], uncertain: [], unsent: [] });
  });

  it('shows another error of a later try', async () => {
    for (const path of [OBJECTS, SINGLE]) {
      const result = await run(importAll, 10, (objects) =>
        has(objects, 3) ? fail('wrong', 'constraint-violation', `${OBJECTS}[3]`) : fail('the time is over', 'timeout', path),
      );
      expect(result).toMatchObject({ inserted: 0, end: 'failed', rejected: [{ row: 3 }] });
      expect(result.failure?.message).toBe('the time is over');
      expect(countLeft(leftRows([], result))).toBe(10);
    }
  });

  it('does not know whether the rows of a lost answer were inserted', async () => {
    const result = await run(importAll, 3, () => fail('The service cannot be reached.', 'unreachable'));
    expect(result).toMatchObject({ inserted: 0, end: 'unknown', uncertain: [0, 1, 2], unsent: [] });
  });
});
