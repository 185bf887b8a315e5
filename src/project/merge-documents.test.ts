import { expect, it } from 'vitest';
import { mergeDocuments } from './merge-documents.ts';

const permission = (role: string, ...columns: string[]) => ({ role, permission: { columns, filter: {} } });
const table = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({ table: { schema: 'public', name }, ...more });
const document = (tables: readonly object[], more: Readonly<Record<string, unknown>> = {}) =>
  JSON.parse(JSON.stringify({ version: 3, sources: [{ name: 'default', kind: 'pg', tables }], ...more })) as never;

it('merges the changes of both sides', () => {
  const base = document([table('a', { select_permissions: [permission('u', 'id')] }), table('gone'), table('left')]);
  const ours = document([table('a', { select_permissions: [permission('u', 'id', 'name')] }), table('left'), table('ours')]);
  const theirs = document(
    [table('a', { select_permissions: [permission('u', 'id'), permission('v', 'id')], is_enum: true }), table('gone'), table('theirs')],
    { cron_triggers: [{ name: 'c' }] },
  );
  expect(mergeDocuments(base, ours, theirs)).toEqual({
    document: document(
      [
        table('a', { select_permissions: [permission('u', 'id', 'name'), permission('v', 'id')], is_enum: true }),
        table('ours'),
        table('theirs'),
      ],
      { cron_triggers: [{ name: 'c' }] },
    ),
    conflicts: [],
  });
});

it('keeps one side if both changed the same object, and never mixes two rules', () => {
  const at = (filter: object) => document([table('a', { select_permissions: [{ role: 'u', permission: { columns: [], filter } }] })]);
  const ours = at({ id: { _eq: 1 } });
  expect(mergeDocuments(at({}), ours, at({ name: { _eq: 'x' } }))).toEqual({
    document: ours,
    conflicts: ['sources default tables public.a select_permissions u'],
  });
  // Removed here and changed there.
  expect(mergeDocuments(document([table('a')]), document([]), document([table('a', { is_enum: true })]))).toEqual({
    document: document([]),
    conflicts: ['sources default tables public.a'],
  });
  expect(mergeDocuments(at({}), ours, ours)).toEqual({ document: ours, conflicts: [] });
});
