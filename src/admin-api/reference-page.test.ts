import { describe, expect, it } from 'vitest';
import { backends } from '../databases/index.ts';
import { ROOT } from '../util/path.ts';
import { legacyEntries } from './query-language.ts';
import { METADATA_BULKS } from './metadata-language.ts';
import { operationTable } from './operation-table.ts';
import { operationsPage, queryPage } from './reference-page.ts';
import { typesPage } from './types-page.ts';
import { schemaEntries } from './schema-language.ts';

const table = [...operationTable(backends).values()];
const entries = [...new Set([...table, ...schemaEntries(backends).values(), ...legacyEntries(backends).values()])];
const headingsOf = (page: string): readonly string[] => page.split('\n').filter((line) => line.startsWith('## '));

describe('the reference of operations', () => {
  it.each(entries.map((entry, i) => [`${i}: ${entry.type} ${entry.version}`, entry] as const))(
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
    const headings = headingsOf(page);
    const expected = table.filter(({ type }) => !type.startsWith('postgres_'));
    expect(headings).toHaveLength(expected.length + METADATA_BULKS.length);
    expect(new Set(headings).size).toBe(headings.length);
    expect(page).toContain('| `table` | [QualifiedTable](metadata-types.md#qualifiedtable) |  |');
    expect(page).toContain('| _`source`_ | [NonEmptyText](metadata-types.md#nonemptytext) | `"default"` |');
  });

  it('names the endpoints of operations that `/v1/metadata` does not have', () => {
    const page = queryPage(backends);
    expect(headingsOf(page).map((heading) => heading.slice(3))).toEqual([
      'bulk',
      'concurrent_bulk',
      'count',
      'dbb_run_sql',
      'dbc_run_sql',
      'delete',
      'dwh_run_sql',
      'insert',
      'pg_run_sql',
      'run_sql',
      'select',
      'set_table_custom_fields',
      'update',
      'Operations of the metadata API',
    ]);
    expect(page).toContain('\nOn `/v2/query` and `/v1/query`. Counts the rows');
    expect(page).toContain('\nOn `/v2/query`. Runs read-only operations');
    expect(page).toContain('| `track_table` | [`pg_track_table`](metadata-api.md#pg_track_table) |');
  });

  it.each(entries.map((entry, i) => [`${i}: ${entry.type} ${entry.version}`, entry] as const))(
    '%s lists each of its errors once',
    (_name, { errors }) => {
      const printed = errors.map(({ code, status, when }) => `${code} ${status} ${when}`);
      expect(new Set(printed).size).toBe(printed.length);
      expect(printed[0]).toMatch(/^parse-failed 400 /);
    },
  );

  it('describes every type', () => {
    const page = typesPage(backends);
    const anchors = new Set(headingsOf(page).map((heading) => heading.slice(3).toLowerCase()));
    for (const text of [page, operationsPage(backends), queryPage(backends)])
      for (const [, anchor = ''] of text.matchAll(/\((?:metadata-types\.md)?#(\w+)\)/g))
        if (!anchor.includes('_')) expect(anchors).toContain(anchor);
    expect(page).toContain('## SelPerm\n\n| key | type | default |\n|---|---|---|\n| `columns` | [PermColSpec](#permcolspec) |  |');
    expect(page).toContain('| _`num_retries`_ | [Int](#int): a whole number from 0 to 1000000 |');
    expect(page).toContain('## EventLogStatus\n\nOne of `pending`, `processed`, `delivered`, `error`.');
    // No section is empty.
    expect(page).not.toMatch(/^## \w+\n+## /m);
  });
});
