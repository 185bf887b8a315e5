import { describe, expect, it } from 'vitest';
import { plural, readSuggestions, createRelationshipStep } from './relationship-names.ts';

const table = (name: string) => ({ schema: 'public', name });

describe('names of suggested relationships', () => {
  it('come from the column or the table without clashes', () => {
    const suggestions = readSuggestions(
      {
        relationships: [
          { type: 'object', from: { table: table('album'), columns: ['artist_id'] }, to: { table: table('artist'), columns: ['id'] } },
          { type: 'object', from: { table: table('album'), columns: ['producer'] }, to: { table: table('artist'), columns: ['id'] } },
          { type: 'array', from: { table: table('artist'), columns: ['id'] }, to: { table: table('album'), columns: ['artist_id'] } },
          { type: 'array', from: { table: table('artist'), columns: ['id'] }, to: { table: table('album'), columns: ['producer'] } },
        ],
      },
      (label) => (label === 'public.artist' ? ['name'] : []),
    );
    expect(suggestions.map(({ name }) => name)).toEqual(['artist', 'artist_by_producer', 'albums', 'albums_by_producer']);
    expect(suggestions.slice(1, 3).map((each) => createRelationshipStep('default', 'pg', each).args['using'])).toEqual([
      { foreign_key_constraint_on: 'producer' },
      { foreign_key_constraint_on: { table: table('album'), column: 'artist_id' } },
    ]);
  });

  it('never equal a column of the keys', () => {
    const relationships = [
      { type: 'object', from: { table: table('album'), columns: ['artist'] }, to: { table: table('artist'), columns: ['id'] } },
    ];
    expect(readSuggestions({ relationships }, () => []).map(({ name }) => name)).toEqual(['artist_by_artist']);
  });

  it('have readable plurals', () => {
    expect(['album', 'category', 'box', 'news', 'day', 'status'].map(plural)).toEqual([
      'albums',
      'categories',
      'boxes',
      'news',
      'days',
      'statuses',
    ]);
  });
});
