import { describe, expect, it } from 'vitest';
import { backends } from '../databases/index.ts';
import { ROOT } from '../util/path.ts';
import { operationTable } from './operation-table.ts';
import { operationsPage } from './reference-page.ts';

const entries = [...operationTable(backends).values()];

describe('the reference of operations', () => {
  it.each(entries.map((entry) => [`${entry.type} ${entry.version}`, entry] as const))(
    '%s has arguments that its example fits',
    (_name, entry) => {
      expect(() => entry.prepare(entry.documentation.example, ROOT)).not.toThrow();
      const { example } = entry.documentation;
      if (entry.arguments === undefined || typeof example !== 'object' || example === null || Array.isArray(example)) return;
      const known = entry.arguments.flatMap(({ key, aliases }) => [key, ...aliases]);
      expect(Object.keys(example).filter((key) => !known.includes(key))).toEqual([]);
    },
  );

  it('shows every operation once, under the prefix of its kind', () => {
    const page = operationsPage(backends);
    const headings = page.split('\n').filter((line) => line.startsWith('## '));
    const expected = entries.filter(({ type }) => !type.startsWith('postgres_'));
    expect(headings).toHaveLength(expected.length);
    expect(new Set(headings).size).toBe(headings.length);
    expect(page).toContain('| `table` | QualifiedTable |  |');
    expect(page).toContain('| _`source`_ | NonEmptyText | `"default"` |');
  });
});
