import { describe, expect, it } from 'vitest';
import { cyclicSpreads, oneOperation, selectedFields } from './fragments.ts';
import { parseDocument } from './graphql-ast.ts';

/** Fragments that spread the next one twice, so that a walk along all paths takes 2^40 steps. */
const REPEATED = Array.from({ length: 40 }, (_, index) => `fragment F${index} on album { ...F${index + 1} ...F${index + 1} }`).join('\n');

const operationOf = (text: string) => {
  const document = parseDocument(text);
  const [operation] = document.operations;
  if (operation === undefined) throw new Error('The document has no operation.');
  return { document, operation };
};

const namesOf = (text: string) => {
  const { document, operation } = operationOf(text);
  return [...cyclicSpreads(document, operation)].map(({ from, to }) => text.slice(from, to));
};

const fieldsOf = async (text: string) => {
  const { document, operation } = operationOf(text);
  const part = { of: { name: 'album' }, selections: operation.selections, open: new Set<string>(), isOptional: false };
  const found = await selectedFields(document, [part], (name) => Promise.resolve({ name }));
  return [...found].map(([name, all]) => [
    name,
    all.every(({ isOptional }) => isOptional) ? 'optional' : 'required',
    all.map(({ of }) => of.name).join(),
    all.flatMap(({ open }) => [...open]).join(),
  ]);
};

describe('fragments that contain themselves', () => {
  it('are found once, whether or not others are spread beside them', () => {
    expect(namesOf('{ ...A ...B } fragment A on album { ...B } fragment B on album { artist { ...A } }')).toEqual(['A']);
    expect(namesOf('{ ...A } fragment A on album { ...A } fragment Unused on album { ...Unused }')).toEqual(['A']);
    expect(namesOf('{ ...A ...A } fragment A on album { title }')).toEqual([]);
  });

  it('are looked for once in each fragment', () => {
    expect(namesOf(`{ ...F0 }\n${REPEATED}\nfragment F40 on album { title ...F0 }`)).toEqual(['F0']);
  });
});

describe('one operation', () => {
  it('has the fragments that it uses, also through others', () => {
    const [first, second, a, b] = ['query A { ...F }', 'mutation B { b { ...G } }', 'fragment F on q { f }', 'fragment G on b { ...H }'];
    const h = 'fragment H on b @x { h }';
    const text = [first, a, second, b, h].join('\n');
    expect(oneOperation(text, 0)).toBe(`${first}\n\n${a}\n`);
    expect(oneOperation(text, 1)).toBe(`${second}\n\n${b}\n\n${h}\n`);
    expect(oneOperation(`# note\n${first} ${a}`, 0)).toBe(`# note\n${first} ${a}`);
  });
});

describe('selected fields', () => {
  it('are merged by their names in the response', async () => {
    expect(
      await fieldsOf(
        '{ artist { name } ...A ... on album { artist { id } } ... @include(if: true) { year title } title }\nfragment A on album { artist { age } name: title }',
      ),
    ).toEqual([
      ['artist', 'required', 'album,album,album', 'A'],
      ['name', 'required', 'album', 'A'],
      ['year', 'optional', 'album', ''],
      ['title', 'required', 'album,album', ''],
    ]);
  });

  it('are optional in a fragment of another type, unless they are selected elsewhere', async () => {
    expect(
      await fieldsOf('{ ...N @skip(if: true) ...A @skip(if: true) ...A } fragment N on node { id } fragment A on album { title }'),
    ).toEqual([
      ['id', 'optional', 'node', 'N'],
      ['title', 'required', 'album,album', 'A,A'],
    ]);
  });

  it('end at fragments that contain themselves, and at repeated ones', async () => {
    expect(await fieldsOf('{ ...A } fragment A on album { title ...B } fragment B on album { ...A artist { ...A } }')).toEqual([
      ['title', 'required', 'album', 'A'],
      ['artist', 'required', 'album', 'A,B'],
    ]);
    const [field, ...others] = await fieldsOf(`{ ...F0 }\n${REPEATED}\nfragment F40 on album { title }`);
    expect([field?.slice(0, 3), others]).toEqual([['title', 'required', 'album'], []]);
  });
});
