import { describe, expect, it } from 'vitest';
import { coreType, isUsableAs, itemType, scalarFault } from './graphql-type-text.ts';

describe('a type as text', () => {
  it('has items and a core', () => {
    expect([itemType('[Int!]!'), itemType('Int!'), coreType('[[a!]]!')]).toEqual(['Int!', undefined, 'a']);
  });

  it.each<[string, string, boolean]>([
    ['Int!', 'Int', true],
    ['Int', 'Int!', false],
    ['Int', 'String', false],
    ['[Int!]!', '[Int!]', true],
    ['[Int]', '[Int!]', false],
    ['Int', '[Int]', false],
  ])('%s may be used as %s: %s', (variable, expected, isUsable) => {
    expect(isUsableAs(variable, expected)).toBe(isUsable);
  });

  it('rejects values of other built-in scalars', () => {
    expect(scalarFault('Int', { kind: 'number', text: '5' })).toBeUndefined();
    expect(scalarFault('Int', { kind: 'string', text: '"5"' })).toBeUndefined();
    expect(scalarFault('Int', { kind: 'number', text: '1.5' })).toBe('a whole number');
    expect(scalarFault('String', { kind: 'number', text: '5' })).toBe('a string');
    expect(scalarFault('Boolean', { kind: 'string', text: '"true"' })).toBe('true or false');
    expect(scalarFault('jsonb', { kind: 'number', text: '5' })).toBeUndefined();
  });
});
