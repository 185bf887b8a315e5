import { describe, expect, it } from 'vitest';
import { DocumentFault, parseDocument } from './graphql-ast.ts';

function faultOf(text: string): string {
  try {
    parseDocument(text);
    return '';
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error;
    return `${error.message} ${text.slice(error.span.from, error.span.to)}`;
  }
}

describe('a parsed document', () => {
  it('has operations, variables, fields, arguments and fragments with their places', () => {
    const text = `query A($x: [Int!]! = [1], $y: String) @cached {
      # a comment
      first: album(where: {id: {_in: $x}}, order_by: {title: asc}) @include(if: true) { title ...F ... on album { id } }
    }
    fragment F on album { artist { name } }
    mutation { delete_album(where: {}) { affected_rows } }`;
    const { operations, fragments } = parseDocument(text);
    expect(operations.map(({ kind, name, from, to }) => [kind, name, text.slice(from, from + 5), text.slice(to - 1, to)])).toEqual([
      ['query', 'A', 'query', '}'],
      ['mutation', undefined, 'mutat', '}'],
    ]);
    const [query] = operations;
    expect(query?.variables.map(({ name, type, defaultValue }) => [name, type, defaultValue?.kind])).toEqual([
      ['x', '[Int!]!', 'list'],
      ['y', 'String', undefined],
    ]);
    const [field] = query?.selections ?? [];
    if (field?.kind !== 'field') throw new Error('expected a field');
    expect(text.slice(field.from, field.to)).toBe('album');
    expect(field.arguments.map(({ name, value }) => [name, text.slice(value.from, value.to)])).toEqual([
      ['where', '{id: {_in: $x}}'],
      ['order_by', '{title: asc}'],
    ]);
    expect(field.directives.map(({ name }) => name)).toEqual(['include']);
    expect(field.selections?.map(({ kind }) => kind)).toEqual(['field', 'spread', 'inline']);
    expect(fragments.map(({ name, type }) => [name, type.name])).toEqual([['F', 'album']]);
  });

  it('may have selection sets that are still empty', () => {
    expect(faultOf('{ }')).toBe('');
    expect(faultOf('{ album { } }')).toBe('');
  });

  it.each([
    ['{ album(limit: ) { title } }', 'Expected a value, found ). )'],
    ['{ album { title }', 'Expected a field, but the document ends. }'],
    ['query A($x) { a }', 'Expected :, found ). )'],
    ['{ album } }', 'Expected query, mutation, subscription or fragment, found }. }'],
    ['{ album(5) { title } }', 'Expected the name of an argument, found 5. 5'],
  ])('has its first error at the place: %s', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });
});
