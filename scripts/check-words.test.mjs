import { expect, it } from 'vitest';
import { checkComments, checkExports, checkMessages, checkSubjects } from './check-words.mjs';

it('reports doc comments without a subject and comments about people, with their lines', () => {
  const source = `/** Of a request. */\nconst a = '/** Of no comment */';\n/* Of a plain comment */\n// for whoever reads\n/** Deadline of a request. */`;
  expect(checkComments('a.ts', source)).toEqual(['a.ts:1: a doc comment begins with "Of a"', 'a.ts:4: a comment says "whoever"']);
});

it('reports texts about people, but no names', () => {
  expect(checkMessages('a.ts', `f('nobody');\nthrow new Error('nobody may do this');\n// 'somebody else'`)).toEqual([
    'a.ts:2: a text says "nobody"',
  ]);
});

it('reports a name that two files export, unless both are files of database kinds', () => {
  const files = [
    ['src/a.ts', 'export const limit = 1;\nexport class A {}'],
    ['src/b.ts', 'export function limit() {}\nexport type B = 1;'],
    ['src/databases/x/index.ts', 'export const compile = 1;'],
    ['src/databases/y/index.ts', 'export async function compile() {}'],
  ];
  expect(checkExports(files)).toEqual(['src/a.ts: limit is exported by src/b.ts, too']);
});

it('reports commit subjects without an area and those that are too long', () => {
  const long = `state: ${'x'.repeat(66)}`;
  expect(checkSubjects(['state: keep drafts', 'databases/citus, docs: name drafts', 'Keep drafts', long])).toEqual([
    'commit "Keep drafts": the form is "area: imperative", at most 72 characters',
    `commit "${long}": the form is "area: imperative", at most 72 characters`,
  ]);
});
