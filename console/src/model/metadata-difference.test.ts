import { expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { metadataDifferences, withDifferences } from './metadata-difference.ts';

const table = (name: string, more: JsonObject = {}): JsonObject => ({ table: { schema: 'public', name }, ...more });
const source = (name: string, tables: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({ name, kind: 'pg', tables, ...more });

const before: JsonObject = {
  version: 3,
  sources: [source('default', [table('a'), table('b', { is_enum: true })], { configuration: { x: 1 }, functions: [{ function: 'f' }] })],
  actions: [{ name: 'one' }, { name: 'two' }],
  inherited_roles: [{ role_name: 'both', role_set: ['a', 'b'] }],
  api_limits: { disabled: true },
};
const after: JsonObject = {
  version: 3,
  sources: [
    source('default', [table('b'), table('c')], { configuration: { x: 2 }, functions: [{ function: 'g' }] }),
    source('other', [table('d')]),
  ],
  actions: [{ name: 'two', comment: 'new' }],
  inherited_roles: [{ role_name: 'both', role_set: ['a', 'b'] }],
  network: { tls_allowlist: [] },
};

it('names exactly the objects that differ', () => {
  expect(metadataDifferences(before, after).map(({ kind, label }) => `${kind} ${label}`)).toEqual([
    'changed source default',
    'gone table public.a of default',
    'changed table public.b of default',
    'gone function f of default',
    'gone action one',
    'changed action two',
    'gone api limits',
    'added table public.c of default',
    'added function g of default',
    'added source other',
    'added table public.d of other',
    'added network',
  ]);
  expect(metadataDifferences(before, structuredClone(before))).toEqual([]);
});

it('makes the other document of all of them', () => {
  const made = withDifferences(before, metadataDifferences(before, after));
  expect(metadataDifferences(made, after)).toEqual([]);
  expect(metadataDifferences(withDifferences(after, metadataDifferences(after, before)), before)).toEqual([]);
});

it('makes a document of each one alone', () => {
  for (const difference of metadataDifferences(before, after)) {
    // A table of a source that is not there comes with the source.
    if (difference.label === 'table public.d of other') continue;
    expect(metadataDifferences(before, withDifferences(before, [difference])).map(({ key }) => key)).toEqual([difference.key]);
  }
});
