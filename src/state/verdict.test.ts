import { expect, test } from 'vitest';
import type { ErrorCode } from '../errors/codes.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import { ChangeRefused, judge } from './verdict.ts';

function broken(objectId: string, more: Partial<Inconsistency> = {}): Inconsistency {
  return { objectId, type: 'table', name: `table ${objectId}`, reason: `Inconsistent object: ${objectId}`, definition: objectId, ...more };
}

function refusal(before: readonly Inconsistency[], after: readonly Inconsistency[], edited: readonly string[] = []): ChangeRefused | null {
  try {
    judge(before, after, edited);
    return null;
  } catch (error) {
    if (error instanceof ChangeRefused) return error;
    throw error;
  }
}

test('what was inconsistent before blocks nothing, unless it is what the command is about', () => {
  expect(refusal([broken('a')], [broken('a')])).toBeNull();
  expect(refusal([broken('a')], [])).toBeNull();
  expect(refusal([broken('a')], [broken('a')], ['a'])).toMatchObject({ code: 'invalid-configuration', message: 'Inconsistent object: a' });
});

test('reasons of the edited object are joined; its records are the internals', () => {
  const found = refusal([], [broken('a'), broken('a', { reason: 'Inconsistent object: more' }), broken('b')], ['a']);
  expect(found).toMatchObject({ message: 'Inconsistent object: a, Inconsistent object: more', status: 400, objects: ['a', 'a'] });
  expect(found?.internal).toHaveLength(2);
});

test('other objects', () => {
  expect(refusal([], [broken('b')], ['a'])).toMatchObject({
    code: 'unexpected',
    status: 400,
    message: 'cannot continue due to new inconsistent metadata',
    objects: ['b'],
  });
});

test('conflicts of inherited permissions never refuse', () => {
  expect(refusal([], [broken('a', { informational: true })], ['a'])).toBeNull();
});

test('tolerated records never refuse', () => {
  const found = broken('a', { tolerated: true, refusal: { code: 'remote-schema-error', message: 'no' } });
  expect(refusal([], [found], ['a'])).toBeNull();
  expect(refusal([], [found])).toBeNull();
  expect(refusal([], [found, broken('b')], ['a'])).toMatchObject({ objects: ['b'] });
});

test.each<ErrorCode>(['unexpected', 'cyclic-dependency'])(
  'a defect with a refusal of its own (%s) decides, whichever object has it',
  (code) => {
    const own = broken('b', { refusal: { code, message: 'taken' } });
    expect(refusal([], [broken('a'), own], ['a'])).toMatchObject({ code, message: 'taken', objects: ['b'] });
    expect(refusal([own], [own], ['a'])).toBeNull();
  },
);
