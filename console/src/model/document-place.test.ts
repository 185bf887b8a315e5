import { describe, expect, it } from 'vitest';
import { placeOfPath } from './document-place.ts';

/** Text at a place, with the number of its occurrences before. */
function found(text: string, path: string, operation?: string): string | undefined {
  const place = placeOfPath(text, path, operation);
  if (place === undefined) return undefined;
  const word = text.slice(place.from, place.to);
  return `${word} ${text.slice(0, place.from).split(word).length - 1}`;
}

describe('place of an error', () => {
  it('is the field, found by its alias at any depth', () => {
    const text = '# album\nquery Q($n: Int = 2) @cached(ttl: 5) { album(limit: $n) { first: title tracks { name } } name }';
    expect(found(text, '$.selectionSet.album')).toBe('album 1');
    expect(found(text, '$.selectionSet.album.selectionSet.first')).toBe('first 0');
    expect(found(text, '$.selectionSet.album.selectionSet.tracks.selectionSet.name')).toBe('name 0');
    expect(found(text, '$.selectionSet.name')).toBe('name 1');
  });

  it('is the argument, in objects and lists too, else its field', () => {
    const text = '{ album(where: {_or: [{title: {_eq: "}"}}], id: {_eq: 1}}, order_by: {id: asc}) { id } }';
    expect(found(text, '$.selectionSet.album.args.where')).toBe('where 0');
    expect(found(text, '$.selectionSet.album.args.where._or[0].title._eq')).toBe('_eq 0');
    expect(found(text, '$.selectionSet.album.args.where.id._eq')).toBe('_eq 1');
    expect(found(text, '$.selectionSet.album.args.order_by.id')).toBe('id 1');
    expect(found(text, '$.selectionSet.album.args.limit')).toBe('album 0');
  });

  it('is found in fragments and in the operation that was run', () => {
    const text =
      'query A { x } query B { ...F ... on query_root @include(if: true) { y { z } } } fragment F on query_root { w { ...F v } }';
    expect(found(text, '$.selectionSet.x', 'A')).toBe('x 0');
    expect(found(text, '$.selectionSet.x', 'B')).toBeUndefined();
    expect(found(text, '$.selectionSet.y.selectionSet.z', 'B')).toBe('z 0');
    expect(found(text, '$.selectionSet.w.selectionSet.v', 'B')).toBe('v 0');
    expect(found(text, '$.selectionSet.nowhere', 'B')).toBeUndefined();
  });

  it('is undefined for other paths and incomplete documents', () => {
    expect(found('{ a }', '$.variableValues')).toBeUndefined();
    expect(found('{ a }', '$')).toBeUndefined();
    for (const text of ['', '{', 'query', '{ a(b: {', '{ a { ...', 'fragment F on t { a', '... { a }'])
      expect(() => placeOfPath(text, '$.selectionSet.a.args.b.c')).not.toThrow();
  });
});
