import { expect, it } from 'vitest';
import { checkKinds, namesOfKinds } from './check-kinds.mjs';

const BACKEND = "export const x = {\n  kind: 'abc',\n  aliases: ['alphabet'],\n  product: 'letters',\n};\n";
const names = namesOfKinds(new Map([['letterdb', BACKEND]]));

it('reads the names of kinds from their folders and backends', () => {
  expect([...names]).toEqual(expect.arrayContaining(['letterdb', 'abc', 'alphabet', 'letters']));
});

it.each([
  ["const kind = 'abc';", 'abc'],
  ['const type = `abc_track_table`;', 'abc'],
  ["if (source.product === 'Letters') return;", 'Letters'],
  ["import { x } from '../databases/letterdb/index.ts';", 'letterdb'],
  ['class LETTERDB {}', 'LETTERDB'],
])('complains about %s', (code, name) => {
  expect(checkKinds(new Map([['src/plan/x.ts', `\n${code}\n`]]), names)).toEqual([`src/plan/x.ts:2: names the kind of database "${name}"`]);
});

it.each(["const abcdef = 'xabc';", '// such as abc', "import { abcde } from '../letterdb/other.ts';", '/** abc\n abc */'])(
  'permits %s',
  (code) => {
    expect(checkKinds(new Map([['src/plan/x.ts', code]]), names)).toEqual([]);
  },
);

it('permits every name in the folders of kinds', () => {
  expect(checkKinds(new Map([['src/databases/letterdb/x.ts', "const kind = 'abc';"]]), names)).toEqual([]);
});
