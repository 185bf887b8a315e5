import { describe, expect, it } from 'vitest';
import { failure } from '../../../test/support/translate.ts';
import { ROOT } from '../../util/path.ts';
import { jsonPathValue, parseSelectPath } from './json-path.ts';

describe('JSON paths', () => {
  it.each([
    ['$', []],
    ['', []],
    ['$.a.b[0]', ['a', 'b', '0']],
    ["objs.[0].['x y']", ['objs', '0', 'x y']],
    ['a.b', ['a', 'b']],
    ['[0]', ['0']],
    ['$[3][12].x', ['3', '12', 'x']],
    ["['with space']", ['with space']],
    ['$["x.y"].z', ['x.y', 'z']],
    ["a['it\\'s']", ['a', "it's"]],
    ['é-1_b', ['é-1_b']],
  ])('%s', (text, keys) => {
    expect(parseSelectPath(text, ROOT)).toEqual(keys);
  });

  it.each(['a..b', 'a.', '$a', 'a b', '[x]', '["x"', '["x"]y', '[-1]', '[', 'a$'])('rejects %s', (text) => {
    expect(failure(() => parseSelectPath(text, ROOT))).toMatch(
      /^\$: parse json path error: .+\. Accept letters, digits, underscore \(_\) or hyphen \(-\) only\. Use quotes enclosed in bracket \(\["\.\.\."\]\) if there is any special character$/,
    );
  });

  it('have at most 1000 steps', () => {
    expect(parseSelectPath(`$${'.a'.repeat(1000)}`, ROOT)).toHaveLength(1000);
    expect(failure(() => parseSelectPath(`$${'.a'.repeat(1001)}`, ROOT))).toBe('$: a JSON path may have at most 1000 steps');
  });

  it('are null for the whole value', () => {
    expect(jsonPathValue({ kind: 'literal', json: '$' }, ROOT)).toBeNull();
  });
});
