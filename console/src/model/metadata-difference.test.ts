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

it('lists exactly the objects that differ', () => {
  expect(metadataDifferences(before, after).map(({ kind, label }) => `${kind} ${label}`)).toEqual([
    'changed source default',
    'removed table public.a of default',
    'changed table public.b of default',
    'removed function f of default',
    'removed action one',
    'changed action two',
    'removed api limits',
    'added table public.c of default',
    'added function g of default',
    'added source other',
    'added table public.d of other',
    'added network',
  ]);
  expect(metadataDifferences(before, structuredClone(before))).toEqual([]);
});

it('applying all differences yields the other document', () => {
  const made = withDifferences(before, metadataDifferences(before, after));
  expect(metadataDifferences(made, after)).toEqual([]);
  expect(metadataDifferences(withDifferences(after, metadataDifferences(after, before)), before)).toEqual([]);
});

it('applies each difference on its own', () => {
  for (const difference of metadataDifferences(before, after)) {
    // The source of this table is missing, so it is added as well.
    if (difference.label === 'table public.d of other') continue;
    expect(metadataDifferences(before, withDifferences(before, [difference])).map(({ key }) => key)).toEqual([difference.key]);
  }
});
