import { expect, test } from 'vitest';
import { nameKey } from '../catalog/catalog.ts';
import { idInRenamedSource, objectId, renamedObjectId } from './object-id.ts';

const t = { schema: 's', name: 't' };
const u = { schema: 's', name: 'u' };

test('ids of different objects differ for all names', () => {
  expect(objectId.sourceExtra('s', 'a\u0001b', 'c')).not.toBe(objectId.sourceExtra('s', 'a', 'b\u0001c'));
  expect(objectId.sourceExtra('s', 'a", "b', 'c')).not.toBe(objectId.sourceExtra('s', 'a', 'b", "c'));
  expect(objectId.table('s', t)).not.toBe(objectId.function('s', t));
});

test('renaming a source changes the ids of its objects only', () => {
  const names = new Map([['old', 'new']]);
  for (const [before, after] of [
    [objectId.source('old'), objectId.source('new')],
    [objectId.permission('old', t, 'select', 'old'), objectId.permission('new', t, 'select', 'old')],
    [objectId.inheritedPermission('old', 'old', t, 'select'), objectId.inheritedPermission('old', 'new', t, 'select')],
    [objectId.tableExtra('old', t, 'k', 'n'), objectId.tableExtra('new', t, 'k', 'n')],
    [objectId.remoteSchema('old'), objectId.remoteSchema('old')],
    [objectId.collectedQuery('old', 'old'), objectId.collectedQuery('old', 'old')],
    [objectId.table('other', t), objectId.table('other', t)],
  ] as const)
    expect(idInRenamedSource(before, names)).toBe(after);
});

test('renaming a table changes the ids of its own objects only, in its source', () => {
  const names = new Map([[nameKey(t), nameKey(u)]]);
  for (const [before, after] of [
    [objectId.relationship('a', t, nameKey(t)), objectId.relationship('a', u, nameKey(t))],
    [objectId.relationship('a', { schema: 's', name: 'v' }, 'a'), objectId.relationship('a', { schema: 's', name: 'v' }, 'a')],
    [objectId.permission('b', t, 'select', 'a'), objectId.permission('b', t, 'select', 'a')],
    [objectId.sourceExtra('a', nameKey(t), 'n'), objectId.sourceExtra('a', nameKey(t), 'n')],
    [objectId.restEndpoint(nameKey(t)), objectId.restEndpoint(nameKey(t))],
  ] as const)
    expect(renamedObjectId(before, 'a', names)).toBe(after);
});
