import { expect, test } from 'vitest';
import type { ErrorCode } from '../errors/codes.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import { ChangeRefused, checkConsistency } from './consistency-check.ts';

function broken(objectId: string, more: Partial<Inconsistency> = {}): Inconsistency {
  return { objectId, type: 'table', name: `table ${objectId}`, reason: `Inconsistent object: ${objectId}`, definition: objectId, ...more };
}

function refusal(before: readonly Inconsistency[], after: readonly Inconsistency[], edited: readonly string[] = []): ChangeRefused | null {
  try {
    checkConsistency(before, after, edited);
    return null;
  } catch (error) {
    if (error instanceof ChangeRefused) return error;
    throw error;
  }
}

test('accepts objects that were inconsistent before, unless the command edits them', () => {
  expect(refusal([broken('a')], [broken('a')])).toBeNull();
  expect(refusal([broken('a')], [])).toBeNull();
  expect(refusal([broken('a')], [broken('a')], ['a'])).toMatchObject({ code: 'invalid-configuration', message: 'Inconsistent object: a' });
});

test('joins the reasons of the edited object, and has its records in internal', () => {
  const found = refusal([], [broken('a'), broken('a', { reason: 'Inconsistent object: more' }), broken('b')], ['a']);
  expect(found).toMatchObject({ message: 'Inconsistent object: a, Inconsistent object: more', status: 400, objects: ['a', 'a'] });
  expect(found?.internal).toHaveLength(2);
});

test('refuses newly inconsistent objects that the command does not edit', () => {
  expect(refusal([], [broken('b')], ['a'])).toMatchObject({
    code: 'unexpected',
    status: 400,
    message: 'cannot continue due to new inconsistent metadata',
    objects: ['b'],
  });
});

test('accepts conflicts of inherited permissions', () => {
  expect(refusal([], [broken('a', { informational: true })], ['a'])).toBeNull();
});

test('accepts tolerated records', () => {
  const found = broken('a', { tolerated: true, refusal: { code: 'remote-schema-error', message: 'no' } });
  expect(refusal([], [found], ['a'])).toBeNull();
  expect(refusal([], [found])).toBeNull();
  expect(refusal([], [found, broken('b')], ['a'])).toMatchObject({ objects: ['b'] });
});

test.each<ErrorCode>(['unexpected', 'cyclic-dependency'])('fails with the refusal of a defect (%s), whichever object has it', (code) => {
  const own = broken('b', { refusal: { code, message: 'taken' } });
  expect(refusal([], [broken('a'), own], ['a'])).toMatchObject({ code, message: 'taken', objects: ['b'] });
  expect(refusal([own], [own], ['a'])).toBeNull();
});
