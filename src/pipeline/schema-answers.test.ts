import { expect, it } from 'vitest';
import type { OperationPlan } from '../plan/plan.ts';
import { type Bytes, bytesOfText, sizeOfBytes } from '../util/bytes.ts';
import { readsSchemaOnly, SchemaAnswers } from './schema-answers.ts';

const produce = async (): Promise<readonly Bytes[]> => [];

function plan(more: Partial<OperationPlan> = {}): OperationPlan {
  return { kind: 'query', constraints: [], reusable: true, template: [{ produce }], steps: [], joins: [], validations: [], ...more };
}

it('holds for plans without steps whose response has a part of the schema', () => {
  expect(readsSchemaOnly(plan())).toBe(true);
  expect(readsSchemaOnly(plan({ template: [bytesOfText('{"data":'), { produce }, bytesOfText('}')] }))).toBe(true);
  expect(readsSchemaOnly(plan({ template: [bytesOfText('{"data":{}}')] }))).toBe(false);
  expect(readsSchemaOnly(plan({ reusable: false }))).toBe(false);
  expect(readsSchemaOnly(plan({ kind: 'subscription' }))).toBe(false);
  expect(readsSchemaOnly(plan({ template: [{ produce }, { step: 0, column: 0, absent: bytesOfText('null') }] }))).toBe(false);
});

it('returns a response for its own plan only', () => {
  const answers = new SchemaAnswers();
  const [one, other] = [plan(), plan()];
  answers.store(one, [bytesOfText('a'), bytesOfText('b')]);
  expect(answers.find(one)?.body).toEqual([bytesOfText('ab')]);
  expect(answers.find(other)).toBeUndefined();
});

it('is bounded in bytes, with compressed copies, and evicts the responses that were used least recently', () => {
  const answers = new SchemaAnswers(10_000);
  const plans = Array.from({ length: 20 }, () => plan());
  for (const each of plans) answers.store(each, [bytesOfText('x'.repeat(1500))]);
  expect(answers.bytes).toBeLessThanOrEqual(10_000);
  const left = plans.filter((each) => answers.find(each) !== undefined);
  expect(left).toEqual(plans.slice(-5));
  const [oldest, newest] = [left[0] as OperationPlan, left.at(-1) as OperationPlan];
  answers.find(oldest);
  answers.find(newest)?.copies.store('gzip', bytesOfText('y'.repeat(1500)));
  expect(answers.bytes).toBeLessThanOrEqual(10_000);
  expect(answers.find(newest)?.copies.get('gzip')).toBe('y'.repeat(1500));
  expect(answers.find(oldest)).toBeDefined();
  expect(answers.find(left[1] as OperationPlan)).toBeUndefined();
});

it('does not keep a response that would take more than a quarter, nor a copy that would exceed the limit', () => {
  const answers = new SchemaAnswers(10_000);
  const body = [bytesOfText('x'.repeat(2400))];
  expect(answers.store(plan(), body)).toBeUndefined();
  const small = plan();
  answers.store(small, [bytesOfText('x')]);
  answers.find(small)?.copies.store('br', bytesOfText('y'.repeat(10_000)));
  expect(answers.find(small)?.copies.get('br')).toBeUndefined();
  expect(answers.bytes).toBeLessThan(1000);
  expect(sizeOfBytes(answers.find(small)?.body ?? [])).toBe(1);
});
