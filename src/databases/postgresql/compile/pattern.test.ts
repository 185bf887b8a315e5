import { describe, expect, it } from 'vitest';
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Operand } from '../../../ir/value.ts';
import { EMPTY, print } from '../../../sql/fragment.ts';
import type { Json } from '../../../util/json.ts';
import type { ComparisonOperator } from '../../shared/operators.ts';
import { baseType } from '../operators.ts';
import { postgresqlScalar } from '../types.ts';
import { dialect } from './dialect.ts';
import { patternRefusal, validitySql } from './pattern.ts';

const TEXT = baseType('text');

function operatorOf(name: string): ComparisonOperator {
  const found = postgresqlScalar(TEXT).comparisons.find((comparison) => comparison.name === name);
  if (found === undefined) throw new Error(`no operator ${name}`);
  return found;
}

function operand(type: CatalogType = TEXT, json: Json = 'x'): Operand {
  return { value: { kind: 'literal', json }, type, list: false };
}

describe('patterns of like', () => {
  const accepted = (text: string, type = TEXT): boolean => {
    try {
      patternRefusal(operatorOf('_nilike'), operand(type))?.(text);
      return true;
    } catch {
      return false;
    }
  };

  it('rejects patterns that end in an unescaped backslash', () => {
    expect(['', 'a', '\\a', 'a\\\\', '\\\\\\\\'].filter((text) => !accepted(text))).toEqual([]);
    expect(['\\', 'a\\', 'a\\\\\\', '\n\\'].filter((text) => accepted(text))).toEqual([]);
  });

  it('ignores the padding of char(n) patterns', () => {
    const fixed = baseType('bpchar');
    expect([accepted('a\\ ', fixed), accepted('a\\ '), accepted('a\\\\ ', fixed)]).toEqual([false, true, true]);
  });

  it('does not apply the rules of like patterns to regular expressions', () => {
    expect(patternRefusal(operatorOf('_regex'), operand())).toBeUndefined();
    expect(validitySql(operatorOf('_like'), operand())).toBeNull();
  });
});

describe('regular expressions', () => {
  const bound = (name: string, text: string): string | null | undefined => {
    const validity = validitySql(operatorOf(name), operand(TEXT, text));
    return validity === null ? null : print(validity, dialect).parameters[0]?.encode(text);
  };

  it('checks regular expressions by a JSON path', () => {
    expect(print(validitySql(operatorOf('_regex'), operand()) ?? EMPTY, dialect).text).toBe('($1)::jsonpath is not null');
    expect(bound('_nregex', 'a"\\d\n')).toBe('$ ? (@ like_regex "a\\"\\\\d\\n" flag "s")');
    expect(bound('_iregex', '\ud800')).toBe('$ ? (@ like_regex "\ufffd" flag "is")');
  });

  it('does not check regular expressions of session variables', () => {
    expect(validitySql(operatorOf('_regex'), { value: { kind: 'session', name: 'x-svc-a' }, type: TEXT, list: false })).toBeNull();
  });
});
