import { describe, expect, it } from 'vitest';
import { flatRows, rowLists } from './flat-rows.ts';

describe('rows of a response', () => {
  it('have a column for each field of a nested object', () => {
    expect(
      flatRows([
        { title: 'One', artist: null, tags: ['a'] },
        { title: 'Two', artist: { name: 'Alpha', country: { code: 'IS' } }, tags: [] },
      ]),
    ).toEqual({
      columns: ['title', 'artist.name', 'artist.country.code', 'tags'],
      rows: [
        ['One', null, null, '["a"]'],
        ['Two', 'Alpha', 'IS', '[]'],
      ],
    });
    expect(flatRows([{ artist: null }])).toEqual({ columns: ['artist'], rows: [[null]] });
  });

  it('are all lists of objects that are in no other list', () => {
    const lists = rowLists({ a: [{ x: 1 }], namespace: { b: [{ y: [{ z: 1 }] }], none: [], numbers: [1] } });
    expect(lists.map(({ path }) => path)).toEqual(['a', 'namespace.b']);
  });
});
