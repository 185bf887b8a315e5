import { expect, test } from 'vitest';
import type { Constraint } from '../constraint.ts';
import { createConstraintRecorder } from './context.ts';

const fact = (index: number): Constraint => ({ variable: 'x', path: [index], fact: { kind: 'keys', keys: ['a'] } });

test('rejects examining more parts than allowed', () => {
  const recorder = createConstraintRecorder({ parts: 3, facts: 10 });
  recorder.enter(1);
  recorder.enter(2);
  expect(() => recorder.enter(1)).toThrow('the variables have more than 3 parts that the operation depends on');
});

test('a plan with more facts than allowed serves this request only', () => {
  const recorder = createConstraintRecorder({ parts: 3, facts: 2 });
  recorder.record(fact(0));
  recorder.record(fact(1));
  recorder.record(fact(1));
  expect(recorder.isComplete()).toBe(true);
  expect(recorder.list()).toEqual([fact(0), fact(1)]);
  for (let i = 2; i < 100_000; i++) recorder.record(fact(i));
  expect(recorder.isComplete()).toBe(false);
  expect(recorder.list()).toEqual([]);
});

test('data has its own count and records no facts', () => {
  const recorder = createConstraintRecorder({ parts: 10, facts: 4 });
  recorder.record({ variable: 'a', path: [], fact: { kind: 'null', isNull: false } });
  recorder.enter(9);
  const data = recorder.unrecorded();
  expect(recorder.isComplete()).toBe(false);
  expect(recorder.list()).toEqual([]);
  data.enter(100_000);
  expect(recorder.unrecorded()).toBe(data);
  recorder.enter(1);
  data.enter(100_000);
  expect(() => data.enter(1)).toThrow('the rows of the variables have more than 200000 values');
  expect(() => data.charge(1)).toThrow('weigh more than 10');
});
