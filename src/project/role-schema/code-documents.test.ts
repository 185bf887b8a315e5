import { parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { type CodeDocuments, documentsInCode } from './code-documents.ts';

/** Reads code with § in place of $, which a linter takes for a mistake in these texts. */
function read(code: string): CodeDocuments {
  return documentsInCode(code.replaceAll('§', '$'));
}

/** Names of the operations and fragments in code. */
function names(code: string): readonly string[] {
  const { text, problems } = read(code);
  expect(problems).toEqual([]);
  expect(text.length).toBe(code.length);
  if (text.trim() === '') return [];
  return parse(text).definitions.map((each) => ('name' in each ? (each.name?.value ?? '') : ''));
}

describe('documents in code', () => {
  it.each<[what: string, code: string, names: readonly string[]]>([
    ['tags', 'const a = gql`query A { a }`; const b = graphql `query B { b }`;', ['A', 'B']],
    ['tags of a namespace', 'const a = Apollo.gql`query A { a }`', ['A']],
    ['calls', 'graphql(`query A { a }`); gql( /* the list */ `query B { b }`, [C])', ['A', 'B']],
    ['templates after the comment', 'f(/* GraphQL */ `query A { a }`); f(/* HTML */ `<a>`, `x`)', ['A']],
    ['nothing else', 'f(`query A { a }`); html`<p>`; notgql`query B { b }`; mygraphql(`query C { c }`)', []],
    ['no code that is a comment', '// gql`query A { a }`\n/* gql`query B { b }` */ gql`query C { c }`', ['C']],
    ['no code in strings', 'f("gql`query A { a }`", \'graphql(`query B { b }`)\')', []],
    ['code after regular expressions', "x.replace(/[`'\"/]/g, '') ; const r = /`/; gql`query A { a }`", ['A']],
    ['code after divisions', 'const x = a / b; const y = (a) / 2; gql`query A { a }`; const z = x[0] / y', ['A']],
    [
      'code after JSX',
      "const E = () => <p title='it'>Don't / do it</p>;\nconst Q = gql`query A { a }`;\n<br />;\ngql`query B { b }`",
      ['A', 'B'],
    ],
    ['code in interpolations', 'css`a §{() => { const q = gql`query A { a }`; return `§{q}`; }} b`; gql`query B { b }`', ['A', 'B']],
    ['fragments between definitions', 'gql`§{F}\nquery A { ...F } # a }\n§{F} §{G.b} query B { b(c: "}") }§{H}`', ['A', 'B']],
    [
      'templates that end with a comment',
      'f(gql`query A { a(b: "#") } # "all`, gql`query B { b } # "#"`, gql`query C { c }`)',
      ['A', 'B', 'C'],
    ],
    ['fragments that are templates', 'gql`query A { ...F } §{gql`fragment F on T { a }`}`', ['A', 'F']],
    ['types', 'const a = gql<{ readonly a: string }>; const b = x as Y<`z`>; const c = gql`query A { a }` satisfies D;', ['A']],
  ])('are %s', (_, code, expected) => {
    expect(names(code)).toEqual(expected);
  });

  it('keep their lines and columns', () => {
    const code = "import x from 'y';\r\nconst a = gql`\r\n  query A { a }`";
    const { text } = read(code);
    expect(text.indexOf('query')).toBe(code.indexOf('query'));
    expect(text.split('\n').length).toBe(3);
  });

  it('have the characters of escapes', () => {
    const { text, problems } = read('gql`{ a(b: "\\`x\\` \\\\"y\\\\" \\§{z}") }`');
    expect(problems).toEqual([]);
    expect(print(parse(text))).toContain('y');
  });

  it.each<[what: string, code: string, message: RegExp, start: number]>([
    ['a value in a selection', 'gql`{ a { §{FIELDS} } }`', /not known here.*Use a variable/, 10],
    ['a value in an argument', 'gql`query A { a(id: §{id}) }`', /not known here/, 20],
    ['a name', 'gql`query §{name} { a }`', /not known here/, 10],
    ['a template without an end', 'f(); gql`{ a }', /no end/, 8],
    ['an interpolation without an end', 'gql`{ a } §{b', /no end/, 3],
    ['an escape of a character', 'gql`{ \\u0061 }`', /escape \\u is not supported/, 6],
  ])('are rejected with %s', (_, code, message, start) => {
    const [problem] = read(code).problems;
    expect(problem?.message).toMatch(message);
    expect(problem?.start).toBe(start);
  });
});
