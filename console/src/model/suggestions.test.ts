import { describe, expect, it } from 'vitest';
import { suggestionsOf } from './suggestions.ts';

describe('suggestions of an error', () => {
  it.each([
    "field 'nam' not found in type: 'genre'",
    "'genre' has no argument named 'limt'",
    "expected one of the values ['asc', 'desc'] for type 'order_by', but found 'acs'",
    "directive 'includ' is not defined in the schema",
    "variable 'id' is declared as 'Int', but used where 'Int!' is expected",
  ])('are names if the error is about a name: %s', (message) => {
    expect(suggestionsOf(message, ['name'])).toEqual({ names: ['name'], remedies: [] });
  });

  it('are remedies for any other error, even if they have one word', () => {
    expect(suggestionsOf('not a valid graphql query', ['Retry', 'Remove "}".'])).toEqual({ names: [], remedies: ['Retry', 'Remove "}".'] });
    expect(suggestionsOf("field 'nam' not found in type: 'genre'", undefined)).toEqual({ names: [], remedies: [] });
  });
});
