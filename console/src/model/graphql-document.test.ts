import { describe, expect, it } from 'vitest';
import { formatDocument, operationsOf, placeAt, tokensOf } from './graphql-document.ts';

/** The place of the bar in a document. */
const at = (text: string) => placeAt(text.replace('|', ''), text.indexOf('|'));

describe('cursor context', () => {
  it('finds the selection set and its path', () => {
    expect(at('query Q { album { artist { na| } } }')).toEqual({
      kind: 'fields',
      operation: 'query',
      type: undefined,
      path: ['album', 'artist'],
    });
    expect(at('{ a: album(limit: 2, where: {id: {_eq: 1}}) @include(if: true) { title| ')).toMatchObject({
      kind: 'fields',
      path: ['album'],
    });
    expect(at('{ x { y } | ')).toMatchObject({ kind: 'fields', path: [] });
    expect(at('subscription { album { ... on thing { | } } }')).toMatchObject({
      kind: 'fields',
      operation: 'subscription',
      type: 'thing',
      path: [],
    });
    expect(at('fragment F on album { artist { | } }')).toMatchObject({ type: 'album', path: ['artist'] });
  });

  it('finds arguments and values', () => {
    expect(at('{ album(li|')).toMatchObject({ kind: 'arguments', path: ['album'], keys: [] });
    expect(at('{ album(where: {artist: {na|')).toMatchObject({ kind: 'arguments', path: ['album'], keys: ['where', 'artist'] });
    expect(at('{ album(where: {_or: [{ti|')).toMatchObject({ kind: 'arguments', keys: ['where', '_or'] });
    expect(at('{ album(order_by: {title: a|')).toMatchObject({ kind: 'value', keys: ['order_by', 'title'] });
    expect(at('{ album { tracks(limit: 1, |')).toMatchObject({ kind: 'arguments', path: ['album', 'tracks'] });
  });

  it('is none in comments, strings and variable definitions', () => {
    for (const text of ['{ a # wo|', '{ a(b: "x|', 'query Q($a: |']) expect(at(text)).toEqual({ kind: 'none' });
    expect(at('que|')).toEqual({ kind: 'document' });
  });
});

describe('GraphQL document', () => {
  it('lists its operations', () => {
    expect(operationsOf('{ a } mutation M($a: Int = {}) { b { c } } fragment F on t { d }').map(({ kind, name }) => [kind, name])).toEqual([
      ['query', undefined],
      ['mutation', 'M'],
    ]);
  });

  it('is formatted without losing tokens, and idempotently', () => {
    const text =
      'query Q($n:Int!,$s:[String!]=["a"]){a:album(limit:$n where:{title:{_eq:"x y"}}){id # the key\n...on t{b}...F tracks{name}}}\n# end\nfragment F on album{c @include(if:true)}';
    const once = formatDocument(text);
    expect(tokensOf(once).map((token) => token.text)).toEqual(tokensOf(text).map((token) => token.text));
    expect(formatDocument(once)).toBe(once);
    expect(formatDocument('{album(limit:2){id title}}')).toBe('{\n  album(limit: 2) {\n    id\n    title\n  }\n}\n');
  });
});
