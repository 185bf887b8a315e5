import { describe, expect, it } from 'vitest';
import { keysAt, placeOfJsonPath } from './json-place.ts';

const TEXT = `{"type": "bulk", "args": [{"type": "a", "args": {"a, b": [1, {"x-y": {}}], "type": "}"}}, {"type": "b"}]}`;

describe('places in JSON', () => {
  it.each([
    ['$.type', '"type": "bulk"'],
    ['$.args[0].type', '"type": "a"'],
    ['$.args[0].args.type', '"type": "}"'],
    ['$.args[0].args["a, b"][0]', '1'],
    ['$.args[0].args["a, b"][1].x-y', '"x-y": {'],
    ['$.args[1].type', '"type": "b"'],
    // The deepest place on the way.
    ['$.args[1].args.table', '{'],
    ['$.args[2]', '"args": ['],
  ])('finds %s', (path, expected) => {
    const { from, to } = placeOfJsonPath(TEXT, path) ?? { from: 0, to: 0 };
    expect(TEXT.slice(from, to)).toBe(expected);
  });

  it('returns undefined for the root and for text that is not JSON', () => {
    expect(placeOfJsonPath(TEXT, '$')).toBeUndefined();
    for (const text of ['', '{', '{"type"', '{"type":', 'type: a', '[[', '"']) expect(placeOfJsonPath(text, '$.type')).toBeUndefined();
  });

  it.each([
    ['{"type": "', 'type'],
    ['{"type": "pg_tr', 'type'],
    ['{"version": 1, "type": "pg', 'type'],
    ['{"type": "bulk", "args": [{"type": "', 'args.[].type'],
    ['{"type": "bulk", "args": [{"type": "a", "args": {"b": [1, 2]}}, {"type": "', 'args.[].type'],
    ['{"args": {"fields": [{"type": "I', 'args.fields.[].type'],
    ['{"args": ["', undefined],
    ['{"ty', undefined],
    ['{"type": "a"', undefined],
    ['{"type": ', undefined],
  ])('finds the keys at the end of %s', (text, expected) => {
    expect(keysAt(`${text}`, text.length)?.join('.')).toBe(expected);
  });
});
