import { expect, it } from 'vitest';
import { checkLayers, importsOf } from './check-layers.mjs';

const layers = {
  order: ['app', 'server', 'databases', 'auth', 'sql', 'util', 'model'],
  below: ['../../shared'],
  fences: [
    { room: 'databases/*', only: ['databases/shared', 'sql'], except: { 'databases/b': ['databases/a'] } },
    { into: 'databases', onlyFrom: ['app', 'databases'] },
    { room: 'server', not: ['sql'] },
    { rooms: ['sql'], notModules: ['node:fs', 'graphql'], not: ['auth'], exceptFiles: ['auth/session.ts', 'auth/pure'] },
    { room: 'auth/pure', not: ['auth'], notModules: ['node:fs'] },
    { room: 'model', only: [], noModules: true },
  ],
};
const BASE = {
  'util/u.ts': '',
  'sql/s.ts': '',
  'auth/a.ts': '',
  'auth/session.ts': '',
  'auth/pure/p.ts': '',
  'databases/a/x.ts': '',
  'databases/b/x.ts': '',
  'databases/shared/s.ts': '',
};
const check = (files) => checkLayers(new Map(Object.entries({ ...BASE, ...files })), layers);

it('finds every form of import', () => {
  const source = `
import type { A } from './a.ts';
import {
  b,
  type C,
} from './b.ts';
import './c.ts';
export * from './d.ts';
export { e as f } from './e.ts';
export type { G } from './g.ts';
const h = await import('./h.ts');
import i, * as j from 'i';
// import './not.ts';
/* import './neither.ts'; */
const text = "import './nor.ts'";
export const from = 'k';`;
  expect(importsOf(source)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './g.ts', 'i', './h.ts']);
});

it('permits imports from rooms below', () => {
  expect(check({ 'app/x.ts': `import '../databases/a/x.ts'; import '../util/u.ts';`, 'databases/index.ts': `import './a/x.ts';` })).toEqual(
    [],
  );
});

it('permits imports from the folders below all rooms', () => {
  expect(check({ 'sql/x.ts': `import '../../../shared/y.ts';` })).toEqual([]);
});

it.each([
  ['a module where none is allowed', { 'model/x.ts': `import 'graphql';` }, '"model" must not import graphql'],
  ['a room above, types too', { 'util/x.ts': `import type { S } from '../sql/s.ts';` }, '"util" must not import "sql" above it'],
  ['a file that is not there', { 'app/x.ts': `import './y.ts';` }, 'imports app/y.ts, which does not exist'],
  ['a room that is not listed', { 'other/x.ts': '' }, 'room "other" is not in layers.json'],
  ['a fenced room', { 'server/x.ts': `import '../sql/s.ts';` }, '"server" must not import "sql"'],
  ['a guarded room from outside', { 'server/x.ts': `import '../databases/a/x.ts';` }, 'only app, databases may import "databases"'],
  ['another kind', { 'databases/a/y.ts': `import '../b/x.ts';` }, '"databases/a" must not import "databases/b"'],
  ['a room outside the list of a kind', { 'databases/a/y.ts': `import '../../auth/a.ts';` }, '"databases/a" must not import "auth"'],
  ['a kind from shared code', { 'databases/shared/y.ts': `import '../a/x.ts';` }, '"databases/shared" must not import "databases/a"'],
  ['the room around a fenced folder', { 'auth/pure/x.ts': `import '../a.ts';` }, '"auth/pure" must not import "auth"'],
  ['a module in a fenced folder', { 'auth/pure/x.ts': `import { readFileSync } from 'node:fs';` }, '"auth" must not import node:fs'],
  ['a module', { 'sql/x.ts': `import { readFileSync } from 'node:fs';` }, '"sql" must not import node:fs'],
  ['a part of a module', { 'sql/x.ts': `import 'graphql/language';` }, '"sql" must not import graphql/language'],
])('rejects %s', (_, files, complaint) => {
  const complaints = check(files);
  expect(complaints.length).toBeGreaterThan(0);
  expect(complaints.join('\n')).toContain(complaint);
});

it('allows the named exceptions', () => {
  const layersWithAuthBelow = { ...layers, order: ['sql', 'databases', 'auth', 'util'] };
  const files = {
    'databases/a/y.ts': `import '../shared/s.ts';`,
    'databases/b/y.ts': `import '../a/x.ts';`,
    'sql/x.ts': `import type { S } from '../auth/session.ts';`,
    'sql/y.ts': `import '../auth/pure/p.ts';`,
  };
  expect(checkLayers(new Map(Object.entries({ ...BASE, ...files })), layersWithAuthBelow)).toEqual([]);
});

it('finds cycles, including those of types', () => {
  expect(check({ 'util/a.ts': `import './b.ts';`, 'util/b.ts': `import './c.ts';`, 'util/c.ts': `import './a.ts';` })).toEqual([
    'import cycle: util/a.ts -> util/b.ts -> util/c.ts',
  ]);
  expect(check({ 'util/a.ts': `import './b.ts';`, 'util/b.ts': `import type { A } from './a.ts';` })).toEqual([
    'import cycle: util/a.ts -> util/b.ts',
  ]);
});
