import { expect, test } from 'vitest';
import type { MutationRoot } from '../ir/mutation.ts';
import type { AggregateQuery, Field, RowsQuery, SelectRoot } from '../ir/select.ts';
import { distinctRoots, expectedBytes } from './repeats.ts';

const MB = 1_048_576;

function reads(shape: RowsQuery['shape'], limit: number | null): readonly SelectRoot[] {
  return Array.from({ length: 480 }, (_, i) => ({
    alias: `a${i}`,
    query: {
      kind: 'rows',
      shape,
      from: { kind: 'table', name: { schema: 'public', name: 'doc' } },
      rows: { where: { kind: 'and', items: [] }, distinctOn: [], orderBy: [], limit, offset: { kind: 'literal', json: i } },
      fields: [],
    } as unknown as RowsQuery,
  }));
}

test('expects little of reads of few rows, and much of reads without a limit', () => {
  expect(expectedBytes(reads('single', null))).toBe(0);
  expect(expectedBytes(reads('list', 1))).toBeLessThan(MB);
  expect(expectedBytes(reads('list', 10))).toBeLessThan(4 * MB);
  expect(expectedBytes(reads('list', null))).toBeGreaterThan(200 * MB);
  expect(expectedBytes(reads('list', null).slice(0, 16))).toBe(0);
});

test('expects of mutations what they read of changed rows, and of joins a list for each key', () => {
  const fields = reads('list', 10).map(({ alias, query }) => ({ kind: 'related', alias, query }));
  const output = { kind: 'response', fields: [{ kind: 'returning', alias: 'returning', fields }] };
  const root = { alias: 'a', mutation: { kind: 'delete', output } } as unknown as MutationRoot;
  expect(expectedBytes([root])).toBeGreaterThan(200 * MB);
  expect(expectedBytes(reads('list', 10), Number.POSITIVE_INFINITY)).toBeGreaterThan(200 * MB);
});

const table = { kind: 'table', name: { schema: 'public', name: 'doc' } } as const;
const rows = { where: { kind: 'constant', value: true }, distinctOn: [], orderBy: [], limit: null, offset: null } as const;

function read(column: string): Field {
  const type = { schema: 'pg_catalog', name: 'int4', kind: 'base', array: false } as const;
  return { kind: 'read', alias: column, read: { kind: 'column', column, type }, jsonPath: null };
}

function related(query: RowsQuery | AggregateQuery): Field {
  return { kind: 'related', alias: 'inner', join: { columns: [{ local: 'a', remote: 'b' }], unique: false }, query };
}

/** A relationship within itself. @param leaf column that is read at its end */
function nested(levels: number, leaf: string): RowsQuery {
  const field = levels === 0 ? read(leaf) : related(nested(levels - 1, leaf));
  return { kind: 'rows', shape: 'list', from: table, rows, fields: [field] };
}

/** Nests the read in rows of aggregates. */
function nestedNodes(levels: number, leaf: string): AggregateQuery {
  const field = levels === 0 ? read(leaf) : related(nestedNodes(levels - 1, leaf));
  return { kind: 'aggregate', from: table, rows, nodesLimit: null, fields: [{ kind: 'nodes', alias: 'nodes', fields: [field] }] };
}

test.each([
  ['rows', nested],
  ['rows of aggregates', nestedNodes],
])('joins equal reads of many levels of %s, and only these', (_, query) => {
  const levels = 60;
  const roots = ['id', 'id', 'name', 'id'].map((leaf, i) => ({ alias: `a${i}`, query: query(levels, leaf) }));
  const distinct = distinctRoots(roots);
  expect(distinct.roots.map(({ alias }) => alias)).toEqual(['a0', 'a2']);
  expect(distinct.places.map(({ root }) => root)).toEqual([0, 0, 1, 0]);
});
